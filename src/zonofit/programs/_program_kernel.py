"""The quadratic program of one vertex, walls closed: kernels of `zonofit.programs.vertex`.

minimise ``½ Σ h_i (u_i - t_i)² + ½ ridge ‖W‖²``, ``u = Σ_j v_j a_j ⊙ (X w_j) + c``, subject to ``s_ji x_i·w_j >= 0``.

An active-set method that only ever holds the directions in which something moves. Units start where they are given,
mostly at w = 0, which every cone contains. At a stationary point each unit's gradient is projected onto the directions
that its tight walls allow (`descent_cone`, exact also where more walls meet than dimensions, as at w = 0); the units
with the longest projections get their free directions back, as many as are independent of those in use, so that there
are never more than N + 1. Then Newton steps, each up to the first wall, which joins.

It cannot cycle: a wall that blocks a step of length zero right after a release is answered by a step along the
projected gradients themselves, which no tight wall blocks. So the value falls strictly from one stationary point to the
next, and each belongs to one of finitely many faces. It can crawl, though, since projected gradients know no curvature:
the longer that goes on, the more often one wall is left at a time, or one unit at 0 let out along its projected
gradient alone, where the Newton step follows it.

Predictions are kept as changes since the start, because models of other losses begin at large weights that cancel.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from zonofit.programs._factor_kernel import append_column, remove_unit
from zonofit.programs._frame_kernel import CORE, KERNEL, apply, descent_cone, frame_align, length_of
from zonofit.programs._program_step import (
    TIGHT,
    blocked,
    fuzz_of,
    grain,
    least_step,
    move,
    newton_step,
    recompute,
    steepest,
)
from zonofit.programs._program_walls import (
    begin_unit,
    free_unit,
    meet_wall,
    price_units,
    release_one,
    release_ray,
    unit_gradient,
)
from zonofit.programs._witness_kernel import project_unit

OPTIMAL, STEPS, STALLED, EXACT = 0, 1, 2, 3

_MENDS = 0.25  # a second step on the same columns promises at most this part of the first, if it mends anything
_SETTLED = 1e-20  # a Newton step that promises less than this part of the value is none
_PATIENCE = 8  # steps along projected gradients, after each of which one release is careful; then more and more are
_LAST = 1e-10  # which part of it counts where that leads nowhere
_TRIFLE = 1e-14  # a unit that contributes less than this part of the labels is at 0
_OUTSIDE = 1e-10  # a unit this far outside, in units of |x||w|, is brought back
_GREED = 0.3  # units whose projected gradient is at least this part of the longest are released together
_REFRESH = 50  # steps after which what is kept up to date is computed again


@njit(**KERNEL)
def solve_quadratic(
    X, XT, size, A, v, h, t, ridge, bias_free, W, c, dW, far, K, nk, lam, nu, scale, apart, limit, count
):
    """Solve the program from the feasible W; W, c, K, nk, lam and nu are read and written. Returns the status.

    ``K[j, :nk[j]]`` are walls on which unit j sits, ``lam`` their multipliers λ >= 0. ``nu`` is ``h (u - t)`` at the
    start, where it is taken as exact if the program is a model, and at the end. The changes of weights and bias are
    added to ``dW`` and ``far``. ``count`` gets the numbers of Newton steps, walls met and releases. Values are compared
    with `scale` where that is less than the value; it is infinite where the program is no model of another one. A
    direction enters when its column has at least the part `apart` outside the span of those in use.
    """
    m, N = A.shape
    r = X.shape[1]
    most = m * r + 2 if ridge > 0.0 else min(N, m * r) + 2
    B, L = np.empty((m, r, r)), np.empty((m, r, r))
    on = np.zeros((m, N), np.int8)
    nf = np.zeros(m, np.int64)
    Z, Q, side = np.empty((m, N)), np.zeros((m, N)), np.empty((m, N))
    for j in range(m):
        for i in range(N):
            side[j, i] = 1.0 if A[j, i] else -1.0
    D, S, g = np.zeros((m, r)), np.zeros((m, r)), np.empty(r)
    score, long, noise = np.empty(m), np.empty(m), np.empty(N)
    R, PT = np.empty((most, most)), np.empty((most, N))
    slot, own = np.arange(most), np.empty(most, np.int64)
    x, other, delta = np.empty(most), np.empty(most), np.empty(most)
    rest, rate = np.empty(N), np.empty(N)
    scratch, line = np.empty((2, r + 1)), np.empty(N)
    mu, base, fuzz, W0 = np.empty(r), nu.copy(), np.empty(N), W.copy()
    step, shift = np.zeros((m, r)), np.zeros(1)

    status = _solve(
        X, XT, size, A, v, h, t, ridge, bias_free, W, c, K, nk, lam, nu, scale, apart, limit, count, most, B, L,
        on, nf, Z, Q, side, D, S, g, score, long, noise, R, PT, slot, own, x, other, delta, rest, rate, scratch, line,
        mu, base, fuzz, W0, step, shift,
    )  # fmt: skip
    _tidy(X, XT, size, A, v, h, t, W, W0, step, c, Z, scale)
    dW += step
    far += shift
    return status


@njit(**CORE)
def _solve(
    X, XT, size, A, v, h, t, ridge, bias_free, W, c, K, nk, lam, nu, scale, apart, limit, count, most, B, L,
    on, nf, Z, Q, side, D, S, g, score, long, noise, R, PT, slot, own, x, other, delta, rest, rate, scratch, line,
    mu, base, fuzz, W0, dW, far,
):  # fmt: skip
    m, N = A.shape
    r = X.shape[1]
    p, c0 = 0, c[0]
    if bias_free:
        PT[0] = 1.0
        if append_column(-1, 0, 0.0, apart, ridge, h, PT, R, slot, own, x, rest, other):
            p = 1
    for j in range(m):
        begin_unit(X, XT, size, W[j], dW[j], K[j], nk, j, on[j], B[j], L[j], Z[j], scratch)
    for j in range(m):
        if length_of(W[j]) > 0.0:
            p = free_unit(j, p, apart, ridge, XT, size, A, v, h, nk, nf, B, PT, R, slot, own, x, rest, other)
    trifle = 0.0
    for i in range(N):
        trifle += 1e-26 * h[i] * t[i] * t[i]
    fuzz_of(scale < np.inf, A, v, h, t, c, Z, base, fuzz)
    value, change, floor = recompute(XT, A, v, h, base, fuzz, ridge, W, W0, dW, far, on, Z, nu, noise, line)
    last, since, just_released, status = np.inf, 0, False, STEPS
    slipped, careful, slips, before, settled = False, 0, 0, np.inf, _SETTLED
    while count[0] < limit:
        decrement = newton_step(p, ridge, W, nu, nk, own, B, PT, R, slot, x, delta)
        # a step on the same columns as the last one only mends rounding; where it did not, nothing will
        if decrement <= settled * min(value, scale) + floor or decrement > _MENDS * before:
            if since > 0:
                value, change, floor = recompute(XT, A, v, h, base, fuzz, ridge, W, W0, dW, far, on, Z, nu, noise, line)
                since = 0
                if decrement > 1e-4 * settled * min(value, scale) + floor and not decrement > _MENDS * before:
                    continue
            before = np.inf
            if ridge == 0.0 and value <= 16.0 * trifle:
                blur = max(grain(A, v, h, t, c, Z), floor)
                if value <= 16.0 * blur and blur <= trifle:
                    lam[:] = 0.0
                    return EXACT
            if just_released or not change < last:
                if settled == _SETTLED and floor < decrement <= settled * min(value, scale) + floor:
                    settled *= _LAST  # the walls are found, but multipliers want more digits than the value
                    just_released = False
                    continue
                if careful == 0:
                    status = STALLED
                    break
                careful = 0
            elif slipped:
                slips += 1
                careful = max(1, slips - _PATIENCE)
            elif careful > 0:
                careful -= 1
            slipped = False
            last = min(change, last)
            best = price_units(
                X,
                XT,
                size,
                A,
                v,
                nu,
                noise,
                ridge,
                W,
                Z,
                B,
                L,
                K,
                nk,
                nf,
                on,
                S,
                g,
                mu,
                lam,
                score,
                long,
                scratch,
                line,
            )
            if best == 0.0:
                return OPTIMAL
            count[2] += 1
            done = False
            if careful > 0:
                p, done = release_one(
                    p, apart, ridge, XT, size, A, v, h, B, L, K, nk, nf, on, lam, long, PT, R, slot, own, x, rest, other
                )
                if not done and slips > _PATIENCE:
                    p, done = release_ray(
                        p, apart, ridge, XT, size, A, v, h, B, nk, nf, S, long, score, PT, R, slot, own, x, rest, other,
                        scratch,
                    )  # fmt: skip
                if not done:
                    careful = 0
            while not done and best > 0.0:
                longest, best = best, 0.0
                for j in range(m):
                    if score[j] < _GREED * longest or score[j] == 0.0:
                        best = max(best, score[j])
                        continue
                    p = remove_unit(j, p, R, slot, own)
                    nf[j] = 0
                    if long[j] > 0.0:  # those at w = 0 have their projection from the pricing
                        bound = unit_gradient(j, XT, size, A, v, nu, noise, ridge, W, g, line)
                        nk[j], length = descent_cone(
                            g, bound, TIGHT * long[j], X, XT, size,
                            A[j], Z[j], B[j], L[j], K[j], nk[j], on[j], mu, lam[j], S[j], scratch, line,
                        )  # fmt: skip
                        if length <= bound:
                            score[j] = 0.0  # other walls hold it
                    if score[j] > 0.0:
                        done = True
                        score[j] = -score[j]
                        frame_align(S[j], B[j], nk[j], scratch[1])
                    p = free_unit(j, p, apart, ridge, XT, size, A, v, h, nk, nf, B, PT, R, slot, own, x, rest, other)
            if not done:
                return OPTIMAL
            just_released = True
            continue
        for j in range(m):
            D[j] = 0.0
        dc = 0.0
        for k in range(p):
            j = own[k]
            if j < 0:
                dc = delta[k]
        for j in range(m):
            first = 0
            for a in range(nf[j]):
                if a == 0:
                    while own[first] != j:
                        first += 1
                y = delta[first + a]
                for b in range(r):
                    D[j, b] += y * B[j, nk[j] + a, b]
        rate[:] = 0.0
        for k in range(p):
            y, q = delta[k], slot[k]
            for i in range(N):
                rate[i] += y * PT[q, i]
        step = least_step(h, nu, ridge, W, D, rate)
        if step == 0.0:
            status = STALLED
            break
        step, unit, wall = blocked(step, XT, size, side, D, K, nk, nf, on, Z, Q)
        newton = True
        if just_released and step < 1e-9 and careful == 0:
            slipped, newton = True, False
            # degenerate: along the projected gradients, which nothing tight forbids
            steepest(score, XT, A, v, S, D, nf, Q, rate)
            dc, step = 0.0, least_step(h, nu, ridge, W, D, rate)
            step, unit, wall = blocked(step, XT, size, side, D, K, nk, nf, on, Z, Q)
        just_released = False
        count[0] += 1
        since += 1
        gain = move(step, dc, D, Q, rate, h, ridge, nf, W, W0, dW, c, c0, far, Z, nu)
        value -= gain
        change -= gain
        before = decrement if newton and wall < 0 else np.inf
        if wall >= 0:
            count[1] += 1
            p = meet_wall(
                unit,
                wall,
                p,
                apart,
                ridge,
                X,
                XT,
                size,
                A,
                v,
                h,
                W,
                W0,
                dW,
                K,
                nk,
                nf,
                on,
                B,
                L,
                Z,
                PT,
                R,
                slot,
                own,
                x,
                rest,
                other,
                scratch,
            )
        if since >= _REFRESH:
            value, change, floor = recompute(XT, A, v, h, base, fuzz, ridge, W, W0, dW, far, on, Z, nu, noise, line)
            since = 0
    recompute(XT, A, v, h, base, fuzz, ridge, W, W0, dW, far, on, Z, nu, noise, line)
    for j in range(m):  # multipliers that fit where the search ended: the nearest ones that are not negative
        bound = unit_gradient(j, XT, size, A, v, nu, noise, ridge, W, g, line)
        length = length_of(W[j])
        tight = TIGHT * length if length > 0.0 else np.inf
        nk[j], _ = descent_cone(
            g, bound, tight, X, XT, size, A[j], Z[j], B[j], L[j], K[j], nk[j], on[j], mu, lam[j], S[j], scratch, line
        )
    return status


@njit(**KERNEL)
def _tidy(X, XT, size, A, v, h, t, W, W0, dW, c, Z, scale):
    """Set units to 0 that are there but for rounding, and bring back those that rounding took outside."""
    largest = abs(c[0])
    if scale < np.inf:  # the targets of a model may be anywhere, but labels are of size 1
        largest = max(largest, 1.0)
    else:
        for i in range(t.size):
            if h[i] > 0.0:
                largest = max(largest, abs(t[i]))
    longest = size.max()
    for j in range(v.size):
        length = length_of(W[j])
        if abs(v[j]) * length * longest <= _TRIFLE * largest:
            for b in range(W.shape[1]):
                W[j, b] = 0.0
                dW[j, b] = -W0[j, b]
            continue
        for _ in range(2):  # what is left of weights that were far larger is on its walls only after the second time
            apply(XT, W[j], Z[j])
            worst, length = 0.0, length_of(W[j])
            for i in range(t.size):
                worst = min(worst, (Z[j, i] if A[j, i] else -Z[j, i]) / size[i])
            if not worst < -_OUTSIDE * length:
                break
            project_unit(X, XT, size, A[j], W[j], np.empty(XT.shape[0], np.int64))
            for b in range(W.shape[1]):
                dW[j, b] = W[j, b] - W0[j, b]
