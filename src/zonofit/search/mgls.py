r"""Modified greedy local search (Alg 3, app. G): the first better neighbour, likely ones first.

At A_t with solution W*, look in this order and move to the first that is better:

1. A_f, A_t with all inequalities flipped that are equalities at W*, if it is a vertex (it lies across a face);
2. neighbours that differ in one of these, in random order;
3. the other neighbours, in random order.

W* is feasible for A_f too, so that A_f is never worse.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from zonofit.programs.feasibility import InfeasiblePatternError, find_inside
from zonofit.programs.neighbors import to_beat
from zonofit.search.local import LocalSearch, candidates, step
from zonofit.search.starts import solved

if TYPE_CHECKING:
    from zonofit.programs.problem import Problem
    from zonofit.programs.vertex import VertexSolution
    from zonofit.search.walk import Walk


@dataclass(frozen=True)
class MGLS(LocalSearch):
    """Modified greedy local search; one move is one step to a better vertex.

    Parameters
    ----------
    max_moves : int
        T; the paper takes 2048.
    how : {"gaussian", "uniform"}
        The start, if none is given: chambers of Gaussian weights, as in the paper, or uniform ones.
    exclude : bool
        Leave out the neighbours that dual values exclude. That changes nothing but the time.

    Notes
    -----
    Equalities count up to rounding. A unit at w = 0 meets all of its inequalities with equality, and A_f has it turned
    round. As in `GLS`, an exact fit or separated classes end the search.
    """

    name: ClassVar[str] = "mgls"
    longest_round: ClassVar[int] = 16

    max_moves: int = 2048

    def _step(self, walk: Walk, here: VertexSolution) -> str | None:
        """Lines 4-24: one step to the first better vertex."""
        least = to_beat(here)
        for solution in self._candidates(walk, here):
            found = solved(walk, solution)
            if found.objective < least:
                step(walk, here, solution, found)
                return None
            if (reason := walk.exhausted()) is not None:
                return reason
        return "local minimum"

    def _candidates(self, walk: Walk, here: VertexSolution) -> Iterator[VertexSolution]:
        """𝒩 of lines 6-12, solved."""
        problem, equal = walk.problem, here.on_walls
        if equal.any() and (across := flipped(problem, here, equal)) is not None:
            yield across
        around = problem.neighbors(here)
        for group in groups(equal[around.units, around.examples], walk.rng):
            for k in candidates(around, group, self.exclude):
                yield around.solve(k)


def groups(first: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the neighbours across equalities, and of the others, each in random order."""
    return rng.permutation(np.flatnonzero(first)), rng.permutation(np.flatnonzero(~first))


def flipped(problem: Problem, here: VertexSolution, equal: np.ndarray) -> VertexSolution | None:
    """A_f of line 7, solved from W*; None where it is no vertex."""
    patterns = here.patterns ^ equal
    try:
        find_inside(problem, patterns[equal.any(axis=1)])
    except InfeasiblePatternError:
        return None
    return problem.solve(patterns, start=here, check=False)
