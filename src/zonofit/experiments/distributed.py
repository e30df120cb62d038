"""Runs on the workers of a Dask scheduler; workers may die, and the rows still arrive, each once.

Only this process writes to the file: a worker sends its numbers back. A run whose worker died is given to another one
by Dask, and here once more should Dask give up.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from zonofit.errors import InputError
from zonofit.experiments.provenance import origin
from zonofit.experiments.spec import Job
from zonofit.experiments.store import Claims, Store
from zonofit.experiments.work import Outcome, execute

if TYPE_CHECKING:
    from zonofit.experiments.runner import Progress

__all__ = ["run_on_dask"]

_WAIT = 10.0  # seconds for the scheduler to answer
_GLANCE = 0.5
_AHEAD = 2  # runs with the scheduler for each of its threads: enough that none idles, few enough to share the file
_TRIES = 5


def run_on_dask(
    store: Store, work: list[tuple[Job, str]], address: str | None, deadline: float, tell: Progress
) -> None:
    """Run what is missing on the workers of a scheduler.

    Parameters
    ----------
    store : Store
    work : list of (Job, str)
        Jobs with the hash of their table.
    address : str
        As in ``tcp://host:8786``.
    deadline : float
        Time after which no run is begun.
    tell : callable
        Told the number of rows that are there, and of all.
    """
    try:
        from distributed import Client, wait
    except ImportError:
        raise InputError(
            'backend: dask is not installed; run `pip install "zonofit[distributed]"`, or leave --backend out.'
        ) from None
    digests = {(job.key, job.seed): digest for job, digest in work}
    jobs = [job for job, _ in work]
    try:
        client = Client(address, timeout=_WAIT)
    except (OSError, ValueError) as error:
        raise InputError(f"scheduler: {address} does not answer ({error}); start one with `dask scheduler`.") from None
    tries: dict[tuple[str, int], int] = {}
    with client, Claims(store) as claims:
        pending: dict = {}
        try:
            while True:
                room = max(_AHEAD * sum(client.nthreads().values()), 1) - len(pending)
                mine, others = store.claim(jobs, claims, room) if room > 0 and time.time() < deadline else ([], 0)
                for job in mine:
                    pending[_submit(client, job)] = job
                if not pending:
                    if not others:
                        return
                    time.sleep(_GLANCE)
                    continue
                done = _first(wait, pending)
                for future in done:
                    job = pending.pop(future)
                    if future.status == "finished":
                        outcome, origins = future.result()
                        store.finish(job, Outcome(**outcome), claims, digests[job.key, job.seed], origins)
                        continue
                    tries[job.key, job.seed] = tries.get((job.key, job.seed), 0) + 1
                    if tries[job.key, job.seed] >= _TRIES:
                        future.result()  # raises what went wrong
                    pending[_submit(client, job)] = job
                tell(len(store.done(jobs)), len(jobs))
        finally:
            client.cancel(list(pending))


def _submit(client, job: Job):
    # not pure: a result that the scheduler remembers may be of other code
    return client.submit(_remote, job.to_json(), pure=False, retries=_TRIES)


def _first(wait, pending) -> list:
    """Futures that are done, after one of them is or a moment has passed."""
    try:
        return list(wait(list(pending), timeout=_GLANCE, return_when="FIRST_COMPLETED").done)
    except TimeoutError:
        return []


def _remote(text: str) -> tuple[dict, dict[str, str]]:
    """On a worker: the numbers of a run, and where they come from."""
    outcome = execute(Job.from_json(text))
    return vars(outcome), origin()
