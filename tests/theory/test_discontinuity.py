"""Appendix D in rational arithmetic, and Theorem 1 on generic data."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zonofit.errors import BudgetError, InputError
from zonofit.geometry.arrangement import Arrangement
from zonofit.geometry.stability import same_zonotope, stability_radius
from zonofit.programs import Problem
from zonofit.search import Exact, run
from zonofit.theory.continuity import drift, towards_the_break
from zonofit.theory.discontinuity import EXAMPLES, appendix_d1, appendix_d2, concurrent_fit, concurrent_lines
from zonofit.theory.exact_losses import exact_patterns, solve_all_exactly

quick = settings(deadline=None, max_examples=25, derandomize=True)
EPSILONS = ["1", "1e-3", "1e-8", "1e-30", "-1e-8", Fraction(1, 7)]

# Figures D.1 and D.2: the active examples, counted from 1, and the loss
FIGURE_D1 = {
    "": "29/10", "5": "19/10", "45": "7/5", "345": "9/10", "2345": "2/5", "12345": "1/10", "1": "27/10", "12": "13/5",
    "123": "5/2", "1234": "67/30",
}  # fmt: skip
FIGURE_D2 = {
    "4": "9/4", "2": "7/4", "24": "3/2", "23": "5/4", "14": "17/8", "13": "7/4", "134": "11/8", "123": "3/2"
}  # fmt: skip


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_appendix_d1(epsilon):
    jump = appendix_d1(epsilon)
    assert jump.verify()
    assert (jump.flat.best.loss, jump.lifted.best.loss) == (Fraction(1, 10), 0)
    assert all(jump.flat.best.pattern) and all(jump.lifted.best.pattern) and not jump.is_new
    assert jump.lifted.best.w == jump.example.weights(epsilon) == (1, -1 / (2 * Fraction(epsilon)), 0)
    assert (len(jump.flat.vertices), len(jump.lifted.vertices), len(jump.new)) == (10, 16, 6)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_appendix_d2(epsilon):
    jump = appendix_d2(epsilon)
    assert jump.verify()
    assert (jump.flat.best.loss, jump.lifted.best.loss) == (Fraction(5, 4), Fraction(5, 8))
    assert jump.flat.best.pattern == (False, True, True, False)
    assert all(jump.lifted.best.pattern) and jump.is_new and jump.flat.of([1, 1, 1, 1]) is None
    assert jump.lifted.best.w == jump.example.weights(epsilon)
    assert (len(jump.flat.vertices), len(jump.lifted.vertices), len(jump.new)) == (8, 12, 4)


@pytest.mark.parametrize(("name", "figure"), [("D.1", FIGURE_D1), ("D.2", FIGURE_D2)])
def test_the_figures(name, figure):
    flat = EXAMPLES[name].jump(1).flat
    found = {"".join(str(i + 1) for i, bit in enumerate(v.pattern) if bit): str(v.loss) for v in flat.vertices}
    assert found == figure


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("epsilon", [0.0, 1.0, 1e-4, 1e-8])
def test_floats_agree(name, epsilon):
    """The vertex programs of HiGHS, at every vertex."""
    example = EXAMPLES[name]
    G = np.array([[float(x) for x in row] for row in example.generators(epsilon)])
    labels = [float(x) for x in example.labels]
    X = G[:, :-1] if example.bias else G
    problem = Problem(X, labels, [1.0], loss="absolute", output_bias=0.0, bias=example.bias)
    table = solve_all_exactly(example.generators(epsilon), example.labels)
    assert {v.pattern for v in table.vertices} == {tuple(row) for row in problem.arrangement.patterns().tolist()}
    for vertex in table.vertices:
        assert problem.solve([vertex.pattern]).loss == pytest.approx(float(vertex.loss), abs=1e-8)


@given(st.integers(0, 2**32 - 1))
@quick
def test_exact_tables_of_integer_data(seed):
    """Patterns, losses and proofs against the float programs, on data with every kind of dependency."""
    rng = np.random.default_rng(seed)
    N, d = int(rng.integers(1, 7)), int(rng.integers(1, 3))
    X, y = rng.integers(-2, 3, (N, d)), rng.integers(-3, 4, N)
    rows = [[*map(int, x), 1] for x in X]
    table = solve_all_exactly(rows, y.tolist())
    assert table.verify()
    problem = Problem(X, y, [1.0], loss="absolute", output_bias=0.0)
    assert {v.pattern for v in table.vertices} == {tuple(row) for row in problem.arrangement.patterns().tolist()}
    for vertex in table.vertices:
        assert float(vertex.loss) == pytest.approx(problem.solve([vertex.pattern]).loss, abs=1e-8)


def test_verify_can_fail():
    table = appendix_d1().flat
    good = table.best
    for change in ({"loss": Fraction(1, 11)}, {"w": (Fraction(2), *good.w[1:])}, {"nu": (Fraction(2), *good.nu[1:])}):
        bad = type(good)(**{**vars(good), **change})
        assert good.verify(table.rows, table.labels) and not bad.verify(table.rows, table.labels)


def test_refused():
    for epsilon, message in ((0, "leaves the data flat"), ("a", "not a number"), (None, "not a"), (np.inf, "not a")):
        with pytest.raises(InputError, match=message):
            appendix_d1(epsilon)
    with pytest.raises(InputError, match="one of them is zero"):
        solve_all_exactly([[0, 0], [1, 0]], [1, 2])
    with pytest.raises(InputError, match="expected 2 numbers"):
        solve_all_exactly([[1, 0], [1, 1]], [1])
    with pytest.raises(BudgetError, match="17 examples"):
        exact_patterns([[Fraction(1)]] * 17)


BENT = np.array([[0, 0], [1, 0.25], [2, 0], [1, -4]]), np.array([1, 2.5, 2, 0])  # three with bent labels


@pytest.mark.parametrize(("N", "d", "seed"), [(7, 2, 0), (8, 2, 1), (6, 1, 2), (6, 3, 3)])
def test_within_the_radius(N, d, seed):
    """No pattern changes, and the optimum moves continuously: halving the step halves the largest change."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((N, d)), rng.standard_normal(N)
    radius = stability_radius(X).radius
    moves = rng.standard_normal((N, d))
    moves /= np.linalg.norm(moves, axis=1)[:, None]
    for direction in (moves, towards_the_break(X)):
        fine = drift(X, y, direction, np.linspace(0, 0.99 * radius, 33))
        assert not fine.changed.any() and fine.proof < radius <= fine.stability.tight_radius
        steps = [np.max(np.abs(np.diff(fine.optimum[::k]))) for k in (4, 2, 1)]
        assert steps[2] <= steps[1] * 0.75 + 1e-12 and steps[1] <= steps[0] * 0.75 + 1e-12
        assert fine.steepest(np.inf) < 1e3


@pytest.mark.parametrize("seed", range(4))
def test_beyond_the_radius(seed):
    """One pair of opposite patterns goes, one comes, and they differ in the examples that cross."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((8, 2)), rng.standard_normal(8)
    found = stability_radius(X)
    path = drift(X, y, towards_the_break(X, found), found.tight_radius * np.array([0, 0.5, 0.999, 1.001, 1.01]))
    assert path.changed.tolist() == [0, 0, 0, 4, 4]
    moved = X + 1.001 * found.tight_radius * towards_the_break(X)
    lost, gained = ({tuple(p) for p in Arrangement.from_examples(data).patterns()} for data in (X, moved))
    ours, theirs = lost - gained, gained - lost
    assert len(ours) == len(theirs) == 2
    crossing = list(found.tight_subset)
    flipped = set()
    for pattern in ours:
        turned = np.array(pattern)
        turned[crossing] ^= True
        flipped.add(tuple(turned.tolist()))
    assert {tuple(map(bool, p)) for p in theirs} == flipped
    comparison = same_zonotope(X, moved)
    assert not comparison.equal and comparison.verify()


def test_a_jump_of_generic_data():
    """Three examples with bent labels: the optimum is 0 until they are on a line, and is not there and beyond."""
    X, y = BENT
    found = stability_radius(X)
    assert set(found.tight_subset) == {0, 1, 2}
    path = drift(
        X, y, towards_the_break(X, found), found.tight_radius * np.array([0, 0.5, 0.9999, 1.0, 1.0001, 1.5]),
        output_bias=0.0,
    )  # fmt: skip
    assert np.all(path.optimum[:3] < 1e-12) and np.all(path.optimum[3:] > 1e-2)
    assert path.changed[2] == 0 and path.changed[3] > 0 and path.changed[4] > 0


def test_drift_refuses():
    X, y = BENT
    with pytest.raises(InputError, match="moves: expected the shape"):
        drift(X, y, np.ones((2, 2)), [0.0])
    with pytest.raises(InputError, match="no tight radius"):
        towards_the_break([[0, 0], [1, 1], [2, 2], [0, 1]])


def test_every_sign_is_a_pattern_of_independent_rows():
    rows = [[Fraction(1), Fraction(0)], [Fraction(0), Fraction(1)]]
    assert exact_patterns(rows) == list(product([False, True], repeat=2))


@pytest.mark.parametrize("epsilon", ["0.85", "1e-2", "1e-8", "1e-30"])
def test_two_units_in_general_position(epsilon):
    """Theorem 1 fails for two units: an exact fit for every ε > 0, by hand."""
    points, labels = concurrent_lines(epsilon)
    units = [[w[0] * a + w[1] * b + w[2] for a, b in points] for w in concurrent_fit(epsilon)]
    assert [[z > 0 for z in unit] for unit in units] == [[1, 1, 0, 0, 1, 1], [0, 0, 1, 1, 1, 1]]
    assert [max(p, 0) - max(q, 0) for p, q in zip(*units, strict=True)] == labels


def test_and_none_in_the_limit():
    """At ε = 0 every vertex of the square has a certificate of at least 2/3, and nothing is near a degeneracy."""
    X, y = (np.array(part, float) for part in concurrent_lines())
    found = stability_radius(X)
    assert Arrangement.from_examples(X).position().is_generic and found.radius > 0.15
    problem = Problem(X, y, [1, -1], output_bias=0.0)
    rows = problem.arrangement.patterns()
    assert len(rows) == 32
    solutions = [problem.solve(np.array([a, b])) for a in rows for b in rows]
    assert all(s.is_optimal(1e-8) for s in solutions)
    assert min(s.loss for s in solutions) == pytest.approx(2 / 3, rel=1e-12)
    assert min(s.certificate.bound for s in solutions) >= 2 / 3 - 1e-7
    for epsilon in (1e-1, 1e-3, 1e-6):
        moved = np.array(concurrent_lines(epsilon)[0], float)
        assert same_zonotope(X, moved).equal
        trace = run(Exact(), Problem(moved, y, [1, -1], output_bias=0.0))
        assert trace.loss < 1e-12 and np.linalg.norm(trace.W) * epsilon == pytest.approx(13.5, rel=0.1)
    assert run(Exact(), Problem(moved, y, [1], output_bias=0.0)).loss == pytest.approx(
        run(Exact(), Problem(X, y, [1], output_bias=0.0)).loss, rel=1e-4
    )
    for bad in (0, -1, 1, "6/7"):
        with pytest.raises(InputError, match="between 0 and 6/7"):
            concurrent_fit(bad)
