r"""Theorem 1: how far the examples may move before the zonotope changes, and whether two zonotopes are equal.

The patterns of a data set depend only on the signs of its n×n minors det X̄_S. While every example moves by at most ε,
X̄_S moves by at most √n ε in the spectral norm, so no minor reaches zero for

    ε < min_S σ_min(X̄_S) / √n,

a certified radius. The proof of Theorem 1 has ε < δ / 2N instead, where δ is the least over chambers of
max_{|w|=1} minᵢ |w·x̄ᵢ|. The best possible radius has a closed form too: the n examples of S can be moved onto one
hyperplane by moves of at most ε exactly when some w with unit feature part has |w·x̄ᵢ| ≤ ε on S, and for given signs
s of w·x̄ᵢ the least such ε is 1 / |features of X̄_S⁻¹ s|; so it is

    min_S min_{s ∈ {±1}ⁿ} 1 / |features of X̄_S⁻¹ s|.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from zonofit.errors import BudgetError, InputError
from zonofit.geometry.arrangement import Arrangement
from zonofit.geometry.comparison import Comparison, arrangement_of, same_zonotope

if TYPE_CHECKING:
    from zonofit.geometry.position import PositionReport

__all__ = [
    "Comparison",
    "StabilityRadius",
    "breaking_move",
    "chamber_inradius",
    "proof_radius",
    "same_zonotope",
    "stability_radius",
]

_EPS = float(np.finfo(float).eps)
_LARGEST_SUBSET = 20  # the tight radius tries 2^(n-1) sign vectors for a subset of n
_CHAMBERS = 20_000


@dataclass(frozen=True, eq=False)
class StabilityRadius:
    """How far every example may move, as a Euclidean length, before the set of patterns can change.

    Attributes
    ----------
    radius : float
        min σ_min(X̄_S) / √n less rounding: moving every example by less leaves all patterns as they are. 0 for data
        not in general position.
    subset : tuple of int
        Where it is attained; a dependent set of generators when `radius` is 0.
    singular_value : float
        σ_min(X̄_S) there.
    tight_radius : float
        The best possible radius, up to rounding: moves a little longer make the examples of `tight_subset` change the
        sign of their minor; see `breaking_move`. nan beyond 20 coordinates.
    tight_subset : tuple of int
    tight_signs : ndarray of int8
        Sides s of `tight_subset` on which the examples lie of the hyperplane that they can be moved onto.
    direction : ndarray
        Unit vector along which they are moved, by ``-tight_signs * tight_radius``.
    only_features : bool
        Whether the last coordinate of every generator is the 1 of a homogeneous example and stays.
    n_subsets, n_inverted : int
        Number of n-subsets, and for how many of them a determinant bound did not suffice (both searches together).
    """

    radius: float
    subset: tuple[int, ...]
    singular_value: float
    tight_radius: float
    tight_subset: tuple[int, ...]
    tight_signs: np.ndarray = field(repr=False)
    direction: np.ndarray = field(repr=False)
    only_features: bool
    n_subsets: int
    n_inverted: int


def stability_radius(data, *, budget: int | None = None, tight: bool = True) -> StabilityRadius:
    """Find how far the examples may move without any change of the set of patterns (Theorem 1).

    Parameters
    ----------
    data : Arrangement or array_like (N, d)
        An array holds examples. Generators of an arrangement that all end in 1 are homogeneous examples too; of others
        every coordinate moves. When N < n the subset is all N of them, and N takes the place of n.
    budget : int, optional
        `BudgetError` if there are more n-subsets; 2e8 by default.
    tight : bool
        Whether to look for the tight radius as well.
    """
    from zonofit.geometry._narrow_subsets import least_over_subsets, tight_radius_of
    from zonofit.geometry.minors import DEFAULT_BUDGET

    arrangement, only_features = _movable(data)
    budget = DEFAULT_BUDGET if budget is None else budget
    G = arrangement.generators
    N, n = G.shape
    k = min(N, n)
    if comb(N, k) > budget:
        raise BudgetError(
            f"budget: {comb(N, k):,} subsets of {k} of {N} examples are more than the {budget:,} allowed; "
            f"pass budget={comb(N, k)} or fewer examples."
        )
    width = n - 1 if only_features else n
    report = arrangement.position(budget=budget)
    if not report.is_generic:
        none = np.zeros(0, np.int8), np.zeros(width)
        subset = _dependent_subset(report)
        return StabilityRadius(0.0, subset, 0.0, 0.0, subset, *none, only_features, comb(N, k), 0)
    rounding = 8 * n * _EPS * float(np.sqrt(np.sum(np.sort(np.sum(G**2, axis=1))[-k:])))
    smallest, subset, inverted = least_over_subsets(_square(G)[0], k, None)
    radius = max(0.0, smallest - rounding) / np.sqrt(k)
    limit, where, signs, direction = np.nan, subset, np.zeros(0, np.int8), np.zeros(width)
    if width == 0 or (only_features and N == 1):
        limit = np.inf
    elif tight and k <= _LARGEST_SUBSET:
        # the tight radius does not change when all examples are translated or their last coordinate is scaled
        F = G[:, :width] - G[:, :width].mean(axis=0) if only_features else G
        rows, axes = _square(F, N - 1 if only_features else N)
        movable = rows.shape[1]
        if only_features:
            rows = np.c_[rows, np.full(N, np.median(np.linalg.norm(rows, axis=1)))]
        limit, where, more = least_over_subsets(rows, k, movable)
        inverted += more
        _, signs, moved = tight_radius_of(rows[list(where)], movable)
        direction = axes @ moved
    return StabilityRadius(
        radius, subset, smallest, limit, where, signs, direction, only_features, comb(N, k), inverted
    )


def breaking_move(data, stability: StabilityRadius, *, beyond: float = 1.01) -> np.ndarray:
    """Move `tight_subset` by ``beyond * tight_radius``, which makes its minor ``1 - beyond`` times what it was.

    Returns
    -------
    ndarray
        Examples (N, d), or generators (N, n) when these move in every coordinate.
    """
    if not np.isfinite(stability.tight_radius) or len(stability.tight_signs) == 0:
        raise InputError("stability: no tight radius to break; it must be finite, positive and asked for (tight=True).")
    arrangement, only_features = _movable(data)
    moved = arrangement.generators.copy()
    if only_features:
        moved = moved[:, :-1]
    length = beyond * stability.tight_radius
    moved[list(stability.tight_subset)] -= length * stability.tight_signs[:, None] * stability.direction
    return moved


def chamber_inradius(data, *, budget: int = _CHAMBERS) -> float:
    """Least over chambers of max_{|w|=1} minᵢ |w·x̄ᵢ|: the δ in the proof of Theorem 1.

    Parameters
    ----------
    data : Arrangement or array_like (N, d)
    budget : int
        `BudgetError` if there are more chambers: each costs a nearest point problem.
    """
    from scipy.optimize import nnls

    from zonofit.geometry.packing import unpack

    arrangement = arrangement_of(data)
    G = arrangement.generators
    N, n = G.shape
    if np.any(~np.any(G != 0, axis=1)):
        return 0.0
    size = float(np.max(np.linalg.norm(G, axis=1)))
    target = np.zeros(n + 1)
    target[n] = 1.0
    least, seen = np.inf, 0
    for block in arrangement.chambers(half=True):
        seen += len(block)
        if 2 * seen > budget:
            raise BudgetError(f"budget: there are more than the {budget:,} chambers allowed; pass a larger budget.")
        for pattern in unpack(block, N):
            A = np.where(pattern, 1.0, -1.0)[:, None] * G / size
            multipliers, _ = nnls(np.vstack([A.T, np.ones(N)]), target)
            least = min(least, float(np.linalg.norm(multipliers @ A) / np.sum(multipliers)))
    return least * size


def proof_radius(data, *, budget: int = _CHAMBERS) -> float:
    r"""Radius δ / 2N of the proof of Theorem 1 (appendix C), by one nearest point problem a chamber.

    In general position δ itself is a certified radius: witnesses of inradius δ survive, so no chamber is lost, and none
    can be new because there are as many as there can be.
    """
    return chamber_inradius(data, budget=budget) / (2 * arrangement_of(data).n_generators)


def _movable(data) -> tuple[Arrangement, bool]:
    """Return the arrangement, and whether only the features of its generators move."""
    arrangement = arrangement_of(data)
    return arrangement, bool(np.all(arrangement.generators[:, -1] == 1.0))


def _dependent_subset(report: PositionReport) -> tuple[int, ...]:
    if report.zero:
        return report.zero[:1]
    if report.parallel:
        return tuple(i for i, _ in report.parallel[0][:2])
    if report.circuits:
        return report.circuits[0]
    return tuple(range(report.rank + 1))


def _square(G: np.ndarray, width: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Find coordinates of the rows in at most `width` (default N) axes that span them, and the axes as columns."""
    N, n = G.shape
    width = N if width is None else width
    if width >= n:
        return G, np.eye(n)
    axes = np.linalg.svd(G, full_matrices=False)[2][:width].T
    return G @ axes, axes
