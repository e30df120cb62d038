r"""Greedy local search along the edges of Z^m (Alg 2).

As printed::

    A₀ ∈ vert(Z^m)
    for t = 0, ..., T:
        A_{t+1} ← the best of A_t and its neighbours, by L*
        if A_{t+1} = A_t: return A_t

L* of a neighbour is at least that of A_t wherever the dual values of A_t say so (`zonofit.programs.neighbors`); such
neighbours need not be solved, and the path stays the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from zonofit.programs.neighbors import to_beat
from zonofit.search.local import LocalSearch, candidates, step
from zonofit.search.starts import solved

if TYPE_CHECKING:
    from zonofit.programs.vertex import VertexSolution
    from zonofit.search.walk import Walk


@dataclass(frozen=True)
class GLS(LocalSearch):
    """Greedy local search; one move is one step to the best neighbour.

    Parameters
    ----------
    max_moves : int
        T; the paper takes 1024 on synthetic data.
    how : {"gaussian", "uniform"}
        The start, if none is given: chambers of Gaussian weights, as in the paper, or uniform ones.
    exclude : bool
        Leave out the neighbours that dual values exclude. That changes nothing but the time.

    Notes
    -----
    A vertex that fits every label to rounding, or separates the classes, ends the search: nothing is better, and
    differences between such losses are those of rounding. Of neighbours that are equally good the first is taken, in
    the order of units and, within a unit, of examples.
    """

    name: ClassVar[str] = "gls"
    longest_round: ClassVar[int] = 4

    max_moves: int = 1024

    def _step(self, walk: Walk, here: VertexSolution) -> str | None:
        """Lines 4-12: one step to the best neighbour."""
        around = walk.problem.neighbors(here)
        best, network = here, None
        least = to_beat(here)
        for k in candidates(around, np.arange(len(around)), self.exclude):
            if (reason := walk.exhausted()) is not None:
                return reason
            solution = around.solve(k)
            found = solved(walk, solution)
            if found.objective < least:
                best, network, least = solution, found, found.objective
                walk.offer(found)
        if network is None:
            return "local minimum"
        step(walk, here, best, network)
        return None
