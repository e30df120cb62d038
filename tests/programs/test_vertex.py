"""Vertex programs: against slow twins, certified over all losses and shapes, under symmetries, at their limits."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from tests.programs.instances import LOSSES, SHAPES, random_program, synthetic
from tests.programs.reference_vertex import cost, least_objective
from zonofit.programs import Huber, Problem

each_loss = pytest.mark.parametrize("loss", LOSSES)
each_shape = pytest.mark.parametrize("shape", SHAPES, ids=[shape.replace(" ", "-") for shape in SHAPES])


def bits(G, W):
    return (G @ np.asarray(W).T > 0).T


def agree(found, expected, scale, relative=1e-8):
    """Objectives of the same program; for the logistic loss without a minimiser both need only be small."""
    return abs(found - expected) <= relative * (abs(expected) + scale) or max(found, expected) <= 1.01e-8


def attest(solution):
    """That the answer is what its status says; statuses are counted by the callers."""
    if solution.status == "separable":
        assert not solution.problem.loss.translates and solution.problem.alpha == 0
        assert solution.loss <= 1e-8 and solution.certificate.primal_residual <= 1e-9
        return
    certificate = solution.certificate
    assert solution.status in ("optimal", "exact", "rounding"), solution
    assert solution.is_optimal(1e-9), certificate
    assert certificate.relative_gap <= 1e-9
    if solution.status == "exact":
        assert solution.loss <= 1e-10 * certificate.scale  # of labels that are alike the scale is rounding itself


@each_loss
@each_shape
def test_twin_finds_the_same_optimum(loss, shape):
    if shape == "units of labels":  # the twin has one scale; labels in other units have a test of their own
        return
    done, seed = 0, 0
    while done < 4:
        problem, patterns, _, _ = random_program(seed, loss=loss, shape=shape)
        seed += 1
        if cost(problem) > 300:
            continue
        done += 1
        found = problem.solve(patterns)
        expected = least_objective(problem, patterns)
        # the twin's Newton method on Huber's loss stops early at times, above the optimum
        relative = 1e-6 if loss == "huber" else 1e-8
        assert agree(found.objective, expected, found.certificate.scale, relative), seed


@each_loss
@each_shape
def test_random_programs_are_certified(loss, shape):
    for seed in range(1000, 1008):
        problem, patterns, _, _ = random_program(seed, loss=loss, shape=shape)
        attest(problem.solve(patterns))


@pytest.mark.slow
def test_two_thousand_random_programs_are_certified():
    statuses = set()
    for seed in range(2000):
        problem, patterns, _, _ = random_program(seed)
        solution = problem.solve(patterns)
        attest(solution)
        statuses.add(solution.status)
    assert statuses == {"optimal", "exact", "rounding", "separable"}


@pytest.mark.parametrize("seed", [7286, 10149])
def test_weights_that_only_rounding_sees_are_refused(seed):
    """Models with curvatures from 1e-16 to 1 led to weights of 1e16, whose predictions were noise below the minimum."""
    problem, patterns, _, _ = random_program(seed)
    attest(problem.solve(patterns))


@pytest.mark.parametrize(("d", "m_gen", "m"), [(4, 2, 4), (4, 4, 8), (8, 8, 8), (8, 8, 16)])
def test_the_papers_data(d, m_gen, m):
    rng = np.random.default_rng(d * m)
    X, y = synthetic(d, m_gen, rng)
    problem = Problem(X, y, m)
    for _ in range(5):
        found = problem.solve(problem.patterns(rng.standard_normal((m, d + 1))))
        attest(found)
        assert found.status != "rounding"


def test_the_generating_patterns_fit_exactly():
    rng = np.random.default_rng(0)
    X, W, v = rng.standard_normal((60, 3)), rng.standard_normal((4, 4)), np.array([1.0, -2.0, 0.5, 3.0])
    y = np.maximum(np.c_[X, np.ones(60)] @ W.T, 0) @ v - 0.7
    problem = Problem(X, y, v)
    found = problem.solve(problem.patterns(W))
    assert found.status == "exact" and found.loss <= 1e-26
    assert np.allclose(found.predictions, y, atol=1e-12)
    # 60 examples leave no other weights with these patterns, but for a constant between units and bias
    assert np.allclose(np.abs(found.W[:, :3]), np.abs(W[:, :3]), atol=1e-9)
    absolute = Problem(X, y, v, loss="absolute")
    assert absolute.solve(problem.patterns(W)).loss <= 1e-9


@each_loss
def test_examples_and_units_in_any_order(loss):
    for seed in range(12):
        problem, patterns, _, _ = random_program(seed, loss=loss)
        rng = np.random.default_rng(seed)
        rows, units = rng.permutation(problem.n_examples), rng.permutation(problem.width)
        X, p = problem.generators[:, :-1], problem.weights
        options = {"loss": problem.loss, "alpha": problem.alpha, "output_bias": problem.output_bias}
        v = problem.output_weights
        other = Problem(X[rows], problem.labels[rows], v[units], sample_weight=p[rows], **options)
        here, there = problem.solve(patterns), other.solve(patterns[np.ix_(units, rows)])
        assert agree(there.objective, here.objective, here.certificate.scale), seed
        attest(there)
        if problem.loss.quadratic:  # strictly convex in the predictions
            size = np.max(np.abs(problem.labels - problem.constant)) + 1e-12 * abs(problem.constant)
            there_and_back = np.empty(problem.n_examples)
            there_and_back[rows] = there.predictions
            used = p > 0
            assert np.allclose(there_and_back[used], here.predictions[used], atol=1e-6 * size, rtol=0), seed


@each_loss
def test_features_in_other_coordinates(loss):
    for seed in range(12):
        problem, patterns, _, _ = random_program(seed, loss=loss, shape="generic")
        rng = np.random.default_rng(seed)
        X = problem.generators[:, :-1]
        d = X.shape[1]
        change = np.linalg.qr(rng.standard_normal((d, d)))[0] * 10.0 ** rng.integers(-3, 4, d)
        other = Problem(X @ change + rng.standard_normal(d), problem.labels, problem.output_weights, loss=problem.loss)
        here, there = problem.solve(patterns), other.solve(patterns)
        assert agree(there.loss, here.loss, here.certificate.scale), seed
        attest(there)


def test_rotations_leave_the_ridge():
    for seed in range(12):
        problem, patterns, _, _ = random_program(seed, loss="squared", shape="ridge")
        rng = np.random.default_rng(seed)
        X = problem.generators[:, :-1]
        turn = np.linalg.qr(rng.standard_normal((X.shape[1], X.shape[1])))[0]
        other = Problem(X @ turn, problem.labels, problem.output_weights, alpha=problem.alpha)
        here, there = problem.solve(patterns), other.solve(patterns)
        assert there.objective == pytest.approx(here.objective, rel=1e-9)
        assert np.allclose(there.W[:, :-1] @ turn.T, here.W[:, :-1], atol=1e-6 * (1e-6 + np.abs(here.W).max()))


@each_loss
@pytest.mark.parametrize("size", [1e-3, 7.0, 1e4])
def test_output_weights_of_any_size_are_signs_in_disguise(loss, size):
    for seed in range(6):
        problem, patterns, _, _ = random_program(seed, loss=loss, shape="generic")
        sizes = np.where(np.arange(problem.width) % 2, size, 1.0)
        here, there = (
            problem.solve(patterns),
            problem.with_output_weights(problem.output_weights * sizes).solve(patterns),
        )
        assert agree(there.loss, here.loss, here.certificate.scale), seed


@each_loss
@pytest.mark.parametrize("size", [1e-8, 1e-3, 1e8])
def test_labels_in_other_units(loss, size):
    if loss == "logistic":
        return
    for seed in range(8):
        problem, patterns, _, _ = random_program(seed, loss="squared", shape="generic")
        X, y, v = problem.generators[:, :-1], problem.labels, problem.output_weights
        unit = Huber(0.3) if loss == "huber" else loss
        scaled = Huber(0.3 * size) if loss == "huber" else loss
        here, there = Problem(X, y, v, loss=unit).solve(patterns), Problem(X, size * y, v, loss=scaled).solve(patterns)
        factor = size if loss == "absolute" else size**2
        assert agree(there.loss / factor, here.loss, here.certificate.scale), seed
        attest(there)
        # a free bias takes up any constant
        moved = Problem(X, y + 64.0, v, loss=unit).solve(patterns)
        assert agree(moved.loss, here.loss, here.certificate.scale), seed


@each_loss
@pytest.mark.parametrize("size", [1e-8, 1e8])
def test_features_in_other_units(loss, size):
    for seed in range(8):
        problem, patterns, _, _ = random_program(seed, loss=loss, shape="generic")
        X = problem.generators[:, :-1] * np.where(np.arange(problem.generators.shape[1] - 1) % 2, 1.0, size)
        here = problem.solve(patterns)
        there = Problem(X, problem.labels, problem.output_weights, loss=problem.loss).solve(patterns)
        assert agree(there.loss, here.loss, here.certificate.scale), seed
        attest(there)


def test_one_unit_inside_its_chamber_is_least_squares():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, 3))
    G = np.c_[X, np.ones(40)]
    w = np.array([1.0, -2.0, 0.5, 0.3])
    for noise in (0.0, 1e-4):
        y = np.maximum(G @ w, 0.0) + noise * rng.standard_normal(40) + 0.25
        a = G @ w > 0
        columns = np.c_[a[:, None] * G, np.ones(40)]
        free = np.linalg.lstsq(columns, y, rcond=None)[0]
        assert np.array_equal(G @ free[:4] > 0, a)  # the cone does not matter
        found = Problem(X, y, [1.0]).solve(a[None])
        assert np.allclose(found.W[0], free[:4], atol=1e-10) and found.c == pytest.approx(free[4], abs=1e-10)
        assert not found.tight.any()
        # and with a ridge
        for alpha in (1e-3, 1.0):
            fixed = Problem(X, y, [1.0], alpha=alpha, output_bias=0.25).solve(a[None])
            B = columns[:, :4]
            ridge = np.linalg.solve(2 * B.T @ B / 40 + alpha * np.eye(4), 2 * B.T @ (y - 0.25) / 40)
            if np.array_equal(G @ ridge > 0, a):
                assert np.allclose(fixed.W[0], ridge, atol=1e-10)
            else:
                assert fixed.tight.any()


def test_units_that_are_always_active_are_a_line_and_a_cone():
    """One increasing and one decreasing positive function on [0, 1] add up to any line, with the bias or without."""
    X, y = np.array([[0.0], [0.25], [1.0]]), np.array([3.0, -1.0, 2.0])
    line = np.polyval(np.polyfit(X[:, 0], y, 1), X[:, 0])
    found = Problem(X, y, [1.0, -1.0]).solve(np.ones((2, 3), bool))
    assert np.allclose(found.predictions, line, atol=1e-12)
    # a single one is off limits below zero: with no bias and labels that fall through zero, the cone binds
    down = Problem(X, [1.0, 0.0, -3.0], [1.0], output_bias=0.0).solve(np.ones((1, 3), bool))
    assert down.tight[0, 2] and down.predictions[2] == pytest.approx(0.0, abs=1e-14)
    z = np.array([1.0, 0.75])
    w = z @ [1.0, 0.0] / (z @ z)
    assert np.allclose(down.predictions, [w, 0.75 * w, 0.0], atol=1e-13)


@each_loss
def test_units_that_are_never_active_leave_the_constant(loss):
    y = np.array([0.0, 1.0, 1.0, 0.0, 1.0])
    problem = Problem(np.arange(5.0)[:, None], y, 3, loss=loss)
    found = problem.solve(np.zeros((3, 5), bool))
    expected = {"squared": 0.24, "absolute": 0.4, "logistic": -0.6 * np.log(0.6) - 0.4 * np.log(0.4), "huber": 0.24}
    assert found.loss == pytest.approx(expected[loss], rel=1e-12)
    assert not found.predictions.std() > 1e-12


@each_loss
def test_one_example_one_unit(loss):
    for active in (True, False):
        found = Problem([[2.0]], [1.0], 1, loss=loss).solve([[active]])
        assert found.loss <= (1e-8 if loss == "logistic" else 1e-28)
        fixed = Problem([[2.0]], [1.0], 1, loss=loss, output_bias=-1.0).solve([[active]])
        best = 0.0 if active else {"squared": 4.0, "absolute": 2.0, "huber": 3.0, "logistic": np.log1p(np.e)}[loss]
        assert fixed.loss == pytest.approx(best, abs=1e-8)
        wrong = Problem([[2.0]], [0.0], [1.0], loss=loss, output_bias=1.0).solve([[active]])  # already too high
        least = {"squared": 1.0, "absolute": 1.0, "huber": 1.0, "logistic": np.log1p(np.e)}[loss]
        assert wrong.loss == pytest.approx(least, rel=1e-12) and not wrong.W.any()
        assert wrong.is_optimal()


@each_loss
@pytest.mark.parametrize("value", [0.0, 1.0, -2.5, 1e-200, 1e8, 0.1])
def test_constant_labels_are_met(loss, value):
    if loss == "logistic" and value not in (0.0, 1.0):
        return
    rng = np.random.default_rng(3)
    problem = Problem(rng.standard_normal((9, 2)), np.full(9, value), 3, loss=loss)
    found = problem.solve(problem.patterns(rng.standard_normal((3, 3))))
    if loss == "logistic":
        assert found.status == "separable" and found.loss <= 1e-8
    else:
        assert found.loss <= (4e-16 * abs(value)) ** problem.loss.label_power
        assert found.is_optimal()


@each_loss
def test_fewer_examples_than_features(loss):
    for seed in range(20):
        problem, patterns, _, _ = random_program(seed, loss=loss, shape="few")
        attest(problem.solve(patterns))


def test_independent_examples_are_fitted_where_signs_allow():
    """N independent generators: an active unit with v = 1 lifts each of its examples at will, one with -1 lowers it."""
    rng = np.random.default_rng(4)
    X, y = rng.standard_normal((4, 6)), rng.standard_normal(4)
    both = Problem(X, y, [1.0, -1.0])
    assert both.solve(np.ones((2, 4), bool)).loss <= 1e-26
    up = Problem(X, y, [1.0], output_bias=0.0).solve(np.ones((1, 4), bool))
    assert up.loss == pytest.approx(np.mean(np.minimum(y, 0.0) ** 2))
    some = np.array([True, False, True, False])
    assert Problem(X, y, [1.0], output_bias=0.0).solve(some[None]).loss == pytest.approx(
        np.mean(np.where(some, np.minimum(y, 0.0), y) ** 2)
    )


@each_loss
def test_duplicates_count_twice(loss):
    for seed in range(6):
        problem, patterns, _, _ = random_program(seed, loss=loss, shape="generic")
        X, y = problem.generators[:, :-1], problem.labels
        twice = Problem(np.r_[X, X], np.r_[y, y], problem.output_weights, loss=problem.loss)
        here, there = problem.solve(patterns), twice.solve(np.c_[patterns, patterns])
        assert agree(there.loss, here.loss, here.certificate.scale)
        attest(there)


def test_equal_units_help_no_more_than_one():
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((20, 2)), rng.standard_normal(20)
    a = np.c_[X, np.ones(20)] @ rng.standard_normal(3) > 0
    one = Problem(X, y, [1.0]).solve(a[None])
    for copies in (2, 9):
        assert Problem(X, y, np.ones(copies)).solve(np.tile(a, (copies, 1))).loss == pytest.approx(one.loss, rel=1e-10)
    idle = Problem(X, y, [1.0, 0.0]).solve(np.array([a, ~a]))
    assert idle.loss == pytest.approx(one.loss, rel=1e-10) and idle.is_optimal()


def test_a_ridge_shrinks():
    rng = np.random.default_rng(6)
    X, y = rng.standard_normal((30, 3)), rng.standard_normal(30)
    plain = Problem(X, y, 4)
    patterns = plain.patterns(rng.standard_normal((4, 4)))
    found = [Problem(X, y, 4, alpha=alpha).solve(patterns) for alpha in (0.0, 1e-9, 1e-4, 1e-2, 1.0, 1e2, 1e9)]
    assert found[1].loss == pytest.approx(found[0].loss, rel=1e-6)
    norms = [np.sum(s.W**2) for s in found[1:]]
    assert np.all(np.diff(norms) <= 1e-12) and norms[-1] <= 1e-12
    assert np.all(np.diff([s.loss for s in found]) >= -1e-12)
    assert np.all(np.diff([s.objective for s in found]) >= -1e-12)
    assert found[-1].loss == pytest.approx(np.var(y))
    assert all(s.is_optimal() for s in found)


def test_separable_classes():
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    for y, v in (([0, 0, 1, 1], [1.0]), ([0, 0, 1, 1], [0.01]), ([1, 1, 0, 0], [-1e3])):
        found = Problem(X, y, v, loss="logistic").solve([[0, 0, 1, 1]])
        assert found.status == "separable" and 0 < found.loss <= 1e-8
        assert np.array_equal(found.predictions > 0, np.array(y) > 0)
        assert found.certificate.primal_residual <= 1e-12
    # with a ridge there is a minimiser, and without separation too
    for problem in (
        Problem(X, [0, 0, 1, 1], [1.0], loss="logistic", alpha=1e-6),
        Problem(X, [0, 1, 0, 1], [1.0], loss="logistic"),
        Problem(X, [0, 0, 1, 1], [-1.0], loss="logistic"),
    ):
        found = problem.solve([[0, 0, 1, 1]])
        assert found.status in ("optimal", "rounding") and found.is_optimal()


def linear_program(problem, patterns):
    """Mean absolute error over W, c and e: minimise p·e with -e <= predictions - y <= e, row by row."""
    G, (m, N), n = problem.generators, patterns.shape, problem.generators.shape[1]
    rows, right = [], []
    for i in range(N):
        prediction = np.zeros(m * n + 1 + N)
        for j in range(m):
            if patterns[j, i]:
                prediction[j * n : (j + 1) * n] = problem.output_weights[j] * G[i]
        prediction[m * n] = 1.0
        for sign in (1.0, -1.0):
            row = sign * prediction
            row[m * n + 1 + i] = -1.0
            rows.append(row)
            right.append(sign * problem.labels[i])
            assert len(row) == m * n + 1 + N
        for j in range(m):
            wall = np.zeros(m * n + 1 + N)
            wall[j * n : (j + 1) * n] = -G[i] if patterns[j, i] else G[i]
            rows.append(wall)
            right.append(0.0)
    price = np.r_[np.zeros(m * n + 1), problem.weights]
    bias = (None, None) if problem.output_bias is None else (problem.output_bias,) * 2
    bounds = [(None, None)] * (m * n) + [bias] + [(0, None)] * N
    return linprog(price, A_ub=np.array(rows), b_ub=right, bounds=bounds, method="highs").fun


@pytest.mark.parametrize("shape", ["generic", "duplicates", "binary", "few", "weighted", "fixed bias"])
def test_absolute_loss_is_a_linear_program(shape):
    for seed in range(8):
        problem, patterns, _, _ = random_program(seed, loss="absolute", shape=shape)
        found = problem.solve(patterns)
        assert found.loss == pytest.approx(linear_program(problem, patterns), rel=1e-8, abs=1e-9), seed
        attest(found)


@each_loss
def test_no_feasible_point_is_better(loss):
    rng = np.random.default_rng(7)
    for seed in range(8):
        problem, patterns, _, _ = random_program(seed, loss=loss, shape="generic")
        found = problem.solve(patterns)
        # blends of the answer with other points of the same chambers stay in them
        n = problem.generators.shape[1]
        for _ in range(20):
            W = rng.standard_normal((problem.width, n))
            same = np.all(problem.patterns(W) == patterns, axis=1)
            inside = np.where(same[:, None], W, found.W)
            W = found.W + rng.random() * 10.0 ** rng.integers(-4, 1) * (inside - found.W) * rng.random()
            W *= rng.choice([0.5, 0.999, 1.0, 1.001])
            c = found.c + rng.choice([0.0, 1e-4, -0.1])
            assert problem.mean_loss(problem.predict(W, c)) >= found.loss * (1 - 1e-12) - 1e-9
