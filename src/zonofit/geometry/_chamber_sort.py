"""Sorting inside the chamber kernel.

In the order of u, the chambers of a leaf (see `zonofit.geometry._chamber_kernel`) differ from their neighbours in one
bit and in the signs on S. So a leaf with many last generators, or with ties among them, is sorted.
"""

from __future__ import annotations

import numpy as np
from numba import njit

ONE = np.uint64(1)
ONE_INT = np.int64(1)
BINS = 256
FEW = 60  # so many are sorted by insertion alone
KERNEL = {"cache": True, "nogil": True, "error_model": "numpy", "fastmath": {"contract"}}


@njit(**KERNEL)
def sort_by(values, order, count, keys, bins, band):
    """Sort order[:count] by values[order] in [-1, 1].

    Returns whether two neighbours in that order are within `band`, or nearly. The keys are integers with the leading
    digits of the value and, below them, the index: two passes over the first 16 bits, eight at a time, unless they are
    few, then insertion.
    """
    digits = 62
    while len(values) >> (62 - digits):
        digits -= 1
    index_bits = np.int64(62 - digits)
    unit = 0.999 * 2.0 ** (digits - 1)  # so that the key of 1 has no more digits
    first = np.int64(62 - 8)
    second = np.int64(62 - 16)
    for z in range(count):
        i = order[z]
        keys[0, z] = (np.int64((values[i] + 1.0) * unit) << index_bits) | i
    if count > FEW:
        for z in range(2 * BINS):
            bins[z] = 0
        for z in range(count):
            key = keys[0, z]
            bins[key >> first] += 1
            bins[BINS + ((key >> second) & (BINS - 1))] += 1
        a = 0
        b = 0
        for z in range(BINS):
            a, bins[z] = a + bins[z], a
            b, bins[BINS + z] = b + bins[BINS + z], b
        for z in range(count):
            key = keys[0, z]
            c = BINS + ((key >> second) & (BINS - 1))
            keys[1, bins[c]] = key
            bins[c] += 1
        for z in range(count):
            key = keys[1, z]
            c = key >> first
            keys[0, bins[c]] = key
            bins[c] += 1
    ties = False
    near = np.int64(band * unit) + 2 << index_bits
    for z in range(count):
        key = keys[0, z]
        y = z
        while y > 0 and keys[0, y - 1] > key:
            keys[0, y] = keys[0, y - 1]
            y -= 1
        keys[0, y] = key
    lowest = (ONE_INT << index_bits) - ONE_INT
    for z in range(count):
        order[z] = keys[0, z] & lowest
        ties = ties | (z > 0 and keys[0, z] - keys[0, z - 1] <= near)
    if ties:  # what the digits left out
        for z in range(count):
            i = order[z]
            y = z
            while y > 0 and values[order[y - 1]] > values[i]:
                order[y] = order[y - 1]
                y -= 1
            order[y] = i
    return ties
