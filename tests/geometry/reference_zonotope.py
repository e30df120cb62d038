"""Slow twins for faces and zonotopes: exact rational arithmetic, no linear programs, no enumeration of chambers."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import numpy as np


def instances() -> dict[str, np.ndarray]:
    """Generators, small enough for everything here; entries are dyadic, so dependencies are exact."""
    rng = np.random.default_rng(5)
    collinear = np.array([[0, 0], [1, 1], [2, 2], [3, 3], [1, 0], [0, 2]])
    repeated = np.array([[0, 1], [2, 1], [0, 1], [1, 3], [2, 1], [2, 1]])
    return {
        "generic 6,2": rng.standard_normal((6, 2)),
        "generic 7,3": rng.standard_normal((7, 3)),
        "generic 6,4": rng.standard_normal((6, 4)),
        "cube 2": homogeneous(cube(2)),
        "cube 3": homogeneous(cube(3)),
        "collinear": homogeneous(collinear),
        "repeated": homogeneous(repeated),
        "antiparallel": np.array([[1, 0, 1], [-2, 0, -2], [0, 1, 1], [0, -1, -1], [1, 1, 0], [1, 0, 1]]),
        "zero column": homogeneous(np.c_[np.zeros(5), rng.integers(-3, 4, (5, 2))]),
        "zero generator": np.array([[0, 0, 0], [1, 2, 0], [0, 1, 1], [0, 0, 0], [1, 0, 1], [1, 1, 1]]),
        "resonance 3": np.array([s for s in product([0, 1], repeat=3) if any(s)]),
        "few": homogeneous(rng.integers(-3, 4, (2, 3))),
        "one": np.array([[2.0, -1.0]]),
        "line": np.array([[1.0], [-2.0], [0.0], [3.0]]),
        "nothing": np.zeros((3, 2)),
        "scales": homogeneous(cube(2)) * [2.0**27, 2.0**-27, 1.0],
    }


def cube(d: int) -> np.ndarray:
    return np.array(list(product([0, 1], repeat=d)))


def homogeneous(X) -> np.ndarray:
    return np.c_[X, np.ones(len(X))].astype(float)


def null_space(rows: list[list[Fraction]], n: int) -> list[list[Fraction]]:
    """Basis of {w : row·w = 0}, by elimination."""
    rows, pivots = [row[:] for row in rows], []
    for column in range(n):
        k = len(pivots)
        found = next((i for i in range(k, len(rows)) if rows[i][column] != 0), None)
        if found is None:
            continue
        rows[k], rows[found] = rows[found], rows[k]
        rows[k] = [x / rows[k][column] for x in rows[k]]
        for i in range(len(rows)):
            if i != k and rows[i][column] != 0:
                rows[i] = [x - rows[i][column] * y for x, y in zip(rows[i], rows[k], strict=True)]
        pivots.append(column)
    basis = []
    for free in set(range(n)) - set(pivots):
        w = [Fraction(int(j == free)) for j in range(n)]
        for k, column in enumerate(pivots):
            w[column] = -rows[k][free]
        basis.append(w)
    return basis


def rank(generators, indices) -> int:
    n = np.shape(generators)[1]
    return n - len(null_space([list(map(Fraction, generators[i])) for i in indices], n))


def covectors(generators) -> dict[tuple[int, ...], int]:
    """All sign vectors of points, with their codimension: compositions of cocircuits."""
    G = [[Fraction(float(x)) for x in row] for row in generators]
    N, n = len(G), len(G[0])
    lineality = null_space(G, n)
    r = n - len(lineality)
    cocircuits = set()
    for subset in combinations(range(N), max(r - 1, 0)):
        line = null_space([G[i] for i in subset] + lineality, n)
        if len(line) == 1:
            signs = tuple(sign(sum(x * y for x, y in zip(g, line[0], strict=True))) for g in G)
            cocircuits |= {signs, tuple(-s for s in signs)}
    found = {(0,) * N}
    new = set(found)
    while new:
        new = {compose(F, C) for F in new for C in cocircuits} - found
        found |= new
    return {F: rank(G, [i for i in range(N) if F[i] == 0]) for F in found}


def sign(x) -> int:
    return (x > 0) - (x < 0)


def compose(F, G):
    return tuple(f or g for f, g in zip(F, G, strict=True))


def is_face(F, G) -> bool:
    return all(f in (0, g) for f, g in zip(F, G, strict=True))


def zonotope_faces(generators, k: int) -> dict[tuple[int, ...], set[tuple[int, ...]]]:
    """Covector of each k-face and the barcodes of its vertices."""
    known = covectors(generators)
    topes = [F for F, codimension in known.items() if codimension == 0]
    return {
        F: {tuple(int(s > 0) for s in T) for T in topes if is_face(F, T)}
        for F, codimension in known.items()
        if codimension == k
    }


def edges(barcodes, classes) -> set[tuple[int, int]]:
    """Pairs of barcodes that differ on exactly one parallel class."""
    flips = {tuple(members) for members in classes}
    return {
        (i, j)
        for i, j in combinations(range(len(barcodes)), 2)
        if tuple(np.flatnonzero(barcodes[i] != barcodes[j])) in flips
    }


def corners(generators) -> np.ndarray:
    """The 2^N sums of generators, of which the zonotope is the convex hull."""
    return np.array(list(product([0, 1], repeat=len(generators)))) @ np.asarray(generators, float)


def orbits(vertices: list[np.ndarray], signs) -> set:
    """Vertices of Z^m with the rows of each sign sorted."""
    signs = np.asarray(signs)
    return {tuple(tuple(sorted(map(tuple, patterns[signs == s].tolist()))) for s in (1, -1)) for patterns in vertices}
