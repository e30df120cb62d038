"""Exact algebra against fractions, and Gordan's alternative against its own two proofs."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.geometry import reference_position as reference
from zonofit.geometry import rational

quick = settings(deadline=None, max_examples=60, derandomize=True)
tables = hnp.arrays(np.int64, st.tuples(st.integers(1, 6), st.integers(1, 4)), elements=st.integers(-3, 3))


def test_integer_rows_are_the_floats():
    rows = np.array([[0.1, -3e-8, 1e8], [0.0, 0.0, 0.0], [6.0, -4.0, 2.0], [5e-324, 1e300, -0.0]])
    integers, exponents = rational.integer_rows(rows)
    for row, ints, e in zip(rows.tolist(), integers, exponents, strict=True):
        assert [Fraction(x) for x in row] == [i * Fraction(2) ** e for i in ints]
    assert integers[2] == [3, -2, 1]


@quick
@given(tables)
def test_rank_and_dependency(table):
    rows = table.tolist()
    assert rational.rank(rows) == reference.exact_rank(rows)
    found = rational.dependency(rows)
    assert (found is not None) == (reference.exact_rank(rows) == len(rows) - 1)
    if found is not None:
        assert np.all(np.array(found, object) @ table == 0)
        assert np.gcd.reduce(found) == 1
        assert next(x for x in found if x) > 0


@quick
@given(hnp.arrays(np.int64, st.integers(1, 5).map(lambda n: (n, n)), elements=st.integers(-9, 9)))
def test_determinant(matrix):
    assert rational.determinant(matrix.tolist()) == round(np.linalg.det(matrix))


def test_determinant_beyond_floats():
    big = 10**20
    assert rational.determinant([[big + 1, big], [big, big - 1]]) == -1


def test_primes():
    assert rational.primes_below(32, 11) == [31, 29, 23, 19, 17, 13, 11, 7, 5, 3, 2]
    assert rational.primes_below(2**31, 3) == [2147483647, 2147483629, 2147483587]


def test_small_rationals():
    assert rational.small_rationals([[0.1, -1 / 3], [5.0, 0.0]]) == [[Fraction(1, 10), Fraction(-1, 3)], [5, 0]]
    assert rational.small_rationals([[0.12345, 3e-8]]) == [[Fraction(12345, 100000), Fraction(3, 10**8)]]
    assert rational.small_rationals([[0.1 + 0.2]]) == [[Fraction(3, 10)]]  # one unit in the last place away
    assert rational.small_rationals([[1e300, -(2.0**60)]]) == [[int(1e300), -(2**60)]]
    for x in (np.pi, 1e-300, np.sqrt(2) * 1e9, 5e-324, 0.1 + 1e-12):
        assert rational.small_rationals([[x]]) is None
    draws = np.random.default_rng(9).standard_normal(2000) * 10.0 ** np.arange(-5, 5).repeat(200)
    assert sum(rational.small_rationals([[x]]) is not None for x in draws) <= 1


def proves(rows, proof):
    if isinstance(proof, list):
        return all(sum(a * b for a, b in zip(row, proof, strict=True)) > 0 for row in rows)
    return (
        bool(proof)
        and min(proof.values()) > 0
        and all(sum(m * rows[i][j] for i, m in proof.items()) == 0 for j in range(len(rows[0])))
    )


@quick
@given(tables)
def test_gordan(table):
    rows = table.tolist()
    proof = rational.gordan(rows)
    assert proves(rows, proof)
    if isinstance(proof, dict):  # a circuit: dropping any member leaves independent rows
        members = [rows[i] for i in proof]
        assert all(
            reference.exact_rank(members[:k] + members[k + 1 :]) == len(members) - 1 for k in range(len(members))
        )


@pytest.mark.parametrize("inside", [True, False])
def test_gordan_many_rows(inside):
    rng = np.random.default_rng(3)
    table = rng.integers(-1000, 1000, (120, 6))
    if inside:
        table *= np.where(table @ rng.integers(-50, 50, 6) < 0, -1, 1)[:, None]
        table = table[np.any(table != 0, axis=1)]
    proof = rational.gordan(table.tolist())
    assert isinstance(proof, list) == inside
    assert proves(table.tolist(), proof)


def test_gordan_on_parallel_and_opposite_rows():
    assert isinstance(rational.gordan([[1, 2], [2, 4]]), list)
    assert rational.gordan([[1, 2], [-2, -4]]).keys() == {0, 1}
