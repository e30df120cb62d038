"""Minors against determinants one at a time, exact dependencies against fractions, sums against closed forms."""

from fractions import Fraction
from itertools import combinations, product
from math import comb, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.geometry import reference_position as reference
from zonofit.errors import BudgetError, InputError
from zonofit.geometry.minors import extreme_minors, volume_of_parallelepipeds

quick = settings(deadline=None, max_examples=40, derandomize=True)
tables = hnp.arrays(np.int64, st.tuples(st.integers(4, 8), st.integers(1, 4)), elements=st.integers(-1, 2))


def cube(d):
    return np.array([(*corner, 1) for corner in product([0, 1], repeat=d)])


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1)[:, None]


@pytest.mark.parametrize(
    ("N", "n"), [(1, 1), (4, 1), (2, 2), (9, 2), (3, 3), (10, 3), (7, 4), (5, 5), (9, 5), (8, 7), (10, 8)]
)
def test_generic(N, n):
    rows = np.random.default_rng(10 * N + n).standard_normal((N, n))
    volumes = reference.volumes(unit(rows))
    for integers in (None, [[int(x * 2**60) for x in row] for row in rows.tolist()]):
        found = extreme_minors(rows, integers=integers)
        assert found.subset == min(volumes, key=volumes.get)
        assert found.smallest == pytest.approx(min(volumes.values()), rel=1e-9)
        assert found.n_subsets == comb(N, n)
        assert found.n_dependent == 0 and found.circuits == () and sum(found.circuit_counts) == 0
    total = sum(reference.volumes(rows).values())
    assert volume_of_parallelepipeds(rows) == pytest.approx(total, rel=1e-12)


@quick
@given(tables)
def test_dependencies_of_small_integers(table):
    table = table[np.any(table != 0, axis=1)]
    N, n = table.shape
    if N < n:
        return
    rows = table.tolist()
    for depth in range(1, n + 1):
        expected = reference.circuits(rows, depth)
        for integers in (None, rows):
            found = extreme_minors(table, integers=integers, depth=depth, first=1000)
            assert list(found.circuits) == expected
            assert found.circuit_counts == tuple(sum(len(C) == k for C in expected) for k in range(depth + 1))
    independent = [S for S in combinations(range(N), n) if reference.exact_rank([rows[i] for i in S]) == n]
    assert found.n_dependent == comb(N, n) - len(independent)
    volumes = reference.volumes(unit(table))
    assert found.smallest == pytest.approx(min((volumes[S] for S in independent), default=np.inf), rel=1e-9)
    assert (found.subset in independent) == bool(independent)


@pytest.mark.parametrize(("d", "simplices"), [(2, 4), (3, 58), (4, 3008), (5, 556192)])
def test_simplices_of_the_cube(d, simplices):
    """Known numbers of non-degenerate simplices on the corners of a cube."""
    rows = cube(d)
    for integers in (None, rows.tolist()):
        found = extreme_minors(rows, integers=integers)
        assert found.n_subsets - found.n_dependent == simplices


def test_only_the_first_circuits_are_kept():
    found = extreme_minors(cube(4), integers=cube(4).tolist(), first=5)
    assert found.circuit_counts == (0, 0, 0, 0, 100, 160)
    assert [len(C) for C in found.circuits] == [4] * 5 + [5] * 5


def test_integers_decide_where_floats_cannot():
    """|det| = 1 with rows of length 1e9: a volume of 1e-18 or so that is not zero."""
    big = 10**9
    rows = [[big, big - 1, 0], [big + 1, big, 0], [0, 0, 1], [2 * big + 1, 2 * big - 1, 0]]
    assert reference.exact_rank(rows[:3]) == 3
    exact = extreme_minors(np.array(rows, float), integers=rows)
    assert exact.circuits == ((0, 1, 3),)
    assert exact.n_dependent == 1
    floating = extreme_minors(np.array(rows, float))
    assert floating.circuit_counts[2] == 3  # parallel, for all a tolerance can say


def test_many_primes():
    """A minor that is a multiple of the first primes is not zero, and one prime more shows it."""
    p, q = 2147483647, 2147483629
    rows = [[p * q, 0], [0, 1], [p * q, 1]]
    assert extreme_minors(np.array(rows, float), integers=rows).n_dependent == 0
    rows[1] = [p, 0]
    assert extreme_minors(np.array(rows, float), integers=rows).circuits == ((0, 1),)


@pytest.mark.parametrize("factor", [1.0, 1e-8, 1e8, 1e90, 1e-90])
def test_volume_of_a_box(factor):
    sides = np.array([1.0, 2.0, 0.5])
    assert volume_of_parallelepipeds(np.diag(sides) * factor) == pytest.approx(factor**3, rel=1e-13)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_volume_of_the_permutahedron(n):
    """Cayley: n^(n-2) spanning trees, each a parallelepiped of volume √n, in the hyperplane Σ x = 0."""
    edges = [np.eye(n)[i] - np.eye(n)[j] for i, j in combinations(range(n), 2)]
    assert volume_of_parallelepipeds(edges) == pytest.approx(n ** (n - 2) * sqrt(n), rel=1e-12)


def test_volume_of_a_regular_polygon():
    N = 200
    angle = np.pi * np.arange(N) / N
    volume = volume_of_parallelepipeds(np.c_[np.cos(angle), np.sin(angle)])
    assert volume == pytest.approx(N / 2 / np.tan(np.pi / (2 * N)), rel=1e-12)


def test_volume_symmetries():
    rng = np.random.default_rng(0)
    rows, change = rng.standard_normal((9, 4)), rng.standard_normal((4, 4))
    volume = volume_of_parallelepipeds(rows)
    assert volume_of_parallelepipeds(rows @ change) == pytest.approx(volume * abs(np.linalg.det(change)), rel=1e-11)
    turned = rows[rng.permutation(9)] * rng.choice([-1, 1], 9)[:, None]
    assert volume_of_parallelepipeds(turned) == pytest.approx(volume, rel=1e-12)
    halves = np.r_[rows[:1] * 0.25, rows[:1] * -0.75, rows[1:], np.zeros((2, 4))]
    assert volume_of_parallelepipeds(halves) == pytest.approx(volume, rel=1e-12)
    orthogonal = np.linalg.qr(rng.standard_normal((6, 6)))[0][:4]
    assert volume_of_parallelepipeds(rows @ orthogonal) == pytest.approx(volume, rel=1e-11)


def test_volume_of_flat_zonotopes():
    assert volume_of_parallelepipeds(np.zeros((3, 2))) == 1.0
    assert volume_of_parallelepipeds([[3.0, 4.0], [-6.0, -8.0]]) == pytest.approx(15.0)
    assert volume_of_parallelepipeds([[1, 0, 0, 0], [0, 2, 0, 0]]) == pytest.approx(2.0)


def test_vandermonde_determinants():
    """Σ over pairs, triples of |Vandermonde|, from the closed form of each."""
    t = np.arange(7)
    rows = np.c_[np.ones(7), t, t**2]
    expected = sum((b - a) * (c - a) * (c - b) for a, b, c in combinations(range(7), 3))
    assert volume_of_parallelepipeds(rows) == pytest.approx(expected, rel=1e-13)
    exact = extreme_minors(rows, integers=rows.astype(int).tolist())
    assert exact.n_dependent == 0
    norm = {S: np.prod(np.linalg.norm(rows[list(S)], axis=1)) for S in combinations(range(7), 3)}
    volumes = {S: float(Fraction((S[1] - S[0]) * (S[2] - S[0]) * (S[2] - S[1]))) / norm[S] for S in norm}
    assert exact.smallest == pytest.approx(min(volumes.values()), rel=1e-12)
    assert exact.subset == min(volumes, key=volumes.get)


def test_budget_says_how_many():
    rows = np.random.default_rng(0).standard_normal((30, 5))
    for call in (extreme_minors, volume_of_parallelepipeds):
        with pytest.raises(BudgetError, match=r"142,506 subsets of 5 of 30.*budget=142506"):
            call(rows, budget=1000)
    assert extreme_minors(rows, depth=2, budget=1000).n_dependent == -1


def test_bad_input():
    with pytest.raises(InputError, match="rows"):
        extreme_minors(np.ones((2, 3)))
    with pytest.raises(InputError, match="depth"):
        extreme_minors(np.eye(3), depth=4)
