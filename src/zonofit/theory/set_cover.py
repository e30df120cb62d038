r"""Theorem 2 and appendix E: training one ReLU without a bias is as hard as set cover, also in general position.

Given sets T₁, ..., T_M with union U, put γ = 0.01 / M² and d = M + 2 with coordinates e_T, e_γ and e₁. The examples are

    e_γ with label γ,   e₁ with label 1,   e_γ + e_T with label γ for each set T,
    e₁ + Σ_{T ∋ u} e_T with label 0 for each element u,

N = |U| + M + 2 in all. In general position the last kind becomes x_u - η_u, with η_u uniform on [δ₁, δ₂]^d,
0 < δ₁ < δ₂ < 1/(2d).

**Theorem.** When every element is in some set, the least mean squared error of φ(w·x) is t* γ² / N, t* the size of the
smallest cover, for both data sets. Of any w with N times the loss at most M γ², the sets T with w_γ + w_T <= 0 are a
cover, and their number is at most N times the loss over γ².

So a loss of at most t γ² / N is there exactly when a cover of t sets is. The paper prints one half of the proof
twice; the other half is on the documentation's page on the theorem, and `Reduction.decode` is what it says.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from zonofit.errors import InputError
from zonofit.tolerances import DEFAULT_TOLERANCES, Tolerances

if TYPE_CHECKING:
    from zonofit.programs.problem import Problem
    from zonofit.search.budget import Budget
    from zonofit.search.trace import Trace
    from zonofit.search.walk import Search
    from zonofit.theory.covers import SetCover

__all__ = ["CoverResult", "Reduction", "least_norm_weights", "nudge", "reduce_to_relu", "train_cover"]

_GAMMA = 0.01  # the paper's constant: gamma is this over M²


@dataclass(frozen=True, eq=False)
class Reduction:
    """The data set of a set cover instance; one ReLU with output weight 1 and no bias at all is trained on it.

    Attributes
    ----------
    instance : SetCover
    X : ndarray (N, M + 2)
        Examples in the order: one for each set, e_γ, e₁, one for each element. Coordinates: M sets, γ, 1.
    y : ndarray (N,)
    gamma : float
    noise : tuple of float or None
        δ₁ and δ₂, or None for the data set of Goel et al., which is not in general position.
    tolerances : Tolerances
    """

    instance: SetCover
    X: np.ndarray
    y: np.ndarray
    gamma: float
    noise: tuple[float, float] | None
    tolerances: Tolerances = DEFAULT_TOLERANCES

    @cached_property
    def problem(self) -> Problem:
        """Training that ReLU."""
        from zonofit.programs.problem import Problem

        return Problem(self.X, self.y, [1.0], output_bias=0.0, bias=False, tolerances=self.tolerances)

    @property
    def unit(self) -> float:
        """γ² / N, which the least loss is a whole multiple of."""
        return self.gamma**2 / len(self.y)

    def bound(self, t: int) -> float:
        """T γ² / N, the loss that decides whether t sets can do."""
        return t * self.unit

    def reached(self, loss: float, t: int) -> bool:
        """Whether a loss is at most t γ² / N, up to ``tolerances.level`` of γ² / N."""
        return bool(loss <= (t + self.tolerances.level) * self.unit)

    def weights(self, cover) -> np.ndarray:
        """Weights (M + 2,) of the paper for some of the sets, by number; their loss is |cover| γ² / N if it is a cover.

        The sets have weight -1, in general position -2.
        """
        M = len(self.instance.sets)
        w = np.zeros(M + 2)
        w[list(cover)] = -1.0 if self.noise is None else -2.0
        w[M], w[M + 1] = self.gamma, 1.0
        return w

    def decode(self, w) -> tuple[int, ...]:
        """Numbers of the sets T that weights (M + 2,) switch off, w_γ + w_T <= 0."""
        M = len(self.instance.sets)
        w = np.asarray(w, float).ravel()
        if len(w) != M + 2 or not np.isfinite(w).all():
            raise InputError(f"w: expected {M + 2} finite weights, one for each set, γ and 1; got {len(w)}.")
        # a computed weight on the wall is off by rounding, and γ is what an active one should give
        return tuple(np.flatnonzero(w[M] + w[:M] <= self.tolerances.level * self.gamma).tolist())


@dataclass(frozen=True, eq=False)
class CoverResult:
    """A cover that training one ReLU gave.

    Attributes
    ----------
    reduction : Reduction
    trace : Trace
        The search.
    cover : tuple of int or None
        Numbers of the sets, without those that others make superfluous; None if the loss is too large to tell.
    level : float
        N times the loss over γ²: a cover of so many sets or fewer was found, and of a global optimum it is the least
        number of sets.
    optimal : bool
        Whether every vertex was looked at, so that no smaller cover exists.
    """

    reduction: Reduction
    trace: Trace
    cover: tuple[int, ...] | None
    level: float
    optimal: bool

    def allows(self, t: int) -> bool | None:
        """Whether some cover has t sets; None if the search did not tell."""
        if self.reduction.reached(self.trace.loss, t) or (self.cover is not None and len(self.cover) <= t):
            return True
        return False if self.optimal else None


def reduce_to_relu(
    instance: SetCover,
    *,
    general: bool = True,
    noise: tuple[float, float] | None = None,
    rng=None,
    tolerances: Tolerances = DEFAULT_TOLERANCES,
) -> Reduction:
    """Turn a set cover instance into examples and labels (appendices E.1 and E.3).

    Parameters
    ----------
    instance : SetCover
    general : bool
        In general position, or as Goel et al. have it.
    noise : tuple of float, optional
        δ₁ and δ₂; by default drawn from the allowed range.
    rng : None, int or numpy.random.Generator
        Of the noise.
    """
    M = len(instance.sets)
    d = M + 2
    gamma = _GAMMA / M**2
    sets, one, by_gamma = np.eye(d)[:M], np.eye(d)[M + 1], np.eye(d)[M]
    elements = np.tile(one, (len(instance.elements), 1))
    elements[:, :M] = instance.incidence.T
    if general:
        rng = np.random.default_rng(rng)
        low, high = np.sort(rng.uniform(0.0, 1.0 / (2 * d), 2)) if noise is None else noise
        if not 0.0 < low < high < 1.0 / (2 * d):
            raise InputError(f"noise: ({low:g}, {high:g}) will not do; pass δ₁ and δ₂ with 0 < δ₁ < δ₂ < 1/{2 * d}.")
        noise = float(low), float(high)
        elements -= rng.uniform(low, high, elements.shape)
    elif noise is not None:
        raise InputError("noise: there is none without general position; pass general=True, or leave noise out.")
    X = np.vstack([sets + by_gamma, by_gamma, one, elements])
    y = np.concatenate([np.full(M + 1, gamma), [1.0], np.zeros(len(elements))])
    return Reduction(instance, X, y, gamma, noise, tolerances)


def train_cover(reduction: Reduction, search: Search | None = None, *, budget: Budget | None = None, seed: int = 0):
    """Train one ReLU, and read the cover off its weights.

    Parameters
    ----------
    reduction : Reduction
    search : Search, optional
        By default `Exact`, after which the cover is the smallest. Any other one gives covers without that proof.
    budget : Budget, optional
    seed : int

    Returns
    -------
    CoverResult
    """
    from zonofit.search.exact import Exact
    from zonofit.search.runner import run

    search = Exact() if search is None else search
    trace = run(search, reduction.problem, budget=budget, seed=seed)
    level = trace.loss / reduction.unit
    chosen = reduction.decode(trace.W[0])
    instance = reduction.instance
    cover = instance.prune(chosen) if instance.covers(chosen) else None
    return CoverResult(reduction, trace, cover, level, isinstance(search, Exact) and trace.stop_reason == "complete")


def nudge(reduction: Reduction, k: int, epsilon: float) -> Reduction:
    """Appendix E.2: add ε to coordinate `k` of every element's example, which drops the least loss to γ² / N.

    However small ε > 0 is, w_T <= -1/ε for T = `k` alone then switches off all elements.
    """
    M = len(reduction.instance.sets)
    if not 0 <= k < M:
        raise InputError(f"k: there is no set number {k}; pass 0 to {M - 1}.")
    if not (np.isfinite(epsilon) and epsilon > 0):
        raise InputError(f"epsilon: {epsilon!r} will not do; pass a positive number.")
    X = reduction.X.copy()
    X[M + 2 :, k] += epsilon
    return replace(reduction, X=X)


def least_norm_weights(reduction: Reduction, patterns) -> np.ndarray:
    """The shortest w that meets the label of every active example, and is active on just those (closed chamber).

    Parameters
    ----------
    reduction : Reduction
    patterns : array_like (N,) of bool
    """
    from zonofit.theory.cones import shortest

    active = np.asarray(patterns, bool).ravel()
    w = shortest(reduction.X[active], reduction.y[active], -reduction.X[~active], np.zeros(int(np.sum(~active))))
    if w is None:
        raise InputError("patterns: no weights meet the labels of just these examples; pass the pattern of an optimum.")
    return w
