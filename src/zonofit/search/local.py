"""What local searches on the edges of Z^m share: where they begin, when they stop, how they go to a neighbour."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from zonofit.programs.vertex import VertexSolution
from zonofit.search.starts import HOW, at_least, choose, solved, start_patterns
from zonofit.search.walk import Search

if TYPE_CHECKING:
    from zonofit.programs.neighbors import Neighborhood
    from zonofit.search.walk import Network, Walk


@dataclass(frozen=True)
class LocalSearch(Search):
    """From vertex to better vertex, until no neighbour is better; one move is one step.

    Parameters
    ----------
    max_moves : int
        T, the most steps.
    how : {"gaussian", "uniform"}
        The start, if none is given: chambers of Gaussian weights, as in the paper, or uniform ones.
    exclude : bool
        Leave out the neighbours that dual values exclude. That changes nothing but the time.
    """

    max_moves: int
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
        """One step, unless nothing can be better."""
        if walk.counts["moves"] >= self.max_moves:
            return "moves"
        here = resume(walk)
        if here.status in ("exact", "separable"):  # the loss is 0 up to rounding, or would be with larger weights
            return "local minimum"
        return self._step(walk, here)

    @abstractmethod
    def _step(self, walk: Walk, here: VertexSolution) -> str | None:
        """Go to a better neighbour; the reason why not, if not."""


def candidates(around: Neighborhood, order: np.ndarray, exclude: bool) -> np.ndarray:
    """Numbers of neighbours, in their order, without those that cannot be better."""
    return order[around.promising[order]] if exclude else order


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
