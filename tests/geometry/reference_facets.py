"""Slow, readable twins and oracles for the walls of a chamber; nothing here shares code with what it checks."""

from fractions import Fraction

import numpy as np
from scipy.optimize import linprog


def parallel_classes(generators):
    """Classes of non-zero generators that are multiples of each other, exactly."""
    classes = {}
    for i, row in enumerate(generators):
        exact = [Fraction(float(x)) for x in row]
        lead = next((x for x in exact if x), None)
        if lead is not None:
            classes.setdefault(tuple(x / lead for x in exact), []).append(i)
    return sorted(tuple(members) for members in classes.values())


def neighbors_in(chambers, pattern, classes):
    """Of all classes, those whose flip leads from one member of the set of all chambers to another."""
    found = {}
    for members in classes:
        flipped = np.array(pattern)
        flipped[list(members)] ^= True
        if tuple(flipped.tolist()) in chambers:
            found[members] = flipped
    return found


def walls_by_programs(rows, margin=1e-9):
    """Rows of the cone {w : rows w >= 0} that some w violates alone: one linear program a row."""
    rows = rows / np.linalg.norm(rows, axis=1)[:, None]
    found = []
    for i in range(len(rows)):
        others = np.delete(rows, i, axis=0)
        best = linprog(rows[i], A_ub=-others, b_ub=np.zeros(len(others)), bounds=(-1, 1), method="highs")
        if best.fun < -margin:
            found.append(i)
    return found


def clarkson(rows, w):
    """The algorithm of the library with a library program inside: tests against known walls only, then queries."""
    rows = rows / np.linalg.norm(rows, axis=1)[:, None]
    points = rows / (rows @ w)[:, None]
    walls, todo = [], list(range(len(rows)))
    while todo:
        known = rows[walls]
        test = linprog(rows[todo[0]], A_ub=-known, b_ub=np.zeros(len(walls)), bounds=(-1, 1), method="highs")
        if test.fun > -1e-9:
            todo.pop(0)
            continue
        walls.append(int(np.argmin(points @ test.x)))
        if walls[-1] in todo:
            todo.remove(walls[-1])
    return sorted(walls)
