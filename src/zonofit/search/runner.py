"""Make a search walk: budgets, several walkers on several workers, callbacks, checkpoints.

Walkers are independent: walker k draws from the k-th child of the seed. They advance in rounds of so many moves each,
at first 1, then twice as many up to `Search.longest_round`; after every round the caller's process looks at all of
them. The rounds of several walkers do not depend on time, so that the number of workers changes nothing but the time it
takes; one walker looks up every `_GLANCE` seconds, which changes nothing at all.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from zonofit.errors import InputError
from zonofit.search.budget import Budget
from zonofit.search.coding import encode
from zonofit.search.trace import Trace, merge_histories, where_ended, write_whole
from zonofit.search.walk import COUNTS, Network, Search, Walk

if TYPE_CHECKING:
    from zonofit.programs.problem import Problem

_GLANCE = 0.1  # seconds of a round of a single walker
_PAUSE = 5.0  # seconds between checkpoints
_FORMAT = "zonofit checkpoint 1"


def run(
    search: Search,
    problem: Problem,
    start=None,
    *,
    budget: Budget | None = None,
    seed: int = 0,
    walkers: int = 1,
    n_jobs: int = 1,
    callback: Callable[[Walk], object] | None = None,
    progress: Callable[[list[Walk], float], object] | None = None,
    checkpoint=None,
) -> Trace:
    """Search.

    Parameters
    ----------
    search : Search
    problem : Problem
    start : optional
        Weights (m, n) whose patterns, or at which, the first walker begins; the others choose their own.
    budget : Budget, optional
    seed : int
        The same seed gives the same result whatever `n_jobs` is, unless time runs out.
    walkers : int
        How many searches, each from a start of its own. The first to reach the target ends all of them.
    n_jobs : int
        Worker processes, through joblib: its backends apply, Dask's with ``joblib.parallel_config(backend="dask")``.
    callback : callable, optional
        Called with the best walker after each round in which the best network got better. If it returns True the
        search stops.
    progress : callable, optional
        Called with all walkers and the seconds spent, at the beginning and after each round, whether or not anything
        got better.
    checkpoint : path, optional
        Written every few seconds, whole or not at all. If the file is there, the search goes on from it, and ends as if
        it had never been stopped.

    Returns
    -------
    Trace
        Also after an interrupt (Ctrl-C), with ``stop_reason="interrupted"``, if anything was found.
    """
    budget = budget or Budget()
    if walkers < 1 or int(walkers) != walkers:
        raise InputError(f"walkers: {walkers!r} will not do; pass a number of walkers that is at least 1.")
    begin = time.perf_counter()
    mark = _fingerprint(search, problem, seed, walkers, start)
    path = None if checkpoint is None else Path(checkpoint)
    walks, spent, rounds = _take_up(path, mark, problem)
    if walks is None:
        children = np.random.SeedSequence(seed).spawn(walkers)
        walks = [Walk(problem, np.random.default_rng(child)) for child in children]
    starts = [start, *[None] * (walkers - 1)]
    written, best, stopped = time.perf_counter(), np.inf, None
    deadline = time.time() + budget.seconds - spent  # of the wall, which worker processes share
    pool, alone = _Pool(n_jobs, walkers), 1
    try:
        if progress is not None:
            progress(walks, spent)
        while stopped is None:
            since = time.perf_counter()
            moves = alone if walkers == 1 else min(2**rounds, search.longest_round)
            walks = pool.advance(search, walks, starts, budget, deadline, moves)
            rounds = min(rounds + 1, 32)
            stopped = _verdict(walks)
            now = time.perf_counter()
            if progress is not None:
                progress(walks, spent + now - begin)
            alone = 2 * alone if now - since < _GLANCE / 2 else max(alone // 2, 1) if now - since > _GLANCE else alone
            if path is not None and (now - written > _PAUSE or stopped is not None):
                _write(path, mark, walks, spent + now - begin, rounds)
                written = time.perf_counter()
            leader = _leader(walks)
            if leader is not None and leader[1].objective < best:
                best = leader[1].objective
                if callback is not None and callback(leader[0]) is True:
                    stopped = stopped or "interrupted"
    except KeyboardInterrupt:
        stopped = "interrupted"
    finally:
        pool.close()
    leader = _leader(walks)
    if leader is None:
        raise KeyboardInterrupt
    walk, network = leader
    counts = {name: sum(walk.counts[name] for walk in walks) for name in COUNTS}
    seconds = spent + time.perf_counter() - begin
    return Trace(
        repr(search), seed, network.W, network.c, network.v, network.objective, stopped, seconds, counts, walkers,
        merge_histories(walks), dict(walk.state.get("details", {})), where_ended(walks),
    )  # fmt: skip


class _Pool:
    """Workers that advance walks; none are started for one walker."""

    def __init__(self, n_jobs: int, walkers: int):
        self.parallel = None
        if n_jobs != 1 and walkers > 1:
            from joblib import Parallel

            self.parallel = Parallel(n_jobs=n_jobs)
            self.parallel.__enter__()

    def advance(self, search, walks, starts, budget, deadline, moves) -> list[Walk]:
        tasks = [(search, walk, start, budget, deadline, moves) for walk, start in zip(walks, starts, strict=True)]
        if self.parallel is None:
            for task in tasks:
                if _advance(*task).reason == "interrupted":
                    break
            return walks
        from joblib import delayed

        return list(self.parallel(delayed(_advance_apart)(os.getpid(), *task) for task in tasks))

    def close(self) -> None:
        if self.parallel is not None:
            self.parallel.__exit__(None, None, None)


def _advance(search: Search, walk: Walk, start, budget: Budget, deadline: float, moves: float) -> Walk:
    if walk.reason is None:
        walk.go(search, start, budget, deadline - time.time(), moves)
    return walk


def _advance_apart(home: int, *task) -> Walk:
    """`_advance` in a worker, which answers to Ctrl-C only while it walks: between walks it would die of it, loudly."""
    apart = os.getpid() != home and threading.current_thread() is threading.main_thread()
    if apart:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return _advance(*task)
    finally:
        if apart:
            signal.signal(signal.SIGINT, signal.SIG_IGN)


def _leader(walks: list[Walk]) -> tuple[Walk, Network] | None:
    """The walk with the best network; of equal ones the first."""
    found = [(walk, walk.best) for walk in walks if walk.best is not None]
    return min(found, key=lambda pair: pair[1].objective) if found else None


def _verdict(walks: list[Walk]) -> str | None:
    """Why all of them stop, or None."""
    reasons = [walk.reason for walk in walks]
    for reason in ("interrupted", "target", "seconds"):
        if reason in reasons:
            return reason
    leader = _leader(walks)
    return None if None in reasons or leader is None else leader[0].reason


def _fingerprint(search, problem, seed, walkers, start) -> str:
    """What a checkpoint belongs to; a file of another search or of other data is refused."""
    data = hashlib.sha256()
    for array in (problem.generators, problem.labels, problem.weights, problem.output_weights):
        data.update(np.ascontiguousarray(array).tobytes())
    settings = problem.loss, problem.alpha, problem.output_bias, problem.tolerances
    words = [repr(search), repr(settings), repr(int(seed)), repr(int(walkers))]
    words.append("" if start is None else repr(encode(np.asarray(start, float))))
    data.update("\n".join(words).encode())
    return data.hexdigest()


def _write(path: Path, mark: str, walks: list[Walk], seconds: float, rounds: int) -> None:
    content = {"format": _FORMAT, "of": mark, "seconds": seconds, "rounds": rounds}
    content["walks"] = [walk.to_dict() for walk in walks]
    write_whole(path, json.dumps(content, allow_nan=False))


def _take_up(path: Path | None, mark: str, problem: Problem):
    """Walks, seconds and rounds of a checkpoint; nothing where there is none."""
    if path is None or not path.exists():
        return None, 0.0, 0
    try:
        content = json.loads(path.read_text("utf8"))
        if content["format"] != _FORMAT:
            raise ValueError("unknown format")
        own = content["of"] == mark
        walks = [Walk.from_dict(problem, walk) for walk in content["walks"]] if own else []
        seconds, rounds = float(content["seconds"]), int(content["rounds"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"checkpoint: {path} cannot be read ({error}); remove it, or name another file.") from None
    if not own:
        raise InputError(
            f"checkpoint: {path} belongs to another search, other data or another seed; "
            "remove it, or name another file."
        )
    for walk in walks:  # an ended search goes on when its budget has grown
        walk.reason = walk.reason if walk.reason in ("local minimum", "complete") else None
    return walks, seconds, rounds
