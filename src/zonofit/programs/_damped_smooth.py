"""Damped steps for smooth losses that are no squares; `zonofit.programs._damped_kernel` says what they are for.

Each step expands the loss to second order where it stands, with curvatures raised as in facet descent, and the loss
itself decides whether it is taken. The loop is compiled for the losses that have kernels; for a user's own the same
loop runs in Python.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from zonofit.programs._damped_kernel import (
    FAR_LESS,
    FIRST,
    GOOD,
    HOPE,
    LEAST,
    LESS,
    MANY,
    MORE,
    MOST,
    PATIENCE,
    SLOW,
    SLOWER,
)
from zonofit.programs._descent_kernel import unit_signs
from zonofit.programs._descent_losses import compiled, measure
from zonofit.programs._descent_smooth import REACH, VANISHED, expand, inner
from zonofit.programs._descent_step import cholesky, gradient, gram, gram_direction, normal, normal_direction, products
from zonofit.programs._frame_kernel import CORE, KERNEL, apply, sum_of
from zonofit.programs.losses import Loss


def descend_damped_smooth(X, y, p, v, W, c, loss: Loss, alpha, bias, limit, enough, worth):
    """Damped descent for ``Σ p ℓ(u, y) + ½ alpha ‖W‖²``; W is written. Value, c, and systems that were solved."""
    pair = compiled(loss)
    enough = max(float(enough), 0.0 if loss.translates else VANISHED)
    if pair is None:
        return walk(loss, X, y, p, v, W, c, alpha, bias, limit, enough, float(worth))
    return walk_compiled(pair, X, y, p, v, W, c, alpha, bias, limit, enough, float(worth))


def walk(loss, X, y, p, v, W, c, alpha, bias, limit, enough, worth):
    """The whole phase; ``loss`` is a pair of `compiled` when this is compiled, and a `Loss` otherwise."""
    m, r = W.shape
    N = y.size
    q = m * r + 1
    wide, many = q > N, N >= MANY * q
    small = SLOWER if many else SLOW
    plain = unit_signs(v)
    XT = np.ascontiguousarray(X.T)
    XX = products(XT, wide)
    G = np.empty((N, N)) if wide else np.empty((q, q))
    T = np.empty((0, 0)) if wide else np.empty((q, q))
    P = np.empty((4, max(N, q)))
    bits, tally, short = np.empty((m, N), np.uint8), np.empty(N, np.uint8), np.empty(max(r, m), np.int64)
    B, nk = np.zeros((m, r, r)), np.zeros(m, np.int64)
    act, Z, Q = np.empty((m, N)), np.empty((m, N)), np.empty((m, N))
    u, e, nu, h = np.empty(N), np.empty(N), np.empty(N), np.empty(N)
    ahead, next_nu, next_h = np.empty(N), np.empty(N), np.empty(N)
    mu, one, line = np.empty(N), np.empty(N), np.empty(N)
    D, g, half, x = np.empty((m, r)), np.empty((m, r)), np.empty(q), np.empty(q)
    predict(XT, v, W, c, Z, u)
    value = measure(loss, u, y, p, nu, h) + 0.5 * alpha * inner(W, W)
    level, slow, fresh, count, gc = FIRST, 0, True, 0, 0.0
    while count < limit and value > enough:
        count += 1
        if fresh:
            activity(Z, act)
            expand(p, nu, h, REACH, e)
            if not wide:
                normal(XT, v, act, h, G, mu)
                gc = sum_of(nu)
                gradient(XT, v, act, nu, alpha, W, g, line)
        if wide:
            rho = gram(XT, XX, v, plain, act, bits, B, nk, bias, h, alpha, level, G, line, short, tally)
            cholesky(G, N, P)
            one[:] = u - c
            dc = gram_direction(XT, v, act, B, nk, bias, alpha, rho, W, e, G, mu, one, line, D)
        else:
            dc = normal_direction(v, B, nk, bias, alpha, level, G, g, gc, T, P, half, x, D)
        U = W + D
        predict(XT, v, U, c + dc, Q, ahead)
        next_value = measure(loss, ahead, y, p, next_nu, next_h) + 0.5 * alpha * inner(U, U)
        fresh = next_value < value
        if not fresh:
            level *= MORE
            if level > MOST:
                break
            continue
        gain = 1.0 - next_value / value
        value, c = next_value, c + dc
        W[:] = U
        Z, Q = Q, Z
        u, ahead = ahead, u
        nu, next_nu = next_nu, nu
        h, next_h = next_h, h
        level = max(level * (FAR_LESS if gain > GOOD else LESS), LEAST)
        slow = slow + 1 if gain < small else 0
        if slow == PATIENCE or (many and value * (1.0 - HOPE * gain) >= worth):
            break
    return value, c, count


walk_compiled = njit(**KERNEL)(walk)


@njit(**CORE)
def predict(XT, v, W, c, Z, u):
    """Preactivations into Z, predictions into u."""
    for i in range(u.size):
        u[i] = c
    for j in range(v.size):
        apply(XT, W[j], Z[j])
        for i in range(u.size):
            u[i] += v[j] * max(Z[j, i], 0.0)


@njit(**CORE)
def activity(Z, act):
    """1 where a preactivation is positive."""
    for j in range(Z.shape[0]):
        for i in range(Z.shape[1]):
            act[j, i] = 1.0 if Z[j, i] > 0.0 else 0.0
