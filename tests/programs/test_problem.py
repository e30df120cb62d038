"""The contract of training: what it refuses, what does not matter, and starts."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.programs.instances import LOSSES, random_program
from zonofit.errors import InputError
from zonofit.programs import Huber, Problem
from zonofit.programs.feasibility import InfeasiblePatternError

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((12, 2)), RNG.standard_normal(12)
A = np.array([np.c_[X, np.ones(12)] @ w > 0 for w in RNG.standard_normal((3, 3))])
NAN, INF = np.nan, np.inf


def changed(values, place, value):
    values = np.array(values)
    values[place] = value
    return values


def labels_for(loss, y):
    return (y > 0).astype(float) if loss == "logistic" else y


BAD = [
    # what is wrong, arguments that differ, what the message says: the argument, what was found, and a cure
    ("nan in X", {"X": changed(X, (3, 1), NAN)}, r"X: .*3.*; "),
    ("inf in X", {"X": changed(X, (0, 0), INF)}, r"X: .*; "),
    ("X is a list of numbers", {"X": Y}, r"X: .*shape \(12,\)"),
    ("X has three axes", {"X": X[None]}, r"X: .*shape \(1, 12, 2\)"),
    ("X has no rows", {"X": X[:0], "y": []}, r"X: "),
    ("words in X", {"X": [["a", "b"]] * 12}, r"X: .*a"),
    ("y too short", {"y": Y[1:]}, r"y: expected 12 numbers, one an example, got shape \(11,\)"),
    ("y a matrix", {"y": Y[:, None]}, r"y: expected 12 numbers, one an example, got shape \(12, 1\)"),
    ("a single y", {"y": 3.0}, r"y: expected 12 numbers"),
    ("nan in y", {"y": changed(Y, 5, NAN)}, r"y: nan at place 5 .*drop these examples"),
    ("inf in y", {"y": changed(Y, [2, 7], -INF)}, r"y: -inf at place 2 \(2 such in all\); drop these examples"),
    ("words in y", {"y": ["yes"] * 12}, r"y: not a list of numbers .*pass one number an example"),
    (
        "classes 1 and 2",
        {"y": np.repeat([1, 2], 6), "loss": "logistic"},
        r"y: .*found 2; map your two classes to 0 and 1",
    ),
    ("three classes", {"y": np.repeat([0, 1, 2], 4), "loss": "logistic"}, r"y: .*found 2; .*loss='squared'"),
    ("no such loss", {"loss": "hinge"}, r"loss: 'hinge' is not a loss; choose one of squared, logistic"),
    ("no units", {"output_weights": 0}, r"output_weights: 0 units will not do; pass at least 1"),
    ("fewer than no units", {"output_weights": -2}, r"output_weights: -2 units will not do"),
    ("an empty list of units", {"output_weights": []}, r"output_weights: an empty list; pass one number a unit"),
    ("nan in v", {"output_weights": [1.0, NAN]}, r"output_weights: nan at place 1"),
    (
        "v a matrix",
        {"output_weights": [[1.0, -1.0]]},
        r"output_weights: expected a list of numbers, got shape \(1, 2\)",
    ),
    ("v true", {"output_weights": True}, r"output_weights: expected a list of numbers"),
    ("two and a half units", {"output_weights": 2.5}, r"output_weights: expected a list of numbers"),
    ("negative ridge", {"alpha": -1e-3}, r"alpha: -0.001 will not do; pass a finite number that is at least 0"),
    ("ridge nan", {"alpha": NAN}, r"alpha: nan will not do"),
    ("ridge a word", {"alpha": "much"}, r"alpha: 'much' is not a number"),
    ("ridge with corners", {"alpha": 0.1, "loss": "absolute"}, r"alpha: .*use alpha=0, or loss=Huber\(delta\)"),
    ("infinite bias", {"output_bias": INF}, r"output_bias: inf will not do; pass a finite number"),
    ("bias a list", {"output_bias": [1.0, 2.0]}, r"output_bias: \[1.0, 2.0\] is not a number"),
    ("negative weight", {"sample_weight": changed(np.ones(12), 4, -1e-9)}, r"sample_weight: .*not be negative.*; give"),
    ("no weight", {"sample_weight": np.zeros(12)}, r"sample_weight: .*not all 0"),
    ("nan weight", {"sample_weight": changed(np.ones(12), 0, NAN)}, r"sample_weight: nan at place 0"),
    ("too few weights", {"sample_weight": np.ones(11)}, r"sample_weight: expected 12 numbers.*\(11,\)"),
]


@pytest.mark.parametrize(("arguments", "message"), [bad[1:] for bad in BAD], ids=[bad[0] for bad in BAD])
def test_bad_input_is_named_with_a_cure(arguments, message):
    with pytest.raises(InputError, match="^" + message):
        Problem(**{"X": X, "y": Y, "output_weights": 3, **arguments})


@pytest.mark.parametrize(
    ("patterns", "message"),
    [
        (A[:2], r"patterns: expected one row for each of 3 units .* 12 examples, got shape \(2, 12\)"),
        (A[:, 1:], r"patterns: .*got shape \(3, 11\)"),
        (A[0], r"patterns: .*got shape \(12,\)"),
        (A.T, r"patterns: .*got shape \(12, 3\)"),
        (np.zeros((0, 12), bool), r"patterns: .*got shape \(0, 12\)"),
        ([], r"patterns: .*got shape \(0,\)"),
        (2 * A, r"patterns: found entries other than 0 and 1; pass one row of bits a unit"),
        (2.0 * A - 1, r"patterns: found entries other than 0 and 1"),
        (np.where(A, NAN, 0.0), r"patterns: found entries other than 0 and 1"),
        ([["a"] * 12] * 3, r"patterns: found entries other than 0 and 1"),
    ],
)
def test_bad_patterns_are_named_with_a_cure(patterns, message):
    with pytest.raises(InputError, match="^" + message):
        Problem(X, Y, 3).solve(patterns)


def test_patterns_of_other_types():
    problem = Problem(X, Y, 3)
    found = problem.solve(A)
    for same in (A.astype(int), A.astype(float), A.tolist(), np.asfortranarray(A), A.astype(int).tolist()):
        assert problem.solve(same).objective == found.objective


def test_arguments_stay_as_they_are():
    given = X.copy(), Y.copy(), np.ones(3), np.arange(12.0)
    problem = Problem(given[0], given[1], given[2], sample_weight=given[3])
    problem.solve(A)
    for before, after in zip((X, Y, np.ones(3), np.arange(12.0)), given, strict=True):
        assert np.array_equal(before, after)
    given[0][:] = given[1][:] = given[2][:] = 7.0
    assert np.array_equal(problem.generators[:, :2], X) and np.array_equal(problem.labels, Y)
    assert np.array_equal(problem.output_weights, np.ones(3))
    with pytest.raises(ValueError, match="read-only"):
        problem.generators[0, 0] = 1.0


def test_what_a_problem_says():
    problem = Problem(X, Y, 5, alpha=0.25, sample_weight=np.arange(12) + 1.0)
    assert repr(problem) == "Problem(n_examples=12, n_features=2, width=5, loss=Squared(), alpha=0.25)"
    assert (problem.width, problem.n_examples) == (5, 12)
    assert problem.output_weights.tolist() == [1, 1, 1, -1, -1]
    assert problem.weights.sum() == pytest.approx(1.0) and problem.weights[11] == pytest.approx(12 * problem.weights[0])
    W, c = np.random.default_rng(1).standard_normal((5, 3)), 0.3
    expected = [sum(v * max(w @ [*x, 1.0], 0.0) for v, w in zip(problem.output_weights, W, strict=True)) + c for x in X]
    assert np.allclose(problem.predict(W, c), expected, atol=1e-13)
    assert problem.mean_loss(expected) == pytest.approx(
        np.average((np.array(expected) - Y) ** 2, weights=np.arange(12) + 1)
    )
    assert np.array_equal(problem.patterns(W), (np.c_[X, np.ones(12)] @ W.T > 0).T)


def test_what_a_solution_says():
    problem = Problem(X, Y, 3, alpha=0.01)
    found = problem.solve(A)
    assert re.fullmatch(r"VertexSolution\(loss=0\.\d+, width=3, status='optimal'\)", repr(found))
    assert found.W.shape == (3, 3) and found.nu.shape == (12,)
    assert found.tight.shape == found.multipliers.shape == (3, 12) and found.tight.dtype == bool
    assert not found.multipliers[~found.tight].any() and found.multipliers.min() >= 0
    assert np.allclose(found.predictions, problem.predict(found.W, found.c), atol=1e-13)
    assert found.loss == pytest.approx(problem.mean_loss(found.predictions))
    assert found.objective == pytest.approx(found.loss + 0.005 * np.sum(found.W**2))
    preactivations = found.W @ problem.generators.T
    assert np.abs(preactivations[found.tight]).max(initial=0.0) <= 1e-12
    assert np.allclose(found.nu, problem.weights * 2 * (found.predictions - Y), atol=1e-14)


@pytest.mark.parametrize("loss", LOSSES)
def test_sample_weights_are_repetitions(loss):
    rng = np.random.default_rng(2)
    y, times = labels_for(loss, Y), rng.integers(1, 4, 12)
    weighted = Problem(X, y, 3, loss=loss, sample_weight=times).solve(A)
    every = np.repeat(np.arange(12), times)
    repeated = Problem(X[every], y[every], 3, loss=loss).solve(A[:, every])
    assert weighted.loss == pytest.approx(repeated.loss, rel=1e-9)
    assert Problem(X, y, 3, loss=loss, sample_weight=1e-200 * times).solve(A).loss == pytest.approx(
        weighted.loss, rel=1e-9
    )


@pytest.mark.parametrize("loss", LOSSES)
def test_examples_of_weight_zero_only_cut(loss):
    y, p = labels_for(loss, Y), np.ones(12)
    p[[1, 4, 5]] = 0.0
    problem = Problem(X, y, 3, loss=loss, sample_weight=p)
    found = problem.solve(A)
    assert found.is_optimal() and not found.nu[p == 0].any()
    # other labels there change nothing
    other = np.where(p == 0, 1 - y if loss == "logistic" else 1e6, y)
    assert Problem(X, other, 3, loss=loss, sample_weight=p).solve(A).loss == pytest.approx(found.loss, rel=1e-9)
    # without its walls the program is a relaxation
    relaxed = Problem(X[p > 0], y[p > 0], 3, loss=loss).solve(A[:, p > 0])
    assert relaxed.loss <= found.loss * (1 + 1e-9)
    assert np.all(np.where(A, 1, -1) * (found.W @ problem.generators.T) >= -1e-12)


def test_a_weightless_wall_binds():
    """One unit rises through 0, 1, 2 and must be off at the weightless 0.5, so it is 0 at 0 too, and straight after."""
    points = np.array([[0.0], [0.5], [1.0], [2.0]])
    y, p = np.array([0.0, 9.0, 1.0, 2.0]), [1, 0, 1, 1]
    bound = Problem(points, y, [1.0], sample_weight=p, output_bias=0.0).solve([[0, 0, 1, 1]])
    # w·x + b <= 0 at 0.5 and a line through (1, 1), (2, 2): least squares with b = -w/2
    z = np.array([0.5, 1.5])
    w = z @ [1, 2] / (z @ z)
    assert bound.loss == pytest.approx(np.sum((w * z - [1, 2]) ** 2) / 3)
    assert bound.tight[0, 1] and bound.multipliers[0, 1] > 0
    assert Problem(points, y, [1.0], sample_weight=p, output_bias=0.0).solve([[1, 1, 1, 1]]).loss <= 1e-25


@pytest.mark.parametrize("loss", LOSSES)
def test_infeasible_patterns_are_refused_with_a_proof(loss):
    points = np.array([[0.0], [1.0], [2.0], [3.0]])
    problem = Problem(points, [0, 1, 1, 0], 2, loss=loss)
    with pytest.raises(InfeasiblePatternError, match=r"patterns: row 1 is no chamber.*problem\.patterns") as caught:
        problem.solve([[0, 0, 1, 1], [0, 1, 0, 0]])
    assert caught.value.unit == 1
    membership = caught.value.membership
    assert not membership.feasible and membership.verify()
    assert membership.pattern.tolist() == [False, True, False, False]
    assert isinstance(caught.value, InputError)
    for flipped in range(4):  # every row of bits is either solved or refuted
        row = np.arange(4) == flipped
        if flipped in (0, 3):
            assert problem.solve([row, ~row]).is_optimal() or loss == "logistic"
        else:
            with pytest.raises(InfeasiblePatternError):
                problem.solve([row, row])


def test_random_rows_of_bits_are_solved_or_refuted():
    rng = np.random.default_rng(3)
    refused = 0
    for trial in range(150):
        N, d = int(rng.integers(2, 9)), int(rng.integers(1, 3))
        points = rng.integers(-2, 3, (N, d)).astype(float) if trial % 2 else rng.standard_normal((N, d))
        problem = Problem(points, rng.standard_normal(N), 1)
        bits = rng.random((1, N)) < 0.5
        expected = problem.arrangement.membership(bits[0]).feasible
        if expected:
            assert problem.solve(bits).is_optimal()
            continue
        refused += 1
        with pytest.raises(InfeasiblePatternError) as caught:
            problem.solve(bits)
        assert caught.value.membership.verify()
    assert 20 < refused < 130


def test_duplicates_with_different_bits_are_refused():
    points = np.array([[1.0, 2.0], [1.0, 2.0], [0.0, 0.0]])
    with pytest.raises(InfeasiblePatternError) as caught:
        Problem(points, [0, 1, 2], 1).solve([[1, 0, 1]])
    assert sorted(caught.value.membership.exact_multipliers) == [0, 1]
    assert caught.value.membership.verify()


def test_unchecked_patterns_are_the_callers_business():
    problem = Problem([[0.0], [1.0], [2.0]], [0, 1, 0], 1)
    found = problem.solve([[0, 1, 0]], check=False)  # the cone {0}
    assert not found.W.any() and found.loss == pytest.approx(2 / 9)


def test_other_output_weights():
    problem = Problem(X, Y, 3, alpha=0.01, sample_weight=np.arange(12) + 1.0, output_bias=0.5)
    other = problem.with_output_weights([2.0, -1.0])
    assert problem.width == 3 and other.width == 2 and other.design is problem.design
    fresh = Problem(X, Y, [2.0, -1.0], alpha=0.01, sample_weight=np.arange(12) + 1.0, output_bias=0.5)
    assert other.solve(A[:2]).objective == pytest.approx(fresh.solve(A[:2]).objective, rel=1e-12)
    assert problem.with_output_weights(4).output_weights.tolist() == [1, 1, -1, -1]
    with pytest.raises(InputError, match="output_weights"):
        problem.with_output_weights([])


def programs(loss, seeds=range(4000, 4012)):
    for seed in seeds:
        yield random_program(seed, loss=loss, shape="generic")[:2]


@pytest.mark.parametrize("loss", LOSSES)
def test_many_are_solved_as_one_by_one_and_in_order(loss):
    problem, _ = next(programs(loss))
    rng = np.random.default_rng(4)
    n = problem.generators.shape[1]
    batch = [problem.patterns(rng.standard_normal((problem.width, n))) for _ in range(7)]
    one_by_one = [problem.solve(patterns) for patterns in batch]
    for n_jobs in (1, 2, 3):
        together = problem.solve_many(iter(batch), n_jobs=n_jobs)
        assert [s.objective for s in together] == [s.objective for s in one_by_one]
        assert all(np.array_equal(s.patterns, patterns) for s, patterns in zip(together, batch, strict=True))
    assert problem.solve_many([]) == []
    bad = [batch[0], ~np.eye(problem.width, problem.n_examples, dtype=bool)[:, ::-1] * 2]
    with pytest.raises(InputError, match="patterns"):
        problem.solve_many(bad, n_jobs=2)


@pytest.mark.parametrize("loss", LOSSES)
def test_warm_starts_end_where_cold_ones_do(loss):
    for problem, patterns in programs(loss):
        found = problem.solve(patterns)
        rng = np.random.default_rng(5)
        n = problem.generators.shape[1]
        elsewhere = problem.patterns(rng.standard_normal((problem.width, n)))  # far off, too
        near = elsewhere.copy()
        near[1:] = patterns[1:]
        for other in (near, elsewhere, patterns):
            cold, warm = problem.solve(other), problem.solve(other, start=found)
            scale = cold.certificate.scale
            if "separable" in (cold.status, warm.status):
                assert max(cold.loss, warm.loss) <= 1e-8
                continue
            assert warm.objective == pytest.approx(cold.objective, rel=1e-9, abs=1e-9 * scale)
            assert warm.is_optimal()
        again = problem.solve(patterns, start=found)
        assert again.objective <= found.objective * (1 + 1e-12) + 1e-30


@pytest.mark.parametrize("seed", [118, 557, 1849, 2241, 2325, 2406, 2470])
def test_warm_starts_where_weights_ran_away(seed):
    """Examples far on their side have no curvature left, and all weights do where a loss is linear: Newton's method
    once called such starts optimal, or walked from them to weights of 1e16.
    """
    problem, patterns, _, _ = random_program(seed)
    G, rng = problem.generators, np.random.default_rng(seed)
    W = rng.standard_normal((problem.width, G.shape[1])) / np.maximum(np.abs(G).max(axis=0), 1e-300)
    far = (G @ W.T > 0).T
    found = problem.solve(patterns)
    for other in (np.r_[far[:1], patterns[1:]], far):
        cold, warm = problem.solve(other), problem.solve(other, start=found)
        if "separable" in (cold.status, warm.status):
            assert max(cold.loss, warm.loss) <= 1e-8
        else:
            assert warm.is_optimal() and cold.is_optimal()


def test_a_start_is_not_changed():
    problem = Problem(X, Y, 3)
    found = problem.solve(A)
    W, nu = found.W.copy(), found.nu.copy()
    problem.solve(~A, start=found)
    assert np.array_equal(found.W, W) and np.array_equal(found.nu, nu)


def test_starts_of_other_problems_are_refused():
    problem = Problem(X, Y, 3)
    found = problem.solve(A)
    for other in (Problem(X, Y, 3), Problem(X, Y, 3, alpha=0.1), Problem(X[:, :1], Y, 3)):
        with pytest.raises(InputError, match=r"start: .*another problem; solve without it"):
            other.solve(other.patterns(np.ones((3, other.generators.shape[1]))), start=found)
    with pytest.raises(InputError, match=r"start: .*another problem"):
        problem.with_output_weights(2).solve(A[:2], start=found)


def test_a_limit_on_steps_is_kept():
    problem, patterns, _, _ = random_program(0, loss="squared", shape="generic")
    whole = problem.solve(patterns)
    assert whole.steps > 5
    short = problem.solve(patterns, limit=1)
    assert short.status == "steps" and short.steps == 1 and not short.is_optimal()
    assert short.objective >= whole.objective
    assert short.certificate.primal_residual <= 1e-12


def test_huber_turns_into_the_squared_loss():
    squared, huber = Problem(X, Y, 3).solve(A), Problem(X, Y, 3, loss=Huber(1e6)).solve(A)
    assert huber.loss == pytest.approx(squared.loss, rel=1e-12)


def test_without_a_bias():
    """Rows are the generators; the program of a pattern is that of the same data with the bias held at 0."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((9, 3)), rng.standard_normal(9)
    problem = Problem(X, y, [1.0, -1.0], bias=False, output_bias=0.0)
    assert problem.generators.shape == (9, 3)
    W = rng.standard_normal((2, 3))
    assert np.array_equal(problem.patterns(W), W @ X.T > 0)
    assert np.allclose(problem.predict(W, 0.0), np.maximum(X @ W.T, 0) @ [1, -1])
    solution = problem.solve(problem.patterns(W))
    assert solution.is_optimal() and solution.W.shape == (2, 3)
    with_bias = Problem(X, y, [1.0, -1.0], output_bias=0.0)
    assert with_bias.solve(problem.patterns(W)).loss <= solution.loss + 1e-12
    # the last column as the 1 of the bias: the same problem
    X[:, 2] = 1.0
    one, other = Problem(X, y, 2, bias=False), Problem(X[:, :2], y, 2)
    patterns = one.patterns(W)
    assert one.solve(patterns).loss == other.solve(patterns).loss
    with pytest.raises(InputError, match="X: row 1 is zero"):
        Problem([[1.0, 2.0], [0.0, 0.0]], [1, 2], 1, bias=False)
    assert Problem([[1.0, 2.0], [0.0, 0.0]], [1, 2], 1).n_examples == 2
