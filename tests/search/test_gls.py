"""Alg 2 and Alg 3: each step is the printed one, nothing is better at the end, and exclusion changes nothing."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from tests.search.instances import LOSSES, paper, tiny
from zonofit.programs import Problem
from zonofit.search import GLS, MGLS, Budget, Walk, run
from zonofit.search.local import resume
from zonofit.search.mgls import groups

each_loss = pytest.mark.parametrize("loss", LOSSES)


def path(search, problem, seed: int, start=None):
    """Patterns visited, one after another, and the walk."""
    walk, found = Walk(problem, np.random.default_rng(seed)), []
    while walk.reason is None:
        walk.go(search, start, Budget(), np.inf, 1 if walk.begun else 0)
        found.append(walk.state["at"]["patterns"].copy())
    return found, walk


def edges(problem: Problem, patterns: np.ndarray) -> list[np.ndarray]:
    """Neighbours by brute force: all chambers that differ from a unit's in one class of parallel examples."""
    rows = problem.arrangement.patterns()
    G = problem.generators
    label = [next(k for k in range(i + 1) if np.array_equal(G[k], G[i])) for i in range(len(G))]
    found = []
    for j, a in enumerate(patterns):
        for row in rows:
            if len({label[i] for i in np.flatnonzero(row != a)}) == 1:
                other = patterns.copy()
                other[j] = row
                found.append(other)
    return found


def problems(count: int):
    """The paper's data, noise, and all losses, small enough for many steps."""
    for k in range(count):
        kind = k % 5
        if kind < 2:
            yield paper(k, 2 + k % 3, 3, 2 + k % 4)
        else:
            yield tiny(k, ("logistic", "huber", "squared")[kind - 2], N=18, d=2 + k % 2, m=3)


@pytest.mark.parametrize("make", [GLS, MGLS])
def test_exclusion_changes_no_step(make):
    moves, saved = 0, []
    for seed, problem in enumerate(problems(50)):
        (one, a), (other, b) = (path(make(exclude=exclude), problem, seed) for exclude in (True, False))
        assert len(one) == len(other), (seed, problem, a.best, b.best)
        assert all(np.array_equal(x, y) for x, y in zip(one, other, strict=True)), (seed, problem)
        assert a.best.objective == pytest.approx(b.best.objective, rel=1e-12)
        assert a.reason == b.reason == "local minimum"
        assert {**a.counts, "programs": 0, "steps": 0} == {**b.counts, "programs": 0, "steps": 0}
        moves += len(one)
        saved.append(a.counts["programs"] / b.counts["programs"])
    assert moves > 300 and np.mean(saved) < 0.7


@each_loss
def test_gls_steps_to_the_best_neighbour(loss):
    """Alg 2 by brute force, from the patterns alone."""
    for seed in range(3):
        problem = tiny(seed, loss, N=8, d=2)
        visited, walk = path(GLS(), problem, seed)
        for here, there in pairwise(visited):
            if np.array_equal(here, there):
                break
            objectives = [problem.solve(other).objective for other in edges(problem, here)]
            assert problem.solve(there).objective == pytest.approx(min(objectives), rel=1e-7)
            assert any(np.array_equal(there, other) for other in edges(problem, here))
        assert walk.counts["flips"] >= walk.counts["moves"] == walk.counts["vertices"] - 1


@each_loss
@pytest.mark.parametrize("make", [GLS, MGLS])
def test_the_end_is_a_local_minimum(loss, make):
    for seed in range(4):
        problem = tiny(seed, loss, N=9, d=2)
        visited, walk = path(make(how="uniform"), problem, seed)
        assert walk.reason == "local minimum"
        least = problem.solve(visited[-1]).objective
        assert least == pytest.approx(walk.best.objective, rel=1e-8)
        for other in edges(problem, visited[-1]):
            assert problem.solve(other).objective >= least * (1 - 1e-7)


def test_parallel_examples_cross_together():
    X = np.array([[0.0], [1.0], [1.0], [2.0], [0.0], [3.0], [2.0]])
    for seed in range(5):
        problem = Problem(X, np.random.default_rng(seed).standard_normal(7), 2)
        for search in (GLS(), MGLS()):
            visited, walk = path(search, problem, seed)
            least = walk.best.objective
            assert all(problem.solve(other).objective >= least * (1 - 1e-7) for other in edges(problem, visited[-1]))


def mgls_by_hand(problem: Problem, seed: int) -> list[np.ndarray]:
    """Alg 3, line by line; the random order is that of the search.

    Where W* is not unique, its equalities depend on the solver, which starts from where the search does.
    """
    rng = np.random.default_rng(seed)
    A = problem.arrangement.sample(problem.width, rng).patterns
    chambers = {row.tobytes() for row in problem.arrangement.patterns()}
    visited, solution = [A], problem.solve(A)
    for _ in range(500):
        if solution.status == "exact":
            return visited
        Z = solution.W @ problem.generators.T
        size = np.linalg.norm(solution.W, axis=1)[:, None] * np.linalg.norm(problem.generators, axis=1)
        equal = np.abs(Z) <= 1e-9 * size
        across = A ^ equal

        def candidates(A=A, across=across, equal=equal, solution=solution):
            if equal.any() and all(row.tobytes() in chambers for row in across):
                yield across
            around = problem.neighbors(solution)
            first = [k for k in range(len(around)) if equal[around.units[k], around.examples[k]]]
            for group in groups(np.isin(np.arange(len(around)), first), rng):
                yield from (around.patterns(k) for k in group)

        for other in candidates():
            there = problem.solve(other, start=solution)
            if there.objective < solution.objective * (1 - 1e-10):
                A, solution = other, there
                break
        else:
            return visited
        visited.append(A)
    raise AssertionError("did not end")


def test_mgls_is_alg_3():
    across = 0
    for seed in range(12):
        problem = paper(seed, 2, 3, 2) if seed % 2 else tiny(seed, N=10, d=2)
        visited, _ = path(MGLS(exclude=seed % 4 < 2), problem, seed)
        expected = mgls_by_hand(problem, seed)
        assert len(visited[:-1]) == len(expected)
        assert all(np.array_equal(one, other) for one, other in zip(visited, expected, strict=False))
        across += sum(np.sum(one != other) > 1 for one, other in pairwise(expected))
    assert across >= 5  # A_f is taken at times


def test_tight_neighbours_come_first():
    for seed in range(20):
        problem = paper(seed, 3, 3, 3)
        solution = problem.solve(problem.arrangement.sample(3, np.random.default_rng(seed)).patterns)
        around, equal = problem.neighbors(solution), solution.on_walls
        assert np.all(solution.tight <= equal)
        first, rest = groups(equal[around.units, around.examples], np.random.default_rng(0))
        assert sorted([*first, *rest]) == list(range(len(around)))
        Z = np.abs(solution.W @ problem.generators.T)
        for k in first:
            assert Z[around.units[k], around.examples[k]] <= 1e-8
        assert any(not np.array_equal(first, groups(equal[around.units, around.examples], np.random.default_rng(s))[0])
                   for s in range(5)) or len(first) < 2  # fmt: skip


def test_most_moves():
    problem = paper(1, 4, 4, 4)
    free = run(GLS(), problem, seed=2)
    assert free.counts["moves"] > 3
    short = run(GLS(max_moves=3), problem, seed=2)
    assert (short.stop_reason, short.counts["moves"]) == ("moves", 3)
    assert short.loss == free.history["loss"][free.history["moves"] < 3].min()
    assert run(MGLS(max_moves=0), problem, seed=2).counts["programs"] == 1


def test_a_walk_stands_where_its_solution_was():
    problem = paper(3, 3, 3, 3)
    walk = Walk(problem, np.random.default_rng(0))
    walk.go(GLS(), None, Budget(moves=2), np.inf, 2)
    here = resume(walk)
    assert here.objective == walk.best.objective and here.certificate.holds(1e-7)
    again = resume(Walk.from_dict(problem, walk.to_dict()))
    assert again.objective == here.objective and again.status == here.status
    assert np.array_equal(again.nu, here.nu) and np.array_equal(again.multipliers, here.multipliers)
