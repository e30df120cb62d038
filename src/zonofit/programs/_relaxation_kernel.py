"""The quadratic program of a relaxation, by the dual method of Goldfarb and Idnani.

Unknowns are the reduced weights of all units, the output bias if it is free, and the excesses of one-sided examples.
The method starts at the minimum without constraints and adds the most violated one, so that its value only rises and
is a bound at any time; it needs no feasible start and does not mind that many walls meet at w = 0.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from zonofit.programs._frame_kernel import CORE

BOTH, ABOVE, BELOW, NEITHER = 2, 1, -1, 0  # what an example counts for: its loss, the loss of too much, of too little
SOLVED, CUT, STALLED = 0, 1, 2
_VIOLATED = 1e-10  # of a normalised constraint; weights and labels are of size 1
_DEPENDENT = 1e-11  # part of a constraint off the span of the active ones, squared, below which it is in it


@njit(**CORE)
def example_kind(signs, v, i):
    """Which part of the loss of an example is convex while the units with ``signs[j, i] == 0`` are not decided."""
    plus, minus = False, False
    for j in range(v.size):
        if signs[j, i] == 0 and v[j] > 0:
            plus = True
        if signs[j, i] == 0 and v[j] < 0:
            minus = True
    if plus:
        return NEITHER if minus else ABOVE
    return BELOW if minus else BOTH


@njit(**CORE)
def _row(X, signs, v, i, chosen, free, out):
    """Derivative of example i's prediction in the unknowns; of undecided units those in `chosen` are active."""
    m, r = v.size, X.shape[1]
    for j in range(m):
        on = signs[j, i] > 0 or (signs[j, i] == 0 and (chosen >> j) & 1 == 1)
        for b in range(r):
            out[j * r + b] = v[j] * X[i, b] if on else 0.0
    if free:
        out[m * r] = 1.0


@njit(**CORE)
def _factor(H, J, q):
    """Columns of J such that ``J Jᵀ`` is the inverse of H (q, q), whose lower triangle is overwritten."""
    for a in range(q):
        for b in range(a):
            s = H[a, b]
            for e in range(b):
                s -= H[a, e] * H[b, e]
            H[a, b] = s / H[b, b]
        s = H[a, a]
        for e in range(a):
            s -= H[a, e] * H[a, e]
        H[a, a] = np.sqrt(s)
    for k in range(q):  # row k of the inverse transposed, by back substitution of unit vectors
        for a in range(q):
            J[a, k] = 0.0
        J[k, k] = 1.0 / H[k, k]
        for a in range(k - 1, -1, -1):
            s = 0.0
            for e in range(a + 1, k + 1):
                s -= H[e, a] * J[e, k]
            J[a, k] = s / H[a, a]


@njit(**CORE)
def _add(R, J, d, n, active):
    """Rotate ``d = Jᵀ g`` until only its first entries, one more than there are active constraints, are not zero."""
    for k in range(n - 1, active, -1):
        x, y = d[k - 1], d[k]
        if y == 0.0:
            continue
        length = np.hypot(x, y)
        c, s = x / length, y / length
        d[k - 1], d[k] = length, 0.0
        for a in range(n):
            p, o = J[a, k - 1], J[a, k]
            J[a, k - 1] = c * p + s * o
            J[a, k] = c * o - s * p
    for a in range(active + 1):
        R[a, active] = d[a]


@njit(**CORE)
def _drop(R, J, n, active, at, kind, place, chosen, mu):
    for k in range(at, active - 1):
        kind[k], place[k], chosen[k], mu[k] = kind[k + 1], place[k + 1], chosen[k + 1], mu[k + 1]
        for a in range(k + 2):
            R[a, k] = R[a, k + 1]
    mu[active - 1] = mu[active]
    for k in range(at, active - 1):
        x, y = R[k, k], R[k + 1, k]
        length = np.hypot(x, y)
        if length == 0.0:
            continue
        c, s = x / length, y / length
        for b in range(k, active - 1):
            p, o = R[k, b], R[k + 1, b]
            R[k, b] = c * p + s * o
            R[k + 1, b] = c * o - s * p
        for a in range(n):
            p, o = J[a, k], J[a, k + 1]
            J[a, k] = c * p + s * o
            J[a, k + 1] = c * o - s * p


@njit(**CORE)
def _gradient(X, size, signs, v, side, slot, free, kind, place, chosen, n, g):
    """Constraint ``g·x >= ...`` : kind j < m is the wall of unit j, kind m the excess of a one-sided example."""
    m, r = v.size, X.shape[1]
    for a in range(n):
        g[a] = 0.0
    i = place
    if kind < m:
        for b in range(r):
            g[kind * r + b] = signs[kind, i] * X[i, b] / size[i]
    else:
        _row(X, signs, v, i, chosen, free, g)
        for a in range(m * r + free):
            g[a] *= -side[i]
        g[slot[i]] = 1.0


@njit(**CORE)
def solve_relaxation(X, size, signs, v, h, t, ridge, pull, centre, free, cutoff, x, nu, kappa, box, ids, count):
    """Minimise ``Σ h/2 (excess)² + ridge/2 |u|² + pull/2 |x - centre|²`` over the relaxed patterns.

    Leaves the unknowns in ``x``, ν and κ of the dual in ``nu`` (N,) and ``kappa`` (m, N); returns the status and the
    value, at least `cutoff` with the status `CUT`. ``box`` (3, n, n) and ``ids`` (4, n + N) are scratch.
    """
    m, N, r = v.size, X.shape[0], X.shape[1]
    q = m * r + free
    side, slot = ids[0], ids[1]
    J, R, H = box[0], box[1], box[2]
    n = q
    for a in range(q):
        for b in range(q):
            H[a, b] = 0.0
        H[a, a] = pull + (ridge if a < m * r else 0.0)
        x[a] = pull * centre[a]
    g, d, z, w, mu = box[3, 0], box[3, 1], box[3, 2], box[3, 3], box[3, 4]
    value = 0.0
    for i in range(N):
        side[i], slot[i] = example_kind(signs, v, i), -1
        if h[i] == 0.0:
            side[i] = NEITHER
        if side[i] == BOTH:
            _row(X, signs, v, i, 0, free, g)
            for a in range(q):
                if g[a] != 0.0:
                    x[a] += h[i] * t[i] * g[a]
                    for b in range(a + 1):
                        H[a, b] += h[i] * g[a] * g[b]
            value += h[i] * t[i] * t[i] / 2.0
    for a in range(q):
        value += pull * centre[a] * centre[a] / 2.0
    _factor(H, J, q)
    for k in range(q):  # x = J Jᵀ (right-hand side), and the value there
        s = 0.0
        for a in range(k + 1):
            s += J[a, k] * x[a]
        d[k] = s
        value -= s * s / 2.0
    for a in range(q):
        s = 0.0
        for k in range(a, q):
            s += J[a, k] * d[k]
        x[a] = s
    kind, place, chosen = ids[2], ids[3], ids[4]
    active, status = 0, STALLED
    for _ in range(20 * (n + N) + 200):
        if value >= cutoff:
            status = CUT
            break
        worst, new_kind, new_place, new_chosen = -_VIOLATED, -1, 0, 0
        for i in range(N):
            u, bits = (x[m * r] if free else 0.0), 0
            one = side[i] == ABOVE or side[i] == BELOW
            for j in range(m):
                s = 0.0
                for b in range(r):
                    s += X[i, b] * x[j * r + b]
                if signs[j, i] > 0:
                    u += v[j] * s
                elif signs[j, i] == 0 and s > 0.0 and one:
                    u += v[j] * s
                    bits |= 1 << j
                if signs[j, i] != 0 and signs[j, i] * s / size[i] < worst:
                    worst, new_kind, new_place, new_chosen = signs[j, i] * s / size[i], j, i, 0
            if one:
                room = (x[slot[i]] if slot[i] >= 0 else 0.0) - side[i] * (u - t[i])
                if room < worst:
                    worst, new_kind, new_place, new_chosen = room, m, i, bits
        if new_kind < 0:
            status = SOLVED
            break
        count[0] += 1
        if new_kind == m and slot[new_place] < 0:  # its excess becomes an unknown only now: most stay 0
            for a in range(n):
                J[a, n], J[n, a] = 0.0, 0.0
            J[n, n] = 1.0 / np.sqrt(h[new_place])
            x[n] = 0.0
            slot[new_place] = n
            n += 1
        _gradient(X, size, signs, v, side, slot, free, new_kind, new_place, new_chosen, n, g)
        mu[active] = 0.0
        gap = worst  # g·x - b of the constraint that is to join
        joined = False
        while not joined:
            whole, rest = 0.0, 0.0
            for k in range(n):
                s = 0.0
                for a in range(n):
                    s += J[a, k] * g[a]
                d[k] = s
                whole += s * s
                if k >= active:
                    rest += s * s
            for a in range(n):
                s = 0.0
                for k in range(active, n):
                    s += J[a, k] * d[k]
                z[a] = s
            for a in range(active - 1, -1, -1):
                s = d[a]
                for b in range(a + 1, active):
                    s -= R[a, b] * w[b]
                w[a] = s / R[a, a]
            t1, leave = np.inf, -1
            for k in range(active):
                if w[k] > 0.0 and mu[k] / w[k] < t1:
                    t1, leave = mu[k] / w[k], k
            t2 = -gap / rest if rest > _DEPENDENT * whole else np.inf
            step = min(t1, t2)
            if step == np.inf:
                return STALLED, value
            for k in range(active):
                mu[k] = max(mu[k] - step * w[k], 0.0)
            mu[active] += step
            if t2 < np.inf:
                value += step * rest * (step / 2.0 + mu[active] - step)
                for a in range(n):
                    x[a] += step * z[a]
                gap += step * rest
            if t2 <= t1:
                _add(R, J, d, n, active)
                kind[active], place[active], chosen[active] = new_kind, new_place, new_chosen
                active += 1
                joined = True
            else:
                _drop(R, J, n, active, leave, kind, place, chosen, mu)
                active -= 1
    for i in range(N):
        nu[i] = 0.0
        for j in range(m):
            kappa[j, i] = 0.0
        if side[i] == BOTH:
            _row(X, signs, v, i, 0, free, g)
            s = -t[i]
            for a in range(q):
                s += g[a] * x[a]
            nu[i] = h[i] * s
            for j in range(m):
                if signs[j, i] > 0:
                    kappa[j, i] = v[j] * nu[i]
    for k in range(active):
        i = place[k]
        if kind[k] == m:
            nu[i] += side[i] * mu[k]
            for j in range(m):
                if signs[j, i] > 0 or (signs[j, i] == 0 and (chosen[k] >> j) & 1 == 1):
                    kappa[j, i] += v[j] * side[i] * mu[k]
        else:
            kappa[kind[k], i] -= signs[kind[k], i] * mu[k] / size[i]
    return status, value
