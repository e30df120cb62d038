"""Walls that units sit on while they descend: how they join, when they let go, and how a flat valley is crossed.

Kernels of `zonofit.programs.descent`. An example is FREE to a unit, one of its WALLs, or DEPENDENT: on the unit's hyperplane
because it lies in the span of its walls, like a duplicate of one of them; then it keeps still as they do.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from zonofit.programs._descent_search import breakpoints, rates
from zonofit.programs._descent_step import gradient, gram_direction, normal_direction, project
from zonofit.programs._frame_kernel import (
    DEPENDENCE,
    DEPENDENT,
    FREE,
    KERNEL,
    WALL,
    apply,
    frame_add,
    frame_remove,
    frame_start,
    multipliers,
)

_TRIES, _STEPS = 200, 3  # directions from which a unit at w = 0 looks for a descent, and steps from each
_CAREFUL_TRIES, _CAREFUL_STEPS = 60, 12
_STRIDE = 7919  # a prime, by which the examples are paired
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
    """Put units at w = 0 whose predictions are at most `trifle`: a ridge shrinks dead units for ever, but never to 0."""
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
            if revive(j, X, XT, size, h, v, W, alpha, nu, e, act, Z, B, L, K, nk, on, ndep, g[j], bar * norm, scratch, line):
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


@njit(**KERNEL)
def downhill(j, X, XT, size, v, nu, g, B, k, on, bar, scratch, line):
    """Best direction found in the span of unit j's k walls into ``scratch[2]``; the slope along it.

    To first order the value changes by ``g·d + v Σ ν_i max(0, x_i·d)`` over the walls. Whether any d makes this negative is a
    question about two zonotopes; each try starts at an example or the gradient and follows the gradient of its own pattern.
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
    for damped in range(2):  # full steps are quick and may jump to and fro; so what they do not find is looked for with care
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
    """Release the walls of a unit along a direction that is a descent, where walls depend on each other; whether there is one.

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
    """Move a unit away from w = 0 along the best of a few directions, if one is a descent; the residual moves with it."""
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


@njit(**KERNEL)
def next_target(v, size, nu, Z, W, nk, on, bar, tried):
    """The nearest wall that is worth crossing, j N + i, of those not tried yet; -1 if there is none."""
    m, N = Z.shape
    nearest, name = np.inf, -1
    for j in range(m):
        if nk[j] == W.shape[1]:
            continue
        square = 0.0
        for b in range(W.shape[1]):
            square += W[j, b] * W[j, b]
        square = np.sqrt(square)
        for i in range(N):
            if -v[j] * nu[i] * size[i] > bar and on[j, i] == FREE and not tried[j, i]:
                gap = abs(Z[j, i]) / (size[i] * square)
                if gap < nearest:
                    nearest, name = gap, j * N + i
    return name


@njit(**KERNEL)
def loosen(XT, size, v, W, nu, act, B, L, K, nk, on, ndep, g, line, scratch, bar):
    """Let go of the walls that hold nothing, to the side where crossing back costs nothing; how many."""
    m, N = act.shape
    mu, along = scratch[0], scratch[1]
    gradient(XT, v, act, nu, 0.0, W, g, line)
    got = 0
    for j in range(m):
        if nk[j] == 0 or nk[j] == W.shape[1] or ndep[j] > 0:
            continue
        multipliers(g[j], B[j], L[j], nk[j], mu, along)
        for a in range(nk[j] - 1, -1, -1):
            i = K[j, a]
            idle, busy = abs(mu[a]) * size[i] <= bar, abs(mu[a] + v[j] * nu[i]) * size[i] <= bar
            if idle or busy:
                nk[j] = frame_remove(a, B[j], L[j], K[j], nk[j], on[j])
                act[j, i] = 0.0 if idle else 1.0
                got += 1
    return got


@njit(**KERNEL)
def slide(
    target, XT, size, h, v, W, c, bias, e, act, Z, nk, on, B, wide, G, H, T, P, D, Q, rate, when, g, mu, one, line, half, x
):  # fmt: skip
    """Move along the valley, where no prediction changes, towards a wall; the first wall that was met, j N + i, or -1.

    At a local minimum with residual left, a wall with ``v_j ν_i < 0`` off which a unit stays is worth crossing: to first
    order the value falls on the other side. Where directions are left over, they may lead there for nothing.
    The direction is what of the wall's normal the predictions do not feel.
    """
    m, N = Z.shape
    r = XT.shape[0]
    unit, wall = target // N, target % N
    total = 0.0
    for j in range(m):
        for b in range(r):
            total += W[j, b] * W[j, b]
            D[j, b] = 0.0
    total = np.sqrt(total)
    sign = (-1.0 if act[unit, wall] != 0.0 else 1.0) * total / size[wall]
    for b in range(r):
        D[unit, b] = sign * XT[b, wall]
    project(D, B, nk)
    dc = 0.0
    for _ in range(2):
        if wide:
            rates(XT, size, D, dc, v, act, on, Q, rate)
            for j in range(m):
                for b in range(r):
                    g[j, b] = D[j, b]
            dc += gram_direction(XT, v, act, B, nk, bias, 0.0, 1.0, W, rate, G, mu, one, line, D)
            for j in range(m):
                for b in range(r):
                    D[j, b] += g[j, b]
        else:  # inverse iteration: what the normal matrix does not see grows beyond all else
            for j in range(m):
                for b in range(r):
                    g[j, b] = -D[j, b]
            dc = normal_direction(v, B, nk, bias, 0.0, H, g, -dc, T, P, half, x, D)
        length = dc * dc
        for j in range(m):
            for b in range(r):
                length += D[j, b] * D[j, b]
        length = np.sqrt(length)
        if not length > (1e-6 * total if wide else 0.0):
            return -1
        length = total / length
        dc *= length
        for j in range(m):
            for b in range(r):
                D[j, b] *= length
    rates(XT, size, D, dc, v, act, on, Q, rate)
    if not Q[unit, wall] * sign > 1e-6 * total * abs(sign) * size[wall]:
        return -1
    breakpoints(Z, act, Q, when)
    first, name = 1e3, -1
    for j in range(m):
        for i in range(N):
            if when[j, i] < first:
                first, name = when[j, i], j * N + i
    change, value = 0.0, 0.0
    for i in range(N):
        change += h[i] * abs((2.0 * e[i] + first * rate[i]) * first * rate[i])
        value += h[i] * e[i] * e[i]
    if name < 0 or not change <= 1e-9 * value:
        return -1
    for j in range(m):
        for b in range(r):
            W[j, b] += first * D[j, b]
        for i in range(N):
            Z[j, i] += first * Q[j, i]
    c[0] += first * dc
    for i in range(N):
        e[i] += first * rate[i]
    return name
