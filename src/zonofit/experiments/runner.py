"""Run what is missing: in this process, in several, on the workers of a Dask scheduler, or many at once on a GPU.

Processes share nothing but the file of rows, in which each claims the next run. So they may as well be started by hand,
one after another, and a killed one leaves nothing to repair.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Sequence

from zonofit.errors import InputError
from zonofit.experiments.provenance import origin
from zonofit.experiments.spec import Job, Table
from zonofit.experiments.store import Claims, Store
from zonofit.experiments.work import execute

__all__ = ["jobs_of", "run_tables"]

BACKENDS = ("processes", "dask", "gpu")
_GRACE = 2.0  # seconds for worker processes to end by themselves
_GLANCE = 0.2  # seconds between two looks at what other processes have done

Progress = Callable[[int, int], object]


def jobs_of(tables: Sequence[Table]) -> list[tuple[Job, str]]:
    """Every run of several tables with the hash of the first table that has it, each run once."""
    found: dict[tuple[str, int], tuple[Job, str]] = {}
    for table in tables:
        digest = table.digest
        for job in table.jobs():
            found.setdefault((job.key, job.seed), (job, digest))
    return list(found.values())


def run_tables(
    tables: Sequence[Table],
    path,
    *,
    jobs: int = 1,
    budget: float = float("inf"),
    methods: Sequence[str] | None = None,
    backend: str = "processes",
    scheduler: str | None = None,
    progress: Progress | None = None,
) -> int:
    """Run every job of the tables that has no row.

    Parameters
    ----------
    tables : sequence of Table
    path : str or Path
        The file of rows.
    jobs : int
        Processes. With Dask, how many runs are under way at once is the scheduler's business.
    budget : float
        Seconds after which no run is begun any more; those under way are finished.
    methods : sequence of str, optional
        Run only these; by default all that the tables have.
    backend : {"processes", "dask", "gpu"}
        With "gpu" gradient descent is run in batches with JAX, and everything else as with "processes".
    scheduler : str, optional
        Address of Dask's scheduler.
    progress : callable, optional
        Called now and then with the number of rows that are there, and of all.

    Returns
    -------
    int
        Rows that are missing: the budget ended first.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C. Finished rows are in the file; the next call goes on.
    """
    if jobs < 1:
        raise InputError(f"jobs: {jobs} processes will not do; pass at least 1.")
    if backend not in BACKENDS:
        raise InputError(f"backend: {backend!r} is none; choose one of {', '.join(BACKENDS)}.")
    if (backend == "dask") != (scheduler is not None):
        raise InputError(
            "scheduler: --backend dask and the address of its scheduler go together; pass both or neither."
        )
    work = jobs_of(tables)
    names = dict.fromkeys(job.method.name for job, _ in work)
    for name in methods or ():
        if name not in names:
            raise InputError(f"method: {name!r} is not in these tables; choose among {', '.join(names)}.")
    work = [(job, digest) for job, digest in work if not methods or job.method.name in methods]
    store, deadline = Store(path), time.time() + budget
    all_jobs = [job for job, _ in work]
    tell = progress or (lambda *_: None)
    tell(len(store.done(all_jobs)), len(all_jobs))
    if backend == "dask":
        from zonofit.experiments.distributed import run_on_dask

        run_on_dask(store, work, scheduler, deadline, tell)
        return len(all_jobs) - len(store.done(all_jobs))
    if backend == "gpu":
        from zonofit.experiments.batched import run_batched

        run_batched(store, work, deadline, lambda *_: tell(len(store.done(all_jobs)), len(all_jobs)))
        work = [(job, digest) for job, digest in work if job.method.name != "gradient-descent"]
    if jobs == 1:
        _work(store, work, deadline, tell)
    else:
        _in_processes(store, work, deadline, jobs, tell)
    return len(all_jobs) - len(store.done(all_jobs))


def _work(
    store: Store, work: list[tuple[Job, str]], deadline: float, tell: Progress, parent: int | None = None
) -> None:
    """Claim and run until nothing is left, or the deadline is over, or the parent is gone."""
    digests = {(job.key, job.seed): digest for job, digest in work}
    jobs = [job for job, _ in work]
    with Claims(store) as claims:
        while time.time() < deadline and (parent is None or os.getppid() == parent):
            mine, others = store.claim(jobs, claims)
            for job in mine:
                store.finish(job, execute(job), claims, digests[job.key, job.seed], origin())
            if mine:
                tell(len(store.done(jobs)), len(jobs))
            elif others and parent is None:
                time.sleep(_GLANCE)  # what another process has begun it may yet leave undone
                tell(len(store.done(jobs)), len(jobs))
            else:
                return


def _in_processes(store: Store, work: list[tuple[Job, str]], deadline: float, jobs: int, tell: Progress) -> None:
    context = multiprocessing.get_context("spawn")  # a fork would copy locks of threads that it does not copy
    texts = [(job.to_json(), digest) for job, digest in work]
    wanted = [job for job, _ in work]
    workers = [
        context.Process(target=_apart, args=(str(store.path), texts, deadline, os.getpid()), daemon=True)
        for _ in range(jobs)
    ]
    for worker in workers:
        worker.start()
    try:
        while any(worker.is_alive() for worker in workers):
            time.sleep(_GLANCE)
            tell(len(store.done(wanted)), len(wanted))
    except BaseException:
        until = time.time() + _GRACE
        for worker in workers:
            worker.join(max(until - time.time(), 0.0))  # Ctrl-C has reached them too, and they give back their claims
            worker.terminate()
        raise
    finally:
        for worker in workers:
            worker.join()
    failed = [worker.exitcode for worker in workers if worker.exitcode != 0]
    if len(failed) == len(workers):
        raise RuntimeError(f"every worker process ended early, with the exit statuses {failed}")
    _work(store, work, deadline, tell)  # what a worker that died had begun, and what other processes have not finished


def _apart(path: str, texts: list[tuple[str, str]], deadline: float, parent: int) -> None:
    """A worker process; Ctrl-C reaches it too, and ends it without a word."""
    try:
        _work(Store(path), [(Job.from_json(text), digest) for text, digest in texts], deadline, lambda *_: None, parent)
    except KeyboardInterrupt:
        pass
