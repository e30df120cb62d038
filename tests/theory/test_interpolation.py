"""Theorem 3: exact fits of 2⌈N/(d+1)⌉ units, on data in general position and on everything else."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zonofit.errors import InputError
from zonofit.programs import Problem
from zonofit.theory.chunks import ContradictionError, cut
from zonofit.theory.frames import Frame
from zonofit.theory.interpolation import Interpolation, interpolate, printed, theorem_width
from zonofit.tolerances import DEFAULT_TOLERANCES

quick = settings(deadline=None, max_examples=30, derandomize=True)
GRID = np.array(list(product(range(6), range(6))), float)


def gaussian(N, d, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((N, d)), rng.standard_normal(N)


def check(found: Interpolation, X, y, *, tolerance=1e-8, patterns=True) -> None:
    """Everything that the answer says, from its definition."""
    G = np.c_[X, np.ones(len(X))]
    predictions = np.maximum(G @ found.W.T, 0) @ found.output_weights + found.c
    size = np.max(np.abs(y)) or 1.0
    assert np.max(np.abs(predictions - y)) <= tolerance * size and found.residual <= tolerance
    assert np.allclose(found.predict(X), predictions, rtol=0, atol=1e-9 * found.condition * size)
    assert set(found.output_weights) == {1.0, -1.0} and found.output_weights.sum() == 0
    members = np.concatenate(found.chunks)
    assert len(found.W) == 2 * len(found.chunks) and len(set(members)) == len(members)
    assert np.array_equal(np.unique(X[members], axis=0), np.unique(X, axis=0))
    for k, chunk in enumerate(found.chunks):
        below = np.concatenate([found.chunks[j] for j in range(k)]) if k else np.zeros(0, int)
        pair = found.patterns[2 * k : 2 * k + 2]
        assert pair[:, chunk].all() and not pair[:, below].any()
    if patterns:
        assert np.array_equal(G @ found.W.T > 0, found.patterns.T)


@pytest.mark.parametrize(("N", "d"), [(100, 2), (500, 10), (2000, 20), (2000, 4)])
def test_bars(N, d):
    X, y = gaussian(N, d)
    found = interpolate(X, y)
    assert len(found.W) == theorem_width(N, d) == 2 * -(-N // (d + 1))
    check(found, X, y)
    paper = printed(X, y)
    assert len(paper.W) == len(found.W)
    assert found.condition < paper.condition / 100 and found.largest_weight < paper.largest_weight / 100


@pytest.mark.slow
@pytest.mark.parametrize(("N", "d"), [(2000, 20), (2000, 4)])
@pytest.mark.parametrize("seed", [1, 2])
def test_bars_of_two_thousand(N, d, seed):
    X, y = gaussian(N, d, seed)
    found = interpolate(X, y)
    assert len(found.W) == theorem_width(N, d)
    check(found, X, y)


@given(st.integers(1, 40), st.integers(1, 6), st.integers(0, 1000))
@quick
def test_any_size(N, d, seed):
    X, y = gaussian(N, d, seed)
    for found in (interpolate(X, y, tries=4), printed(X, y)):
        assert len(found.W) == theorem_width(N, d)
        assert {len(chunk) for chunk in found.chunks[:-1]} <= {d + 1} and 0 < len(found.chunks[-1]) <= d + 1
    check(interpolate(X, y, tries=4), X, y)
    check(printed(X, y), X, y, tolerance=1e-5, patterns=False)


def test_printed_is_what_the_proof_says():
    """w₂ = β ũ with |ũ·x̄| >= 1, w₁ - w₂ fits the chunk, and the pair is silent below."""
    X, y = gaussian(14, 2)
    found = printed(X, y)
    order = np.argsort(X[:, 1])
    assert [chunk.tolist() for chunk in found.chunks] == [order[k : k + 3].tolist() for k in range(0, 14, 3)]
    G = np.c_[X, np.ones(14)]
    left = y.copy()
    for k, chunk in enumerate(found.chunks):
        first, second = found.W[2 * k], found.W[2 * k + 1]
        assert G[chunk] @ (first - second) == pytest.approx(left[chunk])
        assert np.all(G[order[: 3 * k]] @ first <= 1e-9) and np.all(G[order[: 3 * k]] @ second <= 1e-9)
        left = left - np.maximum(G @ first, 0) + np.maximum(G @ second, 0)
    # "1 for the remaining examples" the lemma does not see to
    assert not np.array_equal(G @ found.W.T > 0, found.patterns.T)


def test_the_vertex_program_agrees():
    """The pattern's program has optimum 0, and with a ridge going to 0 its weights are ours."""
    X, y = gaussian(12, 2)
    found = interpolate(X, y)
    problem = Problem(X, y, found.output_weights)
    assert np.array_equal(problem.patterns(found.W), found.patterns)
    solution = problem.solve(found.patterns)
    assert solution.loss < 1e-20 and problem.mean_loss(problem.predict(found.W, found.c)) < 1e-20
    norms = []
    for alpha in (1e-4, 1e-6, 1e-8):
        ridge = Problem(X, y, found.output_weights, alpha=alpha, output_bias=found.c).solve(found.patterns)
        norms.append(np.linalg.norm(ridge.W))
    assert norms[0] < norms[1] < norms[2]
    assert norms[2] == pytest.approx(found.norm, rel=0.05)


def test_pairs_are_the_shortest():
    """2 u + z is a nonnegative combination of the walls that bind u: no other pair with this difference is shorter."""
    from scipy.optimize import nnls

    X, y = gaussian(60, 3)
    frame = Frame.of(X, y, DEFAULT_TOLERANCES)
    chunks = cut(frame.G, frame.labels, np.array([1.0, 0.0, 0.0]), DEFAULT_TOLERANCES)
    z = np.diff(chunks.fits, axis=0, prepend=0.0)
    for k, u in enumerate(frame.shared(chunks)):
        C = np.where(chunks.active[k], 1.0, -1.0)[:, None] * frame.G
        scale = np.max(np.abs(C @ z[k]))
        slack = (C @ u - np.maximum(0.0, -C @ z[k])) / max(scale, 1.0)
        assert np.all(slack > 0)
        _, left = nnls(C[slack < 1e-5].T, 2 * u + z[k])
        assert left <= 1e-4 * np.linalg.norm(2 * u + z[k])


def test_without_the_nearest_points(monkeypatch):
    """Where rounding hides the shortest pair, a multiple of the cut is in the chamber all the same."""
    monkeypatch.setattr("zonofit.theory.frames.nearest", lambda *_: None)
    for X, y in (gaussian(40, 2), (GRID, np.arange(36.0) % 7)):
        check(interpolate(X, y), X, y)


def test_direction():
    X, y = gaussian(60, 3)
    given = interpolate(X, y, direction=[0, 0, 2])
    assert given.direction == pytest.approx([0, 0, 1])
    check(given, X, y)
    order = np.argsort(X[:, 2])
    assert np.concatenate(given.chunks).tolist() == order.tolist()
    assert interpolate(X, y).norm <= given.norm
    assert interpolate(X, y).norm == interpolate(X, y).norm


@pytest.mark.parametrize("direction", [None, [0, 1], [1, 0], [1, 1], [-1, 2]])
def test_ties_along_the_direction(direction):
    y = np.random.default_rng(0).standard_normal(36)
    found = interpolate(GRID, y, direction=direction)
    check(found, GRID, y)
    check(printed(GRID, y, direction=direction), GRID, y, patterns=False)
    if direction is not None:
        cosine = found.direction @ direction / np.linalg.norm(direction)
        assert cosine > 0.99
        heights = GRID @ direction
        assert np.all(np.diff(heights[np.concatenate(found.chunks)]) >= 0)


def test_all_tied():
    """Along the only feature that varies nothing is tied; along any other everything is."""
    X = np.c_[np.arange(9.0), np.ones(9)]
    y = np.sin(np.arange(9.0))
    check(interpolate(X, y), X, y)
    check(printed(X, y), X, y, patterns=False)
    with pytest.raises(InputError, match="equally high along it"):
        interpolate(X, y, direction=[0, 1])


def test_equal_examples():
    rng = np.random.default_rng(0)
    base = rng.standard_normal((11, 2))
    row = rng.integers(0, 11, 40)
    X, y = base[row], (base[row, 0]) ** 2
    found = interpolate(X, y)
    check(found, X, y)
    assert len(found.W) == theorem_width(len(np.unique(row)), 2)
    y[3] += 1.0
    same = [i for i in range(40) if row[i] == row[3]]
    with pytest.raises(ContradictionError, match="equal examples with the labels") as caught:
        interpolate(X, y)
    assert caught.value.groups == (tuple(same),)
    assert str(same[0]) in str(caught.value)
    with pytest.raises(ContradictionError):
        printed(X, y)
    with pytest.raises(ContradictionError, match="rows 0 and 1"):
        interpolate([[0.0], [-0.0]], [1, 2])


SHAPES = {
    "one": (np.array([[1.0, 2.0]]), np.array([3.0])),
    "one at zero": (np.zeros((1, 1)), np.zeros(1)),
    "fewer than features": gaussian(3, 5),
    "as many as weights": gaussian(5, 4),
    "zero labels": (gaussian(20, 2)[0], np.zeros(20)),
    "constant labels": (gaussian(20, 2)[0], np.full(20, -7.0)),
    "affine labels": (gaussian(20, 2)[0], gaussian(20, 2)[0] @ [1.0, 2.0] + 3),
    "a constant column": (gaussian(30, 3)[0] * [1, 0, 1] + [0, 5, 0], gaussian(30, 3)[1]),
    "two constant columns": (gaussian(30, 3)[0] * [1, 0, 0] + [0, 5, 1e6], gaussian(30, 3)[1]),
    "a line": (np.arange(20.0)[:, None], np.sin(np.arange(20))),
    "a line in space": (np.arange(20.0)[:, None] * [1, 2, 3], np.sin(np.arange(20))),
    "binary": (np.array(list(product([0.0, 1.0], repeat=5))), gaussian(32, 5)[1]),
    "grid": (GRID, np.random.default_rng(1).standard_normal(36)),
    "units": (gaussian(50, 4)[0] * [1e-8, 1e8, 1.0, 1e3], gaussian(50, 4)[1]),
    "nearly equal, equal labels": tuple(np.r_[a, a[:1] + b] for a, b in zip(gaussian(20, 2), (1e-13, 0), strict=True)),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_degenerate(name):
    X, y = SHAPES[name]
    check(interpolate(X, y), X, y)
    assert np.isfinite(printed(X, y).W).all()


@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1e8, 1e150])
def test_scales(scale):
    X, y = gaussian(40, 3)
    one = interpolate(X, y)
    for found, factor in ((interpolate(X * scale, y), 1.0), (interpolate(X, y * scale), scale)):
        assert len(found.W) == len(one.W) and found.residual < 1e-10
        assert found.condition == pytest.approx(one.condition, rel=1.0)
        assert found.c == pytest.approx(one.c * factor)


def test_width_of_a_flat():
    """Examples in a flat of dimension r need 2⌈N/(r+1)⌉ units."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 2)) @ rng.standard_normal((2, 6)) + rng.standard_normal(6)
    found = interpolate(X, rng.standard_normal(30))
    assert len(found.W) == theorem_width(30, 2) == 20


def test_permuted_examples_permute_the_network():
    X, y = gaussian(25, 2)
    order = np.random.default_rng(1).permutation(25)
    first, second = interpolate(X, y), interpolate(X[order], y[order])
    assert np.allclose(first.W, second.W, rtol=1e-6, atol=1e-9)
    assert np.array_equal(first.patterns[:, order], second.patterns)


@pytest.mark.parametrize(
    ("X", "y", "options", "message"),
    [
        ([[1, np.nan]], [1], {}, "X: nan at row 0, column 1"),
        ([[1, 2]], [np.inf], {}, "y: inf at place 0"),
        ([[1, 2]], [1, 2], {}, "y: expected 1 numbers"),
        ([[1, 2]], ["a"], {}, "y: not a list of numbers"),
        ([1, 2], [1, 2], {}, "X: expected a table"),
        (np.zeros((0, 2)), [], {}, "is empty"),
        ([[1, 2], [2, 1]], [1, 2], {"direction": [0, 0]}, "direction: "),
        ([[1, 2], [2, 1]], [1, 2], {"direction": [1]}, "pass 2 finite numbers"),
        ([[1, 2], [2, 1]], [1, 2], {"direction": "up"}, "direction: 'up' will not do"),
    ],
)
def test_refused(X, y, options, message):
    for construction in (interpolate, printed):
        with pytest.raises(InputError, match=message):
            construction(X, y, **options)
    with pytest.raises(InputError, match="expected 1 features"):
        interpolate([[1.0], [2.0]], [1, 2]).predict([[1.0, 2.0]])
