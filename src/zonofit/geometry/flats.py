r"""Flats of an arrangement, and what is left of it on them.

A flat is a set of generators that contains every generator in its span; the subspace
{w : gᵢ·w = 0 for i in the flat} has codimension equal to the flat's rank. Zero generators are in every flat.
Restricted to that subspace, the hyperplanes of the other generators form an arrangement again, and its chambers are
the members of the paper's complex R (appendix A) whose zeros are exactly the flat.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from zonofit.errors import BudgetError, InputError
from zonofit.geometry.arrangement import Arrangement

# cosines this near to ±1 propose a pair of parallel generators, which the distance between them then decides
_CLOSE = 1e-12


@dataclass(frozen=True, eq=False)
class Restriction:
    """An arrangement on the subspace where the generators of a flat vanish.

    Attributes
    ----------
    arrangement : Arrangement
        One generator per generator of the original, in the same order, so that sign vectors keep their meaning;
        those in the flat are zero, the others are ``generators @ basis`` up to positive multiples.
    basis : ndarray (n, n - rank of the flat)
        ``w = basis @ u`` maps the restricted space onto the subspace.
    flat : ndarray of int
        The generators that vanish.
    """

    arrangement: Arrangement
    basis: np.ndarray
    flat: np.ndarray


def closure(arrangement: Arrangement, indices) -> np.ndarray:
    """Find the smallest flat that holds the generators `indices`, as increasing row numbers."""
    reduction = arrangement.reduction
    spanned, _ = span_of(arrangement, _simple_rows(arrangement, indices))
    return np.flatnonzero(np.r_[spanned, True][reduction.member])


def rank_of(arrangement: Arrangement, indices) -> int:
    """Rank of the generators `indices`."""
    _, free = span_of(arrangement, _simple_rows(arrangement, indices))
    return arrangement.rank - free.shape[1]


def flats(arrangement: Arrangement, rank: int, *, budget: int = 1_000_000) -> list[np.ndarray]:
    """All flats of a rank, each an increasing array of row numbers, in lexicographic order.

    Raises
    ------
    BudgetError
        When there are more than `budget` flats of this rank or of a smaller one.
    """
    if rank < 0:
        raise InputError(f"rank: flats have rank 0 to {arrangement.rank}, got {rank}.")
    if rank > arrangement.rank:
        return []
    return next(islice(iter_flats(arrangement, budget=budget), rank, None))


def iter_flats(arrangement: Arrangement, *, budget: int = 1_000_000) -> Iterator[list[np.ndarray]]:
    """Yield the flats of rank 0, 1, ..., r; each list as `flats` returns it, and made from the one before."""
    reduction = arrangement.reduction
    M = len(reduction.simple)
    level = {bytes(M): np.zeros(M, bool)}
    for k in range(reduction.rank + 1):
        found = [np.flatnonzero(np.r_[flat, True][reduction.member]) for flat in level.values()]
        yield sorted(found, key=lambda flat: flat.tolist())
        above: dict[bytes, np.ndarray] = {}
        for flat in level.values() if k < reduction.rank else ():
            for members in _classes_on(arrangement, flat):
                larger = flat.copy()
                larger[members] = True
                above[larger.tobytes()] = larger
            if len(above) > budget:
                raise BudgetError(
                    f"flats: more than {budget} flats of rank {k + 1} among {M} non-parallel generators; "
                    "raise `budget` or use fewer generators."
                )
        level = above


def n_covers(arrangement: Arrangement, flat) -> int:
    """Count the flats of one rank more that contain `flat`: the hyperplanes of its restriction."""
    spanned, _ = span_of(arrangement, _simple_rows(arrangement, flat))
    return len(_classes_on(arrangement, spanned))


def restriction(arrangement: Arrangement, flat) -> Restriction:
    """Restrict the arrangement to {w : gᵢ·w = 0 for i in `flat`}; `flat` is closed first.

    Raises
    ------
    InputError
        When that subspace is {0}, where no arrangement lives.
    """
    reduction = arrangement.reduction
    spanned, free = span_of(arrangement, _simple_rows(arrangement, flat))
    kernel = _kernel(arrangement)
    if free.shape[1] + kernel.shape[1] == 0:
        raise InputError(
            "flat: the generators vanish together only at w = 0, where there is nothing left to restrict to; "
            f"pass a flat of rank below {arrangement.dimension}."
        )
    rows = reduction.simple @ free
    rows[spanned] = 0.0
    rows = np.vstack([rows, np.zeros((1, free.shape[1]))])
    restricted = np.zeros((arrangement.n_generators, free.shape[1] + kernel.shape[1]))
    restricted[:, : free.shape[1]] = reduction.orientation[:, None] * rows[reduction.member]
    closed = np.flatnonzero(np.r_[spanned, True][reduction.member])
    return Restriction(
        Arrangement(restricted, tolerances=arrangement.tolerances), np.c_[reduction.lift @ free, kernel], closed
    )


def deletion(arrangement: Arrangement, indices) -> Arrangement:
    """Return the arrangement without the generators `indices`."""
    gone = as_indices(arrangement, indices)
    if len(np.unique(gone)) == arrangement.n_generators:
        raise InputError("indices: deleting every generator leaves no arrangement; keep at least one.")
    return Arrangement(np.delete(arrangement.generators, gone, axis=0), tolerances=arrangement.tolerances)


def span_of(arrangement: Arrangement, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which rows of ``reduction.simple`` the rows `rows` span, and an orthonormal basis (r, r - rank) of the rest."""
    simple = arrangement.reduction.simple
    if len(rows) == 0:
        return np.zeros(len(simple), bool), np.eye(simple.shape[1])
    tolerance = arrangement.tolerances.parallel
    _, singular, right = np.linalg.svd(simple[rows])
    free = right[int(np.sum(singular > tolerance * singular[0])) :].T
    spanned = np.linalg.norm(simple @ free, axis=1) <= tolerance
    spanned[rows] = True
    return spanned, free


def as_indices(arrangement: Arrangement, indices) -> np.ndarray:
    """Row numbers of generators as an integer array, or an `InputError`."""
    array = np.asarray(indices)
    if array.size == 0:
        return np.zeros(0, int)
    N = arrangement.n_generators
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer) or array.min() < 0 or array.max() >= N:
        got = np.array2string(array, threshold=8)
        raise InputError(f"indices: expected row numbers between 0 and {N - 1}, got {got}.")
    return array


def _simple_rows(arrangement: Arrangement, indices) -> np.ndarray:
    rows = np.unique(arrangement.reduction.member[as_indices(arrangement, indices)])
    return rows[rows >= 0]


def _classes_on(arrangement: Arrangement, flat: np.ndarray) -> list[np.ndarray]:
    """Rows of ``reduction.simple`` outside a flat, grouped where they are parallel on the flat's subspace."""
    simple, tolerance = arrangement.reduction.simple, arrangement.tolerances.parallel
    _, free = span_of(arrangement, np.flatnonzero(flat))
    rest = np.flatnonzero(~flat)
    rows = simple[rest] @ free
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    cosines = rows @ rows.T
    i, j = np.nonzero(np.triu(np.abs(cosines) > 1 - _CLOSE))
    apart = np.linalg.norm(rows[i] - np.sign(cosines[i, j])[:, None] * rows[j], axis=1)
    first = np.arange(len(rest))
    np.minimum.at(first, j[apart <= tolerance], i[apart <= tolerance])
    return [rest[first == c] for c in np.flatnonzero(first == np.arange(len(rest)))]


def _kernel(arrangement: Arrangement) -> np.ndarray:
    """Basis (n, n - rank) of {w : gᵢ·w = 0 for all i}, in equilibrated columns."""
    G, n, rank = arrangement.generators, arrangement.dimension, arrangement.rank
    if rank == n:
        return np.zeros((n, 0))
    size = np.max(np.abs(G), axis=1, keepdims=True)
    rows = G / np.where(size > 0, size, 1.0)
    column = np.max(np.abs(rows), axis=0)
    column = np.where(column > 0, column, 1.0)
    kernel = np.linalg.svd(rows / column)[2][rank:].T / column[:, None]
    return kernel / np.linalg.norm(kernel, axis=0)
