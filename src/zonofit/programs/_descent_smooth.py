"""Facet descent for smooth losses that are no squares; `zonofit.programs.descent` says what it computes.

Each step expands the loss to second order, so that the kernels of the squared loss give the direction and the walls,
and searches on the loss itself. The loop is compiled for the losses that have kernels; for a user's own the same loop
runs in Python and calls the same kernels.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from zonofit.programs._descent_kernel import (
    CLEAN,
    EXACT,
    FELL,
    FIRM,
    GAIN,
    GREED,
    LARGE,
    LOCAL,
    LOOSE,
    REFRESH,
    STALLED,
    STEADY,
    STEPS,
    STILL,
    TARGET,
    TRIFLE,
    advance,
    propose,
    state,
    unit_signs,
)
from zonofit.programs._descent_line import arrive, seek
from zonofit.programs._descent_losses import compiled, measure
from zonofit.programs._descent_search import breakpoints
from zonofit.programs._descent_step import RHO, gradient, products
from zonofit.programs._descent_walls import join, release, rest, settle, touch
from zonofit.programs._frame_kernel import CORE, KERNEL, frame_start
from zonofit.programs.losses import Loss

REACH = 10.0  # curvatures are raised until no example wants to move by more, in units of the labels, at the start
_FARTHEST = 1e8  # and at most, after steps that were short of the minimum
_LONG, _SHORT, _FARTHER = 0.5, 0.1, 4.0  # Newton steps that change the reach, and by how much
_FLAT = 1e-12  # curvatures are raised to this part of the largest
_LEVEL = 1e-7  # most regularisation against examples that no step can reach, as in the squared kernel
_TINY = 1e-18  # values below this, for labels of size 1, may be all rounding
_ROUNDED = 16.0  # a value at most this many times what rounding in the predictions can make is 0
VANISHED = 1e-16  # a loss with no minimiser that is below this, for labels of size 1, adds nothing to them
_STEEP = 1e-6  # a slope below this, in units of |v||(size ν)|, is none
_EVEN, _SLOW = 2e-7, 1e-10  # gains below the second, of the value, count as none once slopes are below the first
_HALVINGS = 60  # of a unit that leaves w = 0, until the loss itself approves


def descend_smooth(X, y, p, v, W, c0, loss: Loss, alpha, bias, limit, target):
    """Descend; W is written. Returns status, c, activity, kinds, ν and counts as `descend_squared` does."""
    pair = compiled(loss)
    zero = 0.0 if loss.translates else VANISHED
    if pair is None:
        return walk(loss, X, y, p, v, W, c0, alpha, bias, limit, float(target), zero)
    return walk_compiled(pair, X, y, p, v, W, c0, alpha, bias, limit, float(target), zero)


def walk(loss, X, y, p, v, W, c0, alpha, bias, limit, enough, zero):
    """The whole descent; ``loss`` is a pair of `compiled` when this is compiled, and a `Loss` otherwise."""
    m, r = W.shape
    N = y.size
    q = m * r + 1
    side = min(q, N + 1)
    count = np.zeros(6, np.int64)
    c = np.array([c0])
    XT = np.ascontiguousarray(X.T)
    size, none = np.empty(N), np.zeros(N)
    XX = products(XT, q > N)
    G = np.empty((N, N)) if q > N else np.empty((0, 0))
    H, T, was = np.empty((q, q)), np.empty((side, side)), np.empty((m, N))
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
    u, rate, nu, h, e, ahead = np.empty(N), np.empty(N), np.empty(N), np.ones(N), np.empty(N), np.empty(N)
    mu, one, line = np.empty(N), np.empty(N), np.empty(N)
    D, g = np.zeros((m, r)), np.empty((m, r))
    half, x = np.empty(q), np.empty(q)
    scratch = np.empty((4, r + 1))
    short = np.empty(max(r, m), np.int64)
    plain = unit_signs(v)
    begin(X, size, B)
    _, floor, _ = state(XT, none, h, v, W, c, alpha, on, act, Z, u, nk, ndep, mu, True)
    value = measure(loss, u, y, p, nu, h) + 0.5 * alpha * inner(W, W)
    window, reach, idle, still, last = 1.0, REACH, 0, 0, np.inf
    tight, since, level = False, 0, RHO
    status = STEPS
    while True:
        if value <= max(enough, zero, _TINY):
            _, floor, _ = state(XT, none, h, v, W, c, alpha, on, act, Z, u, nk, ndep, mu, False)
            value = measure(loss, u, y, p, nu, h) + 0.5 * alpha * inner(W, W)
            since = 0
            if value <= max(_ROUNDED * floor, zero):
                status = EXACT
                break
            if value <= enough:
                status = TARGET
                break
        if count[0] >= limit:
            break
        expand(p, nu, h, reach, e)
        wide = left_over(nk, r) > N
        was.fill(-1.0)
        rho = 0.0
        while True:
            rho, dc, slope, _, error = propose(
                X, XT, XX, size, v, plain, act, bits, B, nk, on, bias, h, alpha, level, e, W, wide, True, rho,
                G, H, T, P, was, D, Q, rate, g, mu, one, nu, line, half, x, short, tally,
            )  # fmt: skip
            count[3] += 1
            if error <= CLEAN or level > _LEVEL or not wide:
                break
            level *= 100.0
        if value < last * (1.0 - FELL):
            idle = 0
        tight = tight or still >= STILL or (idle > 0 and not -slope > FIRM * value)
        if still >= STILL or not -slope > (FIRM if tight or idle > 0 else LOOSE) * value:
            rest(size, v, W, act, Z, nk, on, ndep, TRIFLE)
            state(XT, none, h, v, W, c, alpha, on, act, Z, u, nk, ndep, mu, False)
            value = measure(loss, u, y, p, nu, h) + 0.5 * alpha * inner(W, W)
            expand(p, nu, h, reach, e)
            since = 0
            walls = nk.copy()
            got = release(
                X, XT, size, h, v, W, alpha, u, nu, act, Z, B, L, K, nk, on, ndep, g, scratch, line,
                GREED if idle == 0 else 1.0, _STEEP if tight else LARGE,
            )  # fmt: skip
            if got > 0:
                count[2] += got
                idle, still, last, tight = idle + 1, 0, value, False
                j = risen(walls, nk, r)
                if j >= 0:
                    for _ in range(_HALVINGS):
                        if measure(loss, u, y, p, nu, h) + 0.5 * alpha * inner(W, W) < last:
                            break
                        halve(j, v, W, act, Z, u)
                value = measure(loss, u, y, p, nu, h) + 0.5 * alpha * inner(W, W)
                if idle > 2 * r + 20:
                    status = STALLED
                    break
                continue
            if not tight:
                tight = True
                continue
            if touch(X, XT, size, W, act, Z, B, L, K, nk, on, ndep, scratch) > 0:
                still = 0
                continue
            status = LOCAL if steepness(size, v, nu, g, B, nk, bias) <= _STEEP else STALLED
            break
        before = value
        breakpoints(Z, act, Q, when)
        step, name, flips = seek(
            loss, y, p, v, act, Q, when, u, rate, slope, value, alpha * inner(W, D), alpha * inner(D, D), window,
            max(zero, enough), raw, drawn, keys, names, heads, e, ahead,
        )  # fmt: skip
        advance(step, dc, D, Q, h, alpha, W, c, Z, e)
        arrive(u, rate, step)
        value = measure(loss, u, y, p, nu, h) + 0.5 * alpha * inner(W, W)
        window = min(1.5 * step + 1e-3, 1.0)
        count[0] += 1
        count[1] += flips
        since += 1
        if step > _LONG:
            reach = min(_FARTHER * reach, _FARTHEST)
        elif step < _SHORT and name < 0:
            reach = max(reach / _FARTHER, REACH)
        if value < 0.25 * before:
            level = RHO
        tight = tight and flips == 0 and name < 0
        still += 1
        if value < before * (1.0 - _SLOW):
            still = 0
        elif value < before * (1.0 - STEADY):  # towards a minimum at infinity steps gain little for ever
            gradient(XT, v, act, nu, alpha, W, g, line)
            still = still if steepness(size, v, nu, g, B, nk, bias) <= _EVEN else 0
        if name >= 0 and (wide or step == 0.0 or before - value < GAIN * before):
            count[4] += 1
            still = 0
            join(name // N, name % N, X, XT, size, W, act, Z, B, L, K, nk, on, ndep, scratch)
        if since >= REFRESH:
            state(XT, none, h, v, W, c, alpha, on, act, Z, u, nk, ndep, mu, False)
            value = measure(loss, u, y, p, nu, h) + 0.5 * alpha * inner(W, W)
            since = 0
    state(XT, none, h, v, W, c, alpha, on, act, Z, u, nk, ndep, mu, False)
    settle(size, W, act, Z, on)
    measure(loss, u, y, p, nu, h)
    return status, c[0], act, on, nu, count


walk_compiled = njit(**KERNEL)(walk)


@njit(**CORE)
def begin(X, size, B):
    """Lengths of the examples, and frames without walls."""
    for i in range(size.size):
        s = 0.0
        for b in range(X.shape[1]):
            s += X[i, b] * X[i, b]
        size[i] = np.sqrt(s)
    for j in range(B.shape[0]):
        frame_start(B[j])


@njit(**CORE)
def inner(A, B):
    """Sum of the products of the entries."""
    s = 0.0
    for j in range(A.shape[0]):
        for b in range(A.shape[1]):
            s += A[j, b] * B[j, b]
    return s


@njit(**CORE)
def expand(p, nu, h, reach, e):
    """Raise curvatures h to where a Newton step is sensible, and the residual e = ν/h that squares would have."""
    top = 0.0
    for i in range(h.size):
        top = max(top, h[i] / p[i], abs(nu[i]) / (p[i] * reach))
    least = _FLAT * top if top > 0.0 else 1.0
    for i in range(h.size):
        h[i] = max(h[i], abs(nu[i]) / reach, p[i] * least)
        e[i] = nu[i] / h[i]


@njit(**CORE)
def left_over(nk, r):
    """Parameters that the walls leave."""
    free = 1
    for j in range(nk.size):
        free += r - nk[j]
    return free


@njit(**CORE)
def steepness(size, v, nu, g, B, nk, bias):
    """Largest slope along a direction that keeps the walls of one unit, in units of |v_j| |(size ν)|, or of c."""
    m, r = g.shape
    norm, total, length = 0.0, 0.0, 0.0
    for i in range(nu.size):
        norm += (size[i] * nu[i]) ** 2
        length += nu[i] * nu[i]
        total += nu[i]
    if norm == 0.0:
        return 0.0
    worst = bias * abs(total) / np.sqrt(length)
    for j in range(m):
        s = 0.0
        for b in range(nk[j], r):
            t = 0.0
            for a in range(r):
                t += B[j, b, a] * g[j, a]
            s += t * t
        worst = max(worst, np.sqrt(s / norm) / abs(v[j]) if v[j] != 0.0 else 0.0)
    return worst


@njit(**CORE)
def risen(before, after, r):
    """The unit that had r walls, which is w = 0, and has none now; -1 if there is none."""
    for j in range(before.size):
        if before[j] == r and after[j] == 0:
            return j
    return -1


@njit(**CORE)
def halve(j, v, W, act, Z, u):
    """Half of what unit j has."""
    for b in range(W.shape[1]):
        W[j, b] *= 0.5
    for i in range(u.size):
        Z[j, i] *= 0.5
        u[i] -= v[j] * act[j, i] * Z[j, i]
