r"""The k-subset of rows nearest to dependence, by σ_min or by the tight radius of `zonofit.geometry.stability`.

The walk of `zonofit.geometry.minors` gives the volume of every subset of unit rows, and with Λ^{k-1} in Frobenius norm

    σ_min(X_S) ≥ |det X_S| / ‖Λ^{k-1} X_S‖ ≥ volume / √(Σ 1/|xᵢ|²),

which rules out nearly all subsets at one multiplication each. The others are inverted: 1/‖X⁻¹‖_F bounds σ_min from
below, and 1/Σᵢ |column i of the movable rows of X⁻¹| the tight radius. What is left is evaluated, best bound first.
"""

from __future__ import annotations

from itertools import combinations, islice
from math import comb

import numpy as np
from numba import njit

from zonofit.geometry.minors import choose_row, next_small_row

_EPS = float(np.finfo(float).eps)
_SAMPLES = 4096
_CAPACITY = 1024


def least_over_subsets(rows: np.ndarray, k: int, movable: int | None) -> tuple[float, tuple[int, ...], int]:
    """Find the least σ_min (`movable` None) or tight radius over the k-subsets of `rows` (N, k).

    Returns
    -------
    least : float
    subset : tuple of int
    n_inverted : int
        Number of subsets that a determinant bound did not rule out.
    """
    N = len(rows)

    def value(S: np.ndarray) -> float:
        if movable is None:
            return float(np.linalg.svd(rows[S], compute_uv=False)[-1])
        return tight_radius_of(rows[S], movable)[0]

    sample = np.array(list(islice(combinations(range(N), k), _SAMPLES)))
    if comb(N, k) > _SAMPLES:
        keys = np.random.default_rng(0).random((_SAMPLES, N))
        sample = np.sort(np.argpartition(keys, k - 1, axis=1)[:, :k], axis=1)
    singular = np.linalg.svd(rows[sample], compute_uv=False)[:, -1]
    where = sample[np.argmin(singular)]
    best, inverted = value(where), 0
    if comb(N, k) <= _SAMPLES and movable is None:
        return float(np.min(singular)), tuple(where.tolist()), len(sample)
    norms = np.linalg.norm(rows, axis=1)
    unit = rows / norms[:, None]
    slack = k**3 * 2.0**k * _EPS
    capacity = _CAPACITY
    mode = -1 if movable is None else movable
    for first in range(N - k + 1):
        while True:
            subsets, bounds = np.empty((capacity, k), np.int64), np.empty(capacity)
            n_kept, n_tried = _narrow(unit, rows, norms, first, best, mode, slack, subsets, bounds)
            if n_kept <= capacity:
                break
            capacity = 2 * n_kept
        inverted += n_tried
        for c in np.argsort(bounds[:n_kept]):
            if bounds[c] >= best:
                break
            found = value(subsets[c])
            if found < best:
                best, where = found, subsets[c]
    return best, tuple(int(i) for i in where), inverted


def tight_radius_of(M: np.ndarray, movable: int) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the least 1 / |features of M⁻¹ s| over signs s, the signs, and the unit feature part of M⁻¹ s."""
    k = len(M)
    try:
        A = np.linalg.inv(M)[:movable]
    except np.linalg.LinAlgError:
        return 0.0, np.ones(k, np.int8), np.zeros(movable)
    low = min(k - 1, 12)
    corners = np.ones((2**low, k))
    corners[:, 1 : low + 1] -= 2.0 * (np.arange(2**low)[:, None] >> np.arange(low) & 1)
    longest, signs = -1.0, corners[0]
    for high in range(2 ** (k - 1 - low)):
        s = corners.copy()
        s[:, low + 1 :] -= 2.0 * (high >> np.arange(k - 1 - low) & 1)
        lengths = np.sum((s @ A.T) ** 2, axis=1)
        c = int(np.argmax(lengths))
        if lengths[c] > longest:
            longest, signs = float(lengths[c]), s[c]
    length = float(np.sqrt(longest))
    return 1.0 / length, signs.astype(np.int8), A @ signs / length


@njit(cache=True, nogil=True, error_model="numpy")
def _narrow(unit, rows, norms, first, best, movable, slack, subsets, bounds):
    """Store subsets that begin with row `first` and may beat `best`; return their number and how many were inverted.

    The number may exceed the room for them. movable < 0: σ_min; else the tight radius, so many coordinates movable.
    """
    M, k = rows.shape
    B = np.zeros((k + 1, k, M))
    for c in range(k):
        for j in range(M):
            B[0, c, j] = unit[j, c]
    alive = np.zeros(M, np.bool_)
    pivots = np.ones(k + 1)
    inverse = np.zeros((k, 2 * k))
    chosen = np.full(k + 1, -1)
    chosen[0] = first
    weight = np.zeros(k + 1)  # sum of 1 / |x|² over the rows chosen
    heaviest = 0.0
    for j in range(first, M):
        heaviest = max(heaviest, 1.0 / norms[j] ** 2)
    factor = 1.0 if movable < 0 else np.sqrt(k)
    n_kept, n_tried = 0, 0
    level = 0
    fresh = True
    while level >= 0:
        if k - level <= 2 and fresh:
            i = first if level == 0 else chosen[level - 1] + 1
            stop = first + 1 if level == 0 else M - 1
            while i < stop:
                P = pivots[level]
                limit = best * factor * np.sqrt(weight[level] + 2.0 * heaviest) + slack
                if k > 1:
                    i, _ = next_small_row(B[level, 0], B[level, 1], alive, i, stop, limit / P if P > 0.0 else np.inf)
                    if i == stop:
                        break
                chosen[level] = i
                for j in range(i + 1, M) if k > 1 else range(i, i + 1):
                    if k > 1:
                        chosen[level + 1] = j
                        volume = P * abs(B[level, 0, i] * B[level, 1, j] - B[level, 1, i] * B[level, 0, j])
                        if volume > limit:
                            continue
                    n_tried += 1
                    low, high = _bounds(rows, chosen, k, movable, inverse)
                    if low < best:
                        if n_kept < subsets.shape[0]:
                            for c in range(k):
                                subsets[n_kept, c] = chosen[c]
                            bounds[n_kept] = low
                        n_kept += 1
                        best = min(best, high)
                i += 1
            level -= 1
            fresh = False
            continue
        if fresh:
            chosen[level] = first - 1 if level == 0 else chosen[level - 1]
            fresh = False
        chosen[level] += 1
        i = chosen[level]
        if i > M - (k - level) or (level == 0 and i > first):
            level -= 1
            continue
        choose_row(B, pivots, level, i)
        weight[level + 1] = weight[level] + 1.0 / norms[i] ** 2
        level += 1
        fresh = True
    return n_kept, n_tried


@njit(cache=True, nogil=True, error_model="numpy")
def _bounds(rows, chosen, k, movable, work):
    """Bound from below and above σ_min, or the tight radius, of the k chosen rows."""
    for a in range(k):
        for c in range(k):
            work[a, c] = rows[chosen[a], c]
            work[a, k + c] = 1.0 if a == c else 0.0
    for c in range(k):
        p = c
        for a in range(c + 1, k):
            if abs(work[a, c]) > abs(work[p, c]):
                p = a
        if work[p, c] == 0.0:
            return 0.0, np.inf
        for t in range(2 * k):
            work[c, t], work[p, t] = work[p, t], work[c, t]
        for a in range(k):
            if a != c:
                f = work[a, c] / work[c, c]
                for t in range(c, 2 * k):
                    work[a, t] -= f * work[c, t]
    squares, lengths, longest = 0.0, 0.0, 0.0
    for t in range(k):
        column = 0.0
        for a in range(k if movable < 0 else movable):
            column += (work[a, k + t] / work[a, a]) ** 2
        squares += column
        lengths += np.sqrt(column)
        longest = max(longest, column)
    if movable < 0:
        return 1.0 / np.sqrt(squares), 1.0 / np.sqrt(longest)
    return 1.0 / lengths, 1.0 / np.sqrt(squares)
