"""Sign vectors of points and cones, and the linear program that finds a cone's relative interior (appendix A.2)."""

from __future__ import annotations

import numpy as np

from zonofit.errors import InputError
from zonofit.geometry.arrangement import Arrangement
from zonofit.geometry.flats import span_of


def as_signs(arrangement: Arrangement, signs) -> np.ndarray:
    """Signs as an int8 array (N,), or an `InputError`."""
    array = np.asarray(signs)
    N = arrangement.n_generators
    if array.shape != (N,) or array.dtype == bool or not np.all(np.isin(array, (-1, 0, 1))):
        raise InputError(
            f"signs: expected {N} entries -1, 0 or +1, one per generator, got an array of shape {array.shape} and "
            f"type {array.dtype}; a boolean pattern a becomes signs as 2*a - 1."
        )
    return array.astype(np.int8)


def expand_signs(arrangement: Arrangement, simple_signs: np.ndarray) -> tuple[int, ...]:
    """Signs on ``reduction.simple`` to signs on the generators."""
    reduction = arrangement.reduction
    return tuple((reduction.orientation * np.r_[simple_signs, 0][reduction.member]).astype(int).tolist())


def simple_signs(arrangement: Arrangement, signs: np.ndarray) -> np.ndarray:
    """Signs on ``reduction.simple``; 0 where parallel generators contradict each other. Zero generators say nothing."""
    reduction = arrangement.reduction
    live = reduction.orientation != 0
    oriented = (signs * reduction.orientation)[live]
    low = np.full(len(reduction.simple), 2)
    high = np.full(len(reduction.simple), -2)
    np.minimum.at(low, reduction.member[live], oriented)
    np.maximum.at(high, reduction.member[live], oriented)
    return np.where(low == high, low, 0)


def relative_interior(arrangement: Arrangement, signs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Signs on ``reduction.simple`` of the relative interior of R^signs, and a point u (r,) there."""
    from scipy.optimize import linprog

    simple = arrangement.reduction.simple
    signs = signs.copy()
    while True:
        spanned, free = span_of(arrangement, np.flatnonzero(signs == 0))
        signs[spanned] = 0
        live = np.flatnonzero(signs)
        M, k = len(live), free.shape[1]
        if M == 0:
            return signs, np.zeros(simple.shape[1])
        rows = signs[live, None] * (simple[live] @ free)
        # unit rows: a generator nearly in the flat must not look like one that vanishes on the cone
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        answer = linprog(
            np.r_[np.zeros(k), -np.ones(M)],
            A_ub=np.c_[-rows, np.eye(M)],
            b_ub=np.zeros(M),
            bounds=[(None, None)] * k + [(0, 1)] * M,
            method="highs",
        )
        if answer.x is None:
            raise ArithmeticError(f"the linear program of a face failed: {answer.message}")
        inside = answer.x[k:] > 0.5
        if inside.all() and np.all(rows @ answer.x[:k] > 0):
            return signs, free @ answer.x[:k]
        if inside.all():
            raise ArithmeticError("the linear program of a face returned a point that is not inside it.")
        signs[live[~inside]] = 0
