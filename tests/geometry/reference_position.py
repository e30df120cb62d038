"""Slow, readable twins of minors, position and stability: itertools and NumPy, no shared elimination, no pruning."""

from fractions import Fraction
from itertools import combinations, product
from math import gcd

import numpy as np


def volumes(rows):
    """Volume spanned by every n-subset of rows, by subset."""
    n = rows.shape[1]
    return {S: abs(np.linalg.det(rows[list(S)])) for S in combinations(range(len(rows)), n)}


def exact_rank(integers):
    """Rank over the rationals by Gaussian elimination in fractions."""
    rows = [[Fraction(x) for x in row] for row in integers]
    rank = 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((i for i in range(rank, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        for i in range(rank + 1, len(rows)):
            f = rows[i][column] / rows[rank][column]
            rows[i] = [x - f * y for x, y in zip(rows[i], rows[rank], strict=True)]
        rank += 1
    return rank


def circuits(integers, largest):
    """All minimal dependent sets of at most `largest` integer rows, smaller ones first, then in lexicographic order."""
    found = []
    for k in range(1, largest + 1):
        for S in combinations(range(len(integers)), k):
            if any(set(C) <= set(S) for C in found):
                continue
            if exact_rank([integers[i] for i in S]) < k:
                found.append(S)
    return found


def least_singular_value(rows):
    """Least singular value over all n-subsets, and the subset."""
    n = rows.shape[1]
    return min((np.linalg.svd(rows[list(S)], compute_uv=False)[-1], S) for S in combinations(range(len(rows)), n))


def least_breaking_move(rows, movable):
    """Least greatest movement of a row in its first `movable` coordinates that makes some n-subset dependent."""
    N, n = rows.shape
    best = (np.inf, None)
    for S in combinations(range(N), n):
        inverse = np.linalg.inv(rows[list(S)])
        for s in product([-1.0, 1.0], repeat=n):
            length = np.linalg.norm((inverse @ np.array(s))[:movable])
            if length > 0:
                best = min(best, (1 / length, S))
    return best


def inradius(rows):
    """max_{|w|=1} minᵢ rowsᵢ·w: one over the shortest w with rows·w >= 1, which is shortest for its tight rows."""
    shortest = np.inf
    for k in range(1, rows.shape[1] + 1):
        for S in combinations(range(len(rows)), k):
            w = np.linalg.lstsq(rows[list(S)], np.ones(k), rcond=None)[0]
            if np.all(rows @ w > 1 - 1e-9):
                shortest = min(shortest, np.linalg.norm(w))
    return 1 / shortest


def primitive(row):
    """The coprime integers on the line of an integer row, first non-zero one positive."""
    g = gcd(*row)
    if g == 0:
        return tuple(row)
    first = next(x for x in row if x)
    return tuple(x // (g if first > 0 else -g) for x in row)
