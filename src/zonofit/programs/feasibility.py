"""Is every row of the patterns a chamber? If not, the answer is a refusal with its proof."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zonofit.errors import InputError
from zonofit.programs._witness_kernel import find_witnesses, witnesses_near

if TYPE_CHECKING:
    from zonofit.geometry.membership import Membership
    from zonofit.programs.problem import Problem
    from zonofit.programs.vertex import VertexSolution

_CLEAR = 1e-7  # a witness this deep, in unit rows, needs no exact arithmetic
_SMALL = 1e-12


class InfeasiblePatternError(InputError):
    """A unit's pattern that no weights have.

    Attributes
    ----------
    unit : int
        Row of the patterns.
    membership : Membership
        The proof: multipliers λ >= 0 with Σ λᵢ sᵢ x̄ᵢ = 0, which `Membership.verify` checks in rational arithmetic.
    """

    def __init__(self, message: str, unit: int, membership: Membership):
        super().__init__(message)
        self.unit = unit
        self.membership = membership


def find_inside(problem: Problem, patterns: np.ndarray, solution: VertexSolution | None = None) -> np.ndarray:
    """Weights (m, n) strictly inside the chambers of the patterns (m, N), or an `InfeasiblePatternError`.

    A solution for these patterns lies on few walls of most units, so that points inside are near it.
    """
    design = problem.design
    witness, depth = np.empty((len(patterns), design.X.shape[1])), np.zeros(len(patterns))
    if solution is not None:
        u, walls, counts = solution.reduced[0], solution.reduced[2], solution.reduced[3]
        witnesses_near(design.X, design.XT, design.size, patterns, u, walls, counts, witness, depth)
        depth[depth <= _CLEAR] = 0.0
    if np.any(depth <= _CLEAR):
        find_witnesses(design.X, design.size, patterns, _SMALL, witness, depth)
    doubtful = np.flatnonzero(~(depth > _CLEAR))
    if len(doubtful) == 0:
        return witness @ design.lift.T
    W = witness @ design.lift.T
    for j in doubtful:
        found = problem.arrangement.membership(patterns[j])
        if not found.feasible:
            circuit = sorted(found.exact_multipliers or ())
            some = ", ".join(map(str, circuit[:6])) + (", ..." if len(circuit) > 6 else "")
            raise InfeasiblePatternError(
                f"patterns: row {j} is no chamber, because examples {some} contradict each other "
                "(the error's `membership` proves it); "
                "take patterns from `problem.patterns(W)` or `problem.arrangement`.",
                int(j),
                found,
            )
        W[j] = found.witness
    return W
