"""Neighbours of a solved vertex: which they are, which cannot be better, and that none that is better is missed."""

from __future__ import annotations

import numpy as np
import pytest

from tests.geometry.reference_facets import neighbors_in, parallel_classes
from tests.programs.instances import LOSSES, random_program, synthetic
from zonofit.programs import Problem

each_loss = pytest.mark.parametrize("loss", LOSSES)
DEGENERATE = ["duplicates", "binary", "collinear", "constant column"]


def small(seed, loss, shape="generic", **options):
    """A program of few examples, and its solution."""
    rng = np.random.default_rng(seed)
    N, d, m = int(rng.integers(5, 13)), int(rng.integers(1, 4)), int(rng.integers(1, 4))
    X = rng.standard_normal((N, d))
    if shape == "duplicates":
        X = X[rng.integers(0, N // 2, N)]
    elif shape == "binary":
        X = rng.integers(0, 2, (N, d)).astype(float)
    elif shape == "collinear":
        X = rng.standard_normal((N, 1)) * rng.standard_normal(d) + rng.standard_normal(d)
    elif shape == "constant column":
        X[:, 0] = 3.0
    y = rng.standard_normal(N)
    if loss == "logistic":
        y = (rng.random(N) < 0.5).astype(float)
        y[:2] = 0.0, 1.0
    if shape == "ridge" and loss != "absolute":
        options["alpha"] = 0.05
    if shape == "fixed bias":
        options["output_bias"] = 0.3
    if shape == "weighted":
        options["sample_weight"] = rng.exponential(size=N) * (rng.random(N) < 0.7) + 1e-3
    problem = Problem(X, y, m, loss=loss, **options)
    return problem, problem.solve(problem.patterns(rng.standard_normal((m, d + 1))))


def close(one, other, scale, relative=1e-7):
    return abs(one - other) <= relative * (scale + abs(one)) or max(one, other) <= 1.01e-8


def solved_cold(problem, neighborhood):
    return [problem.solve(neighborhood.patterns(k)) for k in range(len(neighborhood))]


def check(problem, solution):
    """Everything that a neighbourhood promises; the number of excluded neighbours and of better ones."""
    neighborhood = problem.neighbors(solution)
    cold = solved_cold(problem, neighborhood)  # which also shows that all are chambers
    here, scale = solution.objective, solution.certificate.scale
    warm = list(neighborhood)
    assert len(warm) == len(neighborhood) == len(cold)
    for k, (neighbor, again) in enumerate(zip(warm, cold, strict=True)):
        assert (neighbor.unit, neighbor.example) == (neighborhood.units[k], neighborhood.examples[k])
        assert np.array_equal(neighbor.solution.patterns, again.patterns)
        assert close(neighbor.solution.objective, again.objective, scale), (k, neighbor.solution, again)
    objectives = np.array([s.objective for s in cold])
    excluded = ~neighborhood.promising
    assert np.all(objectives[excluded] >= here - 1e-8 * scale)
    assert np.all(objectives[neighborhood.slopes >= 0] >= here - 1e-8 * scale)
    better = [neighbor.solution.objective for neighbor in neighborhood.better()]
    assert all(objective < here for objective in better)
    clearly = objectives[objectives < here - 1e-7 * scale]
    assert len(better) >= len(clearly)
    best = neighborhood.best()
    if len(clearly):
        assert close(best.solution.objective, objectives.min(), scale)
        k = [(int(j), int(i)) for j, i in zip(neighborhood.units, neighborhood.examples, strict=True)].index(
            (best.unit, best.example)
        )
        assert close(objectives[k], objectives.min(), scale)
        first = next(neighborhood.better())
        assert first.solution.objective < here
    else:
        assert best is None or best.solution.objective >= here - 1.1e-7 * scale
    return int(excluded.sum()), len(clearly)


@each_loss
@pytest.mark.parametrize("shape", ["generic", "ridge", "fixed bias", "weighted", *DEGENERATE])
def test_neighbourhoods_keep_their_promises(loss, shape):
    excluded = better = 0
    for seed in range(5):
        problem, solution = small(seed, loss, shape)
        if solution.status == "separable":
            continue
        counts = check(problem, solution)
        excluded, better = excluded + counts[0], better + counts[1]
    assert excluded > 0
    if shape in ("generic", "ridge"):
        assert better > 0


@pytest.mark.slow
@each_loss
def test_more_neighbourhoods(loss):
    for seed in range(100, 140):
        for shape in ("generic", "ridge", "fixed bias", "weighted", *DEGENERATE):
            problem, solution = small(seed, loss, shape)
            if solution.status != "separable":
                check(problem, solution)


@pytest.mark.parametrize("shape", ["generic", *DEGENERATE])
def test_neighbours_are_the_edges_of_the_zonotopes_power(shape):
    for seed in range(8):
        problem, solution = small(seed, "squared", shape)
        neighborhood = problem.neighbors(solution)
        A = solution.patterns
        chambers = {tuple(row.tolist()) for row in problem.arrangement.patterns()}
        classes = parallel_classes(problem.generators)
        expected = []
        for j, a in enumerate(A):
            for row in neighbors_in(chambers, a, classes).values():
                flipped = A.copy()
                flipped[j] = row
                expected.append(flipped.tobytes())
        found = [neighborhood.patterns(k).tobytes() for k in range(len(neighborhood))]
        assert len(found) == len(set(found))
        assert set(found) == set(expected)
        assert np.all(np.diff(neighborhood.units) >= 0)
        same_unit = np.diff(neighborhood.units) == 0
        assert np.all(np.diff(neighborhood.examples)[same_unit] > 0)


def test_parallel_examples_flip_together():
    X = np.array([[0.0], [1.0], [1.0], [2.0], [0.0]])
    problem = Problem(X, [0.0, 1.0, -1.0, 2.0, 0.5], 2)
    solution = problem.solve([[0, 1, 1, 1, 0], [0, 0, 0, 1, 0]])
    neighborhood = problem.neighbors(solution)
    changes = {
        (int(j), tuple(np.flatnonzero(neighborhood.patterns(k)[j] != solution.patterns[j])))
        for k, j in enumerate(neighborhood.units)
    }
    assert changes == {(0, (0, 4)), (0, (1, 2)), (1, (1, 2)), (1, (3,))}
    assert neighborhood.examples.tolist() == [0, 1, 1, 3]
    check(problem, solution)


def test_slopes_are_what_the_definition_says():
    for seed in range(6):
        problem, solution = small(seed, "squared")
        neighborhood = problem.neighbors(solution)
        v, nu, multipliers = problem.output_weights, solution.nu, solution.multipliers
        for k, (j, i) in enumerate(zip(neighborhood.units, neighborhood.examples, strict=True)):
            assert neighborhood.slopes[k] == pytest.approx(v[j] * nu[i] - multipliers[j, i], abs=1e-14)


@pytest.mark.parametrize("loss", ["squared", "logistic", "huber"])
def test_steep_tight_walls_lead_down(loss):
    """Tight and λ' < 0: the neighbour is better, where the tight walls of the unit are independent."""
    count = 0
    for seed in range(30):
        problem, solution = small(seed, loss)
        if solution.status == "separable":
            continue
        neighborhood = problem.neighbors(solution)
        Z = np.abs(solution.W @ problem.generators.T)
        for k, (j, i) in enumerate(zip(neighborhood.units, neighborhood.examples, strict=True)):
            on = Z[j] <= 1e-9 * np.abs(solution.W[j]).max()
            independent = np.linalg.matrix_rank(problem.generators[on]) == on.sum() < problem.generators.shape[1]
            if solution.tight[j, i] and independent and neighborhood.slopes[k] < -1e-3 * np.abs(solution.nu).max():
                count += 1
                assert neighborhood.promising[k]
                assert neighborhood.solve(k).objective < solution.objective * (1 - 1e-9)
    assert count >= 5


def test_excess_excludes_more_than_slopes():
    excluded = by_slopes = total = 0
    rng = np.random.default_rng(0)
    for _ in range(5):
        X, y = synthetic(4, 2, rng)
        problem = Problem(X, y, 4)
        neighborhood = problem.neighbors(problem.solve(problem.patterns(rng.standard_normal((4, 5)))))
        total += len(neighborhood)
        excluded += np.sum(~neighborhood.promising)
        by_slopes += np.sum(neighborhood.slopes >= 0)
        assert not np.any(neighborhood.promising & (neighborhood.slopes >= 0))
        assert np.array_equal(neighborhood.promising, neighborhood.excess > 0)
    assert by_slopes < excluded < total


@each_loss
def test_walking_to_the_best_ends_at_a_local_minimum(loss):
    rng = np.random.default_rng(1)
    for _ in range(3):
        X, y = synthetic(2, 3, rng)
        y = (y > np.median(y)).astype(float) if loss == "logistic" else y
        if loss == "logistic":
            y[rng.integers(0, len(y), 3)] = rng.integers(0, 2, 3)
        problem = Problem(X, y, 2, loss=loss)
        solution = problem.solve(problem.patterns(rng.standard_normal((2, 3))))
        for _ in range(60):
            neighbor = problem.neighbors(solution).best()
            if neighbor is None:
                break
            assert neighbor.solution.objective < solution.objective
            assert np.array_equal(neighbor.solution.patterns[1 - neighbor.unit], solution.patterns[1 - neighbor.unit])
            solution = neighbor.solution
        else:
            raise AssertionError("no local minimum within 60 steps")
        if solution.status == "separable":
            continue
        neighborhood = problem.neighbors(solution)
        assert list(neighborhood.better()) == []
        scale = solution.certificate.scale
        for other in solved_cold(problem, neighborhood):
            assert other.objective >= solution.objective - 1e-8 * scale


def test_an_exact_fit_has_no_better_neighbour():
    rng = np.random.default_rng(2)
    X, W = rng.standard_normal((20, 2)), rng.standard_normal((2, 3))
    y = np.maximum(np.c_[X, np.ones(20)] @ W.T, 0) @ [1.0, -1.0]
    problem = Problem(X, y, 2)
    solution = problem.solve(problem.patterns(W))
    assert solution.status == "exact"
    neighborhood = problem.neighbors(solution)
    assert len(neighborhood) >= 6
    assert not neighborhood.promising.any() and neighborhood.best() is None


def test_separated_classes_have_no_better_neighbour():
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    problem = Problem(X, [0, 0, 1, 1], [1.0, -1.0], loss="logistic")
    solution = problem.solve([[0, 0, 1, 1], [1, 1, 0, 0]])
    assert solution.status == "separable"
    assert problem.neighbors(solution).best() is None


def test_any_order_of_looking():
    problem, solution = next(
        (problem, solution)
        for problem, solution in (small(seed, "squared") for seed in range(50))
        if len(list(problem.neighbors(solution).better())) >= 3
    )
    neighborhood = problem.neighbors(solution)
    every = {(n.unit, n.example): n.solution.objective for n in neighborhood.better()}
    for order in (range(len(neighborhood)), np.arange(len(neighborhood))[::-1]):
        found = [(n.unit, n.example) for n in neighborhood.better(order)]
        assert set(found) == set(every)
        places = [list(zip(neighborhood.units, neighborhood.examples, strict=True)).index(pair) for pair in found]
        assert places == [k for k in order if k in places]
    only = places[0]
    assert [(n.unit, n.example) for n in neighborhood.better([only])] == [found[0]]
    assert list(neighborhood.better([])) == []
    largest = int(np.argmax(neighborhood.excess))
    first = next(neighborhood.better())
    if neighborhood.solve(largest).objective < solution.objective * (1 - 1e-6):
        assert (first.unit, first.example) == (neighborhood.units[largest], neighborhood.examples[largest])


def test_looking_changes_nothing():
    problem, patterns, _, _ = random_program(0, loss="squared", shape="generic")
    solution = problem.solve(patterns)
    W, nu, tight = solution.W.copy(), solution.nu.copy(), solution.tight.copy()
    neighborhood = problem.neighbors(solution)
    before = [s.solution.objective for s in neighborhood]
    assert [s.solution.objective for s in neighborhood] == before
    again = problem.neighbors(problem.solve(patterns))
    assert [s.solution.objective for s in again] == before
    assert np.array_equal(solution.W, W) and np.array_equal(solution.nu, nu) and np.array_equal(solution.tight, tight)
    assert np.array_equal(solution.patterns, patterns)


def test_one_example_has_one_wall_a_unit():
    problem = Problem([[1.0]], [2.0], [1.0, -1.0], output_bias=0.0)
    solution = problem.solve([[0], [1]])
    assert solution.loss == pytest.approx(4.0)
    neighborhood = problem.neighbors(solution)
    assert (len(neighborhood), neighborhood.units.tolist(), neighborhood.examples.tolist()) == (2, [0, 1], [0, 0])
    best = neighborhood.best()
    assert (best.unit, best.example) == (0, 0) and best.solution.loss == pytest.approx(0.0, abs=1e-28)
    assert neighborhood.promising.tolist() == [True, False]


def test_all_pairs_of_patterns_on_a_line():
    """On a line both units' patterns are few: where no neighbour is better, brute force over all of them agrees."""
    rng = np.random.default_rng(3)
    X, y = np.arange(6.0)[:, None], rng.standard_normal(6)
    problem = Problem(X, y, 2)
    rows = problem.arrangement.patterns()
    assert len(rows) == 12
    objective = {}
    for a in rows:
        for b in rows:
            objective[a.tobytes(), b.tobytes()] = problem.solve([a, b]).objective
    minima = 0
    for a in rows:
        for b in rows:
            here = objective[a.tobytes(), b.tobytes()]
            near = []
            for one, other in ((a, b), (b, a)):
                for row in rows:
                    if np.sum(row != one) == 1:
                        key = (row.tobytes(), other.tobytes()) if one is a else (other.tobytes(), row.tobytes())
                        near.append(objective[key])
            best = problem.neighbors(problem.solve([a, b])).best()
            if min(near) < here - 1e-9:
                assert best.solution.objective == pytest.approx(min(near), rel=1e-7, abs=1e-12)
            else:
                minima += 1
                assert best is None or best.solution.objective >= here - 1.1e-9
    assert 0 < minima < 144
