"""All chambers of an arrangement, each once, in bounded memory, in any position.

There is one chamber, and its opposite, for every set of generators without broken circuits
(`zonofit.geometry.bijection`). The sets of size k are a part of all C(N-1, k) subsets, whose lexicographic ranks are
cut into equal intervals; each interval is one call of the kernel, fills one block, and needs no other. So
memory is bounded by the blocks in flight, threads never wait for each other, and the order of the chambers is the
same on any number of threads.
"""

from __future__ import annotations

import math
import sys
import threading
import warnings
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from zonofit.errors import AmbiguousPositionWarning, BudgetError, InputError
from zonofit.geometry.bijection import frame_coordinates
from zonofit.geometry.packing import mask, n_words, pack
from zonofit.geometry.reduction import ExactRows, Reduction
from zonofit.tolerances import DEFAULT_TOLERANCES, Tolerances

Progress = Callable[[int, int], None]

_BLOCK_BYTES = 2**19

# What is taken for non-zero should exceed its rounding bound, and what is taken for zero, by these factors.
_EXACT_BUDGET = 10**8  # entries computed in integers, a fraction of a microsecond each

_LARGEST_ZERO = 1e-5  # of unit generators; what is zero only within a larger rounding bound may as well be none
_CLEARLY_NONZERO = 2.0
_CLEAR_GAP = 100.0
_MOST_NOISE = 1e4


def chamber_bound(n_generators: int, rank: int) -> int:
    """Most chambers that `n_generators` of `rank` can have: 2 Σ_{k<n} C(N-1, k), reached in general position."""
    if n_generators == 0:
        return 1
    return 2 * sum(math.comb(n_generators - 1, k) for k in range(rank))


def iter_chambers(
    reduction: Reduction,
    *,
    block_size: int | None = None,
    half: bool = False,
    n_jobs: int = 1,
    progress: Progress | None = None,
    tolerances: Tolerances = DEFAULT_TOLERANCES,
) -> Iterator[np.ndarray]:
    """Blocks of bit-packed patterns, at most `block_size` rows each, together every chamber once.

    Parameters
    ----------
    reduction : Reduction
        From ``Arrangement.reduction``.
    block_size : int, optional
        Most patterns in a block; blocks in flight are all the memory that is used. By default as many as fill half a
        megabyte, which stays in a core's cache.
    half : bool
        Only one of each pair of opposite chambers: the one on which the last generator that is no multiple of
        an earlier one is active.
    n_jobs : int
        Threads.
    progress : callable (done, total), optional
        Called after each block with subsets scanned and to scan.
    tolerances : Tolerances
        ``roundoff`` and ``data`` are used.

    Yields
    ------
    ndarray of uint64 (B, ceil(N / 64))
        See `zonofit.geometry.packing`.

    Warns
    -----
    AmbiguousPositionWarning
        When rounding could have decided whether some generators are dependent.
    """
    if block_size is None:
        block_size = max(1024, _BLOCK_BYTES // (8 * n_words(len(reduction.member))))
    if block_size < 2:
        raise InputError(f"block_size: {block_size} is too small for a chamber and its opposite; pass at least 2.")
    if n_jobs < 1:
        raise InputError(f"n_jobs: {n_jobs} threads cannot work; pass 1 or more.")
    return _blocks(reduction, block_size, half, n_jobs, progress, tolerances)


def _blocks(reduction, block_size, half, n_jobs, progress, tolerances) -> Iterator[np.ndarray]:
    expand = _expander(reduction)
    M = len(reduction.simple) - 1
    n = reduction.rank
    copies = 1 if half else 2
    if n == 0:
        yield pack(reduction.expand(np.zeros((1, 0), bool)))
        return
    total = chamber_bound(M + 1, n) // 2
    if total >= 2**62:
        raise BudgetError(
            f"{M + 1} generators of rank {n} may have {2 * total:.3g} chambers, more than can be counted; "
            "enumerate fewer examples or dimensions, or sample chambers instead."
        )
    coordinates, axes = frame_coordinates(reduction.simple)
    work = SubsetWalk(coordinates, copies == 2, rounding(reduction, tolerances), exact_frame(reduction, axes))
    tasks = ((k, lo, hi) for k in range(n - 1, -1, -1) for lo, hi in _intervals(math.comb(M, k), block_size // copies))
    done = 0
    waiting: list[np.ndarray] = []
    held = 0
    for rows, scanned in _ordered_map(work.chunk, tasks, n_jobs):
        # joining copies, so only small pieces are joined
        if held and (held + len(rows) > block_size or 8 * held >= block_size):
            yield expand(np.concatenate(waiting) if len(waiting) > 1 else waiting[0])
            waiting, held = [], 0
        if len(rows):
            waiting.append(rows)
            held += len(rows)
        done += scanned
        if progress is not None:
            progress(done, total)
    if held:
        yield expand(np.concatenate(waiting) if len(waiting) > 1 else waiting[0])
    _warn_if_ambiguous(work.extremes, work.exhausted)


def rounding(reduction: Reduction, tolerances: Tolerances) -> float:
    """What counts as zero in the kernel, in units of 2^-52 times its own growth factors.

    Data that lose more than four digits to cancellation (values about 1e6 that differ in the third decimal, say) are
    taken as stored: hardly anything would be left if their last places were all in doubt.
    """
    return tolerances.roundoff + tolerances.data * min(reduction.noise, _MOST_NOISE)


class _Subset(NamedTuple):
    """First subset of an interval of ranks, and how many share each of its prefixes from there on."""

    start: np.ndarray
    ahead: np.ndarray


class ExactFrame(NamedTuple):
    """What frame coordinates stand for exactly."""

    rows: ExactRows
    axes: np.ndarray


def exact_frame(reduction: Reduction, axes: np.ndarray) -> ExactFrame | None:
    """For a `SubsetWalk` in the frame `axes`; None when the generators are no integers or short decimals."""
    return None if reduction.exact is None else ExactFrame(reduction.exact, axes)


class SubsetWalk:
    """Chambers of the subsets of the first M generators in frame `coordinates`; safe to use from several threads.

    With the `exact` frame, integers decide where rounding could.
    """

    def __init__(self, coordinates: np.ndarray, both: bool, roundoff: float, exact: ExactFrame | None = None):
        self.M = len(coordinates) - 1
        self.n = coordinates.shape[1]
        self.both = both
        self.roundoff = roundoff
        self.axes = np.zeros((self.n, -(-max(self.M, 1) // 8) * 8))
        self.axes[:, : self.M] = coordinates[:-1].T
        self.mask = mask(self.M + 1)
        self.binomial = _binomials(self.M, self.n)
        self.extremes = np.array([0.0, np.inf])
        self.buffers = _Buffers()
        self.exact = exact
        self.floor = _LARGEST_ZERO
        if exact is not None:
            from zonofit.geometry._exact_subsets import least_value

            self.floor = least_value(exact.rows)
        self.exact_columns: list[list[int]] | None = None
        self.exact_work = 0
        self.exhausted = False

    def of_subset(self, subset: np.ndarray) -> np.ndarray | None:
        """Packed pattern of the chamber that one subset names, or None when it holds a broken circuit."""
        k = len(subset)
        if k == 0:
            return self.chunk((0, 0, 1))[0][0]
        out = np.empty((1, len(self.mask)), np.uint64)
        start = _Subset(np.asarray(subset, np.int64), np.ones(k, np.int64))
        rows = self._rows(k, start, 1, False, out)
        return rows[0] if len(rows) else None

    def chunk(self, task: tuple[int, int, int]) -> tuple[np.ndarray, int]:
        """Patterns of the k-subsets with ranks lo <= rank < hi, and hi - lo."""
        k, lo, hi = task
        if k == 0:
            row = np.append(self.axes[-1, : self.M] > 0, True)
            rows = np.array([row, ~row] if self.both else [row])
            return pack(rows), 1
        copies = 2 if self.both else 1
        out = self.buffers.take((copies * (hi - lo), len(self.mask)))
        return self._rows(k, _unrank(lo, self.M, k), hi - lo, self.both, out), hi - lo

    def _rows(self, k: int, first: _Subset, n_subsets: int, both: bool, out: np.ndarray) -> np.ndarray:
        """Patterns of `n_subsets` k-subsets from the first on, at the beginning of `out`."""
        from zonofit.geometry._chamber_kernel import enumerate_subsets

        doubts = self.exact is not None and not self.exhausted
        while True:
            extremes = np.array([0.0, np.inf])
            redo = np.empty(n_subsets + 3 if doubts else 1, np.int64)
            count = enumerate_subsets(
                self.axes,
                self.M,
                k,
                first.start,
                first.ahead,
                n_subsets,
                self.binomial,
                both,
                self.mask,
                self.roundoff,
                self.floor,
                out.reshape(-1),
                extremes,
                redo,
            )
            doubtful = redo[0] > 0
            if not doubtful:
                break
            intervals = redo[1 : 1 + redo[0]].reshape(-1, 2)
            self.exact_work += int(np.sum(intervals[:, 1] - intervals[:, 0])) * (k + 2) * (self.M + 1)
            if self.exact_work <= _EXACT_BUDGET:
                break
            self.exhausted, doubts = True, False
        self.extremes[0] = max(self.extremes[0], extremes[0])
        self.extremes[1] = min(self.extremes[1], extremes[1])
        if self.exact is not None and doubtful:
            count += self._decided(self.exact, k, first.start, intervals, both, out[count:])
        return out[:count]

    def _decided(self, exact: ExactFrame, k: int, start: np.ndarray, intervals: np.ndarray, both: bool, out) -> int:
        """Write the patterns of the k-subsets in `intervals` of ranks behind `start` to `out`, by exact arithmetic."""
        from zonofit.geometry._exact_subsets import ExactSubsets, exact_columns

        origin = _rank(start, self.M)
        if self.exact_columns is None:
            self.exact_columns = exact_columns(exact.rows, exact.axes)
        subsets = ExactSubsets(self.exact_columns)
        bits = []
        for lo, hi in intervals.tolist():
            subset = _unrank(origin + lo, self.M, k).start.tolist()
            for _ in range(hi - lo):
                pattern = subsets.pattern(tuple(subset))
                if pattern is not None:
                    bits.append(pattern)
                _advance(subset, self.M)
        if not bits:
            return 0
        rows = pack(np.array(bits, bool))
        out[: len(rows)] = rows
        if both:
            out[len(rows) : 2 * len(rows)] = rows ^ self.mask
        return (2 if both else 1) * len(rows)


class _Buffers:
    """Arrays for blocks, used again once nobody holds a view of them: fresh pages cost more than filling them."""

    def __init__(self):
        self._lock = threading.Lock()
        self._owners: list[np.ndarray] = []

    def take(self, shape: tuple[int, int]) -> np.ndarray:
        """An array of `shape` that shares no memory with any array still in use."""
        size = math.prod(shape)
        with self._lock:
            for owner in self._owners:
                # referred to by the list, the loop variable and the call; every view of it would be one more
                if owner.size >= size and sys.getrefcount(owner) == 3:
                    return owner[:size].reshape(shape)
            owner = np.empty(size, np.uint64)
            self._owners.append(owner)
            return owner.reshape(shape)


def _binomials(M: int, n: int) -> np.ndarray:
    """Pascal's triangle (M + 1, n + 1), entries above 2^62 cut off there."""
    most = 2**62
    table = np.zeros((M + 1, n + 1), np.int64)
    table[:, 0] = 1
    for j in range(1, n + 1):
        above = table[:-1, j - 1]
        exact = np.cumsum(above.astype(float)) < most
        table[1:, j] = np.where(exact, np.cumsum(np.where(exact, above, 0)), most)
    return table


def _unrank(rank: int, M: int, k: int) -> _Subset:
    """The k-subset of range(M) with the given lexicographic rank."""
    start = np.empty(k, np.int64)
    ahead = np.empty(k, np.int64)
    item = 0
    for t in range(k):
        whole = math.comb(M - item, k - t)

        def before(x: int, whole: int = whole, size: int = k - t) -> int:
            """Subsets whose next member is less than x: the column sums of Pascal's triangle."""
            return whole - math.comb(M - x, size)

        item = bisect_right(range(M), rank, lo=item, key=before) - 1
        rank -= before(item)
        start[t] = item
        ahead[t] = math.comb(M - 1 - item, k - 1 - t) - rank
        item += 1
    return _Subset(start, ahead)


def _rank(subset, M: int) -> int:
    """Inverse of `_unrank`."""
    k = len(subset)
    rank = math.comb(M, k) - 1
    for t, item in enumerate(subset):
        rank -= math.comb(M - 1 - int(item), k - t)
    return rank


def _advance(subset: list[int], M: int) -> None:
    """Make `subset` the next one in lexicographic order; nothing happens to the last."""
    k = len(subset)
    for t in range(k - 1, -1, -1):
        if subset[t] < M - k + t:
            item = subset[t] + 1
            subset[t:] = range(item, item + k - t)
            return


def _intervals(total: int, size: int) -> Iterator[tuple[int, int]]:
    for lo in range(0, total, size):
        yield lo, min(total, lo + size)


def _ordered_map(function, tasks, n_jobs: int) -> Iterator:
    """Like map, on threads, with a bounded number of results waiting."""
    if n_jobs == 1:
        yield from map(function, tasks)
        return
    with ThreadPoolExecutor(n_jobs) as pool:
        pending: deque = deque()
        try:
            for task in tasks:
                pending.append(pool.submit(function, task))
                if len(pending) >= 2 * n_jobs:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()


def _expander(reduction: Reduction) -> Callable[[np.ndarray], np.ndarray]:
    """Words of the simple arrangement to words of the generators, a byte at a time."""
    if reduction.is_trivial:
        return lambda words: words
    M, N = len(reduction.simple), len(reduction.member)
    octets = -(-M // 8)
    values = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little").astype(bool)
    table = np.zeros((octets, 256, n_words(N)), np.uint64)
    for b in range(octets):
        for bit in range(min(8, M - 8 * b)):
            moved = pack(reduction.member == 8 * b + bit)
            table[b, values[:, bit]] ^= moved
    turned = pack(reduction.orientation < 0)

    def expand(words: np.ndarray) -> np.ndarray:
        octet = words.astype("<u8", copy=False).view(np.uint8)
        result = np.broadcast_to(turned, (len(words), n_words(N))).copy()
        for b in range(octets):
            result ^= table[b, octet[:, b]]
        return result

    return expand


def _warn_if_ambiguous(extremes: np.ndarray, exhausted: bool) -> None:
    zero, nonzero = extremes
    if exhausted:
        warnings.warn(
            "generators: rounding could decide so many dependencies that not all were settled in exact arithmetic; the "
            "chambers listed may be a few too many or too few. Bring the features to similar sizes, or enumerate fewer "
            "examples.",
            AmbiguousPositionWarning,
            stacklevel=3,
        )
        return
    if nonzero < max(_CLEARLY_NONZERO, _CLEAR_GAP * zero):
        warnings.warn(
            "generators: some are so close to a dependency that rounding decides whether it is one (largest value "
            f"taken for zero {zero:.2g}, smallest taken for non-zero {nonzero:.2g}, in rounding bounds); the chambers "
            "listed may be a few too many or too few. Look at Arrangement.position(), and round or separate those "
            "examples.",
            AmbiguousPositionWarning,
            stacklevel=3,
        )
