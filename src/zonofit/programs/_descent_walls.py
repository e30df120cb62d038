"""Walls that units sit on while they descend: how they join, and when they let go.

Kernels of `zonofit.programs.descent`. An example is FREE to a unit, one of its WALLs, or DEPENDENT: on the unit's
hyperplane because it lies in the span of its walls, like a duplicate of one of them; then it keeps still as they do.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from zonofit.programs._descent_downhill import revive, unfold
from zonofit.programs._descent_step import gradient
from zonofit.programs._frame_kernel import (
    DEPENDENCE,
    DEPENDENT,
    FREE,
    KERNEL,
    WALL,
    frame_add,
    frame_remove,
    multipliers,
)

_TIGHT = 1e-11  # an example lies on a unit's hyperplane when |x·w| is at most this, in units of |x||w|


@njit(**KERNEL)
def join(j, i, X, XT, size, W, act, Z, B, L, K, nk, on, ndep, scratch):
    """Example i becomes a wall of unit j, and so do those that lie on it and in the span of its walls."""
    r, N = XT.shape
    k = nk[j]
    Z[j, i] = 0.0
    act[j, i] = 0.0
    if not frame_add(X[i], size[i], B[j], L[j], k, scratch[1]):
        on[j, i] = DEPENDENT
        ndep[j] += 1
        return
    K[j, k] = i
    on[j, i] = WALL
    k += 1
    nk[j] = k
    length = 0.0
    if k == r:
        for b in range(r):
            W[j, b] = 0.0
    for b in range(r):
        length += W[j, b] * W[j, b]
    length = np.sqrt(length)
    for a in range(N):
        if on[j, a] != FREE:
            continue
        if abs(Z[j, a]) <= _TIGHT * size[a] * length or k == r:
            if k == r or depends(X, size, B, j, k, a):
                on[j, a] = DEPENDENT
                ndep[j] += 1
                Z[j, a] = 0.0
                act[j, a] = 0.0


@njit(**KERNEL)
def rest(size, v, W, act, Z, nk, on, ndep, trifle):
    """Put units at w = 0 whose predictions are at most `trifle`: a ridge shrinks dead units, but never to 0."""
    m, N = Z.shape
    r = W.shape[1]
    for j in range(m):
        length = 0.0
        for b in range(r):
            length += W[j, b] * W[j, b]
        length = np.sqrt(length)
        small = nk[j] < r
        for i in range(N):
            small = small and abs(v[j]) * size[i] * length <= trifle
        if small:
            nk[j], ndep[j] = r, N
            for b in range(r):
                W[j, b] = 0.0
            for i in range(N):
                Z[j, i] = act[j, i] = 0.0
                on[j, i] = DEPENDENT


@njit(**KERNEL)
def touch(X, XT, size, W, act, Z, B, L, K, nk, on, ndep, scratch):
    """What lies on a unit's hyperplane joins, though the unit was not held there; how many did.

    Slopes on one side of a wall say nothing about the other, so a local minimum must know all walls that it lies on.
    """
    m, N = Z.shape
    r = W.shape[1]
    got = 0
    for j in range(m):
        length = 0.0
        for b in range(r):
            length += W[j, b] * W[j, b]
        bound = _TIGHT * np.sqrt(length)
        for i in range(N):
            if nk[j] < r - 1 and on[j, i] == FREE and abs(Z[j, i]) <= bound * size[i]:
                join(j, i, X, XT, size, W, act, Z, B, L, K, nk, on, ndep, scratch)
                got += 1
    return got


@njit(**KERNEL)
def settle(size, W, act, Z, on):
    """At the end: what lies on a unit's hyperplane is a wall, whether the unit was held there or not."""
    m, N = Z.shape
    for j in range(m):
        length = 0.0
        for b in range(W.shape[1]):
            length += W[j, b] * W[j, b]
        bound = _TIGHT * np.sqrt(length)
        for i in range(N):
            if on[j, i] == FREE and abs(Z[j, i]) <= bound * size[i]:
                on[j, i] = WALL
                act[j, i] = 0.0


@njit(**KERNEL)
def depends(X, size, B, j, k, i):
    """Whether example i is in the span of the first k frame rows of unit j."""
    r = X.shape[1]
    rest = 0.0
    for b in range(k, r):
        s = 0.0
        for e in range(r):
            s += B[j, b, e] * X[i, e]
        rest += s * s
    return not np.sqrt(rest) > DEPENDENCE * size[i]


@njit(**KERNEL)
def release(X, XT, size, h, v, W, alpha, e, nu, act, Z, B, L, K, nk, on, ndep, g, scratch, line, greed, bar):
    """Release at most one wall a unit, where that is a descent to first order; how many were."""
    m, N = act.shape
    r = XT.shape[0]
    gradient(XT, v, act, nu, alpha, W, g, line)
    norm = 0.0
    for i in range(N):
        norm += (size[i] * nu[i]) ** 2
    norm = np.sqrt(norm)
    mu, along, d = scratch[0], scratch[1], scratch[2]
    best = 0.0
    # two passes over the units: the first finds the largest violation, the second releases
    got = 0
    for sweep in range(2):
        for j in range(m):
            k = nk[j]
            if k == 0 or k == r:
                continue
            multipliers(g[j], B[j], L[j], k, mu, along)
            most, at, active = bar * abs(v[j]) * norm, -1, False
            for a in range(k):
                i = K[j, a]
                off, up = mu[a], -(mu[a] + v[j] * nu[i])
                if ndep[j] > 0:
                    dual(B[j], L[j], k, a, along, d)
                    for o in range(N):
                        if on[j, o] == DEPENDENT:
                            s = 0.0
                            for b in range(r):
                                s += X[o, b] * d[b]
                            if s > 0.0:
                                up -= v[j] * nu[o] * s
                            else:
                                off += v[j] * nu[o] * s
                off *= size[i]
                up *= size[i]
                if off > most:
                    most, at, active = off, a, False
                if up > most:
                    most, at, active = up, a, True
            if at < 0:
                continue
            if sweep == 0:
                best = max(best, most)
                continue
            if most < greed * best:
                continue
            i = K[j, at]
            if ndep[j] > 0:
                dual(B[j], L[j], k, at, along, d)
            nk[j] = frame_remove(at, B[j], L[j], K[j], k, on[j])
            act[j, i] = 1.0 if active else 0.0
            if ndep[j] > 0:
                for o in range(N):
                    if on[j, o] == DEPENDENT and not depends(X, size, B, j, nk[j], o):
                        s = 0.0
                        for b in range(r):
                            s += X[o, b] * d[b]
                        on[j, o] = FREE
                        ndep[j] -= 1
                        act[j, o] = 1.0 if (s > 0.0) == active else 0.0
            got += 1
            if greed >= 1.0:
                return got
        if sweep == 0 and best == 0.0:
            break
    if got > 0:
        return got
    for j in range(m):
        if nk[j] == r:
            if revive(
                j, X, XT, size, h, v, W, alpha, nu, e, act, Z, B, L, K, nk, on, ndep, g[j], bar * norm, scratch, line
            ):
                return 1
        elif ndep[j] > 0 and unfold(j, X, XT, size, v, nu, act, B, L, K, nk, on, ndep, g[j], bar * norm, scratch, line):
            return 1
    return 0


@njit(**KERNEL)
def dual(B, L, k, at, along, d):
    """Direction in the span of the walls along which only wall `at` moves, at rate 1."""
    r = B.shape[0]
    for a in range(k):
        s = 1.0 if a == at else 0.0
        for b in range(a):
            s -= L[a, b] * along[b]
        along[a] = s / L[a, a]
    for e in range(r):
        s = 0.0
        for a in range(k):
            s += along[a] * B[a, e]
        d[e] = s
