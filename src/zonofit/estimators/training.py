"""From examples to a network: one search, polished and certified."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from zonofit.estimators.examples import Examples
from zonofit.programs.certificate import Certificate
from zonofit.programs.losses import Loss
from zonofit.programs.problem import Problem
from zonofit.search.budget import Budget
from zonofit.search.hopping import Hopping
from zonofit.search.runner import run
from zonofit.search.trace import Trace
from zonofit.search.walk import Search, Walk
from zonofit.search.watched import Watched

_FITTED, _SEPARATED = 1e-20, 1e-8  # parts of the best constant's objective that are as good as 0; the latter where the
# loss only comes near 0
_WORK = 2e7  # examples times parameters times moves: about half a second of hops
_SLOW = 8  # times longer takes a move where the loss is not squared
_LEAST, _MOST = 10, 500  # moves
_STEP_WORK, _LEAST_STEPS = 1e10, 30  # examples times squared parameters times Newton steps: about a second
_EQUAL = 1e-9  # an objective above another by this part of it is the same
_PROVED, _SLOW_PROOF = 300_000, 6  # examples times weights up to which the last vertex is solved: tenths of a second


@dataclass(frozen=True, eq=False)
class Training:
    """A trained network in standardised features, and how it came about.

    Attributes
    ----------
    W, c, v : ndarray (m, d + 1), float, ndarray (m,)
    loss : float
        Mean loss without ridge.
    trace : Trace
    certificate : Certificate or None
        Of the network as the optimum for its patterns; None where it was not proved.
    """

    W: np.ndarray
    c: float
    v: np.ndarray
    loss: float
    trace: Trace
    certificate: Certificate | None


@dataclass(frozen=True)
class Task:
    """What training needs beside examples."""

    search: Search | type[Search]
    loss: Loss
    max_moves: int | None
    time_budget: float | None
    walkers: int
    n_jobs: int
    patience: int
    callback: Callable[[Walk], object] | None = None


def train(
    task: Task, examples: Examples, width: int, alpha: float, seed: int, *, share: float = 1.0, start=None,
    held_back: Examples | None = None,
) -> Training:  # fmt: skip
    """Search for a network.

    Parameters
    ----------
    task : Task
    examples : Examples
    width : int
    alpha : float
    seed : int
    share : float
        Of the time budget, or of the moves that are made by default.
    start : pair, optional
        Weights (m, d + 1) and output weights (m,) to begin from.
    held_back : Examples, optional
        Where to stop is decided on these.
    """
    problem = problem_of(examples, width if start is None else start[1], task.loss, alpha)
    search = task.search if isinstance(task.search, Search) else _search(task.search, problem)
    if held_back is not None:
        search = Watched(search, problem_of(held_back, width, task.loss, 0.0), task.patience)
    seconds = np.inf if task.time_budget is None else share * task.time_budget
    moves: float = max(round(share * default_moves(problem)), _LEAST) if task.time_budget is None else np.inf
    moves = moves if task.max_moves is None else task.max_moves
    nothing = _FITTED if task.loss.attained else _SEPARATED
    budget = Budget(seconds=seconds, moves=moves, target=nothing * problem.null_objective)
    trace = run(
        search, problem, None if start is None else start[0], budget=budget, seed=seed, walkers=task.walkers,
        n_jobs=task.n_jobs, callback=task.callback,
    )  # fmt: skip
    best = trace.details.get("validation")
    if best is not None:
        problem = problem.with_output_weights(best["v"])
        loss = problem.mean_loss(problem.predict(best["W"], best["c"]))
        return Training(best["W"], float(best["c"]), best["v"], loss, trace, None)
    return _polished(problem.with_output_weights(trace.output_weights), trace)


def _search(kind: type[Search], problem: Problem) -> Search:
    """A search with the settings that suit the size; of hopping, how long its first descent may be."""
    if kind is not Hopping:
        return kind()
    work = problem.n_examples * (problem.width * problem.generators.shape[1] + 1) ** 2
    return Hopping(max_steps=int(np.clip(_STEP_WORK / work, _LEAST_STEPS, Hopping.max_steps)))


def problem_of(examples: Examples, output_weights, loss: Loss, alpha: float) -> Problem:
    """The problem of these examples."""
    return Problem(examples.X, examples.y, output_weights, loss=loss, alpha=alpha, sample_weight=examples.weights)


def default_moves(problem: Problem) -> int:
    """Moves that take about half a second where examples are few; fewer, and longer in all, where they are many."""
    size = problem.n_examples * (problem.width * problem.generators.shape[1] + 1)
    return int(np.clip(_WORK / (size * (1 if problem.loss.quadratic else _SLOW)), _LEAST, _MOST))


def _polished(problem: Problem, trace: Trace) -> Training:
    """The optimum for the patterns that the search ended with; what a search reports may lie a little above it."""
    W, c, certificate = trace.W, trace.c, None
    if problem.n_examples * W.size * (1 if problem.loss.quadratic else _SLOW_PROOF) <= _PROVED:
        solution = problem.solve(problem.patterns(W), check=False)
        if solution.objective <= trace.loss * (1.0 + _EQUAL):
            W, c, certificate = solution.W, solution.c, solution.certificate
    return Training(W, c, trace.output_weights, problem.mean_loss(problem.predict(W, c)), trace, certificate)
