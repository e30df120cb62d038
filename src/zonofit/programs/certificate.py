r"""What an answer is worth, recomputed from the weights in plain NumPy.

The Lagrangian dual of the vertex program: for any ν ∈ R^N and multipliers λ >= 0 on the walls put
qⱼ = vⱼ Σᵢ aⱼᵢ νᵢ x̄ᵢ - Σᵢ λⱼᵢ sⱼᵢ x̄ᵢ. Then

    D(ν, λ) = - Σᵢ pᵢ ℓ*(νᵢ/pᵢ) - Σⱼ ‖qⱼ‖² / (2 alpha) + b Σᵢ νᵢ

is at most the optimum, where with alpha = 0 the middle term asks for qⱼ = 0, and a free output bias for Σᵢ νᵢ = 0 (a
fixed one is b). Losses are never negative, so neither is a bound. At a solution ν = p ℓ'(ŷ), qⱼ = -alpha wⱼ, and D is
the loss.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from zonofit.programs.problem import Problem

_EPS = np.finfo(float).eps


@dataclass(frozen=True)
class Certificate:
    """Residuals of a solution, each relative, so that 1e-9 means the same for any units of features and labels.

    Attributes
    ----------
    primal_residual : float
        How far a preactivation is on the wrong side, in units of the largest Σₖ |x̄ᵢₖ wⱼₖ| of its unit.
    stationarity : float
        The largest entry of vⱼ Σᵢ aⱼᵢ νᵢ x̄ᵢ + alpha wⱼ - Σᵢ λⱼᵢ sⱼᵢ x̄ᵢ and, if the output bias is free, of Σᵢ νᵢ; in
        units of the same sums over all examples, with absolute values, and with the ν of the best constant network
        where larger.
    dual_residual : float
        The most negative multiplier, in the same units; 0 if none is.
    objective : float
        Mean loss plus ridge of the weights, in the units of the loss.
    bound : float
        The value of the dual, never below 0: no weights with these patterns have a smaller objective, up to the
        stationarity residual where alpha = 0.
    scale : float
        Objective of the best constant network, in the units of the loss.
    """

    primal_residual: float
    stationarity: float
    dual_residual: float
    objective: float
    bound: float
    scale: float

    @property
    def gap(self) -> float:
        """Objective minus bound, in the units of the loss."""
        return self.objective - self.bound

    @property
    def relative_gap(self) -> float:
        """The gap in units of the objective of the best constant network."""
        gap = self.gap
        return 0.0 if gap == 0.0 else abs(gap) / self.scale

    def holds(self, tolerance: float = 1e-9) -> bool:
        """Whether every residual and the relative gap are at most `tolerance`."""
        numbers = (self.primal_residual, self.stationarity, self.dual_residual, self.relative_gap)
        return all(number <= tolerance for number in numbers)  # which NaN is not, wherever it stands


def certify(problem: Problem, patterns, W, c: float, nu, multipliers) -> Certificate:
    """Certificate of weights W (m, n) and c, from ν (N,) and λ (m, N), for a `Problem`."""
    X, y, p, v = problem.generators, problem.labels, problem.weights, problem.output_weights
    loss, alpha = problem.loss, problem.alpha
    Z = W @ X.T
    side = np.where(patterns, 1.0, -1.0)
    reach = np.max(np.abs(W) @ np.abs(X).T, axis=1)
    primal = np.max(np.max(np.maximum(-side * Z, 0.0), axis=1) / np.where(reach > 0, reach, 1.0))
    constant = problem.constant
    # where the loss depends on u - y only, both are taken from the constant, so that no digits cancel between them
    shift = constant if loss.translates else 0.0
    y = y - shift
    flat = np.full(len(y), constant - shift)
    u = v @ np.where(patterns, Z, 0.0) + (c - shift)
    objective = float(p @ loss.value(u, y)) + alpha / 2.0 * float(np.sum(W * W))
    null = np.abs(p * loss.slope(flat, y))
    flow = np.where(patterns, nu, 0.0) * v[:, None]
    q = (flow - side * multipliers) @ X
    pull = np.maximum(null, np.abs(nu))
    unit = np.abs(v)[:, None] * (pull @ np.abs(X)) + multipliers.clip(0) @ np.abs(X) + alpha * np.abs(W)
    rest = np.abs(q + alpha * W)
    stationarity = float(np.max(rest / np.where(unit > 0, unit, 1.0), initial=0.0))
    total = float(np.sum(null))
    dual = float(np.max(-multipliers, initial=0.0)) / (total * float(np.max(np.abs(v), initial=0.0)) or 1.0)
    used = p > 0
    bound = -float(p[used] @ loss.conjugate(nu[used] / p[used], y[used]))
    if problem.output_bias is None:
        stationarity = max(stationarity, abs(float(np.sum(nu))) / (total or 1.0))
    else:
        bound += (problem.output_bias - shift) * float(np.sum(nu))
    if alpha > 0:
        bound -= float(np.sum(q * q)) / (2.0 * alpha)
    scale = float(p @ loss.value(flat, y))
    # labels alike up to rounding leave no scale but that of rounding itself
    blur = 8 * _EPS * (np.abs(problem.labels) + abs(constant))
    tiny = 1e9 * float(p @ blur**loss.label_power)
    bound = bound if np.isfinite(bound) else 0.0
    return Certificate(float(primal), stationarity, dual, objective, max(bound, 0.0), max(scale, tiny, 1e-300))
