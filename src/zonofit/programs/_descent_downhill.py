"""Descents where walls depend on each other, and from w = 0, where all examples are walls.

Kernels of `zonofit.programs.descent`. A direction must be looked for there; one release at a time is not exact.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from zonofit.programs._frame_kernel import DEPENDENCE, DEPENDENT, FREE, KERNEL, WALL, apply, frame_add, frame_start

_TRIES, _STEPS = 200, 3  # directions from which a unit looks for a descent, and steps from each
_CAREFUL_TRIES, _CAREFUL_STEPS = 60, 12  # the same, with shorter and shorter steps
_STRIDE = 7919  # a prime, by which the examples are paired


@njit(**KERNEL)
def downhill(j, X, XT, size, v, nu, g, B, k, on, bar, scratch, line):
    """Best direction found in the span of unit j's k walls into ``scratch[2]``; the slope along it.

    To first order the value changes by ``g·d + v Σ ν_i max(0, x_i·d)`` over the walls. Whether any d makes this
    negative is a question about two zonotopes; each try starts at an example or the gradient and follows the gradient
    of its own pattern.
    """
    N, r = X.shape
    d, along, best = scratch[0], scratch[1], scratch[2]
    base = scratch[3]
    held = 0
    for i in range(N):
        held += on[j, i] != FREE
    for b in range(r):
        base[b] = 0.0
    for a in range(k):
        s = 0.0
        for b in range(r):
            s += B[j, a, b] * g[b]
        for b in range(r):
            base[b] += s * B[j, a, b]
    least = 0.0
    for damped in range(2):  # full steps are quick, but may jump to and fro: what they miss is looked for with care
        skip = max(1, (2 * held) // (_CAREFUL_TRIES if damped else _TRIES))
        seen = 0
        for o in range(2 * N + 2):
            sign = 1.0 if o % 2 == 0 else -1.0
            if o < 2:
                for b in range(r):
                    d[b] = -base[b]
                for i in range(N):
                    if on[j, i] != FREE:
                        for b in range(r):
                            d[b] -= v[j] * nu[i] * X[i, b] * sign
            else:
                i = (o - 2) // 2
                if on[j, i] == FREE:
                    continue
                seen += o % 2
                if seen % skip != 0:
                    continue
                for b in range(r):
                    d[b] = sign * X[i, b]
                if damped:  # between two examples, where patterns differ
                    i = (i + 1 + (o * _STRIDE) % N) % N
                    while on[j, i] == FREE:
                        i = (i + 1) % N
                    for b in range(r):
                        d[b] = d[b] * size[i] - sign * X[i, b] * size[(o - 2) // 2]
            for n in range(_CAREFUL_STEPS if damped else _STEPS):
                s = 0.0
                for b in range(r):
                    s += d[b] * d[b]
                if s == 0.0:
                    break
                s = 1.0 / np.sqrt(s)
                change = 0.0
                for b in range(r):
                    d[b] *= s
                    along[b] = -base[b]
                for b in range(r):
                    change += base[b] * d[b]
                apply(XT, d, line)
                for i in range(N):
                    if on[j, i] != FREE and line[i] > 0.0:
                        s = v[j] * nu[i]
                        change += s * line[i]
                        for b in range(r):
                            along[b] -= s * X[i, b]
                if change < least:
                    least = change
                    for b in range(r):
                        best[b] = d[b]
                s = 0.0
                for b in range(r):
                    s += along[b] * along[b]
                if s == 0.0:
                    break
                s = 1.0 / (np.sqrt(s) * (n + 1.0))
                for b in range(r):
                    d[b] = d[b] + s * along[b] if damped else along[b]
        if -least > bar:
            break
    return least


@njit(**KERNEL)
def unfold(j, X, XT, size, v, nu, act, B, L, K, nk, on, ndep, g, bar, scratch, line):
    """Release the walls of a unit along a descent, where they depend on each other; whether there is one.

    One wall at a time is not enough then: among dependent walls no direction may leave only one of them.
    """
    N = X.shape[0]
    if not -downhill(j, X, XT, size, v, nu, g, B, nk[j], on, bar * abs(v[j]), scratch, line) > bar * abs(v[j]):
        return False
    d, mirror = scratch[2], scratch[1]
    apply(XT, d, line)
    frame_start(B[j])
    nk[j] = ndep[j] = 0
    for i in range(N):
        if on[j, i] == FREE:
            continue
        on[j, i] = FREE
        if abs(line[i]) > DEPENDENCE * size[i]:
            act[j, i] = 1.0 if line[i] > 0.0 else 0.0
        elif frame_add(X[i], size[i], B[j], L[j], nk[j], mirror):
            K[j, nk[j]] = i
            nk[j] += 1
            on[j, i] = WALL
        else:
            ndep[j] += 1
            on[j, i] = DEPENDENT
    return True


@njit(**KERNEL)
def revive(j, X, XT, size, h, v, W, alpha, nu, e, act, Z, B, L, K, nk, on, ndep, g, bar, scratch, line):
    """Move a unit away from w = 0 along the best direction found, if it is a descent; the residual moves too."""
    N, r = X.shape
    least = downhill(j, X, XT, size, v, nu, g, B, r, on, bar * abs(v[j]), scratch, line)
    best = scratch[2]
    if not -least > bar * abs(v[j]):
        return False
    curve = alpha
    for i in range(N):
        line[i] = 0.0
    for b in range(r):
        for i in range(N):
            line[i] += best[b] * XT[b, i]
    for i in range(N):
        curve += h[i] * (v[j] * max(line[i], 0.0)) ** 2
    step = -least / curve
    for b in range(r):
        W[j, b] = step * best[b]
    frame_start(B[j])
    nk[j] = 0
    ndep[j] = 0
    for i in range(N):
        on[j, i] = FREE
        z = step * line[i]
        Z[j, i] = z
        act[j, i] = 1.0 if z > 0.0 else 0.0
        e[i] += v[j] * max(z, 0.0)
    return True
