r"""Gradient descent on many networks at once, with JAX: on a GPU the runs of a whole table share each step.

The steps are those of `zonofit.baselines.gradient_descent.descend`. Tasks of different sizes go together: missing
examples weigh nothing, missing features are 0, and a missing unit has w = 0 and v = 0, whose gradient is 0, so that it
stays there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from zonofit.baselines.gradient_descent import GradientDescent, Trained, begin, checked, parts
from zonofit.errors import InputError

_CHUNK = 10_000  # steps between two looks at the clock


@dataclass(frozen=True, eq=False)
class Task:
    """One network to train: examples X (N, d), labels y (N,), m units, and the seed of the first weights."""

    X: np.ndarray
    y: np.ndarray
    m: int
    seed: int


def descend_together(
    tasks: Sequence[Task],
    method: GradientDescent | None = None,
    *,
    loss: str = "squared",
    seconds: float = np.inf,
    progress: Callable[[int, int], object] | None = None,
) -> list[Trained]:
    """Train a network for each task, all of them in step.

    Parameters
    ----------
    tasks : sequence of Task
        Padded to the largest of them: put tasks of similar sizes together.
    method : GradientDescent, optional
    loss : {"squared", "logistic"}
    seconds : float
        Stop after so many.
    progress : callable, optional
        Called now and then with the steps taken and their number.

    Returns
    -------
    list of Trained
        In the order of the tasks; each has the seconds of all of them. Also after Ctrl-C.
    """
    try:
        import jax
    except ImportError:
        raise InputError(
            'descend_together: this needs JAX; run `pip install "zonofit[gpu]"`, or call descend for each task.'
        ) from None
    if not tasks:
        raise InputError("tasks: there are none; pass at least one.")
    method = method or GradientDescent()
    since = time.perf_counter()
    with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
        state, data = _stack(tasks, method, loss)
        done, reason = 0, "steps"
        take = _steps(method, loss == "logistic")
        try:
            while done < method.steps:
                if time.perf_counter() - since >= seconds:
                    reason = "seconds"
                    break
                chunk = min(_CHUNK, method.steps - done)
                state = jax.block_until_ready(take(state, data, done, chunk))
                done += chunk
                if progress is not None:
                    progress(done, method.steps)
        except KeyboardInterrupt:
            reason = "interrupted"
        W, v, c = (np.asarray(part, float) for part in state[0])
    spent = time.perf_counter() - since
    return [_trained(task, W[k], v[k], c[k], loss, done, spent, reason) for k, task in enumerate(tasks)]


def _stack(tasks: Sequence[Task], method: GradientDescent, loss: str):
    """Weights and moments, and the data, of all tasks in arrays (tasks, ...) padded with zeros."""
    import jax.numpy as jnp

    ready = [checked(task.X, task.y, task.m, loss) for task in tasks]
    B, m = len(tasks), max(task.m for task in tasks)
    N, n = max(len(y) for _, y in ready), max(X.shape[1] for X, _ in ready) + 1
    XT, y, p = np.zeros((B, n, N)), np.zeros((B, N)), np.zeros((B, N))
    W, v, c = np.zeros((B, m, n)), np.zeros((B, m)), np.zeros(B)
    for k, (task, (X, labels)) in enumerate(zip(tasks, ready, strict=True)):
        examples, d = X.shape
        XT[k, :d, :examples], XT[k, -1, :examples] = X.T, 1.0  # the 1 of the bias comes last, after missing features
        y[k, :examples], p[k, :examples] = labels, (1.0 if method.scale == "sum" else 1.0 / examples)
        own, v[k, : task.m], c[k] = parts(begin(d, task.m, method, task.seed), task.m)
        W[k, : task.m, :d], W[k, : task.m, -1] = own[:, :-1], own[:, -1]
    kind = jnp.float64 if method.precision == "double" else jnp.float32
    weights = tuple(jnp.asarray(array, kind) for array in (W, v, c))
    zero = tuple(jnp.zeros_like(array) for array in weights)
    moments = (zero, zero) if method.optimiser == "adam" else ()
    return (weights, moments), tuple(jnp.asarray(array, kind) for array in (XT, y, p))


def _steps(method: GradientDescent, logistic: bool):
    """The compiled function that takes so many steps."""
    import jax
    import jax.numpy as jnp
    from jax import lax

    exact = lax.Precision.HIGHEST  # else single precision is taken for less on a GPU

    def gradient(weights, data):
        (W, v, c), (XT, y, p) = weights, data
        Z = jnp.maximum(jnp.einsum("kjb,kbi->kji", W, XT, precision=exact), 0)
        u = jnp.einsum("kj,kji->ki", v, Z, precision=exact) + c[:, None]
        e = p * (jax.nn.sigmoid(u) - y) if logistic else 2 * p * (u - y)
        S = jnp.where(Z > 0, v[:, :, None] * e[:, None, :], 0)
        up = jnp.einsum("kji,ki->kj", Z, e, precision=exact) if method.train_output else jnp.zeros_like(v)
        return jnp.einsum("kji,kbi->kjb", S, XT, precision=exact), up, e.sum(axis=1)

    def plain(step, state, data):
        weights, moments = state
        moved = (w - method.rate * g for w, g in zip(weights, gradient(weights, data), strict=True))
        return tuple(moved), moments

    def adam(step, state, data):
        weights, (first, second) = state
        slope = gradient(weights, data)
        first = tuple(0.9 * a + 0.1 * g for a, g in zip(first, slope, strict=True))
        second = tuple(0.999 * b + 0.001 * g * g for b, g in zip(second, slope, strict=True))
        at = jnp.asarray(step + 1, weights[0].dtype)
        one, two = 1 - 0.9**at, 1 - 0.999**at
        moved = (
            w - method.rate * (a / one) / (jnp.sqrt(b / two) + 1e-8)
            for w, a, b in zip(weights, first, second, strict=True)
        )
        return tuple(moved), (first, second)

    step = adam if method.optimiser == "adam" else plain

    # with a number of turns that is known beforehand a GPU need not ask the processor after each whether to go on
    @partial(jax.jit, static_argnums=3)
    def take(state, data, begin, number):
        return lax.fori_loop(0, number, lambda k, now: step(begin + k, now, data), state)

    return take


def _trained(task: Task, W, v, c: float, loss: str, steps: int, seconds: float, reason: str) -> Trained:
    X, y = checked(task.X, task.y, task.m, loss)
    W = np.c_[W[: task.m, : X.shape[1]], W[: task.m, -1]]
    v = v[: task.m]
    finite = bool(np.isfinite(W).all() and np.isfinite(v).all() and np.isfinite(c))
    value = np.inf
    if finite:
        u = np.maximum(np.c_[X, np.ones(len(X))] @ W.T, 0.0) @ v + c
        losses = (u - y) ** 2 if loss == "squared" else np.logaddexp(0.0, u) - y * u
        value = float(losses.mean())
    return Trained(W, float(c), v, value, steps, seconds, reason if finite else "diverged")
