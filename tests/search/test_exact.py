"""Alg 1 against every vertex of Z^m, permuted ones too, and against everything else on the same problem."""

from __future__ import annotations

from itertools import permutations
from math import comb

import numpy as np
import pytest

from tests.search.instances import LOSSES, brute_force, tiny
from zonofit.errors import BudgetError, InputError
from zonofit.programs import Problem
from zonofit.search import GLS, MGLS, Budget, Exact, FacetDescent, RandomVertex, run

each_loss = pytest.mark.parametrize("loss", LOSSES)


def permuted(problem: Problem, patterns: np.ndarray) -> set[bytes]:
    """Patterns after each permutation of units that leaves the signs as they are."""
    v = np.sign(problem.output_weights)
    orders = permutations(range(len(v)))
    return {patterns[list(order)].tobytes() for order in orders if np.array_equal(v[list(order)], v)}


def check(problem: Problem) -> None:
    every = brute_force(problem)
    trace = run(Exact(), problem)
    details, least = trace.details, min(every.values())
    assert trace.stop_reason == "complete"
    scale = problem.mean_loss(np.full(problem.n_examples, problem.constant))
    assert trace.loss == pytest.approx(least, rel=1e-8, abs=(1e-12 if problem.loss.smooth else 1e-8) * scale)
    assert details["n_vertices"] == trace.counts["programs"] == Exact().n_programs(problem)
    classes = set()
    for key in every:
        patterns = np.frombuffer(key, bool).reshape(problem.width, -1)
        classes.add(frozenset(permuted(problem, patterns)))
    assert details["n_vertices"] == len(classes)
    found = [permuted(problem, patterns) for patterns in details["optimal_patterns"]]
    assert all(one.isdisjoint(other) for k, one in enumerate(found) for other in found[:k])
    assert details["n_optimal_ordered"] == sum(map(len, found))
    found = set().union(*found)
    # what is optimal beyond doubt is there, and what is not beyond doubt is not
    margin = 1e-7 * least + (1e-12 if problem.loss.smooth else 1e-8) * scale
    assert {key for key, value in every.items() if value <= least + 1e-11 * least} <= found
    assert all(every[key] <= least + margin for key in found)


@each_loss
def test_agrees_with_brute_force(loss):
    for seed in range(3):
        check(tiny(seed, loss))
        check(tiny(seed, loss, N=5, signs=[1.0, 1.0]))
    check(tiny(3, loss, N=4, d=1, signs=[1.0, -1.0, 1.0]))
    check(tiny(4, loss, N=5, d=2))


def test_other_kinds_of_problem():
    for seed in range(3):
        check(tiny(seed, alpha=0.05))
        check(tiny(seed, output_bias=0.2))
        check(tiny(seed, signs=[2.0, 0.5]))  # one sign, two sizes: interchangeable without a ridge
        check(tiny(seed, sample_weight=np.r_[0.0, np.ones(6)]))
    X = np.array([[0.0], [1.0], [1.0], [2.0], [0.0], [3.0]])
    check(Problem(X, [0.0, 1.0, -1.0, 2.0, 0.5, -1.0], 2))


def test_with_a_ridge_sizes_matter():
    problem = tiny(0, signs=[2.0, 0.5], alpha=0.05)
    V = len(problem.arrangement.patterns())
    assert Exact().n_programs(problem) == V**2
    every = brute_force(problem)
    assert run(Exact(), problem).loss == pytest.approx(min(every.values()), rel=1e-9)
    with pytest.raises(InputError, match="signs"):
        run(Exact(signs="all"), problem)


def test_all_numbers_of_plus_signs():
    for seed in range(3):
        problem = tiny(seed, N=6)
        trace = run(Exact(signs="all"), problem)
        V = len(problem.arrangement.patterns())
        assert trace.counts["programs"] == comb(V + 1, 2) * 2 + V * V
        each = {v: run(Exact(), problem.with_output_weights(v)) for v in ((1.0, 1.0), (1.0, -1.0), (-1.0, -1.0))}
        assert trace.loss == pytest.approx(min(one.loss for one in each.values()), rel=1e-12)
        assert tuple(trace.output_weights) == min(each, key=lambda v: each[v].loss)
        assert set(map(tuple, trace.details["optimal_output_weights"])) <= set(each)


def test_an_exact_fit_has_many_optimal_vertices():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6, 1))
    y = np.maximum(X[:, 0] + 0.1, 0) - np.maximum(0.4 - X[:, 0], 0)
    trace = run(Exact(), Problem(X, y, 2))
    assert trace.loss < 1e-25 and trace.details["n_optimal"] > 1
    assert np.all(trace.details["optimal_objectives"] < 1e-18)
    few = run(Exact(most_listed=1), Problem(X, y, 2))
    assert len(few.details["optimal_patterns"]) == 1 and few.details["n_optimal"] == trace.details["n_optimal"]


def test_refuses_what_is_too_much():
    problem = tiny(0, N=9, d=2, m=3)
    V = len(problem.arrangement.patterns())
    number = comb(V + 1, 2) * V
    assert number == Exact().n_programs(problem, np.inf)
    with pytest.raises(BudgetError, match=str(number)):
        run(Exact(most_programs=number - 1), problem)
    with pytest.raises(BudgetError, match=str(number)):
        run(Exact(), problem, budget=Budget(programs=number - 1))
    with pytest.raises(BudgetError, match="up to"):
        run(Exact(), Problem(np.random.default_rng(0).standard_normal((400, 9)), np.arange(400.0), 4))


def test_blocks_and_seconds_end_where_they_should():
    problem = tiny(1)
    trace = run(Exact(), problem, budget=Budget(moves=1))
    assert trace.stop_reason == "moves" and trace.details["n_vertices"] == trace.counts["programs"] == 65


@each_loss
def test_no_search_beats_exhaustion(loss):
    for seed in range(3):
        problem = tiny(seed, loss, N=8)
        least = run(Exact(), problem).loss
        scale = problem.mean_loss(np.full(8, problem.constant))
        searches = [GLS(), MGLS(), RandomVertex(starts=20)]
        if problem.loss.smooth:
            searches.append(FacetDescent(starts=20))
        for search in searches:
            for start in range(3):
                assert run(search, problem, seed=start).loss >= least * (1 - 1e-9) - 1e-12 * scale
        if problem.loss.smooth:
            least = run(Exact(signs="all"), problem).loss
            searches = [FacetDescent(starts=20, signs="random")]
            searches += [RandomVertex(starts=20, alternate=True)]
            for search in searches:
                assert run(search, problem, seed=1).loss >= least * (1 - 1e-9) - 1e-12 * scale


def test_facet_descent_finds_what_exhaustion_finds():
    found = 0
    for seed in range(5):
        problem = tiny(seed, N=8)
        least = run(Exact(signs="all"), problem).loss
        found += run(FacetDescent(starts=200, signs="random"), problem).loss <= least * (1 + 1e-8)
    assert found >= 4
