r"""Every n-subset of N rows at about one multiplication each: smallest determinant, dependencies, sum.

One depth-first walk over subsets i₁ < i₂ < ... shares its elimination: choosing a row makes it the pivot row for
all later rows at once, so a subset of n rows costs one entry of the last elimination step, |det| = |pivots| × |entry|.
The innermost step runs along all last rows and is vectorised.

Floats only filter. What they leave in doubt is decided from scratch for that subset alone: with integer rows by ranks
modulo enough primes, whose product exceeds every minor (so the answer is a proof), otherwise by comparing the
volume of the unit rows with a tolerance.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, prod

import numpy as np
from numba import njit

from zonofit.errors import BudgetError, InputError
from zonofit.geometry.rational import primes_below
from zonofit.geometry.reduction import lengths, reduce_generators
from zonofit.tolerances import DEFAULT_TOLERANCES, Tolerances

DEFAULT_BUDGET = 2 * 10**8
"""Subsets that a call may visit, about a second."""

_EPS = float(np.finfo(float).eps)
_SHOWN = 16


@dataclass(frozen=True)
class Minors:
    """What a walk over the subsets of unit rows found.

    Attributes
    ----------
    n_subsets : int
        Number of subsets of `depth` rows.
    smallest : float
        Least volume of an independent subset of n unit rows; infinite if there is none or ``depth < n``.
    subset : tuple of int or None
        Where it is attained.
    n_dependent : int
        Number of dependent subsets of n rows; -1 if ``depth < n``.
    circuits : tuple of tuples
        The first few minimal dependent subsets with at most `depth` rows, smaller ones first.
    circuit_counts : tuple of int
        ``circuit_counts[k]`` is the number of all circuits with k rows, k ≤ `depth`.
    depth : int
        Largest subsets visited.
    """

    n_subsets: int
    smallest: float
    subset: tuple[int, ...] | None
    n_dependent: int
    circuits: tuple[tuple[int, ...], ...]
    circuit_counts: tuple[int, ...]
    depth: int


def extreme_minors(
    rows,
    *,
    integers=None,
    depth: int | None = None,
    budget: int = DEFAULT_BUDGET,
    tolerance: float = DEFAULT_TOLERANCES.dependent,
    rounding: float = 0.0,
    first: int = _SHOWN,
) -> Minors:
    """Find the smallest volume and all dependencies among subsets of rows.

    Parameters
    ----------
    rows : array_like (M, n)
        Not zero; scaled to unit length here. M ≥ n.
    integers : sequence of integer rows, optional
        Exact rows with the same dependencies as `rows`; they then decide what is dependent.
    depth : int, optional
        Visit subsets of at most so many rows; n by default.
    budget : int
        `BudgetError` if there are more subsets of `depth` rows.
    tolerance : float
        Without `integers`: a subset is dependent when the volume of its unit rows is at most this.
    rounding : float
        With `integers`: bound on the error of the unit rows, as a length.
    first : int
        How many circuits of each size to keep.
    """
    rows = np.asarray(rows, float)
    M, n = rows.shape
    depth = n if depth is None else depth
    if not 1 <= depth <= n or M < n:
        raise InputError(f"rows: expected at least n and 1 <= depth <= n, got shape {rows.shape} and depth {depth}.")
    _check_budget(M, depth, budget)
    unit = rows / np.linalg.norm(rows, axis=1)[:, None]
    if integers is None:
        residues, primes = np.zeros((0, 0, 0), np.int64), np.zeros(0, np.int64)
        candidate = tolerance * 2.0**n
    else:
        residues, primes = _residues(integers, n)
        candidate = max(1e-10, 4 * n * (rounding + n * n * 2.0**n * _EPS))
    counts = np.zeros(n + 2, np.int64)
    store = np.zeros((n + 1, max(first, 1), n), np.int64)
    subset = np.full(n, -1)
    binomials = np.array([[min(comb(a, b), 2**62) for b in range(n + 1)] for a in range(M + 1)])
    smallest, _ = _walk(unit, residues, primes, depth, candidate, tolerance, binomials, counts, store, subset)
    circuits = [
        tuple(int(i) for i in store[k, c, :k]) for k in range(1, depth + 1) for c in range(min(int(counts[k]), first))
    ]
    return Minors(
        n_subsets=comb(M, depth),
        smallest=float(smallest),
        subset=tuple(subset.tolist()) if np.isfinite(smallest) else None,
        n_dependent=int(counts[n + 1]) if depth == n else -1,
        circuits=tuple(circuits),
        circuit_counts=tuple(counts[: depth + 1].tolist()),
        depth=depth,
    )


def volume_of_parallelepipeds(
    rows, *, budget: int = DEFAULT_BUDGET, tolerances: Tolerances = DEFAULT_TOLERANCES
) -> float:
    r"""Sum up the volume of the zonotope Σ [0, gᵢ]: the sum of \|det\| over all n-subsets of generators.

    Parameters
    ----------
    rows : array_like (N, n)
        Generators. When their rank r is below n, the sum is over r-subsets and is the r-dimensional volume in their
        span; when all are zero it is 1, the volume of a point.
    budget : int
        `BudgetError` if there are more subsets after zero generators are dropped and parallel ones added up.
    tolerances : Tolerances
        What counts as zero and as parallel.
    """
    rows = np.asarray(rows, float)
    reduction = reduce_generators(rows, tolerances)
    M, r = reduction.simple.shape
    if M == 0:
        return 1.0
    _check_budget(M, r, budget)
    merged = np.zeros((M, rows.shape[1]))
    live = np.flatnonzero(reduction.orientation)
    np.add.at(merged, reduction.member[live], reduction.orientation[live, None] * rows[live])
    if r < rows.shape[1]:
        merged = merged @ _orthonormal_span(merged, reduction.simple)
    # powers of two out of the columns, and one out of all rows, so that no product of n entries overflows
    shared = int(np.frexp(np.max(np.abs(merged)))[1])
    columns = np.frexp(np.max(np.abs(np.ldexp(merged, -shared)), axis=0))[1]
    scaled = np.ldexp(np.ldexp(merged, -shared), -columns)
    nothing = np.zeros((0, 0, 0), np.int64), np.zeros(0, np.int64)
    counts, store = np.zeros(r + 2, np.int64), np.zeros((r + 1, 1, r), np.int64)
    _, total = _walk(scaled, *nothing, r, -1.0, 0.0, np.zeros((1, 1), np.int64), counts, store, np.zeros(r, np.int64))
    with np.errstate(over="ignore"):
        return float(np.ldexp(total, r * shared + int(columns.sum())))


def _check_budget(M: int, k: int, budget: int) -> None:
    if comb(M, k) > budget:
        raise BudgetError(
            f"budget: {comb(M, k):,} subsets of {k} of {M} generators are more than the {budget:,} allowed; "
            f"pass budget={comb(M, k)} (about {comb(M, k) / 5e8:.2g} s) or fewer generators."
        )


def _orthonormal_span(rows: np.ndarray, simple: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis (n, r) of the span of `rows`, from r of them well independent in `simple`."""
    from scipy.linalg import qr

    r = simple.shape[1]
    chosen = qr(simple.T, mode="economic", pivoting=True)[2][:r]
    basis = rows[chosen] / lengths(rows[chosen])[:, None]
    return np.linalg.qr(basis.T)[0]


def _residues(integers, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Reduce integer rows modulo primes whose product exceeds twice any minor, by Hadamard's bound."""
    norms = sorted((sum(x * x for x in row) for row in integers), reverse=True)
    bound = 4 * prod(max(x, 1) for x in norms[:n])
    primes: list[int] = []
    while prod(primes) ** 2 <= bound:
        primes = primes_below(2**31, len(primes) + 1)
    values = [[[x % p for x in row] for row in integers] for p in primes]
    return np.array(values, np.int64), np.array(primes, np.int64)


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "nsz", "nnan", "contract"})
def next_small_row(a, b, dead, start, stop, limit):
    """Find the first row i in [start, stop) with some ``|a[i] b[j] - b[i] a[j]| <= limit``, j > i, or `stop`.

    Also returned: the sum of all ``|a[i] b[j] - b[i] a[j]|`` up to that row.
    """
    M = a.shape[0]
    total = 0.0
    for i in range(start, stop):
        if dead[i]:
            continue
        low = np.inf
        partial = 0.0
        for j in range(i + 1, M):
            v = abs(a[i] * b[j] - b[i] * a[j])
            partial += v
            low = min(low, v)
        total += partial
        if low <= limit:
            return i, total
    return stop, total


@njit(cache=True, nogil=True, error_model="numpy")
def choose_row(B, pivots, level, i):
    """Make row i the pivot row of `level`: fill ``pivots[level + 1]``, and ``B[level + 1]`` for the rows after i."""
    n, M = B.shape[1], B.shape[2]
    width = n - level
    c = 0
    for k in range(1, width):
        if abs(B[level, k, i]) > abs(B[level, c, i]):
            c = k
    pv = B[level, c, i]
    pivots[level + 1] = pivots[level] * abs(pv)
    t = 0
    for k in range(width):
        if k != c:
            ratio = B[level, k, i] / pv if pv != 0.0 else 0.0
            for j in range(i + 1, M):
                B[level + 1, t, j] = B[level, k, j] - ratio * B[level, c, j]
            t += 1


@njit(cache=True, nogil=True, error_model="numpy")
def _walk(rows, residues, primes, depth, candidate, tolerance, binomials, counts, store, best_subset):
    """Walk over the independent prefixes of at most `depth` rows; return least volume and sum of |det|.

    counts[k]: circuits of k rows; counts[n + 1]: dependent n-subsets; store[k]: the first circuits of k rows.
    """
    M, n = rows.shape
    B = np.zeros((n + 1, n, M))
    for c in range(n):
        for j in range(M):
            B[0, c, j] = rows[j, c]
    dead = np.zeros((n + 1, M), np.bool_)
    pivots = np.ones(n + 1)
    chosen = np.full(n + 1, -1)
    work = np.zeros((n, n)), np.zeros((n, n), np.int64)
    exact = residues, primes
    best, total, lost = np.inf, 0.0, 0.0  # lost: what rounding took from total (Kahan)
    if n == 1:
        for j in range(M):
            total += abs(rows[j, 0])
            if abs(rows[j, 0]) < best:
                best = abs(rows[j, 0])
                best_subset[0] = j
        return best, total
    level = 0  # rows chosen so far; B[level] is what they leave of the later rows
    ready = False  # whether B[level] has been looked at
    while level >= 0:
        start = chosen[level - 1] + 1 if level > 0 else 0
        width = n - level
        if not ready:
            ready = True
            for j in range(start, M):
                dead[level, j] = False
                if candidate < 0.0:
                    continue
                largest = 0.0
                for c in range(width):
                    largest = max(largest, abs(B[level, c, j]))
                if pivots[level] * largest <= candidate:
                    chosen[level] = j
                    if _dependent(rows, exact, chosen, level + 1, -1, work, tolerance)[0]:
                        dead[level, j] = True
                        counts[n + 1] += binomials[M - 1 - j, n - level - 1]
                        _note_circuit(rows, exact, chosen, level + 1, work, tolerance, counts, store)
            if level == depth - 1:
                level -= 1
                continue
            if width == 2:
                P = pivots[level]
                i = start
                while i < M - 1:
                    limit = max(candidate, best)
                    limit = limit / P if P > 0.0 else np.inf
                    i, partial = next_small_row(B[level, 0], B[level, 1], dead[level], i, M - 1, limit)
                    term = P * partial - lost
                    raised = total + term
                    lost = (raised - total) - term
                    total = raised
                    if i == M - 1:
                        break
                    chosen[level] = i
                    for j in range(i + 1, M):
                        chosen[level + 1] = j
                        volume = P * abs(B[level, 0, i] * B[level, 1, j] - B[level, 1, i] * B[level, 0, j])
                        if volume <= candidate:
                            dependent, volume = _dependent(rows, exact, chosen, n, -1, work, tolerance)
                            if dependent:
                                counts[n + 1] += 1
                                _note_circuit(rows, exact, chosen, n, work, tolerance, counts, store)
                                continue
                        if volume < best:
                            best = volume
                            for c in range(n):
                                best_subset[c] = chosen[c]
                    i += 1
                level -= 1
                continue
            chosen[level] = start - 1
        chosen[level] += 1
        i = chosen[level]
        if i >= M - 1 or (candidate < 0.0 and M - i < n - level):
            level -= 1
            continue
        if dead[level, i]:
            continue
        choose_row(B, pivots, level, i)
        level += 1
        ready = False
    return best, total


@njit(cache=True, nogil=True, error_model="numpy")
def _note_circuit(rows, exact, chosen, k, work, tolerance, counts, store):
    """Count and keep the dependent set of the first k chosen rows, if dropping any row makes it independent."""
    for skip in range(k - 1):
        if _dependent(rows, exact, chosen, k, skip, work, tolerance)[0]:
            return
    if counts[k] < store.shape[1]:
        for c in range(k):
            store[k, counts[k], c] = chosen[c]
    counts[k] += 1


@njit(cache=True, nogil=True, error_model="numpy")
def _dependent(rows, exact, chosen, k, skip, work, tolerance):
    """Decide whether the first k chosen rows but number `skip` are dependent; return their volume too (0 if so)."""
    residues, primes = exact
    floats, words = work
    if primes.shape[0] == 0:
        volume = _volume(rows, chosen, k, skip, floats)
        return volume <= tolerance, volume
    for q in range(primes.shape[0]):
        if _has_full_rank(residues[q], primes[q], chosen, k, skip, words):
            return False, _volume(rows, chosen, k, skip, floats)
    return True, 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def _volume(rows, chosen, k, skip, work):
    """Return the volume of the first k chosen rows but number `skip`, by Gram-Schmidt done twice."""
    n = rows.shape[1]
    volume, m = 1.0, 0
    for a in range(k):
        if a == skip:
            continue
        for c in range(n):
            work[m, c] = rows[chosen[a], c]
        for _ in range(2):
            for b in range(m):
                f = 0.0
                for c in range(n):
                    f += work[b, c] * work[m, c]
                for c in range(n):
                    work[m, c] -= f * work[b, c]
        length = 0.0
        for c in range(n):
            length += work[m, c] * work[m, c]
        length = np.sqrt(length)
        volume *= length
        if length > 0.0:
            for c in range(n):
                work[m, c] /= length
        m += 1
    return volume


@njit(cache=True, nogil=True, error_model="numpy")
def _has_full_rank(residues, p, chosen, k, skip, work):
    """Decide whether the first k chosen rows but number `skip` are independent modulo p < 2^31."""
    n = residues.shape[1]
    m = 0
    for a in range(k):
        if a == skip:
            continue
        for c in range(n):
            work[m, c] = residues[chosen[a], c]
        for b in range(m):
            c = 0  # the pivot of row b: its first non-zero column
            while work[b, c] == 0:
                c += 1
            f, pv = work[m, c], work[b, c]
            if f != 0:
                for t in range(n):
                    work[m, t] = (work[m, t] * pv - work[b, t] * f) % p
        zero = True
        for c in range(n):
            zero &= work[m, c] == 0
        if zero:
            return False
        m += 1
    return True
