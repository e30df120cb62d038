"""How a flat valley is crossed to a wall behind which the value falls: kernels of `zonofit.programs.descent`."""

from __future__ import annotations

import numpy as np
from numba import njit

from zonofit.programs._descent_search import breakpoints, rates
from zonofit.programs._descent_step import RHO_NARROW, gradient, gram_direction, normal_direction, project
from zonofit.programs._frame_kernel import FREE, KERNEL, frame_remove, length_of, multipliers


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
    m = act.shape[0]
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
    target, XT, size, h, v, W, c, bias, e, act, Z, nk, on, B, wide, G, H, T, P, D, Q, rate, when, g, mu, one, line,
    half, x
):  # fmt: skip
    """Move along the valley, where no prediction changes, towards a wall; the first wall that was met, j N + i, or -1.

    At a local minimum with residual left, a wall with ``v_j ν_i < 0`` off which a unit stays is worth crossing: to
    first order the value falls on the other side. Where directions are left over, they may lead there for nothing.
    The direction is what of the wall's normal the predictions do not feel.
    """
    m, N = Z.shape
    r = XT.shape[0]
    unit, wall = target // N, target % N
    total = 0.0
    for j in range(m):
        for b in range(r):
            D[j, b] = 0.0
        total += length_of(W[j]) ** 2
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
            dc = normal_direction(v, B, nk, bias, 0.0, RHO_NARROW, H, g, -dc, T, P, half, x, D)
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
