"""Descent with open walls: kernels of `zonofit.programs.descent`, which says what they compute."""

from __future__ import annotations

import numpy as np
from numba import njit

from zonofit.programs._descent_search import breakpoints, rates, search
from zonofit.programs._descent_step import (
    RHO,
    RHO_NARROW,
    cholesky,
    flip_normal,
    gradient,
    gram,
    gram_direction,
    normal,
    normal_direction,
    products,
)
from zonofit.programs._descent_valleys import loosen, next_target, slide
from zonofit.programs._descent_walls import join, release, rest, settle
from zonofit.programs._frame_kernel import DEPENDENT, FREE, KERNEL, frame_start, length_of, sum_of, weighted

LOCAL, TARGET, STEPS, STALLED, EXACT = 0, 1, 2, 3, 4

_EPS = 2.220446049250313e-16
LOOSE, FIRM = 1e-4, 1e-18  # a piece counts as minimised when the next step promises this part of the value
LARGE, SMALL = 1e-3, 1e-7  # violations worth a release then, in units of |v||(size ν)|
GREED = 0.3  # walls of other units with at least this part of the largest violation are released together
GAIN = 1e-3  # with fewer parameters than examples, walls join only once a step gains less than this part
STILL = 3  # steps without gain after which a piece has no more to give
STEADY = 1e-14  # a step that lowers the value by a smaller part gained nothing
FELL = 1e-9  # and releases that lower it by a smaller part are counted, lest they cycle
_FELT = 1e-6  # a wall whose crossing changes the value by less, in the same units, is crossed freely
REFRESH = 40  # steps after which preactivations are computed again
TRIFLE = 1e-13  # a unit that contributes less than this part of the labels is at w = 0
_DEAR = 25  # this part of all bits flipped, one by one, takes as long as forming the normal matrix anew
CLEAN = 0.03  # error in a direction, relative to it, above which the system is regularised more


@njit(**KERNEL)
def descend_squared(X, y, h, v, W, c0, alpha, bias, limit, enough, targets):
    """The whole descent for ``½ Σ h_i (u_i - y_i)² + ½ alpha ‖W‖²``; W is written.

    Returns status, value, c, activity (m, N), kind of each example to each unit, ν, and counts: steps, flips, releases,
    factorisations, joins, slides.
    """
    m, r = W.shape
    N = y.size
    q = m * r + 1
    count = np.zeros(6, np.int64)
    c = np.array([c0])
    XT = np.empty((r, N))
    size = np.zeros(N)
    for b in range(r):
        for i in range(N):
            XT[b, i] = X[i, b]
            size[i] += X[i, b] * X[i, b]
    for i in range(N):
        size[i] = np.sqrt(size[i])
    XX = products(XT, q > N)
    G = np.empty((N, N)) if q > N else np.empty((0, 0))
    H, T, was = np.empty((q, q)), np.empty((min(q, N + 1), min(q, N + 1))), np.full((m, N), -1.0)
    P = np.empty((4, max(N, q)))
    B, L = np.empty((m, r, r)), np.empty((m, r, r))
    K, nk, ndep = np.zeros((m, r), np.int64), np.zeros(m, np.int64), np.zeros(m, np.int64)
    on, act, bits, tally = (
        np.empty((m, N), np.int8),
        np.empty((m, N)),
        np.empty((m, N), np.uint8),
        np.empty(N, np.uint8),
    )
    Z, Q, when = np.empty((m, N)), np.empty((m, N)), np.empty((m, N))
    raw, keys = np.empty(m * N), np.empty(m * N)
    drawn, names, heads = np.empty(m * N, np.int32), np.empty(m * N, np.int32), np.empty(m * N + 2, np.int32)
    e, rate, nu, mu, one, line = np.empty(N), np.empty(N), np.empty(N), np.empty(N), np.empty(N), np.empty(N)
    D, g = np.zeros((m, r)), np.empty((m, r))
    half, x = np.empty(q), np.empty(q)
    scratch = np.empty((4, r + 1))  # reflections end with their coefficient
    short = np.empty(max(r, m), np.int64)
    plain = unit_signs(v)
    for j in range(m):
        frame_start(B[j])
    value, floor, scale = state(XT, y, h, v, W, c, alpha, on, act, Z, e, nk, ndep, mu, True)
    window, idle, still, slides, tries, target, last, lowest = 1.0, 0, 0, 0, 0, -1, np.inf, np.inf
    crossed = -1  # a wall that is met again at once, from behind, joins
    tried = np.zeros((m, N), np.bool_)
    changed, tight, wide, since, level, rho = True, False, False, 0, RHO, 0.0
    status = STEPS
    while True:
        if value <= 1e-18 * scale or value <= enough:
            if since > 0:
                value, floor, scale = state(XT, y, h, v, W, c, alpha, on, act, Z, e, nk, ndep, mu, False)
                since = 0
            if value <= 16.0 * floor:
                status = EXACT
                break
            if value <= enough:
                status = TARGET
                break
        if count[0] >= limit:
            break
        free = 1
        for j in range(m):
            free += r - nk[j]
        wide = free > N
        while True:
            rho, dc, slope, curve, error = propose(
                X, XT, XX, size, v, plain, act, bits, B, nk, on, bias, h, alpha, level, e, W, wide, changed, rho,
                G, H, T, P, was, D, Q, rate, g, mu, one, nu, line, half, x, short, tally,
            )  # fmt: skip
            count[3] += changed
            changed = False
            if error <= CLEAN or level > 1e-7 or not wide:
                break
            level *= 100.0  # rank of the predictions below N: what no step can reach drowns what it can
            changed = True
        if value < last * (1.0 - FELL):
            idle = 0
        tight = tight or (idle > 0 and not -slope > FIRM * value)  # a release that gained nothing came too early
        tight = tight or still >= STILL
        if still >= STILL or not -slope > (FIRM if tight or idle > 0 else LOOSE) * value:
            if since > 0:
                value, floor, scale = state(XT, y, h, v, W, c, alpha, on, act, Z, e, nk, ndep, mu, False)
                since = 0
            rest(size, v, W, act, Z, nk, on, ndep, TRIFLE * np.sqrt(scale))
            for i in range(N):
                nu[i] = h[i] * e[i]
            got = release(
                X, XT, size, h, v, W, alpha, e, nu, act, Z, B, L, K, nk, on, ndep, g, scratch, line,
                GREED if idle == 0 else 1.0, SMALL if tight else LARGE,
            )  # fmt: skip
            if got > 0:
                count[2] += got
                idle, still, last = idle + 1, 0, value
                changed, tight = True, False
                if idle > 2 * r + 20:
                    status = STALLED
                    break
                continue
            if not tight:
                tight = True
                continue
            status = LOCAL
            if alpha > 0.0 or targets == 0:
                break
            bar = 0.0
            for i in range(N):
                bar += (size[i] * nu[i]) ** 2
            bar = _FELT * np.sqrt(bar)
            if value < lowest * (1.0 - FELL):
                lowest, slides, tries, target = value, 0, 0, -1
                tried[:] = False
            if target < 0 or slides > q:
                target = next_target(v, size, nu, Z, W, nk, on, bar, tried)
                if target < 0 or tries >= targets:
                    break
                tried[target // N, target % N] = True
                tries += 1
                slides = 0
                if loosen(XT, size, v, W, nu, act, B, L, K, nk, on, ndep, g, line, scratch, bar) > 0:
                    changed = True
                    continue
            name = slide(
                target, XT, size, h, v, W, c, bias, e, act, Z, nk, on, B, wide, G, H, T, P, D, Q, rate, when,
                g, mu, one, line, half, x,
            )  # fmt: skip
            if name < 0:
                target = -1
                continue
            still = 0
            slides += 1
            count[5] += 1
            since += 1
            changed = True
            j, i = name // N, name % N
            worth = -v[j] * nu[i] * size[i]
            if worth > bar or (worth > -bar and name != crossed):  # the value falls behind this wall, or stays
                act[j, i] = 1.0 - act[j, i]
                Z[j, i] = 0.0
                crossed = name
                if worth > bar:
                    tight, target = False, -1
            else:
                join(j, i, X, XT, size, W, act, Z, B, L, K, nk, on, ndep, scratch)
            continue
        before = value
        breakpoints(Z, act, Q, when)
        step, name, flips = search(slope, curve, window, v, h, Q, act, when, e, rate, raw, drawn, keys, names, heads)
        window = min(1.5 * step + 1e-3, 1.0)
        value = advance(step, dc, D, Q, h, alpha, W, c, Z, e)
        count[0] += 1
        count[1] += flips
        since += 1
        changed = flips > 0
        if value < 0.25 * before:
            level = RHO
        tight = tight and flips == 0 and name < 0
        still += 1
        if value < before * (1.0 - STEADY):
            still = 0
        if name >= 0:
            if wide or step == 0.0 or before - value < GAIN * before:
                count[4] += 1
                changed, still = True, 0
                join(name // N, name % N, X, XT, size, W, act, Z, B, L, K, nk, on, ndep, scratch)
        elif flips == 0 and not value < 0.25 * before:
            tight = True  # a whole step gained little: this piece has no more to give
        if since >= REFRESH:
            value, floor, scale = state(XT, y, h, v, W, c, alpha, on, act, Z, e, nk, ndep, mu, False)
            since = 0
    value, floor, scale = state(XT, y, h, v, W, c, alpha, on, act, Z, e, nk, ndep, mu, False)
    settle(size, W, act, Z, on)
    for i in range(N):
        nu[i] = h[i] * e[i]
    return status, value, c[0], act, on, nu, count


@njit(**KERNEL)
def unit_signs(v):
    """Whether all output weights are 1 or -1, and few enough to be counted in a byte."""
    plain = v.size < 256
    for j in range(v.size):
        plain = plain and abs(v[j]) == 1.0
    return plain


@njit(**KERNEL)
def propose(
    X, XT, XX, size, v, plain, act, bits, B, nk, on, bias, h, alpha, level, e, W, wide, changed, rho,
    G, H, T, P, was, D, Q, rate, g, mu, one, nu, line, half, x, short, tally,
):  # fmt: skip
    """Newton direction into D, Q and rate; rho in the factor, rate of c, slope and curvature at 0, relative error."""
    m, N = act.shape
    r = XT.shape[0]
    dc, error = 0.0, 0.0
    if wide:
        if changed:
            rho = gram(XT, XX, v, plain, act, bits, B, nk, bias, h, alpha, level, G, mu, short, tally)
            cholesky(G, N, P)
        if alpha > 0.0:
            for i in range(N):
                one[i] = 0.0
            rates(XT, size, W, 0.0, v, act, on, Q, one)
        dc = gram_direction(XT, v, act, B, nk, bias, alpha, rho, W, e, G, mu, one, line, D)
    else:
        renew_normal(X, XT, v, act, h, H, was, mu)
        for i in range(N):
            nu[i] = h[i] * e[i]
        gc = sum_of(nu)
        gradient(XT, v, act, nu, alpha, W, g, line)
        dc = normal_direction(v, B, nk, bias, alpha, RHO_NARROW, H, g, gc, T, P, half, x, D)
    rates(XT, size, D, dc, v, act, on, Q, rate)
    slope, curve = weighted(h, e, rate), weighted(h, rate, rate)
    if wide and alpha == 0.0:  # e + rate = rho mu / h, but for rounding
        for i in range(N):
            error += h[i] * (e[i] + rate[i] - rho * mu[i] / h[i]) ** 2
        error = np.sqrt(error / curve) if error > 0.0 else 0.0
    if alpha > 0.0:
        for j in range(m):
            for b in range(r):
                slope += alpha * W[j, b] * D[j, b]
                curve += alpha * D[j, b] * D[j, b]
    return rho, dc, slope, curve, error


@njit(**KERNEL)
def advance(step, dc, D, Q, h, alpha, W, c, Z, e):
    """Take the step; the value after it, from the residual that the search left."""
    m, N = Z.shape
    value = 0.5 * weighted(h, e, e)
    for j in range(m):
        for b in range(W.shape[1]):
            W[j, b] += step * D[j, b]
        for i in range(N):
            Z[j, i] += step * Q[j, i]
        value += 0.5 * alpha * length_of(W[j]) ** 2
    c[0] += step * dc
    return value


@njit(**KERNEL)
def state(XT, y, h, v, W, c, alpha, on, act, Z, e, nk, ndep, noise, fresh):
    """Compute preactivations and residual again; value, how much of it is rounding, and value of no prediction."""
    m, N = Z.shape
    r = XT.shape[0]
    for i in range(N):
        e[i] = c[0] - y[i]
        noise[i] = abs(c[0]) + abs(y[i])
    value, floor = 0.0, 0.0
    for j in range(m):
        square = 0.0
        for b in range(r):
            square += W[j, b] * W[j, b]
        value += 0.5 * alpha * square
        for i in range(N):
            Z[j, i] = 0.0
        for b in range(r):
            s = W[j, b]
            for i in range(N):
                Z[j, i] += s * XT[b, i]
        if fresh:
            ndep[j] = 0
            for i in range(N):
                act[j, i] = 1.0 if Z[j, i] > 0.0 else 0.0
                on[j, i] = FREE
            if square == 0.0:
                nk[j] = r
                ndep[j] = N
                for i in range(N):
                    on[j, i] = DEPENDENT
        s = v[j]
        for i in range(N):
            z = Z[j, i]
            z = max(z, 0.0) if act[j, i] != 0.0 else min(z, 0.0)
            z = 0.0 if on[j, i] != FREE else z
            Z[j, i] = z
            z = s * act[j, i] * z
            e[i] += z
            noise[i] += abs(z)
    for i in range(N):
        floor += 0.5 * h[i] * (_EPS * noise[i]) ** 2
    return value + 0.5 * weighted(h, e, e), floor, 0.5 * weighted(h, y, y)


@njit(**KERNEL)
def renew_normal(X, XT, v, act, h, H, was, line):
    """Bring the normal matrix up to date with the patterns, example by example where few changed."""
    m, N = act.shape
    changes = 0
    for j in range(m):
        for i in range(N):
            changes += was[j, i] != act[j, i]
    if was[0, 0] < 0.0 or changes * _DEAR > N * m:  # was = -1: there is none yet
        normal(XT, v, act, h, H, line)
        was[:] = act
        return
    if changes == 0:
        return
    for j in range(m):
        for i in range(N):
            if was[j, i] != act[j, i]:
                if act[j, i] != 0.0:
                    was[j, i] = 1.0
                    flip_normal(X, v, was, h, j, i, 1.0, H)
                else:
                    flip_normal(X, v, was, h, j, i, -1.0, H)
                    was[j, i] = 0.0
