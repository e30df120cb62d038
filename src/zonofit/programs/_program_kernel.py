"""The quadratic program of one vertex, walls closed: kernels of `zonofit.programs.vertex`.

minimise ``½ Σ h_i (u_i - t_i)² + ½ ridge ‖W‖²``, ``u = Σ_j v_j a_j ⊙ (X w_j) + c``, subject to ``s_ji x_i·w_j >= 0``.

An active-set method that only ever holds the directions in which something moves. Units start where they are given, mostly
at w = 0, which every cone contains. At a stationary point each unit's gradient is projected onto the directions that its
tight walls allow (`descent_cone`, exact also where more walls meet than dimensions, as at w = 0); the units with the
longest projections get their free directions back, as many as are independent of those in use, so that there are
never more than N + 1. Then Newton steps, each up to the first wall, which joins.

It cannot cycle: a wall that blocks a step of length zero right after a release is answered by a step along the
projected gradients themselves, which no tight wall blocks. So the value falls strictly from one stationary point to the
next, and each belongs to one of finitely many faces.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from zonofit.programs._factor_kernel import (
    append_column,
    remove_direction,
    remove_unit,
    solve_transposed,
    solve_upper,
)
from zonofit.programs._frame_kernel import (
    DEPENDENT,
    FREE,
    CORE,
    KERNEL,
    WALL,
    apply,
    descent_cone,
    frame_add,
    frame_align,
    frame_remove,
    frame_start,
    multipliers,
)
from zonofit.programs._witness_kernel import project_unit

OPTIMAL, STEPS, STALLED, EXACT = 0, 1, 2, 3

_SETTLED = 1e-20  # a Newton step that promises less than this part of the value is none
_EPS = 2.220446049250313e-16
_TIGHT = 1e-11  # a wall is tight when x·w is at most this, in units of |x||w|
_SLIDE = 1e-11  # a rate below this, in units of |x||d|, does not lead through a wall
_TRIFLE = 1e-14  # a unit that contributes less than this part of the labels is at 0
_OUTSIDE = 1e-10  # a unit this far outside, in units of |x||w|, is brought back
_NULL = 1e-12  # a column this much shorter than a unit's can be is zero
_NOISE = 16.0  # a gradient counts as zero below this multiple of the rounding in it
_GREED = 0.3  # units whose projected gradient is at least this part of the longest are released together
_REFRESH = 50  # steps after which what is kept up to date is computed again


@njit(**KERNEL)
def solve_quadratic(X, XT, size, A, v, h, t, ridge, bias_free, W, c, K, nk, lam, nu, scale, limit, count):
    """Solve the program from the feasible W; W, c, K, nk, lam and nu are read and written. Returns the status.

    ``K[j, :nk[j]]`` are walls on which unit j sits, ``lam`` their multipliers λ >= 0, ``nu = h (u - t)``. ``count`` gets
    the numbers of Newton steps, walls met and releases. Values are compared with `scale` where that is less than the value.
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
    mu = np.empty(r)

    status = _solve(X, XT, size, A, v, h, t, ridge, bias_free, W, c, K, nk, lam, nu, scale, limit, count, most, B, L, on, nf, Z, Q, side, D, S, g, score, long, noise, R, PT, slot, own, x, other, delta, rest, rate, scratch, line, mu)
    return _tidy(status, X, XT, size, A, v, h, t, W, c, Z)


@njit(**CORE)
def _solve(
    X, XT, size, A, v, h, t, ridge, bias_free, W, c, K, nk, lam, nu, scale, limit, count, most, B, L, on, nf, Z, Q, side, D, S, g, score, long, noise, R, PT, slot, own, x, other, delta, rest, rate, scratch, line, mu
):
    m, N = A.shape
    r = X.shape[1]
    p = 0
    if bias_free:
        PT[0] = 1.0
        if append_column(-1, 0, 0.0, ridge, h, PT, R, slot, own, x, rest, other):
            p = 1
    for j in range(m):
        _begin(X, XT, size, W[j], K[j], nk, j, on[j], B[j], L[j], Z[j], scratch)
    for j in range(m):
        if _length(W[j]) > 0.0:
            p = _free(j, p, ridge, XT, size, A, v, h, nk, nf, B, PT, R, slot, own, x, rest, other)
    value, floor = _state(XT, A, v, h, t, ridge, W, c, on, Z, nu, noise)
    last, since, just_released, status = np.inf, 0, False, STEPS
    slipped, careful = False, False
    trifle = 0.0
    for i in range(N):
        trifle += 1e-26 * h[i] * t[i] * t[i]
    while count[0] < limit:
        decrement = _newton(p, ridge, W, nu, nk, own, B, PT, R, slot, x, delta)
        if decrement <= _SETTLED * min(value, scale) + floor:
            if since > 0:
                value, floor = _state(XT, A, v, h, t, ridge, W, c, on, Z, nu, noise)
                since = 0
                if decrement > 1e-4 * _SETTLED * min(value, scale) + floor:
                    continue
            if ridge == 0.0 and value <= 16.0 * floor and floor <= trifle:
                lam[:] = 0.0
                return EXACT
            if just_released or not value < last:
                if not careful:
                    status = STALLED
                    break
                careful = False
            else:
                careful = slipped
            slipped = False
            last = min(value, last)
            best = _price(X, XT, size, A, v, nu, noise, ridge, W, Z, B, L, K, nk, nf, on, S, g, mu, lam, score, long, scratch, line)
            if best == 0.0:
                return OPTIMAL
            count[2] += 1
            if careful:
                p, careful = _release_one(
                    p, ridge, XT, size, A, v, h, B, L, K, nk, nf, on, lam, long, PT, R, slot, own, x, rest, other
                )
            done = careful
            while not done and best > 0.0:
                longest, best = best, 0.0
                for j in range(m):
                    if score[j] < _GREED * longest or score[j] == 0.0:
                        best = max(best, score[j])
                        continue
                    p = remove_unit(j, p, R, slot, own)
                    nf[j] = 0
                    if long[j] > 0.0:  # those at w = 0 have their projection from the pricing
                        bound = _gradient(j, XT, size, A, v, nu, noise, ridge, W, g, line)
                        nk[j], length = descent_cone(
                            g, bound, _TIGHT * long[j], X, XT, size,
                            A[j], Z[j], B[j], L[j], K[j], nk[j], on[j], mu, lam[j], S[j], scratch, line,
                        )  # fmt: skip
                        if length <= bound:
                            score[j] = 0.0  # other walls hold it
                    if score[j] > 0.0:
                        done = True
                        score[j] = -score[j]
                        frame_align(S[j], B[j], nk[j], scratch[1])
                    p = _free(j, p, ridge, XT, size, A, v, h, nk, nf, B, PT, R, slot, own, x, rest, other)
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
        step = _least(h, nu, ridge, W, D, rate)
        if step == 0.0:
            status = STALLED
            break
        step, unit, wall = _blocked(step, XT, size, side, D, K, nk, nf, on, Z, Q)
        if just_released and step < 1e-9 and not careful:
            slipped = True
            # degenerate: along the projected gradients, which nothing tight forbids
            _steepest(score, XT, A, v, S, D, nf, Q, rate)
            dc, step = 0.0, _least(h, nu, ridge, W, D, rate)
            step, unit, wall = _blocked(step, XT, size, side, D, K, nk, nf, on, Z, Q)
        just_released = False
        count[0] += 1
        since += 1
        value -= _move(step, dc, D, Q, rate, h, ridge, nf, W, c, Z, nu)
        if wall >= 0:
            count[1] += 1
            p = _meet(unit, wall, p, ridge, X, XT, size, A, v, h, W, K, nk, nf, on, B, L, Z, PT, R, slot, own, x, rest, other, scratch)
        if since >= _REFRESH:
            value, floor = _state(XT, A, v, h, t, ridge, W, c, on, Z, nu, noise)
            since = 0
    _state(XT, A, v, h, t, ridge, W, c, on, Z, nu, noise)
    for j in range(m):  # multipliers that fit where the search ended: the nearest ones that are not negative
        bound = _gradient(j, XT, size, A, v, nu, noise, ridge, W, g, line)
        length = _length(W[j])
        tight = _TIGHT * length if length > 0.0 else np.inf
        nk[j], _ = descent_cone(
            g, bound, tight, X, XT, size, A[j], Z[j], B[j], L[j], K[j], nk[j], on[j], mu, lam[j], S[j], scratch, line
        )
    return status


@njit(**KERNEL)
def _tidy(status, X, XT, size, A, v, h, t, W, c, Z):
    """Set units to 0 that are there but for rounding, and bring back those that rounding took outside; the status."""
    largest = abs(c[0])
    for i in range(t.size):
        if h[i] > 0.0:
            largest = max(largest, abs(t[i]))
    longest = size.max()
    for j in range(v.size):
        length = _length(W[j])
        if abs(v[j]) * length * longest <= _TRIFLE * largest:
            W[j] = 0.0
            continue
        worst = 0.0
        for i in range(t.size):
            worst = min(worst, (Z[j, i] if A[j, i] else -Z[j, i]) / size[i])
        if worst < -_OUTSIDE * length:
            project_unit(X, XT, size, A[j], W[j], np.empty(XT.shape[0], np.int64))
    return status


@njit(**CORE)
def _length(w):
    s = 0.0
    for b in range(w.size):
        s += w[b] * w[b]
    return np.sqrt(s)


@njit(**CORE)
def _begin(X, XT, size, w, K, nk, j, on, B, L, z, scratch):
    """Preactivations of a unit, and its frame from those of the given walls that are tight."""
    N, r = X.shape
    apply(XT, w, z)
    tight = _TIGHT * _length(w)
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
        w[:] = 0.0
        z[:] = 0.0


@njit(**CORE)
def _free(j, p, ridge, XT, size, A, v, h, nk, nf, B, PT, R, slot, own, x, rest, other):
    """Let the free directions of unit j enter as far as they are independent; the number of columns."""
    r, N = XT.shape
    longest = ridge
    for i in range(N):
        if A[j, i]:
            longest += h[i] * (v[j] * size[i]) ** 2
    at, end = nk[j], r
    while at < end and p < R.shape[0]:
        row = PT[slot[p]]
        apply(XT, B[j, at], row)
        for i in range(N):
            row[i] = v[j] * row[i] if A[j, i] else 0.0
        if append_column(j, p, _NULL * np.sqrt(longest), ridge, h, PT, R, slot, own, x, rest, other):
            p += 1
            at += 1
        else:
            end -= 1
            for b in range(r):
                B[j, at, b], B[j, end, b] = B[j, end, b], B[j, at, b]
    nf[j] = at - nk[j]
    return p


@njit(**CORE)
def _state(XT, A, v, h, t, ridge, W, c, on, Z, nu, noise):
    """Compute Z and nu again from the weights; the value, and how much of it is rounding."""
    m, N = Z.shape
    r = XT.shape[0]
    for i in range(N):
        nu[i] = c[0]
        noise[i] = abs(c[0]) + abs(t[i])
    squares = 0.0
    for j in range(m):
        apply(XT, W[j], Z[j])
        for i in range(N):
            if on[j, i] == WALL:
                Z[j, i] = 0.0
            elif A[j, i]:
                nu[i] += v[j] * Z[j, i]
                noise[i] += abs(v[j] * Z[j, i])
        for b in range(r):
            squares += W[j, b] ** 2
    value, floor = 0.5 * ridge * squares, 0.0
    for i in range(N):
        e = nu[i] - t[i]
        nu[i] = h[i] * e
        value += 0.5 * h[i] * e * e
        floor += h[i] * (_EPS * noise[i]) ** 2
        noise[i] = _EPS * h[i] * (noise[i] + abs(e))
    return value, floor


@njit(**CORE)
def _newton(p, ridge, W, nu, nk, own, B, PT, R, slot, x, delta):
    """The Newton step in the columns, into delta; twice the decrease that it promises."""
    N = nu.size
    r = W.shape[1]
    before, a = -2, 0
    for k in range(p):
        q, s = slot[k], 0.0
        for i in range(N):
            s += PT[q, i] * nu[i]
        j = own[k]
        a = a + 1 if j == before else 0
        before = j
        if ridge > 0.0 and j >= 0:
            for b in range(r):
                s += ridge * W[j, b] * B[j, nk[j] + a, b]
        x[k] = s
    solve_transposed(R, p, x)
    decrement = 0.0
    for k in range(p):
        decrement += x[k] * x[k]
        delta[k] = -x[k]
    solve_upper(R, p, delta)
    return decrement


@njit(**CORE)
def _gradient(j, XT, size, A, v, nu, noise, ridge, W, g, line):
    """Gradient of the value in w_j, into g; the length below which it is only rounding."""
    r, N = XT.shape
    blur = 0.0
    for i in range(N):
        line[i] = nu[i] if A[j, i] else 0.0
        blur += (size[i] * noise[i]) ** 2 if A[j, i] else 0.0
    for b in range(r):
        s = 0.0
        for i in range(N):
            s += line[i] * XT[b, i]
        g[b] = s
    for b in range(r):
        g[b] = v[j] * g[b] + ridge * W[j, b]
    return _NOISE * (abs(v[j]) * np.sqrt(blur) + _EPS * ridge * _length(W[j]))


@njit(**CORE)
def _price(X, XT, size, A, v, nu, noise, ridge, W, Z, B, L, K, nk, nf, on, S, g, mu, lam, score, long, scratch, line):
    """Multipliers of all units; scores how far each is from holding still, 0 where it does. The largest score."""
    best = 0.0
    for j in range(A.shape[0]):
        score[j] = 0.0
        long[j] = _length(W[j])
        bound = _gradient(j, XT, size, A, v, nu, noise, ridge, W, g, line)
        length = multipliers(g, B[j], L[j], nk[j], mu, scratch[0])
        for a in range(nk[j]):
            lam[j, a] = mu[a] if A[j, K[j, a]] else -mu[a]
            if lam[j, a] < 0.0:
                length -= lam[j, a] * size[K[j, a]]
        if length > bound and long[j] == 0.0:
            nk[j], length = descent_cone(
                g, bound, np.inf, X, XT, size, A[j], Z[j], B[j], L[j], K[j], nk[j], on[j], mu, lam[j], S[j], scratch, line
            )
        if length > bound:
            score[j] = length
            best = max(best, length)
    return best


@njit(**CORE)
def _release_one(p, ridge, XT, size, A, v, h, B, L, K, nk, nf, on, lam, long, PT, R, slot, own, x, rest, other):
    """Release the one wall with the most negative multiplier, of a unit that is not at 0; the columns, and if it was.

    Then the Newton step leads off that wall. Where projected gradients, which know no curvature, zigzag between walls that
    nearly meet, this does not.
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
    return _free(unit, p, ridge, XT, size, A, v, h, nk, nf, B, PT, R, slot, own, x, rest, other), True


@njit(**CORE)
def _blocked(step, XT, size, side, D, K, nk, nf, on, Z, Q):
    """Preactivation rates Q of the units that move; how far they get, and the unit and wall that stop them (or -1)."""
    N = XT.shape[1]
    unit, wall = -1, -1
    for j in range(nf.size):
        if nf[j] == 0:
            continue
        slide = _SLIDE * _length(D[j])
        if slide == 0.0:
            Q[j] = 0.0
            continue
        q, z, s = Q[j], Z[j], side[j]
        apply(XT, D[j], q)
        meets = 0
        for i in range(N):
            meets += (s[i] * (z[i] + step * q[i]) < 0.0) & (s[i] * q[i] < -slide * size[i])
        for k in range(nk[j]):
            q[K[j, k]] = 0.0
        if meets > 0:
            for i in range(N):
                y = s[i] * q[i]
                if y < -slide * size[i] and s[i] * z[i] < -y * step and on[j, i] == FREE:
                    step, unit, wall = max(s[i] * z[i], 0.0) / -y, j, i
    return step, unit, wall


@njit(**CORE)
def _steepest(score, XT, A, v, S, D, nf, Q, rate):
    """Make the projected gradients of the released units the direction."""
    rate[:] = 0.0
    for j in range(nf.size):
        D[j] = 0.0
        if nf[j] == 0 or score[j] >= 0.0:
            continue
        for b in range(D.shape[1]):
            D[j, b] = S[j, b]
        apply(XT, D[j], Q[j])
        for i in range(rate.size):
            if A[j, i]:
                rate[i] += v[j] * Q[j, i]


@njit(**CORE)
def _least(h, nu, ridge, W, D, rate):
    """The step to the least value along the direction: 1 for a Newton step but for rounding, 0 if it leads upwards."""
    slope, curve = 0.0, 0.0
    for i in range(rate.size):
        slope += nu[i] * rate[i]
        curve += h[i] * rate[i] ** 2
    if ridge > 0.0:
        for j in range(W.shape[0]):
            for b in range(W.shape[1]):
                slope += ridge * W[j, b] * D[j, b]
                curve += ridge * D[j, b] ** 2
    return -slope / curve if slope < 0.0 and curve > 0.0 else 0.0


@njit(**CORE)
def _move(step, dc, D, Q, rate, h, ridge, nf, W, c, Z, nu):
    """Take the step; the decrease."""
    m, N = Z.shape
    r = W.shape[1]
    gain = 0.0
    for j in range(m):
        if nf[j] == 0:
            continue
        for b in range(r):
            gain -= ridge * step * D[j, b] * (W[j, b] + 0.5 * step * D[j, b])
            W[j, b] += step * D[j, b]
        for i in range(N):
            Z[j, i] += step * Q[j, i]
    c[0] += step * dc
    for i in range(N):
        y = step * rate[i]
        gain -= y * (nu[i] + 0.5 * h[i] * y)
        nu[i] += h[i] * y
    return gain


@njit(**CORE)
def _meet(j, i, p, ridge, X, XT, size, A, v, h, W, K, nk, nf, on, B, L, Z, PT, R, slot, own, x, rest, other, scratch):
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
    else:
        p = remove_unit(j, p, R, slot, own)
        if k + 1 < r:
            p = _free(j, p, ridge, XT, size, A, v, h, nk, nf, B, PT, R, slot, own, x, rest, other)
        else:
            nf[j] = 0
    if nk[j] == r:
        W[j] = 0.0
        Z[j] = 0.0
    return p
