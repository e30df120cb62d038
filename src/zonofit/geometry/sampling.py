r"""Random chambers.

The paper draws w from a standard Gaussian, which weighs each chamber by its solid angle; its chambers are large and
have 1.5 to 3 times as many walls as most. Exactly uniform chambers come from `zonofit.geometry.bijection`: draw
k with weight C(N-1, k), then a k-subset, and reject it when it holds a broken circuit. In general position
nothing is ever rejected; otherwise a draw is accepted with probability (chambers) / (2 Σ_{k<n} C(N-1, k)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from zonofit.errors import BudgetError, InputError
from zonofit.geometry.bijection import frame_coordinates
from zonofit.geometry.chambers import SubsetWalk, chamber_bound, exact_frame, rounding
from zonofit.geometry.packing import unpack
from zonofit.geometry.reduction import lengths

if TYPE_CHECKING:
    from zonofit.geometry.arrangement import Arrangement

_TRIES_PER_CHAMBER = 100_000


@dataclass(frozen=True)
class Sample:
    """Random chambers.

    Attributes
    ----------
    patterns : ndarray of bool (size, N)
    witnesses : ndarray (size, n)
        A point strictly inside each chamber; for Gaussian chambers the w that was drawn, but for features whose units
        differ by more than about 1e10, where a w may be too near to a hyperplane for other methods.
    """

    patterns: np.ndarray
    witnesses: np.ndarray

    def __len__(self) -> int:
        return len(self.patterns)


def sample(arrangement: Arrangement, size: int, rng=None, *, how: str = "gaussian") -> Sample:
    """`size` independent random chambers.

    Parameters
    ----------
    arrangement : Arrangement
    size : int
    rng : None, int, or numpy.random.Generator
        Source of randomness; an int is a seed.
    how : {"gaussian", "uniform"}
        Chamber of a standard Gaussian w (the paper's choice), or every chamber with the same probability.

    Raises
    ------
    BudgetError
        When draws are rejected too often: uniform ones because the generators are far from general position, Gaussian
        ones because units differ beyond the range of floats.
    """
    if size < 0:
        raise InputError(f"size: cannot draw {size} chambers; pass 0 or more.")
    generator = np.random.default_rng(rng)
    if how == "gaussian":
        return _gaussian(arrangement, size, generator)
    if how == "uniform":
        return _uniform(arrangement, size, generator)
    raise InputError(f'how: {how!r} is not a way to draw chambers; pass "gaussian" or "uniform".')


def _gaussian(arrangement: Arrangement, size: int, rng: np.random.Generator) -> Sample:
    """Patterns I{Gw > 0}; a w that is on a hyperplane within rounding is in no chamber and is drawn again.

    `Arrangement.sign_vector` takes w for the result of a computation, in which a coordinate that matters little may be
    all error. A drawn w is exact, and of features with very different units nearly every w has such a coordinate: the
    rounding of its own products decides, and another witness is found when the w would not pass for one.
    """
    live = arrangement.reduction.orientation != 0
    witnesses = np.empty((size, arrangement.dimension))
    patterns = np.empty((size, arrangement.n_generators), bool)
    missing = np.arange(size)
    for _ in range(_TRIES_PER_CHAMBER):
        if not len(missing):
            return Sample(patterns, witnesses)
        w = rng.standard_normal((len(missing), arrangement.dimension))
        signs = arrangement.sign_vector(w)
        witnesses[missing], patterns[missing] = w, signs > 0
        doubtful = np.any(signs[:, live] == 0, axis=1)
        missing, w = missing[doubtful], w[doubtful]
        exact, certain = _signs_of_exact(arrangement, w, live)
        patterns[missing], replaced = exact, missing[certain]
        for pattern in np.unique(patterns[replaced], axis=0):
            same = replaced[np.all(patterns[replaced] == pattern, axis=1)]
            inside = arrangement.membership(pattern).witness
            if inside is not None and np.all(arrangement.sign_vector(inside)[live] != 0):
                witnesses[same] = inside
            else:
                certain[np.isin(missing, same)] = False
        missing = missing[~certain]
    raise BudgetError(
        f"sample: {_TRIES_PER_CHAMBER} draws in a row were on a hyperplane within rounding; "
        'bring the features to similar units, or use how="uniform".'
    )


def _signs_of_exact(arrangement: Arrangement, w: np.ndarray, live: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Patterns of weights (K, n) taken as exact, and whether the rounding of the products leaves each beyond doubt."""
    rows, column = arrangement._equilibrated
    u = w * column
    values, size = u @ rows.T, np.abs(u) @ np.abs(rows).T
    sure = np.abs(values) > (len(column) + 2) * np.finfo(float).eps * size
    return (values > 0) & live, np.all(sure[:, live], axis=1)


def _uniform(arrangement: Arrangement, size: int, rng: np.random.Generator) -> Sample:
    reduction = arrangement.reduction
    n = reduction.rank
    M = len(reduction.simple) - 1
    patterns = np.zeros((size, arrangement.n_generators), bool)
    witnesses = np.zeros((size, arrangement.dimension))
    if n == 0:
        return Sample(patterns, witnesses)
    coordinates, axes = frame_coordinates(reduction.simple)
    walk = SubsetWalk(
        coordinates, False, rounding(reduction, arrangement.tolerances), exact=exact_frame(reduction, axes)
    )
    weights = [math.comb(M, k) for k in range(n)]
    total = chamber_bound(M + 1, n) // 2
    for row in range(size):
        for _ in range(_TRIES_PER_CHAMBER):
            rank = _below(total, rng)
            k = 0
            while rank >= weights[k]:
                rank -= weights[k]
                k += 1
            subset = np.sort(rng.choice(M, k, replace=False))
            words = walk.of_subset(subset)
            if words is not None:
                break
        else:
            raise BudgetError(
                f"sample: {_TRIES_PER_CHAMBER} draws in a row named no chamber, so there are far fewer than the "
                f'{2 * total} of general position; enumerate chambers() and choose among them, or use how="gaussian".'
            )
        active = unpack(words, M + 1)
        side = -1.0 if rng.random() < 0.5 else 1.0
        patterns[row] = reduction.expand(active ^ (side < 0))
        inside = _inside(coordinates, subset, np.where(active, 1.0, -1.0))
        if inside is None:
            witnesses[row] = arrangement.membership(patterns[row]).witness
        else:
            w = side * (reduction.lift @ (axes @ inside))
            witnesses[row] = w / lengths(w)
    return Sample(patterns, witnesses)


def _inside(coordinates: np.ndarray, subset: np.ndarray, signs: np.ndarray) -> np.ndarray | None:
    """A point of the chamber that `subset` names, in frame coordinates.

    From its ray along its edges, then off infinity.

    In general position the sum of the edges leads inside. Where generators depend on those of the subset, edges with
    larger index must count for more (the dominance in `bijection`); None when moderate weights do not do.
    """
    n = coordinates.shape[1]
    k = len(subset)
    level = n - 1 - k
    chart = np.vstack([np.eye(1, k + 1), coordinates[subset, level:]])
    rays = np.linalg.inv(chart)
    for base in (1.0, 8.0, 64.0):
        w = np.zeros(n)
        w[level:] = rays[:, 0]
        edge = np.zeros(n)
        edge[level:] = rays[:, 1:] @ (signs[subset] * base ** np.arange(k))
        w = _towards(w, edge, coordinates, signs)
        if level:
            w = _towards(w, np.eye(n)[0], coordinates, signs)
        margins = signs * (coordinates @ w)
        if np.all(margins > 1e-9 * np.linalg.norm(w)):
            return w
    return None


def _towards(w: np.ndarray, step: np.ndarray, coordinates: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Go from w along step, half way to the first hyperplane that w is strictly off and step leads to."""
    margins = signs * (coordinates @ w)
    change = signs * (coordinates @ step)
    ahead = (margins > 1e-9 * np.linalg.norm(w)) & (change < 0)
    length = 0.5 * np.min(margins[ahead] / -change[ahead]) if ahead.any() else 1.0
    return w + length * step


def _below(bound: int, rng: np.random.Generator) -> int:
    """A uniform integer in [0, bound) of any size."""
    bits = (bound - 1).bit_length()
    while True:
        value = int.from_bytes(rng.bytes(-(-bits // 8) or 1), "little") & ((1 << bits) - 1)
        if value < bound:
            return value
