"""Gradient descent of whole tables at once, through JAX: on a GPU runs with about as many units step together."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np

from zonofit.errors import InputError
from zonofit.experiments.provenance import origin
from zonofit.experiments.spec import Job
from zonofit.experiments.store import Claims, Store
from zonofit.experiments.work import Outcome, data_of

__all__ = ["run_batched"]

_MOST = 512  # runs in one batch
_FEW = 16  # units, up to which a step takes as long as it takes to start its kernels: padding costs nothing
_TRIAL = 0.02  # of the steps, after which it is known whether the rest fits


def run_batched(
    store: Store, work: list[tuple[Job, str]], deadline: float, tell: Callable[[int, int], object]
) -> list[tuple[Job, float]]:
    """Run what gradient descent is missing, small networks first.

    Parameters
    ----------
    store : Store
    work : list of (Job, str)
        Jobs with the hash of their table; those of other methods are left alone.
    deadline : float
        Time at which everything must be over: a batch that would not fit is given up after a trial.
    tell : callable
        Told the number of rows that are there, and of all, of gradient descent.

    Returns
    -------
    list of (Job, float)
        What did not fit, with the seconds that its batch would take.
    """
    if find_spec("jax") is None:
        raise InputError('backend: gpu needs JAX; run `pip install "zonofit[gpu]"`, or leave --backend out.')
    mine = [(job, digest) for job, digest in work if job.method.name == "gradient-descent"]
    digests, jobs = {(job.key, job.seed): digest for job, digest in mine}, [job for job, _ in mine]
    left: list[tuple[Job, float]] = []
    with Claims(store) as claims:
        for _, group in sorted(_groups(jobs).items(), key=lambda item: item[0][0]):
            for begin in range(0, len(group), _MOST):
                batch, _ = store.claim(group[begin : begin + _MOST], claims, most=_MOST)
                if batch:
                    left += _train(store, batch, claims, digests, deadline)
                tell(len(store.done(jobs)), len(jobs))
    return left


def _groups(jobs: list[Job]) -> dict[tuple, list[Job]]:
    """Jobs that can go together: about as many units, the same settings, and one loss."""
    found: dict[tuple, list[Job]] = {}
    for job in jobs:
        at = max(job.cell.m, _FEW), job.cell.loss, job.method.settings
        found.setdefault(at, []).append(job)
    return found


def _train(store: Store, batch: list[Job], claims: Claims, digests, deadline: float) -> list[tuple[Job, float]]:
    from zonofit.baselines.gradient_batched import Task, descend_together
    from zonofit.baselines.gradient_descent import GradientDescent

    method = GradientDescent(**dict(batch[0].method.settings))  # type: ignore[arg-type]
    tasks = [Task(*data_of(job.cell, job.seed), job.cell.m, job.seed) for job in batch]
    estimate = 0.0
    marks: list[tuple[float, int]] = []

    def watch(done: int, steps: int) -> None:
        nonlocal estimate
        marks.append((time.time(), done))
        if len(marks) < 2 or done < _TRIAL * steps:
            return
        # from the second look on: before the first one the steps were compiled
        estimate = (marks[-1][0] - marks[0][0]) / (done - marks[0][1]) * steps
        if marks[-1][0] + estimate * (1 - done / steps) > deadline:
            raise KeyboardInterrupt

    results = descend_together(tasks, method, loss=batch[0].cell.loss, progress=watch)
    if results[0].stop_reason == "interrupted":
        if time.time() + estimate < deadline or not estimate:
            raise KeyboardInterrupt  # it was a person
        return [(job, estimate) for job in batch]
    where = {**origin(), "machine": _device()}
    for job, task, found in zip(batch, tasks, results, strict=True):
        u = np.maximum(np.c_[task.X, np.ones(len(task.X))] @ found.W.T, 0.0) @ found.output_weights + found.c
        accuracy = None if job.cell.loss == "squared" else float(np.mean((u > 0) == (task.y > 0.5)))
        # a run's share of the time that all of them took together
        outcome = Outcome(found.loss, accuracy, None, found.stop_reason, found.seconds / len(batch))
        store.finish(job, outcome, claims, digests[job.key, job.seed], where)
    return []


def _device() -> str:
    import jax

    device = jax.devices()[0]
    return (
        f"{getattr(device, 'device_kind', device.platform)} with JAX {jax.__version__}; seconds are shares of a batch"
    )
