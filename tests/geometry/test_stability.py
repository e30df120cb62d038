"""Radii against brute force, moves within and beyond them, and the paper's two examples of appendix D."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.geometry import reference_position as reference
from zonofit.errors import BudgetError, InputError
from zonofit.geometry import _narrow_subsets as narrow
from zonofit.geometry.arrangement import Arrangement
from zonofit.geometry.membership import is_chamber, membership
from zonofit.geometry.packing import unpack
from zonofit.geometry.stability import (
    breaking_move,
    chamber_inradius,
    proof_radius,
    same_zonotope,
    stability_radius,
)

quick = settings(deadline=None, max_examples=15, derandomize=True)
shapes = [(8, 2), (7, 3), (3, 2), (4, 3), (9, 1), (2, 1), (3, 3), (2, 3), (1, 2), (6, 4)]


def homogeneous(X):
    return np.c_[X, np.ones(len(X))]


def moves(rng, shape, length):
    P = rng.standard_normal(shape)
    return P * (length / np.linalg.norm(P, axis=1))[:, None]


def patterns(data):
    A = data if isinstance(data, Arrangement) else Arrangement.from_examples(data)
    return {tuple(p) for block in A.chambers() for p in unpack(block, A.n_generators).tolist()}


@pytest.mark.parametrize(("N", "d"), [s for s in shapes if s[0] > s[1]])
@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e3])
def test_radii_are_the_minima(N, d, scale):
    X = np.random.default_rng(N).standard_normal((N, d)) * scale + scale
    found = stability_radius(X)
    value, subset = reference.least_singular_value(homogeneous(X))
    assert found.subset == subset
    assert found.singular_value == pytest.approx(value, rel=1e-6)
    assert 0 < found.radius <= value / np.sqrt(d + 1)
    tight, where = reference.least_breaking_move(homogeneous(X), d)
    assert found.tight_radius == pytest.approx(tight, rel=1e-6)
    assert found.tight_subset == where
    assert found.radius <= found.tight_radius


@pytest.mark.parametrize(("N", "n"), [(8, 3), (6, 4), (5, 2), (4, 1), (3, 3)])
def test_radii_of_generators(N, n):
    """Without a homogeneous coordinate all coordinates move."""
    G = np.random.default_rng(N).standard_normal((N, n))
    found = stability_radius(Arrangement(G))
    assert not found.only_features
    value, subset = reference.least_singular_value(G)
    assert found.singular_value == pytest.approx(value) and found.subset == subset
    tight, where = reference.least_breaking_move(G, n)
    assert found.tight_radius == pytest.approx(tight) and found.tight_subset == where
    assert found.radius <= found.tight_radius * (1 + 1e-12)


@pytest.mark.parametrize("N", [20, 40])
def test_pruned_search_finds_the_minimum(N):
    """More subsets than are looked at one by one, some rows a thousand times longer than others."""
    rng = np.random.default_rng(N)
    X = rng.standard_normal((N, 3)) * 10 ** rng.uniform(-1, 2, N)[:, None]
    found = stability_radius(X)
    G = homogeneous(X)
    subsets = np.array([S for S in product(range(N), repeat=4) if S[0] < S[1] < S[2] < S[3]])
    singular = np.linalg.svd(G[subsets], compute_uv=False)[:, -1]
    assert found.singular_value == pytest.approx(singular.min(), rel=1e-9)
    assert found.subset == tuple(subsets[np.argmin(singular)])
    inverse = np.linalg.inv(G[subsets])[:, :3]
    signs = np.array(list(product([-1, 1], repeat=4))).T
    tight = 1 / np.linalg.norm(inverse @ signs, axis=1).max(axis=1)
    assert found.tight_radius == pytest.approx(tight.min(), rel=1e-6)
    assert found.tight_subset == tuple(subsets[np.argmin(tight)])
    assert N == 20 or found.n_inverted < found.n_subsets / 3


@pytest.mark.parametrize("k", [1, 2, 3, 5])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_search_from_a_bad_start(monkeypatch, k, scale):
    """One sample to start with, room for one candidate: the bounds alone must keep the minimum."""
    monkeypatch.setattr(narrow, "_SAMPLES", 1)
    monkeypatch.setattr(narrow, "_CAPACITY", 1)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        rows = rng.standard_normal((9, k)) * scale * 10 ** rng.uniform(-1, 1, 9)[:, None]
        least, subset, _ = narrow.least_over_subsets(rows, k, None)
        value, where = reference.least_singular_value(rows)
        assert subset == where and least == pytest.approx(value, rel=1e-9)
        for movable in {k, max(1, k - 1)}:
            least, subset, _ = narrow.least_over_subsets(rows, k, movable)
            value, where = reference.least_breaking_move(rows, movable)
            assert subset == where and least == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("k", [1, 2, 3, 6])
def test_bounds_hold(k):
    rng = np.random.default_rng(k)
    for _ in range(50):
        rows = rng.standard_normal((k, k)) * 10 ** rng.uniform(-2, 2, (k, 1))
        chosen = np.arange(k)
        low, high = narrow._bounds(rows, chosen, k, -1, np.zeros((k, 2 * k)))
        assert low * (1 - 1e-9) <= reference.least_singular_value(rows)[0] <= high * (1 + 1e-9)
        for movable in range(1, k + 1):
            low, high = narrow._bounds(rows, chosen, k, movable, np.zeros((k, 2 * k)))
            assert low * (1 - 1e-9) <= reference.least_breaking_move(rows, movable)[0] <= high * (1 + 1e-9)


@quick
@given(st.sampled_from(shapes), st.integers(0, 1000))
def test_no_move_within_the_radius_changes_a_pattern(shape, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal(shape)
    found = stability_radius(X)
    tight = min(found.tight_radius, 1e3)
    assert found.radius <= tight
    for length in (found.radius, 0.999 * tight):
        assert same_zonotope(X, X + moves(rng, shape, length)).equal
    if shape[0] > shape[1]:
        assert same_zonotope(X, breaking_move(X, found, beyond=0.999)).equal


@pytest.mark.parametrize(("N", "d"), [(8, 2), (7, 3), (5, 3), (9, 1)])
def test_a_move_beyond_the_tight_radius_changes_the_zonotope(N, d):
    X = np.random.default_rng(d).standard_normal((N, d))
    found = stability_radius(X)
    moved = breaking_move(X, found, beyond=1.01)
    assert np.linalg.norm(moved - X, axis=1).max() == pytest.approx(1.01 * found.tight_radius)
    S = list(found.tight_subset)
    before, after = np.linalg.det(homogeneous(X)[S]), np.linalg.det(homogeneous(moved)[S])
    assert after == pytest.approx(-0.01 * before, rel=1e-6)
    on_a_hyperplane = homogeneous(breaking_move(X, found, beyond=1.0))[S]
    assert abs(np.linalg.det(on_a_hyperplane)) < 1e-12
    comparison = same_zonotope(X, moved)
    assert not comparison.equal and comparison.verify()


def test_a_move_beyond_of_generators():
    A = Arrangement(np.random.default_rng(3).standard_normal((7, 3)))
    found = stability_radius(A)
    assert same_zonotope(A, Arrangement(breaking_move(A, found, beyond=0.99))).equal
    assert not same_zonotope(A, Arrangement(breaking_move(A, found))).equal


def test_fewer_examples_than_dimensions():
    """All 2^N patterns stay while the rows stay independent; the tight move makes them dependent."""
    X = np.random.default_rng(4).standard_normal((3, 4))
    found = stability_radius(X)
    assert found.subset == (0, 1, 2)
    assert found.singular_value == pytest.approx(np.linalg.svd(homogeneous(X), compute_uv=False)[-1])
    moved = breaking_move(X, found, beyond=1.0)
    assert np.linalg.norm(moved - X, axis=1) == pytest.approx(found.tight_radius)
    assert np.linalg.svd(homogeneous(moved), compute_uv=False)[-1] < 1e-12
    assert len(patterns(breaking_move(X, found, beyond=0.999))) == 8
    assert stability_radius([[1.0, 2.0]]).tight_radius == np.inf  # one example alone is always in general position


def test_one_dimension_in_closed_form():
    """Examples on a line: the patterns change when two neighbours meet half way."""
    x = np.array([0.0, 1.0, 2.5, 7.0])
    found = stability_radius(x[:, None])
    assert found.tight_radius == pytest.approx(0.5) and found.tight_subset == (0, 1)


def test_translation_and_rotation_keep_the_tight_radius():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((8, 3))
    Q = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    assert stability_radius(X @ Q + 5.0).tight_radius == pytest.approx(stability_radius(X).tight_radius)
    assert stability_radius(3.0 * X).tight_radius == pytest.approx(3 * stability_radius(X).tight_radius)


@pytest.mark.parametrize(
    ("X", "subset"),
    [
        ([[0, 0], [1, 1], [2, 2], [0, 1]], (0, 1, 2)),
        ([[0, 1], [2, 3], [0, 1], [5, 5]], (0, 2)),
        ([[0, 0], [1, 0], [2, 0]], (0, 1, 2)),
        ([[1, 1, 1], [1, 1, 1]], (0, 1)),
    ],
)
def test_degenerate_data_have_no_radius(X, subset):
    found = stability_radius(X)
    assert found.radius == found.tight_radius == proof_radius(X) * 0 == 0.0
    assert found.subset == subset
    with pytest.raises(InputError, match="tight radius"):
        breaking_move(X, found)


def test_perturbation_of_a_hundred_millionth():
    rng = np.random.default_rng(6)
    X = rng.standard_normal((9, 2))
    assert stability_radius(X).radius > 1e-8
    assert same_zonotope(X, X + moves(rng, X.shape, 1e-8)).equal
    X[4] = (X[0] + X[1]) / 2
    assert stability_radius(X).radius == 0.0
    pushed = X.copy()
    pushed[4] += 1e-8 * np.array([X[0, 1] - X[1, 1], X[1, 0] - X[0, 0]])
    comparison = same_zonotope(X, pushed)
    assert not comparison.equal and comparison.owner == "second" and comparison.verify()


@pytest.mark.parametrize(("N", "d"), [(7, 2), (6, 3), (8, 1), (3, 3)])
def test_the_radius_of_the_proof(N, d):
    """δ by trying all sets of tight inequalities, and its place among the radii."""
    rng = np.random.default_rng(N)
    X = rng.standard_normal((N, d))
    delta = chamber_inradius(X)
    signs = 2.0 * np.array(sorted(patterns(X))) - 1
    assert delta == pytest.approx(min(reference.inradius(s[:, None] * homogeneous(X)) for s in signs))
    assert proof_radius(X) == delta / (2 * N)
    found = stability_radius(X)
    assert proof_radius(X) < found.radius <= found.tight_radius
    assert delta <= found.tight_radius * (1 + 1e-9)
    for _ in range(3):
        assert same_zonotope(X, X + moves(rng, X.shape, 0.999 * delta)).equal


def test_inradius_in_closed_form():
    """Orthants of the plane: w = (1, 1)/√2 is at distance 1/√2 from both axes."""
    assert chamber_inradius(Arrangement(np.eye(2))) == pytest.approx(1 / np.sqrt(2))
    assert chamber_inradius(Arrangement(np.eye(2) * [3.0, 3.0])) == pytest.approx(3 / np.sqrt(2))
    assert chamber_inradius(Arrangement([[1.0, 0.0], [0.0, 0.0]])) == 0.0


def test_appendix_d1():
    """Five examples on a line; lifting the third leaves the best vertex, all active, where it was."""
    X = np.array([[1, 2, 3, 4, 5], [0, 0, 0, 0, 0]], float).T
    before = patterns(X)
    assert before == {tuple(x > t for x in range(1, 6)) for t in np.arange(0.5, 6)} | {
        tuple(x < t for x in range(1, 6)) for t in np.arange(0.5, 6)
    }
    for epsilon in (1e-8, 1e-3, 1.0):
        lifted = X.copy()
        lifted[2, 1] = epsilon
        after = patterns(lifted)
        assert before < after and (True,) * 5 in before
        # the third example is now free of the other four, and is so in every chamber of these
        rest = {(*p[:2], *p[3:]) for p in before}
        assert after == {(*p[:2], bit, *p[2:]) for p in rest for bit in (False, True)}
        comparison = same_zonotope(X, lifted)
        assert not comparison.equal and comparison.owner == "second" and comparison.verify()
        assert comparison.pattern.tolist() == [False, False, True, False, False]
        assert (comparison.n_first, comparison.n_second) == (10, 16)
        # the perturbed weights of the paper, w = (1, -1/2ε), b = 0, are in the vertex with all active
        assert lifted @ [1, -1 / (2 * epsilon)] == pytest.approx([1, 2, 2.5, 4, 5])


def test_appendix_d2():
    """One linear unit (no bias): all active is infeasible on the plane and appears with the perturbation."""
    X = np.array([[-1, 2, -1, -1], [0, 1, 1, -1], [0, 0, 0, 0]], float).T
    everything = np.ones(4, bool)
    flat = Arrangement(X)
    answer = membership(flat, everything)
    assert not answer.feasible and answer.verify()
    assert is_chamber(flat, [False, True, True, False])  # where the paper's optimum 1.25 is
    assert same_zonotope(flat, Arrangement(X[:, :2])).equal  # the cylinder over the slice
    for epsilon in (1e-8, 1e-3, 1.0):
        lifted = X.copy()
        lifted[1, 2] = epsilon
        after = Arrangement(lifted)
        answer = membership(after, everything)
        assert answer.feasible and answer.verify()
        w = np.array([-3 / 2, 1 / 2, 11 / (2 * epsilon)])
        assert np.all(after.generators @ w > 0)
        assert np.abs(lifted @ w - [4, 3, 2, 1]).mean() == pytest.approx(0.625)
        assert patterns(flat) < patterns(after)
        comparison = same_zonotope(flat, after)
        assert comparison.owner == "second" and comparison.verify()
        gained = sorted(patterns(after) - patterns(flat))
        assert tuple(comparison.pattern.tolist()) == gained[0]
        assert tuple(everything.tolist()) in gained
    # with a bias, all active is a vertex of either zonotope
    assert is_chamber(Arrangement.from_examples(X), everything)


@quick
@given(st.integers(0, 1000))
def test_first_difference_is_the_first(seed):
    rng = np.random.default_rng(seed)
    N, d = int(rng.integers(2, 8)), int(rng.integers(1, 4))
    first, second = rng.integers(-2, 3, (2, N, d))
    a, b = patterns(first), patterns(second)
    comparison = same_zonotope(first, second)
    assert (comparison.n_first, comparison.n_second) == (len(a), len(b))
    assert comparison.equal == (a == b)
    if a == b:
        assert comparison.pattern is None and not comparison.verify()
        return
    pattern = tuple(comparison.pattern.tolist())
    assert pattern == min(a ^ b)
    assert comparison.owner == ("first" if pattern in a else "second")
    assert comparison.verify()
    mirrored = same_zonotope(second, first)
    assert tuple(mirrored.pattern.tolist()) == pattern and mirrored.owner != comparison.owner


def test_patterns_of_several_words():
    rng = np.random.default_rng(7)
    X = rng.standard_normal((130, 1))
    found = same_zonotope(X, X + 0.4 * np.diff(np.sort(X[:, 0])).min())
    assert found.equal and found.n_first == 260
    order = np.argsort(X[:, 0])
    swapped = X.copy()
    swapped[order[[60, 61]]] = X[order[[61, 60]]]
    found = same_zonotope(X, swapped)
    assert tuple(found.pattern.tolist()) == min(patterns(X) ^ patterns(swapped)) and found.verify()


def test_zero_generators_in_one_of_them():
    first, second = Arrangement([[0, 0], [1, 0], [0, 1]]), Arrangement([[1, 1], [1, 0], [0, 1]])
    comparison = same_zonotope(first, second)
    assert comparison.pattern.tolist() == min(list(p) for p in patterns(first) ^ patterns(second))
    assert comparison.verify()


def test_a_change_of_features_is_the_same_zonotope():
    rng = np.random.default_rng(8)
    X = rng.integers(0, 2, (8, 3)).astype(float)
    assert same_zonotope(X, X @ np.array([[2.0, 1, 0], [0, 1, 1], [0, 0, 3]]) + 5).equal
    assert same_zonotope(X, X * 1e8).equal


def test_budgets_and_bad_input():
    X = np.random.default_rng(9).standard_normal((30, 3))
    with pytest.raises(BudgetError, match="27,405 subsets of 4 of 30"):
        stability_radius(X, budget=1000)
    with pytest.raises(BudgetError, match="1,000 chambers"):
        proof_radius(X, budget=1000)
    with pytest.raises(BudgetError, match="1,000 chambers"):
        same_zonotope(X, X, budget=1000)
    with pytest.raises(InputError, match="second: 29 generators, but first has 30"):
        same_zonotope(X, X[1:])
    with pytest.raises(InputError, match="data"):
        stability_radius([[np.nan, 1.0]])
    untight = stability_radius(X, tight=False)
    assert untight.radius == stability_radius(X).radius and np.isnan(untight.tight_radius)
    with pytest.raises(InputError, match="tight"):
        breaking_move(X, untight)
