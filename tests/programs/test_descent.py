"""Facet descent: against its twin, against independent judges, under symmetries, on degenerate data."""

from __future__ import annotations

import numpy as np
import pytest

from tests.programs.reference_descent import descend, steepest_slope, value
from zonofit.errors import InputError
from zonofit.programs.descent import STATUSES, descend_open
from zonofit.programs.losses import Absolute, Huber, Logistic, Loss, Squared

SQUARED = Squared()


class Cosh(Loss):
    """A loss that only NumPy knows."""

    def value(self, u, y):
        return np.cosh(np.clip(u - y, -300, 300)) - 1

    def slope(self, u, y):
        return np.sinh(np.clip(u - y, -300, 300))

    def curvature(self, u, y):
        return np.cosh(np.clip(u - y, -300, 300))

    def conjugate(self, s, y):
        return s * y + s * np.arcsinh(s) - np.sqrt(1 + s * s) + 1


def problem(N, d, m, seed, generating=3, noise=0.0):
    rng = np.random.default_rng(seed)
    X = np.c_[rng.standard_normal((N, d)), np.ones(N)]
    y = np.maximum(X @ rng.standard_normal((d + 1, generating)), 0) @ rng.standard_normal(generating)
    y = y + noise * rng.standard_normal(N)
    y = (y - y.mean()) / max(y.std(), 1e-3)
    p = rng.random(N) + 0.5
    v = np.where(rng.random(m) < 0.5, -1.0, 1.0)
    return X, y, p / p.sum(), v, rng.standard_normal((m, d + 1))


def run(X, y, p, v, W, c=0.0, loss=SQUARED, **options):
    result = descend_open(X, y, p, v, W, c, loss=loss, **options)
    assert result.status in STATUSES
    assert np.isfinite(result.W).all() and np.isfinite(result.loss) and np.isfinite(result.nu).all()
    return result


def scale_of(X, nu):
    return np.linalg.norm(np.linalg.norm(X, axis=1) * nu)


@pytest.mark.parametrize("alpha", [0.0, 0.03])
def test_twin_finds_the_same_values(alpha):
    same = 0
    for seed in range(12):
        data = problem(24, 2, 3, seed, noise=0.2)
        ours = run(*data, alpha=alpha, valleys=0)
        W, c, history = descend(*data, 0.0, alpha)
        assert np.all(np.diff(history) <= 1e-9)
        same += abs(ours.loss - value(*data[:4], W, c, alpha)) <= 1e-6 * ours.loss
    assert same >= 7


@pytest.mark.parametrize(
    "N, d, m, alpha, noise", [(24, 2, 3, 0.0, 0.3), (60, 3, 4, 0.0, 0.3), (40, 4, 3, 0.02, 0.3), (15, 4, 6, 0.05, 0.3),
    (14, 3, 4, 0.0, 0.0)]
)  # fmt: skip
def test_local_minima_are_local_minima(N, d, m, alpha, noise):
    for seed in range(8):
        X, y, p, v, W = problem(N, d, m, seed, noise=noise)
        before = value(X, y, p, v, W, 0.0, alpha)
        found = run(X, y, p, v, W, alpha=alpha)
        assert found.status in ("local minimum", "exact")
        assert found.loss <= before
        assert found.loss == pytest.approx(value(X, y, p, v, found.W, found.c, alpha), rel=1e-12, abs=1e-28)
        if found.status == "exact":
            assert found.loss <= 1e-24
            continue
        tolerance = 1e-5 * scale_of(X, found.nu)
        assert steepest_slope(X, y, p, v, found.W, found.c, found.on_walls, alpha) >= -tolerance
        rng = np.random.default_rng(seed)
        for _ in range(200):  # and by the values themselves, which know nothing of walls
            dW, dc = rng.standard_normal(W.shape), rng.standard_normal()
            step = 1e-7 / np.sqrt((dW**2).sum() + dc**2)
            assert (
                value(X, y, p, v, found.W + step * dW, found.c + step * dc, alpha)
                >= found.loss - 1e-7 * tolerance - 1e-15
            )


def test_patterns_walls_and_nu_are_those_of_the_weights():
    X, y, p, v, W = problem(60, 3, 4, 1, noise=0.3)
    found = run(X, y, p, v, W)
    Z = X @ found.W.T
    assert found.on_walls.any() and not (found.patterns & found.on_walls).any()
    assert np.abs(Z.T[found.on_walls]).max() <= 1e-9 * np.abs(Z).max()
    off = ~found.on_walls
    assert np.array_equal(found.patterns[off], (Z.T > 0)[off])
    assert np.allclose(found.nu, 2 * p * (np.maximum(Z, 0) @ v + found.c - y), atol=1e-12)


def test_descent_is_monotone_and_budget_is_kept():
    data = problem(60, 3, 4, 2, noise=0.3)
    losses = [run(*data, max_steps=k).loss for k in range(0, 25)]
    assert losses[0] == pytest.approx(value(*data[:4], data[4], 0.0))
    assert np.all(np.diff(losses) <= 1e-12)
    short = run(*data, max_steps=3)
    assert short.status == "steps" and short.steps == 3
    goal = 0.5 * (losses[0] + losses[-1])
    early = run(*data, target=goal)
    assert early.status == "target" and early.loss <= goal and early.steps < 25


@pytest.mark.parametrize("d, generating, m", [(8, 8, 16), (16, 8, 16)])
def test_twice_the_units_fit_exactly(d, generating, m):
    for seed in range(4):
        X, y, p, v, W = problem((d + 1) * generating, d, m, seed, generating)
        found = run(X, y, p, v, W)
        assert found.status == "exact" and found.loss <= 1e-24 and found.steps < 80


def test_many_features_and_more_examples():
    for d in (30, 31, 32, 45):
        X, y, p, v, W = problem(3 * d, d, 2, d, noise=0.5)
        found = run(X, y, p, v, W)
        assert found.status == "local minimum" and found.steps < 200
        assert steepest_slope(X, y, p, v, found.W, found.c, found.on_walls) >= -1e-6 * scale_of(X, found.nu)


def test_valleys_are_crossed():
    better = 0
    for seed in range(20):
        data = problem(36, 8, 8, seed, 4)
        here, beyond = run(*data, valleys=0), run(*data)
        assert beyond.loss <= here.loss * (1 + 1e-9) + 1e-24
        better += here.status != "exact" and beyond.status == "exact"
    assert better >= 1


def test_units_and_examples_in_any_order():
    X, y, p, v, W = problem(40, 3, 4, 3, noise=0.3)
    found = run(X, y, p, v, W, alpha=0.01)
    rng = np.random.default_rng(0)
    units, rows = rng.permutation(4), rng.permutation(40)
    other = run(X, y, p, v[units], W[units], alpha=0.01)
    assert other.loss == pytest.approx(found.loss, rel=1e-7)
    assert np.allclose(other.W, found.W[units], atol=1e-5)
    other = run(X[rows], y[rows], p[rows], v, W, alpha=0.01)
    assert other.loss == pytest.approx(found.loss, rel=1e-7)
    assert np.array_equal(other.on_walls, found.on_walls[:, rows])


@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_labels_scale(factor):
    X, y, p, v, W = problem(40, 3, 4, 4, noise=0.3)
    found, scaled = run(X, y, p, v, W), run(X, factor * y, p, v, factor * W)
    assert scaled.loss == pytest.approx(factor**2 * found.loss, rel=1e-6)
    assert np.allclose(scaled.W, factor * found.W, rtol=1e-4, atol=1e-6 * factor)


def test_output_weights_of_any_size_are_signs_in_disguise():
    X, y, p, v, W = problem(40, 3, 4, 5, noise=0.3)
    size = np.array([0.1, 3.0, 1.0, 20.0])
    found, other = run(X, y, p, v, W), run(X, y, p, v * size, W / size[:, None])
    assert other.loss == pytest.approx(found.loss, rel=1e-9)
    assert np.allclose(other.W * size[:, None], found.W, atol=1e-6)
    for wide in (problem(40, 3, 4, 5, noise=0.3), problem(12, 3, 4, 5, noise=0.3)):
        X, y, p, v, W = wide
        found = run(X, y, p, v * size, W, alpha=0.02)
        assert (
            steepest_slope(X, y, p, v * size, found.W, found.c, found.on_walls, 0.02)
            >= -1e-5 * scale_of(X, found.nu) * 20
        )


def test_bias_may_be_fixed():
    X, y, p, v, W = problem(40, 3, 4, 6, noise=0.3)
    for alpha in (0.0, 0.1):
        fixed, free = run(X, y, p, v, W, 0.7, bias_free=False, alpha=alpha), run(X, y, p, v, W, 0.7, alpha=alpha)
        assert fixed.c == 0.7
        assert free.nu.sum() == pytest.approx(0.0, abs=1e-7)
    X, y, p, v, W = problem(12, 3, 6, 6, noise=0.3)
    assert run(X, y, p, v, W, 0.7, bias_free=False, alpha=0.1).c == 0.7


def test_weightless_examples_do_not_pull():
    X, y, p, v, W = problem(40, 3, 4, 7, noise=0.3)
    p[::4] = 0.0
    p /= p.sum()
    found, part = run(X, y, p, v, W), run(X[p > 0], y[p > 0], p[p > 0], v, W)
    assert found.loss == part.loss and np.array_equal(found.W, part.W)
    assert found.patterns.shape == (4, 40) and not found.nu[::4].any()


def degenerate():
    X, y, p, v, W = problem(30, 3, 4, 8, noise=0.3)
    yield "duplicates", (np.repeat(X, 3, 0), np.r_[y, y + 1, y - 1], np.tile(p, 3) / 3, v, W)
    yield "one example", (X[:1], y[:1], np.ones(1), v, W)
    yield "one unit", (X, y, p, v[:1], W[:1])
    yield "fewer examples than features", (X[:2], y[:2], np.full(2, 0.5), v, W)
    yield "constant labels", (X, np.ones(30), p, v, W)
    yield "zero labels", (X, np.zeros(30), p, v, W)
    yield "start at zero", (X, y, p, v, np.zeros_like(W))
    yield "one unit at zero", (X, y, p, v, np.r_[W[:3], np.zeros((1, 4))])
    yield "dead units", (X, y, p, v, np.tile([0.0, 0, 0, -1.0], (4, 1)))
    yield "starts on a wall", (X, y, p, v, np.linalg.svd(X[:3])[2][-1:] * np.ones((4, 1)))
    yield "equal units", (X, y, p, np.ones(4), np.tile(W[:1], (4, 1)))
    yield "zero output weight", (X, y, p, np.r_[0.0, v[1:]], W)
    yield "an example at the origin", (np.r_[X, np.zeros((1, 4))], np.r_[y, 1.0], np.r_[p, 0.1] / 1.1, v, W)
    yield "opposite examples", (np.r_[X, -X], np.r_[y, 0.3 * y], np.r_[p, p] / 2, v, W)
    yield "integers", (np.round(X), np.round(y), p, v, np.round(W))
    yield "one feature", (X[:, 3:], y, p, v, W[:, 3:])
    yield "tiny weights", (X, y, p, v, 1e-12 * W)
    yield "huge weights", (X, y, p, v, 1e8 * W)


@pytest.mark.parametrize("case", list(degenerate()), ids=lambda case: case[0].replace(" ", "-"))
@pytest.mark.parametrize("alpha", [0.0, 0.05])
def test_degenerate_data(case, alpha):
    X, y, p, v, W = case[1]
    start = value(X, y, p, v, W, 0.0, alpha)
    found = run(X, y, p, v, W, alpha=alpha, max_steps=2000)
    assert found.loss <= start
    assert found.status in ("local minimum", "exact")
    mean = value(X, y, p, v, 0 * W, p @ y)
    assert found.loss <= mean * (1 + 1e-9) + 1e-24  # at worst a constant, which every start can reach by its bias alone


def test_duplicates_move_together():
    X, y, p, v, W = problem(30, 3, 3, 9, noise=0.3)
    both = np.r_[X, X], np.r_[y, y], np.r_[p, p] / 2
    once, found = run(X, y, p, v, W), run(*both, v, W)
    assert found.status == "local minimum"
    for one, other in (((X, y, p), found), (both, once)):  # a local minimum of one is a local minimum of the other
        there = run(*one, v, other.W, other.c)
        assert there.loss == pytest.approx(other.loss, rel=1e-9) and there.releases == 0
    assert np.array_equal(found.on_walls[:, :30], found.on_walls[:, 30:])
    assert steepest_slope(*both, v, found.W, found.c, found.on_walls) >= -1e-5 * scale_of(both[0], found.nu)


@pytest.mark.parametrize("loss", [Logistic(), Huber(0.5), Cosh()], ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("N, m, alpha", [(60, 3, 0.02), (12, 5, 0.02), (60, 3, 0.0)])
def test_smooth_losses(loss, N, m, alpha):
    for seed in range(3):
        X, y, p, v, W = problem(N, 3, m, seed, noise=0.5)
        y = np.where(y > 0, 1.0, 0.0) if isinstance(loss, Logistic) else y

        def height(W, c, X=X, y=y, p=p, v=v):
            return p @ loss.value(np.maximum(X @ W.T, 0) @ v + c, y) + 0.5 * alpha * (W**2).sum()

        found = run(X, y, p, v, W, loss=loss, alpha=alpha, max_steps=500)
        assert found.loss < height(W, 0.0)
        assert found.loss == pytest.approx(height(found.W, found.c), rel=1e-12, abs=1e-300)
        if found.status in ("exact", "steps"):
            assert alpha == 0.0
            continue
        assert found.status == "local minimum"
        tolerance = 1e-4 * scale_of(X, p)
        rng = np.random.default_rng(seed)
        for _ in range(200):
            dW, dc = rng.standard_normal(W.shape), rng.standard_normal()
            step = 1e-6 / np.sqrt((dW**2).sum() + dc**2)
            assert height(found.W + step * dW, found.c + step * dc) >= found.loss - 1e-6 * tolerance


def test_squared_loss_through_the_loop_of_smooth_losses():
    class Own(Loss):
        value, slope, curvature, conjugate = Squared.value, Squared.slope, Squared.curvature, Squared.conjugate

    for seed in range(6):
        data = problem(40, 3, 4, seed, noise=0.3)
        for first, second in ((SQUARED, Own()), (Own(), SQUARED)):
            found = run(*data, loss=first, alpha=0.01)
            again = run(*data[:4], found.W, found.c, loss=second, alpha=0.01)
            assert found.status == again.status == "local minimum"
            assert again.loss == pytest.approx(found.loss, rel=1e-6) and again.releases == 0


def test_bad_input():
    X, y, p, v, W = problem(10, 2, 2, 0)
    for bad in (
        (X, y[:-1], p, v, W),
        (X[:0], y[:0], p[:0], v, W),
        (X, y, p, v, W[:, :-1]),
        (X, np.r_[y[:-1], np.nan], p, v, W),
        (X, y, -p, v, W),
        (X, y, 0 * p, v, W),
    ):
        with pytest.raises(InputError):
            run(*bad)
    with pytest.raises(InputError, match="Huber"):
        run(X, y, p, v, W, loss=Absolute())
    with pytest.raises(InputError):
        run(X, y, p, v, W, alpha=-1.0)
