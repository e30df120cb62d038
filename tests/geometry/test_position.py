"""Position reports against fractions, on data whose dependencies are known."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.geometry import reference_position as reference
from zonofit.errors import InputError
from zonofit.geometry.arrangement import Arrangement
from zonofit.geometry.position import position_report

quick = settings(deadline=None, max_examples=60, derandomize=True)
tables = hnp.arrays(np.int64, st.tuples(st.integers(1, 7), st.integers(1, 4)), elements=st.integers(-1, 2))


def cube(d):
    return np.array(list(product([0.0, 1.0], repeat=d)))


def is_generic(rows):
    """By the definition: every n rows independent, or all of them when there are fewer."""
    k = min(len(rows), len(rows[0]))
    return all(reference.exact_rank(S) == k for S in combinations(rows, k))


@quick
@given(tables)
def test_small_integers(table):
    rows = table.tolist()
    for exact in ("auto", True, False):
        report = position_report(Arrangement(table), exact=exact)
        assert report.arithmetic == ("floating" if exact is False else "rational")
        assert report.rank == reference.exact_rank(rows)
        assert report.is_generic == is_generic(rows)
        assert report.zero == tuple(i for i, row in enumerate(rows) if not any(row))
        lines = [reference.primitive(row) for row in rows]
        groups = {line: [i for i in range(len(rows)) if lines[i] == line] for line in lines if any(line)}
        assert {tuple(i for i, _ in g) for g in report.parallel} == {tuple(g) for g in groups.values() if len(g) > 1}
        for group in report.parallel:
            first = group[0][0]
            assert all(s * (table[i] @ table[first]) > 0 for i, s in group)
        assert {frozenset(g) for g in report.equal} == {
            frozenset(j for j in range(len(rows)) if rows[j] == rows[i])
            for i in range(len(rows))
            if any(rows[i]) and rows.count(rows[i]) > 1
        }
        heads = [group[0] for group in groups.values()]
        expected = [tuple(heads[i] for i in C) for C in reference.circuits([rows[i] for i in heads], report.rank)]
        assert report.exhaustive and sum(report.circuit_counts) == len(expected)
        if report.complete:
            assert list(report.circuits) == expected
        assert set(report.circuits) <= set(expected)
        for dependency in report.dependencies:
            members = list(dependency)
            combination = np.array(list(dependency.values())) @ table[members]
            assert np.allclose(combination, 0, atol=1e-12) and 0 not in dependency.values()
            if report.exact:
                assert not combination.any() and np.gcd.reduce(list(dependency.values())) == 1


@pytest.mark.parametrize("scale", [1.0, 1e-8, 1e8])
@pytest.mark.parametrize(("N", "d"), [(12, 3), (4, 3), (3, 3), (2, 4), (1, 1), (9, 1)])
def test_generic_floats(N, d, scale):
    A = Arrangement.from_examples(np.random.default_rng(N).standard_normal((N, d)) * scale)
    for exact in ("auto", True):
        report = position_report(A, exact=exact)
        assert report.is_generic and report.exhaustive and report.complete
        assert report.arithmetic == ("dyadic" if exact is True else "floating")
        assert report.nearest == report.nearest_independent > 0
        simple = A.reduction.simple
        volumes = reference.volumes(simple)
        assert report.nearest == pytest.approx(min(volumes.values()), rel=1e-6)
        assert report.nearest_subset == min(volumes, key=volumes.get)
        assert str(report).startswith("general position  yes\n")


@pytest.mark.parametrize("scale", [1.0, 0.1, 1e-8, 1e8, 1 / 3, 2.0**-40])
def test_cube_at_any_scale(scale):
    """12 coplanar quadruples: 6 faces and 6 diagonal planes; 0.1 is read as a decimal, 1/3 as a rational."""
    report = Arrangement.from_examples(cube(3) * scale).position()
    assert report.is_generic is False
    assert report.circuit_counts == (0, 0, 0, 0, 12) and report.complete
    assert report.nearest == 0 < report.nearest_independent
    assert report.exact == (scale != 2.0**-40)
    assert next(iter(report.dependencies)) == pytest.approx({0: 1, 1: -1, 2: -1, 3: 1})


def test_decimals_are_what_was_typed():
    """(0.1, 0.3), (0.2, 0.6), (0.3, 0.9) are collinear, though not as binary fractions."""
    A = Arrangement.from_examples([[0.1, 0.3], [0.2, 0.6], [0.3, 0.9]])
    assert reference.exact_rank([[Fraction(x) for x in row] for row in A.generators.tolist()]) == 3
    for exact in ("auto", False, True):
        assert A.position(exact=exact).is_generic is False
    assert A.position().exact


def test_dyadic_decides_what_a_tolerance_cannot():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((10, 3))
    X[5] = 0.3 * X[1] + 0.7 * X[2]
    A = Arrangement.from_examples(X)
    floating = A.position()
    assert floating.circuits == ((1, 2, 5),)
    assert floating.dependencies[0] == pytest.approx({1: 0.3, 2: 0.7, 5: -1.0})
    stored = A.position(exact=True)
    rows = [[Fraction(x) for x in row] for row in A.generators.tolist()]
    assert stored.is_generic == (reference.exact_rank([rows[i] for i in (1, 2, 5)]) == 3)


def test_large_integers_are_decided_exactly():
    big = 10**7
    X = np.array([[0, 0], [big, big + 1], [big - 1, big], [3, 5], [-7, 2], [2 * big, 2 * big + 2]])
    rows = np.c_[X, np.ones(6, int)].tolist()
    exact = Arrangement.from_examples(X).position()
    assert exact.arithmetic == "rational"
    expected = reference.circuits(rows, 3)
    assert (0, 1, 5) in expected and (0, 1, 2) not in expected
    assert list(exact.circuits) == expected


def test_exact_rank_where_floats_see_less():
    """Rank 3 exactly, 2 to eleven digits: everything is then decided in integers."""
    big = 10**13
    G = np.array([[big, 1, 0], [0, big, 1], [big, big + 1, 2], [2 * big, 3, 1]], float)
    G[:, 2] += G[:, 0] + G[:, 1]
    A = Arrangement(G)
    rows = [[int(x) for x in row] for row in G.tolist()]
    report = A.position()
    assert report.rank == reference.exact_rank(rows) == 3 > A.rank
    assert report.is_generic == is_generic(rows)
    assert list(report.circuits) == reference.circuits(rows, 3)


def test_permutation_and_change_of_features():
    rng = np.random.default_rng(6)
    G = rng.integers(-2, 3, (9, 4))
    order = rng.permutation(9)
    change = np.array([[1, 2, 0, -1], [0, 1, 3, 1], [0, 0, 1, 2], [0, 0, 0, 1]])
    signs = rng.choice([-3, 1, 2], 9)[:, None]
    first, second = Arrangement(G).position(), Arrangement((G @ change * signs)[order]).position()
    assert second.circuit_counts == first.circuit_counts
    assert {frozenset(order[list(C)]) for C in second.circuits} == {frozenset(C) for C in first.circuits}
    assert len(first.parallel) == len(second.parallel)


def test_deficient_rank_is_not_generic():
    rng = np.random.default_rng(7)
    flat = rng.standard_normal((5, 2)) @ rng.standard_normal((2, 4))
    report = Arrangement(flat).position()
    assert report.rank == 2 and report.is_generic is False and report.circuits == ()
    assert "no: every 3 are dependent" in str(report)
    zero_column = Arrangement.from_examples(np.c_[np.arange(5) ** 2, np.zeros(5)]).position()
    assert zero_column.rank == 2 and zero_column.is_generic is False


def test_few_generators():
    assert Arrangement([[1.0, 2.0, 3.0]]).position().is_generic
    assert Arrangement([[1, 2, 3], [1, 2, 4]]).position().is_generic
    assert Arrangement([[1, 2, 3], [2, 4, 6]]).position().is_generic is False
    nothing = Arrangement(np.zeros((3, 2))).position()
    assert nothing.is_generic is False and nothing.rank == 0 and nothing.zero == (0, 1, 2)
    assert Arrangement([[1.0], [-2.0]]).position().is_generic
    assert Arrangement([[1.0], [0.0]]).position().is_generic is False


def test_sampling_never_claims_generic():
    rng = np.random.default_rng(8)
    X = rng.standard_normal((40, 5))
    A = Arrangement.from_examples(X)
    whole, part = A.position(), A.position(budget=20_000)
    assert whole.is_generic and whole.exhaustive
    assert part.is_generic is None and not part.exhaustive and part.depth == 3 and part.n_visited == 20_000
    assert part.nearest >= whole.nearest
    assert "unknown" in str(part) and "20,000 of 3,838,380" in str(part)
    assert str(A.position(budget=20_000)) == str(part)
    X[7] = (X[1] + X[2]) / 2  # a triple, which the complete walk over small subsets finds
    found = Arrangement.from_examples(X).position(budget=20_000)
    assert found.is_generic is False and (1, 2, 7) in found.circuits and not found.complete
    X = rng.integers(0, 3, (40, 5))  # many, of every size, of which the sample meets some
    for exact in ("auto", False):
        sampled = Arrangement.from_examples(X).position(budget=20_000, exact=exact)
        rows = np.c_[X, np.ones(40, int)]
        large = [C for C in sampled.circuits if len(C) > sampled.depth]
        assert sampled.is_generic is False and large
        for C in large:
            assert reference.circuits(rows[list(C)].tolist(), len(C)) == [tuple(range(len(C)))]


def test_report_reads_well():
    G = np.r_[cube(3), -2 * cube(3)[:3], [[1, 1, 1]]]
    assert str(Arrangement(G).position()).splitlines() == [
        "general position  no",
        "generators        12 in dimension 3, rank 3",
        "zero              0, 8",
        "equal             {7, 11}",
        "parallel          {1, -9}, {2, -10}, {7, 11}",
        "dependencies      6 of 3 generators",
        "                  g1 + g2 - g3 = 0",
        "                  g1 + g4 - g5 = 0",
        "                  g1 + g6 - g7 = 0",
        "                  g2 + g4 - g6 = 0",
        "                  g2 + g5 - g7 = 0",
        "                  g3 + g4 - g7 = 0",
        *[line for line in str(Arrangement(G).position()).splitlines() if line.startswith("least volume")],
        "checked           all 35 subsets of 3, exactly, as small rationals",
    ]


def test_bad_input():
    with pytest.raises(InputError, match="exact"):
        position_report(Arrangement(np.eye(2)), exact="yes")


@pytest.mark.parametrize("scale", [1.7e-190, 1.7e190])
def test_dependencies_of_floats_whose_squares_are_no_floats(scale):
    G = np.array([[0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 1.0]]) * scale
    report = Arrangement(G).position(exact=False)
    assert len(report.dependencies) == 1 and "0" in str(report)
    assert not report.is_generic
