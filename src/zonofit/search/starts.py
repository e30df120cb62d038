"""Where searches begin, and what they share when they report a solved vertex."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zonofit.errors import InputError
from zonofit.search.walk import Network

if TYPE_CHECKING:
    from zonofit.programs.problem import Problem
    from zonofit.programs.vertex import VertexSolution
    from zonofit.search.walk import Walk

HOW = ("gaussian", "uniform")


def draw_patterns(problem: Problem, rng: np.random.Generator, how: str) -> np.ndarray:
    """Patterns (m, N) of a random vertex of Z^m: chambers of Gaussian weights (App. H), or uniform ones."""
    return problem.arrangement.sample(problem.width, rng, how=how).patterns


def draw_signs(problem: Problem, rng: np.random.Generator) -> Problem:
    """The problem with a random sign for each output weight."""
    return problem.with_output_weights(rng.choice([-1.0, 1.0], problem.width) * np.abs(problem.output_weights))


def start_patterns(problem: Problem, rng: np.random.Generator, start, how: str) -> np.ndarray:
    """Patterns of the weights `start` (m, n), or random ones where there are none."""
    if start is None:
        return draw_patterns(problem, rng, how)
    return problem.patterns(start_weights(problem, start))


def start_weights(problem: Problem, start) -> np.ndarray:
    """Weights that a search was told to start from, checked."""
    W = np.asarray(start, float)
    shape = problem.width, problem.generators.shape[1]
    if W.shape != shape or not np.isfinite(W).all():
        raise InputError(f"start: expected finite weights of shape {shape}, one row a unit, got shape {W.shape}.")
    return W


def solved(walk: Walk, solution: VertexSolution) -> Network:
    """Count a vertex program and make a network of it."""
    walk.count(programs=1, steps=solution.steps)
    return Network(solution.W, solution.c, solution.problem.output_weights, solution.objective)


def choose(name: str, value, choices: tuple[str, ...]) -> None:
    """Refuse a setting that is not one of the choices."""
    if value not in choices:
        raise InputError(f"{name}: {value!r} is none of {', '.join(map(repr, choices))}; choose one of these.")


def at_least(name: str, value, least: float) -> None:
    """Refuse a setting that is no number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not value >= least:
        raise InputError(f"{name}: {value!r} will not do; pass a number that is at least {least:g}.")
