r"""Patterns that are decided in part: a convex program whose optimum bounds every completion from below.

Signs (m, N) say of each unit and example whether it is active (1), inactive (-1) or not decided (0). Replace max(0, z)
by any h with h >= 0 and h >= z where it is not decided, by z >= 0 where it is active and by 0 >= z where it is not.
Then the program is convex in what can be said of an example: its loss where all units are decided, the loss of too
large a prediction where all undecided output weights are positive, of too small a one where all are negative, and
nothing where both kinds are. Weights stay unbounded; there is no big M.

The dual has a ν (N,) and a κ (m, N) with qⱼ = Σᵢ κⱼᵢ x̄ᵢ, and the value

    D(ν, κ) = - Σᵢ pᵢ ℓ*(νᵢ/pᵢ) - Σⱼ ‖qⱼ‖² / (2 alpha) + b Σᵢ νᵢ

of `zonofit.programs.certificate`: with alpha = 0 it asks for qⱼ = 0, and a free output bias for Σᵢ νᵢ = 0. Only the
signs limit κ: it is at most vⱼνᵢ unless the unit is known to be inactive, and at least 0 unless it is known to be
active. So a dual point is one for all completions, and the bound cannot fall as more signs are decided.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from zonofit.programs._relaxation_kernel import SOLVED, solve_relaxation

if TYPE_CHECKING:
    from zonofit.programs.problem import Problem

_PULL = 1e-7  # of a proximal term, labels and generators being of size 1; it makes the program strictly convex
_SETTLED = 1e-10  # the proximal term's gradient is rounding below this, labels and generators being of size 1
_CENTRES = 30  # proximal steps; two or three are usual


@dataclass(frozen=True, eq=False)
class Relaxed:
    """Solution of a relaxation.

    Attributes
    ----------
    bound : float
        No network with these signs has a smaller objective. If `closed`, at least the cutoff.
    closed : bool
        Whether the bound reached the cutoff.
    W, c : ndarray (m, n), float
        Weights and output bias of the solution; what they do on undecided examples differs from its h.
    nu, kappa : ndarray (N,), (m, N)
        Dual values ν and κ.
    """

    bound: float
    closed: bool
    W: np.ndarray
    c: float
    nu: np.ndarray
    kappa: np.ndarray


class Relaxation(ABC):
    """Bounds for one choice of output weights.

    Parameters
    ----------
    problem : Problem
    """

    def __init__(self, problem: Problem):
        self.problem = problem

    @abstractmethod
    def solve(self, signs: np.ndarray, cutoff: float = np.inf) -> Relaxed:
        """Bound for signs (m, N) in -1, 0, 1; work ends once it is known to be at least `cutoff`."""


class QuadraticRelaxation(Relaxation):
    """The whole relaxation for the squared loss, compiled.

    Without a ridge the program need not be strictly convex; proximal steps, each from where the last one ended, leave
    its solution what it is.
    """

    def __init__(self, problem: Problem):
        super().__init__(problem)
        (N, r), m = problem.design.X.shape, problem.width
        self._free = problem.output_bias is None
        self._labels = problem.scaled_labels - (0.0 if self._free else problem.start_bias)
        self._q = m * r + int(self._free)
        most = max(self._q + N + 1, 5)
        self._x, self._nu, self._kappa = np.zeros(most), np.zeros(N), np.zeros((m, N))
        self._box, self._ids = np.zeros((4, most, most)), np.zeros((5, most + N), np.int64)
        self._count = np.zeros(1, np.int64)

    @property
    def steps(self) -> int:
        """Constraints added so far, over all programs."""
        return int(self._count[0])

    def solve(self, signs: np.ndarray, cutoff: float = np.inf) -> Relaxed:
        """Bound for signs (m, N) in -1, 0, 1; work ends once it is known to be at least `cutoff`."""
        problem, free = self.problem, self._free
        cutoff /= problem.loss_factor
        centre = np.zeros(self._q)
        status, value = self._once(signs, cutoff, centre)
        for _ in range(_CENTRES):  # is it below the cutoff for certain, or above it but for the proximal term?
            if status == SOLVED:
                move = self._x[: self._q] - centre
                bound = value - _PULL / 2.0 * float(move @ move)
                if bound < cutoff < np.inf or _PULL * np.max(np.abs(move)) <= _SETTLED:
                    break
                centre = self._x[: self._q].copy()
            status, value = self._once(signs, np.inf, centre)
        closed = bound >= cutoff if status == SOLVED else False
        if status != SOLVED:
            bound = 0.0  # rounding stopped it; nothing is known, and more signs will help
        m, r = len(signs), problem.design.X.shape[1]
        W = problem.unit * (self._x[: m * r].reshape(m, r) @ problem.design.lift.T)
        c = problem.centre + problem.unit * (float(self._x[m * r]) if free else problem.start_bias)
        factor = problem.loss_factor / problem.unit
        return Relaxed(max(bound, 0.0) * problem.loss_factor, closed, W, c, factor * self._nu, factor * self._kappa)

    def _once(self, signs, cutoff, centre) -> tuple[int, float]:
        problem = self.problem
        design = problem.design
        return solve_relaxation(
            design.X, design.size, signs, problem.output_weights, problem.curvature, self._labels, problem.ridge, _PULL,
            centre, self._free, cutoff, self._x, self._nu, self._kappa, self._box, self._ids, self._count,
        )  # fmt: skip


class DecidedRelaxation(Relaxation):
    """For any loss, and slow: the vertex program of the examples on which every unit is decided."""

    def solve(self, signs: np.ndarray, cutoff: float = np.inf) -> Relaxed:
        """Bound for signs (m, N) in -1, 0, 1."""
        from zonofit.programs.problem import Problem

        problem = self.problem
        rows = np.flatnonzero(np.all(signs != 0, axis=0) & (problem.weights > 0))
        nu, kappa = np.zeros(problem.n_examples), np.zeros(signs.shape)
        if len(rows) == 0:
            W = np.zeros((len(signs), problem.generators.shape[1]))
            return Relaxed(0.0, cutoff <= 0.0, W, problem.constant, nu, kappa)
        share = float(np.sum(problem.weights[rows]))
        part = Problem(
            problem.generators[rows], problem.labels[rows], problem.output_weights, loss=problem.loss,
            alpha=problem.alpha / share, sample_weight=problem.weights[rows], output_bias=problem.output_bias,
            bias=False, tolerances=problem.tolerances,
        )  # fmt: skip
        solution = part.solve(signs[:, rows] > 0, check=False)
        bound = share * max(solution.certificate.bound, 0.0)
        nu[rows] = share * solution.nu
        active = solution.patterns * problem.output_weights[:, None] * nu[rows]
        kappa[:, rows] = active - share * np.sign(signs[:, rows]) * solution.multipliers
        return Relaxed(bound, bound >= cutoff, solution.W, solution.c, nu, kappa)


def relaxation_of(problem: Problem) -> Relaxation:
    """The best relaxation that there is for the problem's loss."""
    return QuadraticRelaxation(problem) if problem.loss.quadratic else DecidedRelaxation(problem)


__all__ = ["DecidedRelaxation", "QuadraticRelaxation", "Relaxation", "Relaxed", "relaxation_of"]
