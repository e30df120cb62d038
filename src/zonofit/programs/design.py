"""The coordinates that programs are solved in: full rank, well scaled, labels of size 1.

Without a ridge an invertible change of features only renames the weights, so the generators are whitened: whatever the
units of the features, the solver sees columns that are orthonormal up to a factor. With a ridge only rotations and a
common factor leave the problem what it was.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zonofit.tolerances import Tolerances


@dataclass(frozen=True, eq=False)
class Design:
    """Generators in reduced coordinates: ``generators @ lift = X``, so that ``w = lift @ u`` has ``x̄·w = X u``.

    Attributes
    ----------
    X, XT : ndarray (N, r), (r, N)
        Rows of rank r, and the same transposed.
    size : ndarray (N,)
        Lengths of the rows.
    lift : ndarray (n, r)
        From reduced weights to weights.
    drop : ndarray (r, n)
        Back: the reduced weights with the same preactivations.
    ridge : float
        ``alpha ‖w‖² = ridge ‖u‖²``.
    """

    X: np.ndarray
    XT: np.ndarray
    size: np.ndarray
    lift: np.ndarray
    drop: np.ndarray
    ridge: float

    @classmethod
    def of(cls, generators: np.ndarray, alpha: float, tolerances: Tolerances) -> Design:
        """Coordinates for generators (N, n), every one different from 0."""
        N = len(generators)
        # powers of two, so that columns in integers or short decimals stay exact
        column = np.ones(generators.shape[1])
        if alpha == 0.0:
            largest = np.max(np.abs(generators), axis=0)
            column[largest > 0] = np.ldexp(1.0, -np.frexp(largest[largest > 0])[1])
        else:
            column *= np.ldexp(1.0, -int(np.frexp(np.max(np.abs(generators)))[1]))
        scaled = generators * column
        left, singular, right = np.linalg.svd(scaled, full_matrices=False)
        rank = max(int(np.sum(singular > tolerances.rank * singular[0])), 1)
        left, singular, right = left[:, :rank], singular[:rank], right[:rank]
        if alpha == 0.0:
            X = left * np.sqrt(N)
            lift = column[:, None] * right.T / singular * np.sqrt(N)
            drop = (singular[:, None] * right / np.sqrt(N)) / column
            ridge = 0.0
        else:
            factor = np.sqrt(N) / np.linalg.norm(singular)
            X = scaled @ right.T * factor
            lift = column[:, None] * right.T * factor
            drop = right / (column * factor)
            ridge = alpha * float(column[0] * factor) ** 2
        X = np.ascontiguousarray(X)
        return cls(X, np.ascontiguousarray(X.T), np.linalg.norm(X, axis=1), lift, np.ascontiguousarray(drop), ridge)
