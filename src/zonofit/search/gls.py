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
from zonofit.programs.vertex import VertexSolution
from zonofit.search.starts import HOW, at_least, choose, solved, start_patterns
from zonofit.search.walk import Search

if TYPE_CHECKING:
    from zonofit.programs.neighbors import Neighborhood
    from zonofit.search.walk import Network, Walk


@dataclass(frozen=True)
class GLS(Search):
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
    how: str = "gaussian"
    exclude: bool = True

    def __post_init__(self) -> None:
        """Refuse settings that are none."""
        choose("how", self.how, HOW)
        at_least("max_moves", self.max_moves, 0)

    def begin(self, walk: Walk, start) -> None:
        """Line 2: solve A₀."""
        problem = walk.problem
        patterns = start_patterns(problem, walk.rng, start, self.how)
        solution = problem.solve(patterns, check=start is not None)
        settle(walk, solution, solved(walk, solution))

    def advance(self, walk: Walk) -> str | None:
        """Lines 4-12: one step to the best neighbour."""
        if walk.counts["moves"] >= self.max_moves:
            return "moves"
        here = resume(walk)
        if nothing_better(here):
            return "local minimum"
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


def candidates(around: Neighborhood, order: np.ndarray, exclude: bool) -> np.ndarray:
    """Numbers of neighbours, in their order, without those that cannot be better."""
    return order[around.promising[order]] if exclude else order


def nothing_better(solution: VertexSolution) -> bool:
    """Whether the loss is 0 up to rounding, or would be with larger weights."""
    return solution.status in ("exact", "separable")


def resume(walk: Walk) -> VertexSolution:
    """The vertex that the walk is at."""
    return VertexSolution.of_parts(walk.problem, walk.state["at"])


def settle(walk: Walk, solution: VertexSolution, network: Network) -> None:
    """Stand on a vertex."""
    walk.state["at"] = solution.parts()
    walk.visit(network)


def step(walk: Walk, here: VertexSolution, there: VertexSolution, network: Network) -> None:
    """Line 7 and the next turn: go from one vertex to another."""
    walk.count(moves=1, flips=int(np.sum(here.patterns != there.patterns)))
    settle(walk, there, network)
