"""Gradient descent against slow twins, and compiled against batched."""

import numpy as np
import pytest

from zonofit.baselines.gradient_batched import Task, descend_together
from zonofit.baselines.gradient_descent import GradientDescent, begin, descend, glorot, parts
from zonofit.data import load_images, synthetic
from zonofit.errors import InputError


def reference(X, y, m, method, loss, seed):
    """The recipe in ten lines of NumPy, gradients by the chain rule."""
    G = np.c_[X, np.ones(len(X))]
    W, v, c = parts(begin(X.shape[1], m, method, seed), m)
    first, second = [0, 0, 0], [0, 0, 0]
    for t in range(1, method.steps + 1):
        H = np.maximum(G @ W.T, 0)
        u = H @ v + c
        e = 2 * (u - y) if loss == "squared" else 1 / (1 + np.exp(-u)) - y
        e = e / (len(y) if method.scale == "mean" else 1)
        slope = [((H > 0) * e[:, None] * v).T @ G, H.T @ e * method.train_output, e.sum()]
        if method.optimiser == "adam":
            first = [0.9 * a + 0.1 * g for a, g in zip(first, slope, strict=True)]
            second = [0.999 * a + 0.001 * g**2 for a, g in zip(second, slope, strict=True)]
            pairs = zip(first, second, strict=True)
            slope = [(a / (1 - 0.9**t)) / (np.sqrt(b / (1 - 0.999**t)) + 1e-8) for a, b in pairs]
        W, v, c = (part - method.rate * g for part, g in zip((W, v, c), slope, strict=True))
    return W, v, c


METHODS = [
    ("squared", GradientDescent(steps=1000)),
    ("squared", GradientDescent(steps=1000, scale="sum", output="normal")),
    ("squared", GradientDescent(steps=1000, optimiser="adam")),
    ("logistic", GradientDescent(steps=1000, output="signs", train_output=False)),
    ("logistic", GradientDescent(steps=1000, output="signs", train_output=False, optimiser="adam", scale="sum")),
]


def tasks_of(loss):
    if loss == "squared":
        return [Task(*synthetic(d, m_gen, seed), m, seed) for seed, (d, m_gen, m) in enumerate([(4, 2, 4), (3, 4, 6)])]
    return [Task(*load_images("mnist_49", d, N), m, 3) for d, N, m in ((8, 50, 4), (16, 40, 6))]


@pytest.mark.parametrize(("loss", "method"), METHODS)
def test_a_thousand_steps_agree_with_the_twin(loss, method):
    for task in tasks_of(loss):
        found = descend(task.X, task.y, task.m, method, loss=loss, seed=task.seed)
        W, v, c = reference(task.X, task.y, task.m, method, loss, task.seed)
        assert found.stop_reason == "steps" and found.steps == 1000
        for ours, theirs in ((found.W, W), (found.output_weights, v), (found.c, c)):
            assert np.allclose(ours, theirs, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(("loss", "method"), METHODS)
def test_a_thousand_steps_batched_are_those_compiled(loss, method):
    pytest.importorskip("jax")
    tasks = tasks_of(loss)  # of different sizes, so that all but the largest are padded
    for task, batched in zip(tasks, descend_together(tasks, method, loss=loss), strict=True):
        alone = descend(task.X, task.y, task.m, method, loss=loss, seed=task.seed)
        assert batched.W.shape == alone.W.shape and batched.stop_reason == "steps"
        for ours, theirs in (
            (batched.W, alone.W), (batched.output_weights, alone.output_weights), (batched.c, alone.c)
        ):  # fmt: skip
            assert np.allclose(ours, theirs, rtol=1e-9, atol=1e-11)
        assert np.isclose(batched.loss, alone.loss, rtol=1e-9)


def test_steps_in_parts_are_steps_at_once():
    X, y = synthetic(4, 2, 0)
    calls = []
    one = descend(X, y, 4, GradientDescent(steps=5000), progress=lambda *done: calls.append(done))
    assert calls[-1] == (5000, 5000) and len(calls) > 3
    W, v, c = reference(X, y, 4, GradientDescent(steps=5000), "squared", 0)
    u = np.maximum(np.c_[X, np.ones(len(X))] @ W.T, 0) @ v + c
    assert np.isclose(one.loss, np.mean((u - y) ** 2), rtol=1e-6)


def test_it_says_why_it_stopped():
    X, y = synthetic(4, 4, 1)
    assert descend(X, y, 4, GradientDescent(steps=10**9), seconds=0.05).stop_reason == "seconds"
    away = descend(X, 100 * y, 4, GradientDescent(steps=10**5, rate=10.0))
    assert away.stop_reason == "diverged" and away.loss == np.inf

    def stop(*_):
        raise KeyboardInterrupt

    early = descend(X, y, 4, GradientDescent(steps=10**9), progress=stop)
    assert early.stop_reason == "interrupted" and np.isfinite(early.loss) and 0 < early.steps < 10**9


def test_single_precision_ends_where_rounding_does():
    X, y = synthetic(4, 2, 3)
    fine, coarse = (
        descend(X, y, 8, GradientDescent(steps=200_000, scale="sum", precision=kind)) for kind in ("double", "single")
    )
    assert fine.loss < 1e-18 < 1e-15 < coarse.loss < 1e-9


def test_first_weights_are_within_the_bounds_of_glorot():
    W, v, c = glorot(300, 20, np.random.default_rng(0))
    bound = np.sqrt(6 / 320)
    assert np.max(np.abs(W[:, :-1])) <= bound and np.isclose(W[:, :-1].std(), bound / np.sqrt(3), rtol=0.05)
    assert not W[:, -1].any() and c == 0.0 and np.max(np.abs(v)) <= np.sqrt(6 / 301)
    assert glorot(5, 2, np.random.default_rng(0), "signs")[1].tolist() == [1, 1, 1, -1, -1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scale": "median"}, "^scale: 'median' will not do; choose one of mean, sum"),
        ({"steps": -1}, "^steps: "), ({"rate": 0.0}, "^rate: "), ({"precision": "half"}, "^precision: "),
    ],
)  # fmt: skip
def test_settings_are_refused_by_name(change, message):
    with pytest.raises(InputError, match=message):
        GradientDescent(**change)


def test_data_are_refused_by_name():
    X, y = synthetic(4, 2, 0)
    for arguments, loss, message in (
        ((X, y[1:], 2), "squared", "^X: expected"), ((X * np.nan, y, 2), "squared", "^X: .*not finite"),
        ((X, y, 0), "squared", "^m: "), ((X, y, 2), "logistic", "^y: "), ((X, y, 2), "hinge", "^loss: "),
    ):  # fmt: skip
        with pytest.raises(InputError, match=message):
            descend(*arguments, loss=loss)
    pytest.importorskip("jax")
    with pytest.raises(InputError, match=r"^tasks: "):
        descend_together([])
