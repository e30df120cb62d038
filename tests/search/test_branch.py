"""Branch and bound against Alg 1 and against its plain twin; bounds, orders, symmetry."""

from __future__ import annotations

import numpy as np
import pytest

from tests.search.instances import LOSSES, tiny
from tests.search.reference_branch import reference_branch
from zonofit.errors import BudgetError, InputError
from zonofit.programs import Problem
from zonofit.search import Branch, Budget, Exact, run
from zonofit.search.branch import group_of

KINDS = (
    {}, {"d": 2}, {"alpha": 0.05}, {"output_bias": 0.2}, {"signs": [1.0, 1.0]}, {"signs": [2.0, 0.5]},
    {"N": 4, "signs": [1.0, -1.0, 1.0]}, {"sample_weight": [0.0, 1, 2, 1, 1, 3, 1]}, {"N": 8, "signs": [1.0]},
    {"N": 8, "signs": [-1.0]},
)  # fmt: skip


def check(problem: Problem, **settings) -> None:
    found, least = run(Branch(signs="problem", hops=3, **settings), problem), run(Exact(), problem).loss
    scale = problem.null_objective
    assert found.stop_reason == "complete"
    assert least * (1 - 1e-9) - 1e-12 * scale <= found.loss <= least + 2e-6 * scale
    assert found.loss - 1.01e-6 * scale <= found.details["bound"] <= least * (1 + 1e-8) + 1e-11 * scale
    assert found.details["open_nodes"] == 0
    own = problem.with_output_weights(found.output_weights)
    objective = own.mean_loss(own.predict(found.W, found.c)) + problem.alpha / 2 * np.sum(found.W**2)
    assert objective == pytest.approx(found.loss, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("options", KINDS, ids=str)
def test_agrees_with_exhaustion(options):
    for seed in range(10):
        check(tiny(seed, **options), order=("best", "depth")[seed % 2])


@pytest.mark.parametrize("loss", LOSSES[1:])
def test_agrees_with_exhaustion_for_every_loss(loss):
    for seed in range(3):
        check(tiny(seed, loss, N=6))


def test_agrees_with_its_twin():
    for seed in range(4):
        for options in ({"N": 6}, {"N": 6, "alpha": 0.05}, {"N": 5, "signs": [1.0, 1.0]}):
            problem = tiny(seed, **options)
            found = run(Branch(signs="problem"), problem)
            least, programs = reference_branch(problem)
            assert found.loss == pytest.approx(least, abs=2e-6 * problem.null_objective)
            assert found.details["relaxations"] < programs


def test_all_numbers_of_plus_signs():
    for seed in range(4):
        problem = tiny(seed)
        found = run(Branch(), problem)
        assert found.loss == pytest.approx(run(Exact(signs="all"), problem).loss, rel=1e-6)
    with pytest.raises(InputError, match="signs"):
        run(Branch(), tiny(0, signs=[2.0, 0.5], alpha=0.05))


def test_degenerate_examples():
    X = np.array([[0.0], [1.0], [1.0], [2.0], [0.0], [3.0]])
    check(Problem(X, [0.0, 1.0, -1.0, 2.0, 0.5, -1.0], 2))
    square = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1], [0.5, 0.5]])
    check(Problem(square, [1.0, 0, 0, 1, 0.3], 2))
    check(Problem(square[:2], [1.0, 0.0], 1))
    constant = run(Branch(), Problem(square, np.ones(5), 1))
    assert constant.loss == constant.details["bound"] == 0.0


def test_far_fewer_programs_than_exhaustion():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 2)), rng.standard_normal(20)
    problem = Problem(X, y, 2)
    assert Exact().n_programs(problem) == 382**2
    found = run(Branch(signs="problem"), problem)
    assert found.stop_reason == "complete" and 100 * found.counts["programs"] < 382**2


def test_more_time_raises_the_bound():
    rng = np.random.default_rng(1)
    problem = Problem(rng.standard_normal((16, 2)), rng.standard_normal(16), 2)
    traces = [run(Branch(), problem, budget=Budget(moves=moves)) for moves in (1, 3, 8, 100)]
    bounds = [trace.details["bound"] for trace in traces]
    assert bounds == sorted(bounds) and 0.0 < bounds[1] < bounds[-1]
    assert traces[-1].stop_reason == "complete" and traces[-1].details["gap"] <= 1.01e-6
    assert all(bound <= traces[-1].loss for bound in bounds)
    wide = run(Branch(gap=0.1), problem)
    assert wide.details["relaxations"] < traces[-1].details["relaxations"] and wide.details["gap"] <= 0.101


def test_interchangeable_units_are_decided_together():
    problem = tiny(0, signs=[1.0, 1.0, -1.0, 1.0])
    signs = np.zeros((4, 7), np.int64)
    assert group_of(problem, signs, 0) == [0, 1, 3] and group_of(problem, signs, 2) == [2]
    signs[1, 3] = 1
    assert group_of(problem, signs, 0) == [0, 3]


def test_refuses_what_is_too_much():
    with pytest.raises(BudgetError, match="chambers of one unit"):
        run(Branch(), Problem(np.random.default_rng(0).standard_normal((400, 9)), np.arange(400.0), 2))
    for settings in ({"gap": -1}, {"order": "worst"}, {"signs": "plus"}, {"hops": "many"}):
        with pytest.raises(InputError, match=next(iter(settings))):
            Branch(**settings)
