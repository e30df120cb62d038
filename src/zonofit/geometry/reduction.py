"""The simple arrangement behind any generators.

Zero generators, parallel generators and a common null space change nothing about which chambers exist: bits
of a zero generator are 0 everywhere, bits of parallel generators are copies or complements of each other, and an
invertible change of features moves chambers without changing their patterns. `reduce_generators` takes these
away once, so that every algorithm sees unit, pairwise non-parallel rows of full rank in coordinates whitened so
that ``simple.T @ simple`` is close to a multiple of the identity.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zonofit.tolerances import Tolerances


@dataclass(frozen=True)
class Reduction:
    """``generators[i]`` is a positive multiple of ``orientation[i] * simple[member[i]]`` in whitened coordinates.

    Attributes
    ----------
    simple : ndarray (M, r)
        Unit rows, pairwise non-parallel, of rank r.
    member : ndarray (N,) of int
        Row of `simple` of each generator; -1 for a zero generator.
    orientation : ndarray (N,) of int8
        +1 or -1; 0 for a zero generator.
    lift : ndarray (n, r)
        ``w = lift @ u``: the weights whose signs on the generators are those of ``simple @ u``.
    """

    simple: np.ndarray
    member: np.ndarray
    orientation: np.ndarray
    lift: np.ndarray

    @property
    def rank(self) -> int:
        """Rank r of the generators."""
        return self.simple.shape[1]

    @property
    def is_trivial(self) -> bool:
        """Whether bits of `simple` are the bits of the generators, one for one."""
        N = len(self.member)
        return len(self.simple) == N and bool(np.all(self.orientation == 1))

    def expand(self, patterns) -> np.ndarray:
        """Patterns of `simple`, shape (..., M), to patterns of the generators, shape (..., N)."""
        patterns = np.asarray(patterns, bool)
        live = self.orientation != 0
        bits = np.zeros((*patterns.shape[:-1], len(self.member)), bool)
        bits[..., live] = patterns[..., self.member[live]] ^ (self.orientation[live] < 0)
        return bits


def reduce_generators(generators: np.ndarray, tolerances: Tolerances) -> Reduction:
    """Merge, drop and whiten; `generators` (N, n) are finite floats."""
    N, n = generators.shape
    live = np.flatnonzero(np.any(generators != 0, axis=1))
    member = np.full(N, -1)
    orientation = np.zeros(N, np.int8)
    if live.size == 0:
        return Reduction(np.zeros((0, 0)), member, orientation, np.zeros((n, 0)))
    white, lift = _whiten(generators[live], tolerances.rank)
    first, side = _parallel_classes(white, tolerances.parallel)
    representatives = np.flatnonzero(first == np.arange(len(live)))
    place = np.empty(len(live), int)
    place[representatives] = np.arange(len(representatives))
    member[live] = place[first]
    orientation[live] = side
    return Reduction(np.ascontiguousarray(white[representatives]), member, orientation, lift)


def _whiten(rows: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
    """Unit rows of ``rows @ lift`` and the change of coordinates `lift` (n, rank)."""
    n = rows.shape[1]
    column = np.ones(n)
    # powers of two keep integer data exact, and the largest entry first keeps 1e300 from overflowing a norm
    scaled = rows / _power_of_two(np.max(np.abs(rows), axis=1))[:, None]
    for _ in range(8):
        size = np.max(np.abs(scaled), axis=0)
        step = np.where(size > 0, _power_of_two(np.where(size > 0, size, 1.0)), 1.0)
        scaled = scaled / step
        column /= step
        scaled = scaled / _power_of_two(np.max(np.abs(scaled), axis=1))[:, None]
        if np.all(step == 1.0):
            break
    scaled = scaled / np.linalg.norm(scaled, axis=1)[:, None]
    _, singular, right = np.linalg.svd(scaled, full_matrices=False)
    rank = int(np.sum(singular > tolerance * singular[0]))
    change = right[:rank].T / singular[:rank]
    white = scaled @ change
    white /= np.linalg.norm(white, axis=1)[:, None]
    return white, column[:, None] * change


def _parallel_classes(unit: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
    """First member of each row's parallel class, and whether the row points the same way (+1) or not (-1)."""
    N, r = unit.shape
    first = np.arange(N)
    side = np.ones(N, np.int8)
    key = np.abs(unit @ np.random.default_rng(0).standard_normal(r)) / np.sqrt(r)
    order = np.argsort(key, kind="stable")
    # parallel rows have keys within a few `tolerance` of each other, so only neighbours in this order are compared
    for shift in range(1, N):
        a, b = order[:-shift], order[shift:]
        close = key[b] - key[a] <= 8 * tolerance
        if not close.any():
            break
        for i, j in zip(a[close], b[close], strict=True):
            sign = 1 if unit[i] @ unit[j] > 0 else -1
            if np.linalg.norm(unit[i] - sign * unit[j]) > tolerance:
                continue
            low, high = min(first[i], first[j]), max(first[i], first[j])
            if low == high:
                continue
            flip = side[i] * side[j] * sign
            moved = first == high
            first[moved] = low
            side[moved] *= flip
            if side[low] < 0:
                side[first == low] *= -1
    return first, side


def _power_of_two(x: np.ndarray) -> np.ndarray:
    return np.ldexp(1.0, np.frexp(x)[1] - 1)
