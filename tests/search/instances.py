"""Small problems for every search."""

from __future__ import annotations

import numpy as np

from tests.programs.instances import synthetic
from zonofit.programs import Huber, Problem

LOSSES = ("squared", "logistic", "huber", "absolute")


def tiny(seed: int, loss: str = "squared", *, N: int = 7, d: int = 1, m: int = 2, signs=None, **options) -> Problem:
    """Few enough examples for brute force, with labels that no network of m units fits."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((N, d)), rng.standard_normal(N)
    if loss == "logistic":
        y = np.tile([0.0, 1.0], N)[:N]
        rng.shuffle(y)
        X = X[np.lexsort(X.T)]
        y[:4] = 0.0, 1.0, 0.0, 1.0
        X[1], X[3] = X[0], X[2]  # one example in both classes, twice: nothing separates these
    return Problem(X, y, m if signs is None else signs, loss=Huber(0.3) if loss == "huber" else loss, **options)


def paper(seed: int, d: int = 3, m_gen: int = 2, m: int = 2, **options) -> Problem:
    """The paper's synthetic data."""
    return Problem(*synthetic(d, m_gen, np.random.default_rng(seed)), m, **options)


def brute_force(problem: Problem) -> dict[bytes, float]:
    """Optimum of every vertex of Z^m, permuted ones too, solved cold."""
    rows = problem.arrangement.patterns()
    found = {}
    for number in np.ndindex(*[len(rows)] * problem.width):
        patterns = rows[list(number)]
        found[patterns.tobytes()] = problem.solve(patterns, check=False).objective
    return found
