"""Branch and bound as plainly as it can be said: the patterns of the first k examples, and their own optimum."""

from __future__ import annotations

from itertools import product

import numpy as np

from zonofit.programs import Problem


def reference_branch(problem: Problem, upper: float = np.inf) -> tuple[float, int]:
    """Least objective of a problem with its output weights, and the convex programs that it took."""
    rows = problem.arrangement.patterns()
    programs = 0

    def bound(prefix: np.ndarray) -> float:
        k = prefix.shape[1]
        share = float(problem.weights[:k].sum())
        part = Problem(
            problem.generators[:k], problem.labels[:k], problem.output_weights, loss=problem.loss,
            alpha=problem.alpha / share, sample_weight=problem.weights[:k], output_bias=problem.output_bias, bias=False,
        )  # fmt: skip
        return share * part.solve(prefix, check=False).certificate.bound

    def look(prefix: np.ndarray) -> None:
        nonlocal upper, programs
        k = prefix.shape[1]
        if k == problem.n_examples:
            programs += 1
            upper = min(upper, problem.solve(prefix, check=False).objective)
            return
        if k > 0:
            programs += 1
            if bound(prefix) >= upper:
                return
        ends = [np.unique(rows[(rows[:, :k] == unit).all(axis=1), k]) for unit in prefix]
        for bits in product(*ends):
            look(np.c_[prefix, np.array(bits)])

    look(np.zeros((problem.width, 0), bool))
    return upper, programs
