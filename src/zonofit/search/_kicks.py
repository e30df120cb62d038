"""Kicks: where hopping goes on from. Each takes a network and returns weights, output bias and output weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zonofit.programs.proposals import random_weights, rate_units

if TYPE_CHECKING:
    from zonofit.programs.problem import Problem

_JITTER = 0.3  # of all weights at once, in units of their size
_SHAKEN = 1e-3, 1e-1  # the same for a shake: more leaves the valley, less does not leave the minimum

Kicked = tuple[np.ndarray, float, np.ndarray]


def informed(
    problem: Problem, rng: np.random.Generator, W, c: float, v, j: int, among: int, best: int, free_signs: bool,
    examples: int | None = None,
) -> Kicked:  # fmt: skip
    """Unit j becomes one of the best of many random ones for what the others miss on all, or so many, examples."""
    W, v = W.copy(), v.copy()
    rest = problem.with_output_weights(np.where(np.arange(len(v)) == j, 0.0, v))
    units, signs = rate_units(problem, rest.predict(W, c), rng, among, examples)
    if not free_signs:
        units = units[signs == np.sign(v[j])] if np.any(signs == np.sign(v[j])) else units
    k = int(rng.integers(min(best, len(units))))
    size = abs(v[j]) or 1.0
    W[j] = units[k] / size
    if free_signs:
        v[j] = signs[k] * size
    return W, c, v


def blind(problem: Problem, rng: np.random.Generator, W, c: float, v, j: int, free_signs: bool) -> Kicked:
    """Unit j gets random weights, with or without the other sign, or all units are jittered."""
    W, v = W.copy(), v.copy()
    what = rng.random()
    fresh = _fresh(problem, rng, W)
    if what < 0.8:
        W[j] = fresh[j]
        if what < 0.4 and free_signs:
            v[j] = -v[j]
    else:
        W = W + _JITTER * fresh
    return W, c, v


def shaken(problem: Problem, rng: np.random.Generator, W) -> np.ndarray:
    """Weights close to these."""
    low, high = np.log(_SHAKEN)
    return W + np.exp(rng.uniform(low, high)) * _fresh(problem, rng, W)


def _fresh(problem: Problem, rng: np.random.Generator, W) -> np.ndarray:
    """Random weights of the size of these."""
    size = np.sqrt(np.mean(np.sum((W @ problem.design.drop.T) ** 2, axis=1)) / problem.design.X.shape[1])
    return size / problem.unit * random_weights(problem, rng, len(W))
