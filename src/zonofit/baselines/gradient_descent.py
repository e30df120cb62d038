r"""Batch gradient descent on a one-hidden-layer ReLU network, as the paper trains it (app. H.1.2 and H.2.2).

One step: θ ← θ - rate · ∂L/∂θ over all examples; θ = (W, v, c) on synthetic data, and (W, c) with v half 1 and half -1
on the image tasks. The recipe leaves open whether L is the mean of the losses or their sum, which makes a rate N times
as large, whether "gradient descent" is the plain one or Adam's, and what v begins with. `GradientDescent` has a setting
for each, and docs/notes.md says which of them gives the paper's numbers.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from zonofit.errors import InputError

__all__ = ["GradientDescent", "Trained", "descend", "glorot"]

LOSSES = ("squared", "logistic")
_CHOICES = {
    "scale": ("mean", "sum"),
    "optimiser": ("gradient", "adam"),
    "output": ("glorot", "signs", "normal"),
    "precision": ("double", "single"),
}
_CHUNK = 0.2  # seconds between two looks at the clock, and at whether the caller wants to stop


@dataclass(frozen=True)
class GradientDescent:
    """The recipe.

    Parameters
    ----------
    steps : int
        The paper takes 400,000 on synthetic data and 1,000,000 on the image tasks.
    rate : float
        Learning rate.
    scale : {"mean", "sum"}
        What is differentiated: the mean of the losses, or their sum.
    optimiser : {"gradient", "adam"}
        Plain steps, or those of Adam with its usual constants.
    train_output : bool
        Whether v is trained.
    output : {"glorot", "signs", "normal"}
        What v begins with: Glorot's uniform distribution, half 1 and half -1, or a standard normal one.
    precision : {"double", "single"}
        Of every number while training; the loss at the end is always computed in doubles.
    """

    steps: int = 400_000
    rate: float = 1e-3
    scale: str = "mean"
    optimiser: str = "gradient"
    train_output: bool = True
    output: str = "glorot"
    precision: str = "double"

    def __post_init__(self) -> None:
        """Refuse settings that are none."""
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise InputError(f"{name}: {getattr(self, name)!r} will not do; choose one of {', '.join(choices)}.")
        if isinstance(self.steps, bool) or not isinstance(self.steps, (int, np.integer)) or self.steps < 0:
            raise InputError(f"steps: {self.steps!r} will not do; pass a whole number that is not negative.")
        if not 0 < self.rate < np.inf:
            raise InputError(f"rate: {self.rate!r} will not do; pass a number above 0.")


@dataclass(frozen=True, eq=False)
class Trained:
    """What came of it.

    Attributes
    ----------
    W, c, output_weights : ndarray (m, n), float, ndarray (m,)
    loss : float
        Mean loss; infinite if the steps ran away.
    steps : int
        Steps taken.
    seconds : float
    stop_reason : {"steps", "seconds", "diverged", "interrupted"}
    """

    W: np.ndarray
    c: float
    output_weights: np.ndarray
    loss: float
    steps: int
    seconds: float
    stop_reason: str


def glorot(m: int, d: int, rng: np.random.Generator, output: str = "glorot") -> tuple[np.ndarray, np.ndarray, float]:
    """Weights W (m, d + 1), output weights v (m,) and output bias c to begin with.

    Glorot and Bengio's uniform distribution, within ±√(6 / (inputs + outputs)) of a layer; biases are 0.
    """
    W = np.zeros((m, d + 1))
    W[:, :d] = rng.uniform(-1.0, 1.0, (m, d)) * np.sqrt(6.0 / (d + m))
    if output == "glorot":
        v = rng.uniform(-1.0, 1.0, m) * np.sqrt(6.0 / (m + 1))
    elif output == "normal":
        v = rng.standard_normal(m)
    else:
        v = np.where(np.arange(m) < (m + 1) // 2, 1.0, -1.0)
    return W, v, 0.0


def descend(
    X,
    y,
    m: int,
    method: GradientDescent | None = None,
    *,
    loss: str = "squared",
    seed: int = 0,
    seconds: float = np.inf,
    progress: Callable[[int, int], object] | None = None,
) -> Trained:
    """Train a network of m units.

    Parameters
    ----------
    X, y : array_like (N, d), (N,)
    m : int
    method : GradientDescent, optional
    loss : {"squared", "logistic"}
    seed : int
        Of the first weights.
    seconds : float
        Stop after so many.
    progress : callable, optional
        Called now and then with the steps taken and their number.

    Returns
    -------
    Trained
        Also after Ctrl-C, with ``stop_reason="interrupted"``.
    """
    from zonofit.baselines._gradient_kernel import advance, mean_loss

    method = method or GradientDescent()
    X, y = checked(X, y, m, loss)
    kind = np.float64 if method.precision == "double" else np.float32
    theta = begin(X.shape[1], m, method, seed).astype(kind)
    XT = np.ascontiguousarray(np.c_[X, np.ones(len(X))].T)
    data = XT.astype(kind), y.astype(kind)
    moments = np.zeros((2, theta.size if method.optimiser == "adam" else 0), kind)
    settings = loss == "logistic", method.train_output, method.rate, len(X) if method.scale == "sum" else 1
    since, done, chunk, reason = time.perf_counter(), 0, 1, "steps"
    try:
        while done < method.steps:
            now = time.perf_counter()
            if now - since >= seconds:
                reason = "seconds"
                break
            chunk = min(chunk, method.steps - done)
            advance(*data, theta, moments, m, done, chunk, *settings)
            done += chunk
            if not np.isfinite(theta).all():
                reason = "diverged"
                break
            if progress is not None:
                progress(done, method.steps)
            chunk = 2 * chunk if time.perf_counter() - now < _CHUNK / 2 else max(chunk, 1)
    except KeyboardInterrupt:
        reason = "interrupted"  # kernels end whole: the weights are those after `done` steps, or after one chunk more
    theta = theta.astype(float)
    value = float(mean_loss(XT, y, theta, m, loss == "logistic")) if np.isfinite(theta).all() else np.inf
    W, v, c = parts(theta, m)
    return Trained(W, c, v, value, done, time.perf_counter() - since, reason)


def begin(d: int, m: int, method: GradientDescent, seed: int) -> np.ndarray:
    """θ = (W, v, c) to begin with, in one vector."""
    W, v, c = glorot(m, d, np.random.default_rng(seed), method.output)
    return np.r_[W.ravel(), v, c]


def parts(theta: np.ndarray, m: int) -> tuple[np.ndarray, np.ndarray, float]:
    """W (m, n), v (m,) and c of θ."""
    n = (theta.size - 1) // m - 1
    return theta[: m * n].reshape(m, n).copy(), theta[m * n : -1].copy(), float(theta[-1])


def checked(X, y, m: int, loss: str) -> tuple[np.ndarray, np.ndarray]:
    """Examples and labels as arrays, or an `InputError`."""
    X, y = np.array(X, float), np.array(y, float)
    if X.ndim != 2 or 0 in X.shape or y.shape != X.shape[:1]:
        raise InputError(f"X: expected examples (N, d) and a label each, got shapes {X.shape} and {y.shape}.")
    if not (np.isfinite(X).all() and np.isfinite(y).all()):
        raise InputError("X: examples or labels are not finite; drop these rows first.")
    if isinstance(m, bool) or not isinstance(m, (int, np.integer)) or m < 1:
        raise InputError(f"m: {m!r} units will not do; pass at least 1.")
    if loss not in LOSSES:
        raise InputError(f"loss: {loss!r} is not one that gradient descent knows; choose one of {', '.join(LOSSES)}.")
    if loss == "logistic" and not np.isin(y, (0.0, 1.0)).all():
        raise InputError("y: the logistic loss takes labels 0 and 1; replace the others.")
    return X, y
