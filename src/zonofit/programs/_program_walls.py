"""Walls and free directions of each unit in the vertex program, and what releasing them would gain: kernels."""

from __future__ import annotations

import numpy as np
from numba import njit

from zonofit.programs._factor_kernel import append_column, remove_direction, remove_unit
from zonofit.programs._frame_kernel import (
    CORE,
    DEPENDENT,
    WALL,
    apply,
    descent_cone,
    dot,
    frame_add,
    frame_align,
    frame_remove,
    frame_start,
    length_of,
    multipliers,
)
from zonofit.programs._program_step import TIGHT

_EPS = 2.220446049250313e-16
_ALONG = 1e-14  # a direction whose product with a row is less, in their lengths, is along that wall
_NULL = 1e-10  # a column this much shorter than a unit's can be is zero
_NOISE = 16.0  # a gradient counts as zero below this multiple of the rounding in it


@njit(**CORE)
def begin_unit(X, XT, size, w, change, K, nk, j, on, B, L, z, scratch):
    """Preactivations of a unit, and its frame from those of the given walls that are tight."""
    r = X.shape[1]
    apply(XT, w, z)
    tight = TIGHT * length_of(w)
    frame_start(B)
    k = 0
    for a in range(nk[j]):
        i = K[a]
        if abs(z[i]) <= tight * size[i] and frame_add(X[i], size[i], B, L, k, scratch[1]):
            K[k] = i
            on[i] = WALL
            z[i] = 0.0
            k += 1
    nk[j] = k
    if k == r:
        for b in range(r):
            change[b] -= w[b]
        w[:] = 0.0
        z[:] = 0.0


@njit(**CORE)
def _column(j, b, XT, size, A, v, row):
    """Column of the free direction b of unit j.

    Rounding along walls is made 0: where examples weigh 1e14 times what others do, it would be all that is seen.
    """
    apply(XT, b, row)
    for i in range(row.size):
        row[i] = v[j] * row[i] if A[j, i] and abs(row[i]) > _ALONG * size[i] else 0.0


@njit(**CORE)
def free_unit(j, p, apart, ridge, XT, size, A, v, h, nk, nf, B, PT, R, slot, own, x, rest, other):
    """Let the free directions of unit j enter as far as they are independent; the number of columns."""
    r, N = XT.shape
    longest = ridge
    for i in range(N):
        if A[j, i]:
            longest += h[i] * (v[j] * size[i]) ** 2
    at, end = nk[j], r
    while at < end and p < R.shape[0]:
        _column(j, B[j, at], XT, size, A, v, PT[slot[p]])
        if append_column(j, p, _NULL * np.sqrt(longest), apart, ridge, h, PT, R, slot, own, x, rest, other):
            p += 1
            at += 1
        else:
            end -= 1
            for b in range(r):
                B[j, at, b], B[j, end, b] = B[j, end, b], B[j, at, b]
    nf[j] = at - nk[j]
    return p


@njit(**CORE)
def unit_gradient(j, XT, size, A, v, nu, noise, ridge, W, g, line):
    """Gradient of the value in w_j, into g; the length below which it is only rounding."""
    r, N = XT.shape
    blur = 0.0
    for i in range(N):
        line[i] = nu[i] if A[j, i] else 0.0
    for i in range(N):
        blur += (size[i] * noise[i]) ** 2 if A[j, i] else 0.0
    for b in range(r):
        g[b] = v[j] * dot(line, XT[b]) + ridge * W[j, b]
    return _NOISE * (abs(v[j]) * np.sqrt(blur) + _EPS * ridge * length_of(W[j]))


@njit(**CORE)
def price_units(
    X, XT, size, A, v, nu, noise, ridge, W, Z, B, L, K, nk, nf, on, S, g, mu, lam, score, long, scratch, line
):
    """Multipliers of all units; scores how far each is from holding still, 0 where it does. The largest score."""
    best = 0.0
    for j in range(A.shape[0]):
        score[j] = 0.0
        long[j] = length_of(W[j])
        bound = unit_gradient(j, XT, size, A, v, nu, noise, ridge, W, g, line)
        length = multipliers(g, B[j], L[j], nk[j], mu, scratch[0])
        for a in range(nk[j]):
            lam[j, a] = mu[a] if A[j, K[j, a]] else -mu[a]
        for a in range(nk[j]):
            if lam[j, a] < 0.0:
                length -= lam[j, a] * size[K[j, a]]
        if length > bound and long[j] == 0.0:
            nk[j], length = descent_cone(
                g,
                bound,
                np.inf,
                X,
                XT,
                size,
                A[j],
                Z[j],
                B[j],
                L[j],
                K[j],
                nk[j],
                on[j],
                mu,
                lam[j],
                S[j],
                scratch,
                line,
            )
        if length > bound:
            score[j] = length
            best = max(best, length)
    return best


@njit(**CORE)
def release_one(p, apart, ridge, XT, size, A, v, h, B, L, K, nk, nf, on, lam, long, PT, R, slot, own, x, rest, other):
    """Release the one wall with the most negative multiplier, of a unit that is not at 0; the columns, and if it was.

    Then the Newton step leads off that wall. Where projected gradients, which know no curvature, zigzag between walls
    that nearly meet, this does not.
    """
    worst, unit, at = 0.0, -1, -1
    for j in range(nk.size):
        if long[j] > 0.0:
            for a in range(nk[j]):
                if lam[j, a] * size[K[j, a]] < worst:
                    worst, unit, at = lam[j, a] * size[K[j, a]], j, a
    if unit < 0:
        return p, False
    p = remove_unit(unit, p, R, slot, own)
    nk[unit] = frame_remove(at, B[unit], L[unit], K[unit], nk[unit], on[unit])
    return free_unit(unit, p, apart, ridge, XT, size, A, v, h, nk, nf, B, PT, R, slot, own, x, rest, other), True


@njit(**CORE)
def release_ray(
    p, apart, ridge, XT, size, A, v, h, B, nk, nf, S, long, score, PT, R, slot, own, x, rest, other, scratch
):
    """Let the one unit at 0 with the longest projected gradient out along it, and no other way; the columns, and if so.

    The other units at 0 stay there. No wall of a unit at 0 forbids its projected gradient, and where all else is
    stationary the Newton step goes along it: so the value falls, by as much as the other units can make of it.
    """
    for j in range(nk.size):
        if long[j] == 0.0:
            p = remove_unit(j, p, R, slot, own)
            nf[j] = 0
    N = XT.shape[1]
    while True:
        unit = -1
        for j in range(nk.size):
            if long[j] == 0.0 and score[j] > 0.0 and (unit < 0 or score[j] > score[unit]):
                unit = j
        if unit < 0:
            return p, False
        score[unit] = -score[unit]
        frame_align(S[unit], B[unit], nk[unit], scratch[1])
        _column(unit, B[unit, nk[unit]], XT, size, A, v, PT[slot[p]])
        longest = ridge
        for i in range(N):
            if A[unit, i]:
                longest += h[i] * (v[unit] * size[i]) ** 2
        if append_column(unit, p, _NULL * np.sqrt(longest), apart, ridge, h, PT, R, slot, own, x, rest, other):
            nf[unit] = 1
            return p + 1, True


@njit(**CORE)
def meet_wall(
    j, i, p, apart, ridge, X, XT, size, A, v, h, W, W0, dW, K, nk, nf, on, B, L, Z, PT, R, slot, own, x, rest, other,
    scratch,
):  # fmt: skip
    """Wall i joins unit j; the number of columns."""
    r = X.shape[1]
    Z[j, i] = 0.0
    k = nk[j]
    whole = k + nf[j] == r
    if not frame_add(X[i], size[i], B[j], L[j], k, scratch[1]):
        on[j, i] = DEPENDENT
        return p
    K[j, k] = i
    nk[j] = k + 1
    on[j, i] = WALL
    if whole:
        first = 0
        while own[first] != j:
            first += 1
        p = remove_direction(first, nf[j], p, scratch[1], k, R, PT, slot, own, rest)
        nf[j] -= 1
        for a in range(nf[j]):
            PT[slot[first + a], i] = 0.0
    else:
        p = remove_unit(j, p, R, slot, own)
        if k + 1 < r:
            p = free_unit(j, p, apart, ridge, XT, size, A, v, h, nk, nf, B, PT, R, slot, own, x, rest, other)
        else:
            nf[j] = 0
    if nk[j] == r:
        W[j] = 0.0
        Z[j] = 0.0
        for b in range(r):
            dW[j, b] = -W0[j, b]
    return p
