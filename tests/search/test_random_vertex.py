"""Random vertices, and that exact alternation ends where it begins."""

from __future__ import annotations

import numpy as np
import pytest

from tests.search.instances import paper, tiny
from zonofit.programs import Problem
from zonofit.programs.output import solve_output
from zonofit.search import RandomVertex, run


@pytest.mark.parametrize("loss", ["squared", "logistic", "huber"])
def test_output_weights_are_the_best(loss):
    for seed in range(5):
        problem = tiny(seed, loss, N=20, d=2, m=3)
        rng = np.random.default_rng(seed)
        W, v = rng.standard_normal((3, 3)), rng.choice([-1.0, 1.0], 3)
        found, c, _ = solve_output(problem, W, v, 0.0)
        least = problem.with_output_weights(found).mean_loss(problem.with_output_weights(found).predict(W, c))
        H = np.c_[np.maximum(problem.generators @ W.T, 0), np.ones(20)]
        u = H @ np.append(found, c)
        slope = problem.weights * problem.loss.slope(u, problem.labels)
        assert np.max(np.abs(H.T @ slope)) < 1e-7
        for _ in range(20):
            other = u + 1e-2 * H @ rng.standard_normal(4)
            assert problem.mean_loss(other) >= least
        fixed = Problem(problem.generators[:, :-1], problem.labels, 3, loss=problem.loss, output_bias=0.7)
        found, c, _ = solve_output(fixed, W, v, 0.7)
        slope = fixed.weights * fixed.loss.slope(H[:, :3] @ found + c, fixed.labels)
        assert c == 0.7 and np.max(np.abs(H[:, :3].T @ slope)) < 1e-7


def test_alternation_ends_after_one_turn():
    """Complementarity: at the optimum of W given v, v is optimal given W."""
    for seed in range(10):
        trace = run(RandomVertex(starts=1, alternate=True), paper(seed, 3, 4, 3), seed=seed)
        assert trace.counts["programs"] == 3
        first = trace.history["loss"]
        assert trace.loss == pytest.approx(first[0], rel=1e-6)


def test_signs_that_fit_begin_better():
    random, fitted = (
        [run(RandomVertex(starts=1, alternate=True, output_first=first), paper(k, 4, 4, 4), seed=k).loss
         for k in range(30)]
        for first in (False, True)
    )  # fmt: skip
    assert np.median(fitted) < 0.7 * np.median(random)


def test_alternation_is_bounded_by_the_best_signs():
    for seed in range(5):
        problem = paper(seed, 3, 3, 2)
        trace = run(RandomVertex(starts=1, alternate=True, output_first=True), problem, seed=seed)
        patterns = problem.arrangement.sample(
            2, np.random.default_rng(np.random.SeedSequence(seed).spawn(1)[0])
        ).patterns
        each = [problem.with_output_weights([a, b]).solve(patterns).objective for a in (-1, 1) for b in (-1, 1)]
        assert trace.loss >= min(each) * (1 - 1e-9) - 1e-20


def test_the_best_of_many():
    problem = paper(0, 3, 3, 3)
    many = run(RandomVertex(starts=40), problem)
    assert many.counts["programs"] == many.counts["moves"] == many.counts["vertices"] == 40
    assert many.stop_reason == "complete" and many.loss <= run(RandomVertex(starts=5), problem).loss
    assert run(RandomVertex(starts=40, how="uniform"), problem).loss != many.loss
