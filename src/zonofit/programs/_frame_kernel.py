"""One unit's walls as an orthonormal frame: kernels shared by the vertex program and by facet descent.

A unit sits on the independent walls K = (i₁, ..., i_k). The rows of its frame B (r, r) are orthonormal; the first k
span the walls' rows, with ``X[K[a]] = Σ_b≤a L[a, b] B[b]``, and the unit may move along the others. Adding a wall
reflects these others once and releasing one rotates the walls after it, O(r²) each.
"""

from __future__ import annotations

import numpy as np
from numba import njit

# Sums may be reordered ("reassoc") in kernels that do nothing but sum: `dot`, `dots`, `weighted`, `sum_of` and
# `length_of`. Elsewhere, whether a loop runs vectorised would depend on where its arrays happen to lie, so would its
# rounding, and the same seed would not give the same path.
KERNEL = {"cache": True, "nogil": True, "error_model": "numpy", "fastmath": {"nsz", "contract"}}
CORE = dict(KERNEL, _nrt=False)
_SUM = dict(CORE, fastmath={"reassoc", "nsz", "contract"})

FREE, WALL, DEPENDENT = 0, 1, 2  # what a row is to a unit: off its walls, one of them, in the span of them
DEPENDENCE = 1e-10  # a row that sticks out of the span of the walls by less, in its own lengths, is in it


@njit(**_SUM)
def length_of(w):
    """Euclidean length."""
    s = 0.0
    for b in range(w.size):
        s += w[b] * w[b]
    return np.sqrt(s)


@njit(**_SUM)
def dot(x, y):
    """``Σ x y``."""
    s = 0.0
    for i in range(x.size):
        s += x[i] * y[i]
    return s


@njit(**_SUM)
def dots(x, y0, y1, y2, y3):
    """`dot` of x with four others, for which x is read once."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for i in range(x.size):
        s0 += x[i] * y0[i]
        s1 += x[i] * y1[i]
        s2 += x[i] * y2[i]
        s3 += x[i] * y3[i]
    return s0, s1, s2, s3


@njit(**_SUM)
def weighted(h, x, y):
    """``Σ h x y``."""
    s = 0.0
    for i in range(x.size):
        s += h[i] * x[i] * y[i]
    return s


@njit(**_SUM)
def sum_of(x):
    """``Σ x``."""
    s = 0.0
    for i in range(x.size):
        s += x[i]
    return s


@njit(**CORE)
def frame_start(B):
    """Frame of a unit without walls: the coordinate axes."""
    for a in range(B.shape[0]):
        for b in range(B.shape[1]):
            B[a, b] = 0.0
        B[a, a] = 1.0


@njit(**CORE)
def frame_add(x, size, B, L, k, mirror):
    """Put a wall with row x under the unit; whether it was independent of the k walls that it has.

    Then row k of B is the wall's new direction, and ``mirror`` (r + 1) holds the reflection that the rows k, ..., r - 1
    went through: ``B[k + a] -= mirror[r] * mirror[k + a] * Σ_b mirror[k + b] B[k + b]``.
    """
    r = B.shape[0]
    if k == r:
        return False
    rest = 0.0
    for a in range(r):
        s = 0.0
        for b in range(r):
            s += B[a, b] * x[b]
        L[k, a] = s
        if a >= k:
            rest += s * s
    rest = np.sqrt(rest)
    if not rest > DEPENDENCE * size:
        return False
    lead = L[k, k]
    alpha = -rest if lead > 0 else rest
    L[k, k] = alpha
    mirror[k] = lead - alpha
    for a in range(k + 1, r):
        mirror[a] = L[k, a]
    mirror[r] = -1.0 / (alpha * mirror[k])
    reflect(B, k, r, mirror)
    return True


@njit(**CORE)
def reflect(rows, k, end, mirror):
    """Apply a reflection to the rows k, ..., end - 1 of an array; its coefficients stand in the same places."""
    n = rows.shape[1]
    beta = mirror[mirror.size - 1]
    for b in range(n):
        s = 0.0
        for a in range(k, end):
            s += mirror[a] * rows[a, b]
        s *= beta
        for a in range(k, end):
            rows[a, b] -= s * mirror[a]


@njit(**CORE)
def frame_align(d, B, k, mirror):
    """Turn the free rows so that row k points along d, which lies in their span; the length of d."""
    r = B.shape[0]
    length = 0.0
    for a in range(k, r):
        s = 0.0
        for b in range(r):
            s += B[a, b] * d[b]
        mirror[a] = s
        length += s * s
    length = np.sqrt(length)
    alpha = -length if mirror[k] > 0 else length
    mirror[k] -= alpha
    if alpha * mirror[k] != 0.0:
        mirror[r] = -1.0 / (alpha * mirror[k])
        reflect(B, k, r, mirror)
    return length


@njit(**CORE)
def frame_remove(at, B, L, K, k, on):
    """Take the wall at place `at` away; how many are left. Its direction becomes the first free row."""
    r = B.shape[0]
    on[K[at]] = FREE
    for a in range(at, k - 1):
        K[a] = K[a + 1]
        for b in range(a + 2):
            L[a, b] = L[a + 1, b]
    for b in range(at, k - 1):  # rotate the rows b and b + 1 of B until L is triangular again
        x, y = L[b, b], L[b, b + 1]
        length = np.sqrt(x * x + y * y)
        c, s = x / length, y / length
        for a in range(b, k - 1):
            x, y = L[a, b], L[a, b + 1]
            L[a, b] = c * x + s * y
            L[a, b + 1] = c * y - s * x
        for e in range(r):
            x, y = B[b, e], B[b + 1, e]
            B[b, e] = c * x + s * y
            B[b + 1, e] = c * y - s * x
    return k - 1


@njit(**CORE)
def multipliers(g, B, L, k, mu, along):
    """μ with ``g = Σ μ_a X[K[a]] + rest``; the length of the rest, whose coordinates in B are ``along[k:]``."""
    r = B.shape[0]
    rest = 0.0
    for a in range(r):
        s = 0.0
        for b in range(r):
            s += B[a, b] * g[b]
        along[a] = s
        if a >= k:
            rest += s * s
    for a in range(k - 1, -1, -1):
        s = along[a]
        for b in range(a + 1, k):
            s -= mu[b] * L[b, a]
        mu[a] = s / L[a, a]
    return np.sqrt(rest)


@njit(**CORE)
def descent_cone(g, small, tight, X, XT, size, bits, z, B, L, K, k, on, mu, lam, d, scratch, line):
    """Steepest descent -g of one unit, projected onto the directions that no tight wall forbids.

    The projection is ``d = -(g - Σ λ_i s_i x_i)`` with λ ≥ 0 over the tight walls, |z_i| <= tight * size_i, s = 2 bits
    - 1: non-negative least squares by the method of Lawson and Hanson, started from the walls that the unit has. Leaves
    the walls with λ > 0 in the frame and λ in ``lam``; returns their number and the length of d. Work ends once that
    length is at most ``small``. ``line`` (N,) and ``scratch`` (2, r + 1) are scratch.
    """
    N, r = X.shape
    along, mirror = scratch[0, :r], scratch[1, : r + 1]
    while True:  # a feasible start: walls whose multipliers are negative go, the worst first
        length = multipliers(g, B, L, k, mu, along)
        worst, at = 0.0, -1
        for a in range(k):
            lam[a] = mu[a] if bits[K[a]] else -mu[a]
            value = lam[a] * size[K[a]]
            if value < worst:
                worst, at = value, a
        if at < 0:
            break
        k = frame_remove(at, B, L, K, k, on)
    for _ in range(3 * (N + r)):
        _combine(B, along, k, d)
        if length <= small:
            break
        worst, at = -1e-12 * length, -1
        apply(XT, d, line)
        for i in range(N):  # a tight wall that the direction would cross joins
            if on[i] == FREE and abs(z[i]) <= tight * size[i]:
                value = (line[i] if bits[i] else -line[i]) / size[i]
                if value < worst:
                    worst, at = value, i
        if at < 0:
            break
        if not frame_add(X[at], size[at], B, L, k, mirror):
            on[at] = DEPENDENT
            continue
        K[k] = at
        on[at] = WALL
        lam[k] = 0.0
        k += 1
        while True:
            length = multipliers(g, B, L, k, mu, along)
            step, leave = 1.0, -1
            for a in range(k):
                if not bits[K[a]]:
                    mu[a] = -mu[a]
                if mu[a] <= 0.0:
                    t = lam[a] / (lam[a] - mu[a]) if lam[a] > mu[a] else 0.0
                    if leave < 0 or t < step:
                        step, leave = t, a
            for a in range(k):
                lam[a] += step * (mu[a] - lam[a])
            if leave < 0:
                break
            newest = leave == k - 1 and step == 0.0
            gone = K[leave]
            for a in range(leave, k - 1):
                lam[a] = lam[a + 1]
            k = frame_remove(leave, B, L, K, k, on)
            if newest:
                on[gone] = DEPENDENT  # rounding brought it in and out again
    for i in range(N):
        if on[i] == DEPENDENT:
            on[i] = FREE
    return k, length


@njit(**CORE)
def apply(XT, d, line):
    """``line = X d``, four features at a time along the examples, which is how they lie in memory."""
    r, N = XT.shape
    b = r % 4
    if b == 0:
        for i in range(N):
            line[i] = 0.0
    elif b == 1:
        for i in range(N):
            line[i] = d[0] * XT[0, i]
    elif b == 2:
        for i in range(N):
            line[i] = d[0] * XT[0, i] + d[1] * XT[1, i]
    else:
        for i in range(N):
            line[i] = d[0] * XT[0, i] + d[1] * XT[1, i] + d[2] * XT[2, i]
    while b < r:
        y0, y1, y2, y3 = d[b], d[b + 1], d[b + 2], d[b + 3]
        for i in range(N):
            line[i] += y0 * XT[b, i] + y1 * XT[b + 1, i] + y2 * XT[b + 2, i] + y3 * XT[b + 3, i]
        b += 4


@njit(**CORE)
def _combine(B, along, k, d):
    r = B.shape[0]
    for b in range(r):
        s = 0.0
        for a in range(k, r):
            s += along[a] * B[a, b]
        d[b] = -s
