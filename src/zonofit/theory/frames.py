"""Features of size one and full rank, in which the construction of Theorem 3 chooses its direction and its weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zonofit.errors import InputError
from zonofit.theory.chunks import Chunks
from zonofit.theory.cones import nearest
from zonofit.tolerances import Tolerances

__all__ = ["Frame"]

_INSIDE = 1e-6  # a preactivation is at least this part of the largest one, or of the labels where they are larger


@dataclass(frozen=True, eq=False)
class Frame:
    """Examples as F = ((X - shift) / scale) V, labels as (y - centre) / unit.

    Attributes
    ----------
    G : ndarray (N, r + 1)
        Generators (F, 1).
    labels : ndarray (N,)
    shift, scale : ndarray (d,)
    V : ndarray (d, r)
        Orthonormal columns.
    centre, unit : float
    """

    G: np.ndarray
    labels: np.ndarray
    shift: np.ndarray
    scale: np.ndarray
    V: np.ndarray
    centre: float
    unit: float

    @classmethod
    def of(cls, X: np.ndarray, y: np.ndarray, tolerances: Tolerances) -> Frame:
        """The frame of examples (N, d), no two of them equal."""
        largest = np.max(np.abs(X), axis=0)
        largest[largest == 0] = 1.0
        shift = np.mean(X / largest, axis=0) * largest  # whose sum alone could overflow
        spread = np.max(np.abs(X - shift), axis=0)
        flat = spread <= 4 * np.finfo(float).eps * largest
        scale = np.where(flat, 1.0, np.ldexp(1.0, np.frexp(np.where(flat, 1.0, spread))[1] - 1))
        S = np.where(flat, 0.0, (X - shift) / scale)
        _, singular, right = np.linalg.svd(S, full_matrices=False)
        r = max(int(np.sum(singular > tolerances.rank * singular[0])), 1)
        top = float(np.max(np.abs(y)))
        centre = float(np.mean(y / top) * top) if top > 0 else 0.0
        unit = float(np.max(np.abs(y - centre))) or 1.0
        V = right[:r].T
        V = V * np.where(V[np.argmax(np.abs(V), axis=0), np.arange(r)] < 0, -1.0, 1.0)  # whatever the order of the rows
        return cls(np.c_[S @ V, np.ones(len(X))], (y - centre) / unit, shift, scale, V, centre, unit)

    def candidates(self, tries: int, rng: np.random.Generator) -> list[np.ndarray]:
        """Directions in the frame: coordinates, principal axes (the axes of the frame) and random ones."""
        r = self.V.shape[1]
        if r == 1:
            return [np.ones(1), -np.ones(1)]
        axes = [row for row in self.V if np.linalg.norm(row) > _INSIDE]
        random = list(rng.standard_normal((tries, r)))
        return [sign * one for one in [*axes, *np.eye(r), *random] for sign in (1.0, -1.0)]

    def inward(self, direction: np.ndarray) -> np.ndarray:
        """A direction of the features as one of the frame."""
        found = self.V.T @ (self.scale * direction)
        if np.linalg.norm(found) > np.finfo(float).eps * np.linalg.norm(self.scale * direction):
            return found
        if len(self.G) <= self.G.shape[1]:  # one chunk, for which any will do
            return np.ones(self.V.shape[1])
        raise InputError("direction: all examples are equally high along it; choose one along which they differ.")

    def last_coordinate(self) -> np.ndarray:
        """The direction that the paper takes, or the last feature that is not constant."""
        varies = np.flatnonzero(np.linalg.norm(self.V, axis=1) > _INSIDE)
        return self.V[varies[-1]] * self.scale[varies[-1]]

    def outward_direction(self, direction: np.ndarray) -> np.ndarray:
        """A direction of the frame as one of the features, of unit length."""
        found = self.V @ direction / self.scale
        return found / np.linalg.norm(found)

    @staticmethod
    def cost(chunks: Chunks) -> float:
        """Length of all differences z, which the shortest weights follow closely over directions."""
        return float(np.linalg.norm(np.diff(chunks.fits, axis=0, prepend=0.0)))

    def shared(self, chunks: Chunks) -> np.ndarray:
        """Weights (K, r + 1) of the second unit of each pair: (z + u, u) is the shortest one in the chamber."""
        z = np.diff(chunks.fits, axis=0, prepend=0.0)
        found = np.empty_like(z)
        for k, active in enumerate(chunks.active):
            C = np.where(active, 1.0, -1.0)[:, None] * self.G
            need = self._need(C, z[k])
            u = nearest(C, need, -z[k] / 2)
            if u is None or not np.all(C @ u >= need / 2):
                u = self._multiple(chunks, k, z[k]) * chunks.separators[k]
            found[k] = u
        return found

    def outward(self, w: np.ndarray) -> np.ndarray:
        """Weights (k, r + 1) of the frame as weights (k, d + 1) for the examples as they came."""
        features = w[:, :-1] @ self.V.T / self.scale
        return np.column_stack([features, w[:, -1] - features @ self.shift])

    def weights(self, fits: np.ndarray, shared: np.ndarray) -> np.ndarray:
        """Weights (2K, d + 1) of all pairs, for the examples and labels as they came."""
        z = np.diff(fits, axis=0, prepend=0.0)
        return self.outward(self.unit * np.stack([z + shared, shared], axis=1).reshape(-1, fits.shape[1]))

    def _need(self, C: np.ndarray, z: np.ndarray) -> np.ndarray:
        """What signed preactivations of u must be at least, so that those of u and of z + u are positive."""
        along = C @ z
        return np.maximum(-along, 0.0) + _INSIDE * max(float(np.max(np.abs(along))), 1.0)

    def _multiple(self, chunks: Chunks, k: int, z: np.ndarray) -> float:
        active = np.zeros(len(self.G), bool)
        active[chunks.order[chunks.starts[k] :]] = True
        C = np.where(active, 1.0, -1.0)[:, None] * self.G
        with np.errstate(divide="ignore", over="ignore"):
            height = np.maximum(C @ chunks.separators[k], 0.0)
            return float(np.max(self._need(C, z) / height))
