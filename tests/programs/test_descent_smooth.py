"""Facet descent for losses that are no squares: judges, vertex programs, symmetries, data without a minimum."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from tests.programs.reference_descent import steepest_slope
from tests.programs.test_descent import Cosh, degenerate, problem, run, scale_of
from zonofit.programs._descent_losses import _measure, _probe, compiled
from zonofit.programs.losses import Huber, Logistic
from zonofit.programs.problem import Problem


class OwnLogistic(Logistic):
    """Inherits, so no kernel may be assumed to know it."""


class OwnHuber(Huber):
    """The same for Huber's loss."""


LOSSES = [Logistic(), Huber(0.5), Huber(1e-3), Huber(50.0), Cosh(), OwnLogistic()]
SLOPE = 2e-6  # of which the kernel promises half


def name(loss):
    return type(loss).__name__ + str(getattr(loss, "delta", ""))


def labels(loss, y):
    return np.where(y > 0, 1.0, 0.0) if isinstance(loss, Logistic) else y


def height(loss, X, y, p, v, W, c, alpha=0.0):
    return p @ loss.value(np.maximum(X @ W.T, 0) @ v + c, y) + 0.5 * alpha * (W**2).sum()


@pytest.mark.parametrize("loss", LOSSES, ids=name)
@pytest.mark.parametrize(
    "N, d, m, alpha", [(60, 3, 3, 0.0), (60, 3, 3, 0.02), (40, 1, 4, 1e-3), (12, 3, 5, 0.02), (90, 5, 2, 0.0)]
)
def test_local_minima_are_local_minima(loss, N, d, m, alpha):
    for seed in range(6):
        X, y, p, v, W = problem(N, d, m, seed, noise=0.5)
        y = labels(loss, y)
        found = run(X, y, p, v, W, loss=loss, alpha=alpha)
        assert found.loss <= height(loss, X, y, p, v, W, 0.0, alpha)
        assert found.status in ("local minimum", "exact")
        if found.status == "exact":
            assert alpha == 0.0 and found.loss <= 1e-15
            continue
        slope = steepest_slope(X, y, p, v, found.W, found.c, found.on_walls, alpha, loss=loss)
        assert slope >= -SLOPE * scale_of(X, found.nu)


@pytest.mark.parametrize("loss", ["logistic", Huber(0.5), Cosh()], ids=str)
@pytest.mark.parametrize("alpha", [1e-3, 0.1])
def test_between_two_vertex_programs(loss, alpha):
    moved = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((40, 2))
        y = (X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(40) > 0).astype(float)
        many = Problem(X, y, 4, loss=loss, alpha=alpha)
        start = many.solve(many.patterns(rng.standard_normal((4, 3))))
        found = many.descend(start.W, start.c)
        assert found.objective <= start.objective * (1 + 1e-9)
        moved += found.objective < 0.99 * start.objective
        assert found.status == "local minimum"
        here = many.solve(found.patterns, check=False)  # convex: a local minimum is the least of its own chamber
        assert here.objective == pytest.approx(found.objective, rel=1e-7)
    assert moved >= 3


@pytest.mark.parametrize(
    "pair", [(Logistic(), OwnLogistic()), (Huber(0.5), OwnHuber(0.5))], ids=lambda pair: name(pair[0])
)
def test_kernels_take_the_steps_that_numpy_takes(pair):
    assert compiled(pair[0]) is not None and compiled(pair[1]) is None
    same = 0
    for seed in range(4):
        for N, m, alpha in ((60, 3, 0.0), (12, 5, 0.02)):
            X, y, p, v, W = problem(N, 3, m, seed, noise=0.5)
            y = labels(pair[0], y)
            one, other = (run(X, y, p, v, W, loss=loss, alpha=alpha, max_steps=2) for loss in pair)
            assert one.loss == pytest.approx(other.loss, rel=1e-6) and np.allclose(one.W, other.W, atol=1e-3)
            one, other = (run(X, y, p, v, W, loss=loss, alpha=alpha, max_steps=6) for loss in pair)
            same += abs(one.loss - other.loss) <= 1e-9 * one.loss and one.flips == other.flips
    assert same >= 4  # a step that ends within rounding of a wall may end on either side


@pytest.mark.parametrize("loss", [Logistic(), Huber(0.5)], ids=name)
def test_kernels_know_the_losses(loss):
    code, parameter = compiled(loss)
    edges = np.array([0.0, 1e-300, 1e-9, 0.5, 1.0, 30.0, 36.7, 700.0, 746.0, 1e8])
    u = np.r_[edges, -edges, 0.5 + edges, 1.0 - edges]
    for y in (np.zeros(len(u)), np.ones(len(u)), np.full(len(u), 0.3)):
        p, nu, h = np.linspace(1, 2, len(u)), np.empty(len(u)), np.empty(len(u))
        total = _measure(code, parameter, u, y, p, nu, h)
        assert total == pytest.approx(p @ loss.value(u, y), rel=1e-13)
        assert np.allclose(nu, p * loss.slope(u, y), rtol=1e-13, atol=1e-300)
        assert np.allclose(h, p * loss.curvature(u, y), rtol=1e-12, atol=1e-300)
        rate = np.cos(np.arange(len(u)))
        there, slope = _probe(code, parameter, u - 2.0 * rate, rate, 2.0, y, p)
        assert there == pytest.approx(total, rel=1e-9)
        assert slope == pytest.approx(nu @ rate, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("loss", LOSSES, ids=name)
def test_values_never_rise(loss):
    X, y, p, v, W = problem(50, 3, 4, 2, noise=0.5)
    y = labels(loss, y)
    losses = [run(X, y, p, v, W, loss=loss, max_steps=k).loss for k in [*range(30), 1000]]
    assert losses[0] == pytest.approx(height(loss, X, y, p, v, W, 0.0))
    assert np.all(np.diff(losses) <= 1e-13 * losses[0])
    assert run(X, y, p, v, W, loss=loss, max_steps=3).steps == 3
    goal = 0.5 * (losses[0] + losses[-1])
    early = run(X, y, p, v, W, loss=loss, target=goal)
    assert early.status == "target" and early.loss <= goal


@pytest.mark.parametrize("loss", [Logistic(), OwnLogistic()], ids=name)
def test_separable_data_end(loss):
    for seed in range(5):
        X, y, p, v, W = problem(30, 4, 8, seed)
        y = labels(loss, y)
        found = run(X, y, p, v, W, loss=loss)
        u = np.maximum(X @ found.W.T, 0) @ v + found.c
        assert found.status == "exact" and found.loss <= 1e-15 and np.array_equal(u > 0, y > 0)
        assert found.steps < 200 and np.abs(u).max() < 1e6
    ones = run(X, np.ones(30), p, v, W, loss=loss, alpha=0.1)  # the bias alone separates them, whatever the ridge
    assert ones.status == "exact" and ones.steps < 100


def test_separable_in_part():
    """A few examples of both classes at one place; the loss has a positive infimum that only infinite weights reach."""
    X, y, p, v, W = problem(30, 2, 8, 0)
    y = (y > 0).astype(float)
    X, y, p = np.r_[X, X[:3]], np.r_[y, 1 - y[:3]], np.r_[p, p[:3]] / (1 + p[:3].sum())
    least = 2 * p[:3].sum() * np.log(2)
    found = run(X, y, p, v, W, loss=Logistic(), max_steps=3000)
    assert found.status == "local minimum" and least <= found.loss <= 1.5 * least


@pytest.mark.parametrize("loss", LOSSES[:3], ids=name)
@pytest.mark.parametrize("factor", [1e-12, 1e3, 1e6])
def test_starts_of_any_size(loss, factor):
    for seed in range(4):
        X, y, p, v, W = problem(50, 3, 4, seed, noise=0.5)
        y = labels(loss, y)
        found = run(X, y, p, v, factor * W, loss=loss, alpha=1e-3)
        best = min(height(loss, X, y, p, v, 0 * W, c) for c in np.linspace(-2, 2, 401))
        assert found.status == "local minimum" and found.loss <= best * (1 + 1e-9)


@pytest.mark.parametrize("case", list(degenerate()), ids=lambda case: case[0].replace(" ", "-"))
@pytest.mark.parametrize("loss", LOSSES[:2] + LOSSES[4:5], ids=name)
@pytest.mark.parametrize("alpha", [0.0, 0.05])
def test_degenerate_data(case, loss, alpha):
    X, y, p, v, W = case[1]
    y = labels(loss, y)
    if case[0] == "huge weights":
        W = W * 1e-6  # what is left of labels of size 1 beside 1e8 is rounding
    start = height(loss, X, y, p, v, W, 0.0, alpha)
    found = run(X, y, p, v, W, loss=loss, alpha=alpha, max_steps=2000)
    assert found.loss <= start
    assert found.status in ("local minimum", "exact")
    if found.status == "local minimum":
        slope = steepest_slope(X, y, p, v, found.W, found.c, found.on_walls, alpha, loss=loss)
        assert slope >= -SLOPE * scale_of(X, found.nu) - 1e-15


def test_integers_and_duplicates():
    """Walls that depend on each other: one release at a time would miss descents here."""
    for seed in range(25):
        X, y, p, v, W = problem(60, 2, 4, seed, noise=0.5)
        X = np.round(X)
        for alpha in (0.0, 1e-3):
            found = run(X, y, p, v, W, loss=Huber(0.5), alpha=alpha)
            slope = steepest_slope(X, y, p, v, found.W, found.c, found.on_walls, alpha, loss=Huber(0.5))
            assert found.status == "local minimum" and slope >= -SLOPE * scale_of(X, found.nu)


def test_all_walls_are_known_before_a_minimum_is_claimed():
    """A step that ends on a wall without holding it knows the slopes on one side only."""
    X, y, p, v, W = problem(31, 1, 5, 512, noise=2.0)
    found = run(X, y, p, v, W, loss=Cosh())
    assert found.status == "local minimum" and found.on_walls.any()
    slope = steepest_slope(X, y, p, v, found.W, found.c, found.on_walls, loss=Cosh())
    assert slope >= -SLOPE * scale_of(X, found.nu)


def test_a_unit_leaves_zero_where_patterns_are_alike():
    """With the bias at its best, no example is a descent, nor is the gradient: only directions between examples are."""
    X, y, p, v, W = problem(24, 1, 5, 624)
    W[3] = 0.0
    found = run(X, y, p, v, W, loss=Huber(0.5))
    assert found.status == "exact"


def test_symmetries():
    X, y, p, v, W = problem(50, 3, 4, 3, noise=0.5)
    bits = (y > 0).astype(float)
    found = run(X, bits, p, v, W, 0.2, loss=Logistic(), alpha=0.01)
    mirror = run(X, 1 - bits, p, -v, W, -0.2, loss=Logistic(), alpha=0.01)
    assert mirror.loss == pytest.approx(found.loss, rel=1e-7) and mirror.c == pytest.approx(-found.c, rel=1e-4)
    rng = np.random.default_rng(0)
    units, rows = rng.permutation(4), rng.permutation(50)
    other = run(X[rows], bits[rows], p[rows], v[units], W[units], 0.2, loss=Logistic(), alpha=0.01)
    assert other.loss == pytest.approx(found.loss, rel=1e-7)
    found = Problem(X[:, :3], y, v, loss=Huber(0.5)).descend(W)
    scaled = Problem(X[:, :3], 8 * y, v, loss=Huber(4.0)).descend(8 * W)
    assert scaled.loss == pytest.approx(64 * found.loss, rel=1e-6)
    wide = run(X, y, p, v, W, loss=Huber(1e6), alpha=0.01)  # no residual is that large
    assert steepest_slope(X, y, p, v, wide.W, wide.c, wide.on_walls, 0.01) >= -SLOPE * scale_of(X, wide.nu)


def test_as_good_as_a_quasi_newton_method():
    ours, theirs = [], []
    for seed in range(12):
        X, y, p, v, W = problem(80, 3, 4, seed, noise=0.5)
        y = (y > 0).astype(float)

        def both(t, X=X, y=y, p=p, v=v, shape=W.shape):
            W, c = t[:-1].reshape(shape), t[-1]
            Z = X @ W.T
            u = np.maximum(Z, 0) @ v + c
            nu = p * Logistic().slope(u, y)
            g = (v[:, None] * ((Z > 0) * nu[:, None]).T) @ X + 0.01 * W
            return p @ Logistic().value(u, y) + 0.005 * (W**2).sum(), np.r_[g.ravel(), nu.sum()]

        theirs.append(minimize(both, np.r_[W.ravel(), 0.0], jac=True, method="L-BFGS-B", options={"maxiter": 2000}).fun)
        ours.append(run(X, y, p, v, W, loss=Logistic(), alpha=0.01).loss)
    assert np.median(ours) <= 1.02 * np.median(theirs) and np.mean(ours) <= 1.02 * np.mean(theirs)
