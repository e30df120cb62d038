"""The triangular factor of the reduced problem, kept up to date: kernels shared by vertex program and facet descent.

The free directions of all units and the output bias are the columns of a reduced design P. Rows of ``PT`` hold them as
vectors over the examples; ``slot[k]`` is the row of column k and ``own[k]`` its unit (-1 for the bias). R is upper
triangular with ``RᵀR = P diag(h) Pᵀ + ridge`` on the columns in use. Nothing is ever factored from the beginning: a
column comes (O(Np)), goes (O(p²)), or the columns of one unit are reflected among themselves (O(b²p)).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from zonofit.programs._frame_kernel import CORE

_SWEEPS = 6


@njit(**CORE)
def solve_transposed(R, p, x):
    """``R^-T x`` in place."""
    for k in range(p):
        s = x[k] / R[k, k]
        x[k] = s
        for c in range(k + 1, p):
            x[c] -= s * R[k, c]


@njit(**CORE)
def solve_upper(R, p, x):
    """``R^-1 x`` in place."""
    for k in range(p - 1, -1, -1):
        s = x[k]
        for c in range(k + 1, p):
            s -= R[k, c] * x[c]
        x[k] = s / R[k, k]


@njit(**CORE)
def _rotate(R, a, b, column, p):
    """Rotate the rows a and b so that ``R[b, column]`` becomes 0; columns before it are 0 in both already."""
    x, y = R[a, column], R[b, column]
    if y == 0.0:
        return
    length = np.sqrt(x * x + y * y)
    c, s = x / length, y / length
    R[a, column] = length
    R[b, column] = 0.0
    for k in range(column + 1, p):
        u, w = R[a, k], R[b, k]
        R[a, k] = c * u + s * w
        R[b, k] = c * w - s * u


@njit(**CORE)
def remove_column(k, p, R, slot, own):
    """Take column k away; the number of columns left."""
    gone = slot[k]
    for c in range(k, p - 1):
        slot[c] = slot[c + 1]
        own[c] = own[c + 1]
    slot[p - 1] = gone
    for i in range(p):
        for c in range(max(k, i - 1), p - 1):
            R[i, c] = R[i, c + 1]
    for c in range(k, p - 1):
        _rotate(R, c, c + 1, c, p - 1)
    return p - 1


@njit(**CORE)
def remove_unit(j, p, R, slot, own):
    """Take the columns of unit j away; the number of columns left."""
    for k in range(p - 1, -1, -1):
        if own[k] == j:
            p = remove_column(k, p, R, slot, own)
    return p


@njit(**CORE)
def append_column(j, p, least, apart, ridge, h, PT, R, slot, own, x, rest, other):
    """Let the column that stands in ``PT[slot[p]]`` enter; whether it was independent of the p columns in use.

    A column shorter than `least` is rounding and does not enter, nor does one whose part outside their span is shorter
    than `apart`, relative to it. Where that part is short, it is computed as a vector until its length holds
    still.
    """
    N = h.size
    n = slot[p]
    length = 0.0
    for i in range(N):
        rest[i] = PT[n, i]
    for i in range(N):
        length += h[i] * PT[n, i] * PT[n, i]
    own_ridge = ridge if j >= 0 else 0.0
    length += own_ridge
    for k in range(p):
        R[k, p] = R[p, k] = 0.0
    if length <= least * least:
        return False
    left = length
    for k in range(p):
        q = slot[k]
        s = 0.0
        for i in range(N):
            s += h[i] * PT[q, i] * PT[n, i]
        x[k] = s
    solve_transposed(R, p, x)
    for k in range(p):
        R[k, p] = x[k]
    for k in range(p):
        left -= x[k] * x[k]
    if not left > 0.01 * length:  # cancellation: the part outside as a vector, which is short but right
        for k in range(p):
            other[k] = 0.0
        before = length
        for _ in range(_SWEEPS):
            solve_upper(R, p, x)
            left = own_ridge
            for k in range(p):
                other[k] += x[k]
                if own[k] >= 0:
                    left += ridge * other[k] * other[k]
                q, s = slot[k], x[k]
                for i in range(N):
                    rest[i] -= s * PT[q, i]
            for i in range(N):
                left += h[i] * rest[i] * rest[i]
            if left > 0.25 * before or not left > apart * apart * length:
                break
            before = left
            for k in range(p):
                q, s = slot[k], 0.0
                for i in range(N):
                    s += h[i] * PT[q, i] * rest[i]
                x[k] = s - ridge * other[k] if own[k] >= 0 else s
            solve_transposed(R, p, x)
            for k in range(p):
                R[k, p] += x[k]
    if not left > apart * apart * length:
        return False
    R[p, p] = np.sqrt(left)
    own[p] = j
    return True


@njit(**CORE)
def remove_direction(start, b, p, mirror, first, R, PT, slot, own, rest):
    """Reflect the b columns from `start` among themselves and take the first away; the number of columns left.

    ``mirror[first : first + b]`` and ``mirror[-1]`` are the reflection of `frame_add`. Only a b by b block of R leaves
    the triangle, so this costs O(b² p + p² + b N) and no new products with the data.
    """
    beta = mirror[mirror.size - 1]
    for i in range(start + b):
        s = 0.0
        for a in range(b):
            s += mirror[first + a] * R[i, start + a]
        s *= beta
        for a in range(b):
            R[i, start + a] -= s * mirror[first + a]
    N = rest.size
    for i in range(N):
        rest[i] = 0.0
    for a in range(b):
        q, s = slot[start + a], mirror[first + a]
        for i in range(N):
            rest[i] += s * PT[q, i]
    for a in range(1, b):
        q, s = slot[start + a], beta * mirror[first + a]
        for i in range(N):
            PT[q, i] -= s * rest[i]
    gone = slot[start]
    for c in range(start, p - 1):
        slot[c] = slot[c + 1]
        own[c] = own[c + 1]
    slot[p - 1] = gone
    for i in range(p):
        for c in range(start if i < start + b else i - 1, p - 1):
            R[i, c] = R[i, c + 1]
    for c in range(start, start + b - 1):
        for i in range(start + b - 1, c, -1):
            _rotate(R, i - 1, i, c, p - 1)
    for c in range(start + b - 1, p - 1):
        _rotate(R, c, c + 1, c, p - 1)
    return p - 1
