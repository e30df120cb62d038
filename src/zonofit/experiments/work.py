"""One run: from a job to the numbers of its row. Only the job decides what comes out, and the clock where it may."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from zonofit.experiments.spec import Cell, Job

if TYPE_CHECKING:
    from zonofit.programs.problem import Problem

__all__ = ["Outcome", "data_of", "execute"]

_CERTIFIED = {"random-vertex", "gls", "mgls"}  # methods that end at the optimum of a vertex


@dataclass(frozen=True)
class Outcome:
    """Numbers of a row.

    Attributes
    ----------
    loss : float
        Mean loss of the network.
    accuracy : float or None
        Share of examples on the right side, for two classes.
    certificate : float or None
        Largest residual of the certificate of the network's vertex, where the method ends at one.
    stop_reason : str
    seconds : float
        Of the training alone, kernels loaded.
    """

    loss: float
    accuracy: float | None
    certificate: float | None
    stop_reason: str
    seconds: float


def data_of(cell: Cell, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Examples and labels: a fresh data set for each seed of synthetic data, and always the same examples of a task."""
    from zonofit.data.images import load_images
    from zonofit.data.synthetic import synthetic

    if cell.data == "synthetic":
        return synthetic(cell.d, cell.m_gen, seed)
    return load_images(cell.data, cell.d, cell.n_examples)


def execute(job: Job) -> Outcome:
    """Run a job.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C: what an interrupted run has found is no row.
    """
    _warm_up(job.method.name, job.cell.loss, job.method.settings)
    return _gradient(job) if job.method.name == "gradient-descent" else _search(job)


def _gradient(job: Job) -> Outcome:
    from zonofit.baselines.gradient_descent import GradientDescent, descend

    cell, limits = job.cell, dict(job.method.budget)
    X, y = data_of(cell, job.seed)
    method = GradientDescent(**dict(job.method.settings))  # type: ignore[arg-type]
    found = descend(X, y, cell.m, method, loss=cell.loss, seed=job.seed, seconds=limits.get("seconds", np.inf))
    if found.stop_reason == "interrupted":
        raise KeyboardInterrupt
    u = np.maximum(np.c_[X, np.ones(len(X))] @ found.W.T, 0.0) @ found.output_weights + found.c
    return Outcome(found.loss, _accuracy(cell, u, y), None, found.stop_reason, found.seconds)


def _search(job: Job) -> Outcome:
    from zonofit.programs.problem import Problem
    from zonofit.search.budget import Budget
    from zonofit.search.methods import find_method
    from zonofit.search.runner import run

    cell, method = job.cell, job.method
    X, y = data_of(cell, job.seed)
    problem = Problem(X, y, cell.m, loss=cell.loss)
    chosen = find_method(method.name)(**dict(method.settings))
    since = time.perf_counter()
    trace = run(chosen, problem, budget=Budget(**_limits(job)), seed=job.seed)
    seconds = time.perf_counter() - since
    if trace.stop_reason == "interrupted":
        raise KeyboardInterrupt
    trained = problem.with_output_weights(trace.output_weights)
    accuracy = _accuracy(cell, trained.predict(trace.W, trace.c), y)
    certificate = _certificate(trained, trace.W) if method.name in _CERTIFIED else None
    return Outcome(trace.loss, accuracy, certificate, trace.stop_reason, seconds)


def _limits(job: Job) -> dict[str, float]:
    limits = dict(job.method.budget)
    if job.method.name == "random-vertex":
        limits.setdefault("moves", 1)  # one vertex: its beginning is its first move
    return limits


def _accuracy(cell: Cell, u: np.ndarray, y: np.ndarray) -> float | None:
    return None if cell.loss == "squared" else float(np.mean((u > 0) == (y > 0.5)))


def _certificate(problem: Problem, W: np.ndarray) -> float | None:
    """Largest residual at the optimum of the patterns that the weights have; None where rounding decides on these."""
    proof = problem.solve(problem.patterns(W), check=False).certificate
    found = max(proof.primal_residual, proof.stationarity, proof.dual_residual, proof.relative_gap)
    return float(found) if np.isfinite(found) else None


@cache
def _warm_up(name: str, loss: str, settings) -> None:
    """Load kernels, so that compiling them counts in no row."""
    X, y = np.array([[-3.0], [-2.0], [-0.5], [1.0], [2.5], [4.0]]), np.array([0.0, 1.0, 0.0, 1.0, 1.0, 0.0])
    if name == "gradient-descent":
        from zonofit.baselines.gradient_descent import GradientDescent, descend

        descend(X, y, 2, GradientDescent(**{**dict(settings), "steps": 2}), loss=loss)
        return
    from zonofit.programs.problem import Problem
    from zonofit.search.budget import Budget
    from zonofit.search.methods import find_method
    from zonofit.search.runner import run

    run(find_method(name)(**dict(settings)), Problem(X, y, 2, loss=loss), budget=Budget(moves=3))
