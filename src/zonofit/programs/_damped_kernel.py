"""Damped steps: a first phase of facet descent far from a minimum, kernel of `zonofit.programs.descent`.

Far from a minimum walls come and go, and to join and release them one by one is what takes time. Levenberg and
Marquardt's steps look at none: they minimise ``½ Σ h (e + P δ)² + ½ ρ ‖δ‖²`` for the current patterns, and are taken
whole if the loss behind all walls that they cross is less. ρ falls after good steps and rises after bad ones.

Where examples are many (`MANY`), minima differ by percents, not by factors. There the phase goes on until steps gain
less, and if there is a value that alone is worth going on from, it ends once that is out of reach.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from zonofit.programs._descent_kernel import renew_normal
from zonofit.programs._descent_step import cholesky, gradient, gram, gram_direction, normal_direction, products
from zonofit.programs._frame_kernel import KERNEL, apply, length_of, sum_of, weighted

FIRST, LEAST, MOST = 1e-2, 1e-13, 1e2  # ρ in units of the mean diagonal element: at first, and its range
GOOD, LESS, FAR_LESS, MORE = 0.3, 0.3, 0.1, 6.0  # a gain by this part, and factors of ρ after steps
SLOW, PATIENCE = 1e-2, 3  # the phase ends after so many steps in a row that gained less than this part
MANY = 2  # examples are many if there are so many for each parameter
SLOWER = 1e-3  # and then the part is this
HOPE = 10.0  # and a value is out of reach if so many gains like the last would not do; fewer give up too much


@njit(**KERNEL)
def descend_damped(X, y, h, v, plain, W, c, alpha, bias, limit, enough, worth):
    """Damped descent for ``½ Σ h (u - y)² + ½ alpha ‖W‖²``; W is written. Value, c, and systems that were solved.

    Values that will not come below ``worth`` are of no use.
    """
    m, r = W.shape
    N = y.size
    q = m * r + 1
    wide, many = q > N, N >= MANY * q
    small = SLOWER if many else SLOW
    XT = np.ascontiguousarray(X.T)
    XX = products(XT, wide)
    G = np.empty((N, N)) if wide else np.empty((q, q))
    T, was = np.empty((0, 0)) if wide else np.empty((q, q)), np.full((m, N), -1.0)
    P = np.empty((4, max(N, q)))
    bits, tally, short = np.empty((m, N), np.uint8), np.empty(N, np.uint8), np.empty(max(r, m), np.int64)
    B, nk = np.zeros((m, r, r)), np.zeros(m, np.int64)
    act, Z, Q = np.empty((m, N)), np.empty((m, N)), np.empty((m, N))
    e, ahead, mu, one, line = np.empty(N), np.empty(N), np.empty(N), np.empty(N), np.empty(N)
    D, U, g, half, x = np.empty((m, r)), np.empty((m, r)), np.empty((m, r)), np.empty(q), np.empty(q)
    value = _evaluate(XT, y, h, v, W, c, alpha, Z, e)
    level, slow, fresh, count = FIRST, 0, True, 0
    while count < limit and value > enough:
        count += 1
        if fresh:
            for j in range(m):
                for i in range(N):
                    act[j, i] = 1.0 if Z[j, i] > 0.0 else 0.0
        if wide:
            rho = gram(XT, XX, v, plain, act, bits, B, nk, bias, h, alpha, level, G, line, short, tally)
            cholesky(G, N, P)
            if alpha > 0.0:
                for i in range(N):
                    one[i] = 0.0
                    for j in range(m):
                        one[i] += v[j] * act[j, i] * Z[j, i]
            dc = gram_direction(XT, v, act, B, nk, bias, alpha, rho, W, e, G, mu, one, line, D)
        else:
            if fresh:
                renew_normal(X, XT, v, act, h, G, was, mu)
                for i in range(N):
                    one[i] = h[i] * e[i]
                gc = sum_of(one)
                gradient(XT, v, act, one, alpha, W, g, line)
            dc = normal_direction(v, B, nk, bias, alpha, level, G, g, gc, T, P, half, x, D)
        for j in range(m):
            for b in range(r):
                U[j, b] = W[j, b] + D[j, b]
        next_value = _evaluate(XT, y, h, v, U, c + dc, alpha, Q, ahead)
        fresh = next_value < value
        if not fresh:
            level *= MORE
            if level > MOST:
                break
            continue
        gain = 1.0 - next_value / value
        value, c = next_value, c + dc
        for j in range(m):
            for b in range(r):
                W[j, b] = U[j, b]
            for i in range(N):
                Z[j, i] = Q[j, i]
        for i in range(N):
            e[i] = ahead[i]
        level = max(level * (FAR_LESS if gain > GOOD else LESS), LEAST)
        slow = slow + 1 if gain < small else 0
        if slow == PATIENCE or (many and value * (1.0 - HOPE * gain) >= worth):
            break
    return value, c, count


@njit(**KERNEL)
def _evaluate(XT, y, h, v, W, c, alpha, Z, e):
    """Preactivations into Z, residuals into e; the value."""
    value = 0.0
    for i in range(y.size):
        e[i] = c - y[i]
    for j in range(v.size):
        apply(XT, W[j], Z[j])
        for i in range(y.size):
            e[i] += v[j] * max(Z[j, i], 0.0)
        value += 0.5 * alpha * length_of(W[j]) ** 2
    return value + 0.5 * weighted(h, e, e)
