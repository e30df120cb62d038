"""Queries: which row is the least in a direction, and does it touch alone? Kernels shared by the search for walls.

Everything lives in matrices addressed by row numbers, because a view of a row costs two atomic reference counts; loops
that start anywhere run over unsigned integers, because a test for negative indices would keep them scalar. `combine`
and `lowest` are inlined: to pass their arguments takes as long as the work on a few dozen numbers.
"""

from __future__ import annotations

import numpy as np
from numba import njit

KERNEL = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "nsz", "contract"},
}  # not "nnan": a NaN must fail every check

OPEN, REDUNDANT, WALL, DOUBTFUL = 0, 1, 2, 3
PROGRAMS, STEPS, QUERIES, DOUBTS = 0, 1, 2, 3
LANES = 32  # columns are filled up to a multiple of this: one unrolled turn of a loop on 512-bit registers
BUCKETS = 256
NONE = 1e300
ROUNDING = 1e-13  # error of a coefficient, per length of the row of the inverse that it came from
NEVER = 1e200  # cost that keeps a column out, because it is in the basis
MAGNITUDE = 0x7FFFFFFFFFFFFFFF

# rows of `lines` (M long), of `columns` (as long as there can be columns), of `vectors` (n long), of `index`
DEPTH, INVERSE, VALUE, MOVED, SIGN = np.arange(5)
FRESH, REDUCED, PIVOT_ROW, RATIO = np.arange(4)
LEVEL, ENTERING, ETA, INSIDE, TOUCH, DIRECTION, NUDGED, WEIGHT, ROW, MEAN, NUDGE, LENGTH = np.arange(12)
IDENTITY, COLUMN, ORDER, PLACE, BASIS, CENTRAL, SUPPORT, SLOT, LEAVING, ROWS, AT = np.arange(11)
ZERO, NOWHERE = np.array([0, -1])


@njit(**KERNEL)
def touched(across, start, tol, lines, vectors, index, M, n):
    """Row with the least projection, and whether ``vectors[TOUCH]`` touches its hyperplane alone; rows from `start` on.

    Of several rows that tie, a small random turn of the direction selects one that can stand alone.
    """
    keys = lines.view(np.int64)
    best = lowest(keys, VALUE, start, M)
    if ties(VALUE, DIRECTION, best, start, tol, lines, vectors, M, n) == 1:
        return best, True
    length = 0.0
    for c in range(n):
        length += vectors[DIRECTION, c] ** 2
    limit = lines[VALUE, best] + tol * np.sqrt(length) * abs(lines[INVERSE, best])
    nudge = np.sqrt(length)
    for _ in range(8):
        nudge *= 0.1
        for c in range(n):
            vectors[NUDGED, c] = vectors[DIRECTION, c] + nudge * vectors[NUDGE, c]
        combine(across, index, IDENTITY, vectors, NUDGED, n, start, M, lines, MOVED)
        for i in range(np.uint64(start), np.uint64(M)):
            lines[MOVED, i] *= lines[INVERSE, i]
        i = lowest(keys, MOVED, start, M)
        if lines[VALUE, i] <= limit and ties(MOVED, NUDGED, i, start, tol, lines, vectors, M, n) == 1:
            return i, True
    return best, False


@njit(**KERNEL)
def project(across, start, lines, vectors, index, M, n):
    """``lines[VALUE]`` = (y·d) / (y·u) for all rows from `start` on."""
    combine(across, index, IDENTITY, vectors, DIRECTION, n, start, M, lines, VALUE)
    for i in range(np.uint64(start), np.uint64(M)):
        lines[VALUE, i] *= lines[INVERSE, i]


@njit(**KERNEL)
def ties(values, direction, best, start, tol, lines, vectors, M, n):
    """``vectors[TOUCH]`` = d - min·u, of length 1, and the number of hyperplanes within `tol` of it."""
    low = lines[values, best]
    length = 0.0
    for c in range(n):
        vectors[TOUCH, c] = vectors[direction, c] - low * vectors[INSIDE, c]
        length += vectors[TOUCH, c] ** 2
    length = np.sqrt(length)
    for c in range(n):
        vectors[TOUCH, c] /= length
    near = tol * length
    count = 0
    for i in range(np.uint64(start), np.uint64(M)):
        count += 1 if lines[values, i] - low <= near * abs(lines[INVERSE, i]) else 0
    return count


@njit(**KERNEL, forceinline=True)
def combine(matrix, index, chosen, weights, weight, count, start, stop, out, to):
    """``out[to] = weights[weight, :count] @ matrix[index[chosen, :count]]`` in columns start to stop.

    Matrices and row numbers, not views of rows: a view costs two atomic reference counts.
    """
    start, stop = np.uint64(start), np.uint64(stop)  # no test for negative indices, which would keep loops scalar
    i = count % 4
    if i == 0:
        for j in range(start, stop):
            out[to, j] = 0.0
    elif i == 1:
        a, x = index[chosen, 0], weights[weight, 0]
        for j in range(start, stop):
            out[to, j] = x * matrix[a, j]
    elif i == 2:
        a, x = index[chosen, 0], weights[weight, 0]
        b, y = index[chosen, 1], weights[weight, 1]
        for j in range(start, stop):
            out[to, j] = x * matrix[a, j] + y * matrix[b, j]
    else:
        a, x = index[chosen, 0], weights[weight, 0]
        b, y = index[chosen, 1], weights[weight, 1]
        c, z = index[chosen, 2], weights[weight, 2]
        for j in range(start, stop):
            out[to, j] = x * matrix[a, j] + y * matrix[b, j] + z * matrix[c, j]
    while i < count:
        a, x = index[chosen, i], weights[weight, i]
        b, y = index[chosen, i + 1], weights[weight, i + 1]
        c, z = index[chosen, i + 2], weights[weight, i + 2]
        d, w = index[chosen, i + 3], weights[weight, i + 3]
        for j in range(start, stop):
            out[to, j] += x * matrix[a, j] + y * matrix[b, j] + z * matrix[c, j] + w * matrix[d, j]
        i += 4


@njit(**KERNEL, forceinline=True)
def lowest(keys, row, start, stop):
    """Position of the least double in a row, given the bits of the doubles as integers.

    Compilers vectorise a minimum of integers; flipping the magnitude bits of negative doubles makes the orders agree.
    """
    begin, end = np.uint64(start), np.uint64(stop)
    least = MAGNITUDE
    for i in range(begin, end):
        b = keys[row, i]
        least = min(least, b ^ ((b >> 63) & MAGNITUDE))
    at = begin
    for i in range(begin, end):
        b = keys[row, i]
        at = max(at, np.uint64(i) if b ^ ((b >> 63) & MAGNITUDE) == least else begin)
    return np.int64(at)
