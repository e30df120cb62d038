"""Examples as the search sees them: distinct, in a fixed order, standardised.

A search that meets the same numbers in another order takes another path. So examples are sorted, and equal ones become
one with the sum of their weights: an example of weight 2 is then the same as one that occurs twice, to the last bit,
and the order of the rows changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

_CONSTANT = 64 * np.finfo(float).eps  # a feature varies if its deviation is above this part of its largest value


@dataclass(frozen=True, eq=False)
class Examples:
    """Standardised examples X (N, d), labels y (N,) and weights (N,); x = centre + scale X in the user's units."""

    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    centre: np.ndarray
    scale: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray, y: np.ndarray, sample_weight: np.ndarray | None) -> Examples:
        """Merge, sort and standardise; examples of weight 0 are left out."""
        X, y = X + 0.0, y + 0.0  # -0 is 0
        weights = np.ones(len(y)) if sample_weight is None else sample_weight
        used = weights > 0
        table, weights = np.c_[X, y][used], weights[used]
        order = np.lexsort(table.T[::-1])
        table, weights = table[order], weights[order]
        first = np.append(True, np.any(table[1:] != table[:-1], axis=1))
        weights = np.add.reduceat(weights, np.flatnonzero(first))
        X, y = table[first, :-1], table[first, -1]
        # powers of two, so that nothing overflows and nothing is rounded
        size = np.ldexp(1.0, np.frexp(np.max(np.abs(X), axis=0))[1])
        share = weights / weights.max()
        share = share / share.sum()
        Z = X / size
        centre = share @ Z
        deviation = np.sqrt(share @ (Z - centre) ** 2)
        varies = deviation > _CONSTANT
        scale = np.where(varies, deviation, 1.0)
        return cls(np.where(varies, (Z - centre) / scale, 0.0), y, weights, size * centre, size * scale)

    def some(self, rows: np.ndarray) -> Examples:
        """Some of them, in the same units."""
        return replace(self, X=self.X[rows], y=self.y[rows], weights=self.weights[rows])

    def split(self, fraction: float, rng: np.random.Generator, classes: bool) -> tuple[Examples, Examples]:
        """A part to train on and one held back, drawn at random; from each class in turn if labels are classes."""
        held = np.zeros(len(self.y), bool)
        groups = [np.flatnonzero(self.y == k) for k in np.unique(self.y)] if classes else [np.arange(len(self.y))]
        for rows in groups:
            number = min(max(round(fraction * len(rows)), 1), len(rows) - 1)
            held[rng.permutation(rows)[:number]] = True
        return self.some(~held), self.some(held)

    def to_user(self, W: np.ndarray) -> np.ndarray:
        """Weights (m, d + 1) for the user's features from those for X."""
        slopes = W[:, :-1] / self.scale
        return np.c_[slopes, W[:, -1] - slopes @ self.centre]

    def from_user(self, W: np.ndarray) -> np.ndarray:
        """Weights (m, d + 1) for X from those for the user's features."""
        return np.c_[W[:, :-1] * self.scale, W[:, -1] + W[:, :-1] @ self.centre]
