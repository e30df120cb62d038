"""Facet descent from many starts: straight through the walls to a local minimum, and the best of them.

See `zonofit.programs.descent` for the descent itself, which is one call of the problem.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from zonofit.programs.proposals import random_weights
from zonofit.search.starts import at_least, choose, draw_signs, start_weights
from zonofit.search.walk import Network, Search

if TYPE_CHECKING:
    from zonofit.search.walk import Walk


@dataclass(frozen=True)
class FacetDescent(Search):
    """Descend from random weights, again and again; one move is one descent.

    Parameters
    ----------
    starts : int, optional
        Descents, after which the search is complete; by default it goes on until the budget ends.
    signs : {"problem", "random"}
        Signs of the output weights: those of the problem, or drawn for each start. What a unit can do depends on the
        sign of its output weight only, so that random signs train all parameters.
    max_steps : int
        Newton steps of one descent.
    """

    name: ClassVar[str] = "facet_descent"

    starts: int | None = None
    signs: str = "problem"
    max_steps: int = 10_000

    def __post_init__(self) -> None:
        """Refuse settings that are none."""
        choose("signs", self.signs, ("problem", "random"))
        at_least("max_steps", self.max_steps, 1)
        if self.starts is not None:
            at_least("starts", self.starts, 1)

    def begin(self, walk: Walk, start) -> str | None:
        """Descend from the start, with the signs of the problem, or from a random one."""
        if start is None:
            return self.advance(walk)
        self._descend(walk, walk.problem, start_weights(walk.problem, start))
        return None

    def advance(self, walk: Walk) -> str | None:
        """Descend from fresh random weights."""
        if self.starts is not None and walk.counts["moves"] >= self.starts:
            return "complete"
        problem = draw_signs(walk.problem, walk.rng) if self.signs == "random" else walk.problem
        self._descend(walk, problem, random_weights(problem, walk.rng, problem.width))
        return None

    def _descend(self, walk: Walk, problem, W) -> None:
        found = problem.descend(W, max_steps=self.max_steps, target=max(walk.target(), 0.0))
        walk.count(programs=1, steps=found.steps, flips=found.flips, moves=1)
        walk.visit(Network(found.W, found.c, problem.output_weights, found.objective))
