r"""Random vertices (sections 4.2 and H.1.2): solve the program of patterns drawn at random; the best of many.

On synthetic data the paper alternates (W, c) given v and (v, c) given W, the patterns fixed. Solved exactly, this ends
after one turn: at the solution of the first, wⱼ·∂L/∂wⱼ = Σᵢ λⱼᵢ sⱼᵢ x̄ᵢ·wⱼ = 0 by complementarity, so that
Σᵢ νᵢ φ(x̄ᵢ·wⱼ) = 0, and the convex problem of (v, c) has its minimum where it is. What counts is the signs with which it
begins: random ones, or, with `output_first`, those that fit the weights that were drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from zonofit.errors import InputError
from zonofit.programs.output import solve_output
from zonofit.search.starts import HOW, at_least, choose, solved, start_weights
from zonofit.search.walk import Network, Search

if TYPE_CHECKING:
    from zonofit.search.walk import Walk


@dataclass(frozen=True)
class RandomVertex(Search):
    """One random vertex a move.

    Parameters
    ----------
    starts : int, optional
        Vertices, after which the search is complete; by default it goes on until the budget ends.
    how : {"gaussian", "uniform"}
        Chambers of Gaussian weights, as in the paper, or every chamber with the same probability.
    alternate : bool
        Train the output weights too, as the paper does on synthetic data: they start as random signs, and (W, c) given
        v and (v, c) given W are solved in turn until the loss settles. The patterns stay.
    output_first : bool
        Alternate, beginning with (v, c) given the weights that were drawn.
    settled : float
        The loss has settled when one turn lowers it by no more than this part.
    most_turns : int
        Turns after which the alternation ends in any case.
    """

    name: ClassVar[str] = "random_vertex"

    starts: int | None = None
    how: str = "gaussian"
    alternate: bool = False
    output_first: bool = False
    settled: float = 1e-4
    most_turns: int = 1000

    def __post_init__(self) -> None:
        """Refuse settings that are none."""
        choose("how", self.how, HOW)
        at_least("settled", self.settled, 0)
        at_least("most_turns", self.most_turns, 1)
        if self.starts is not None:
            at_least("starts", self.starts, 1)

    def begin(self, walk: Walk, start) -> str | None:
        """Solve the vertex of the start, or a random one."""
        if self.alternate and (walk.problem.alpha > 0 or not walk.problem.loss.smooth):
            raise InputError(
                "alternate: a ridge on W alone says nothing once output weights may grow, and a loss with corners has "
                "no Newton steps; use alpha=0 and a smooth loss, or alternate=False."
            )
        return self._vertex(walk, start)

    def advance(self, walk: Walk) -> str | None:
        """Solve one more random vertex."""
        if self.starts is not None and walk.counts["moves"] >= self.starts:
            return "complete"
        return self._vertex(walk, None)

    def _vertex(self, walk: Walk, start) -> str | None:
        problem = walk.problem
        if start is None:
            drawn = problem.arrangement.sample(problem.width, walk.rng, how=self.how)
            patterns, W = drawn.patterns, drawn.witnesses
        else:
            W = start_weights(problem, start)
            patterns = problem.patterns(W)
        if self.alternate:
            v = walk.rng.choice([-1.0, 1.0], problem.width)
            if self.output_first:
                v, _, steps = solve_output(problem, W, v, problem.constant)
                walk.count(programs=1, steps=steps)
            problem = problem.with_output_weights(v)
        solution = problem.solve(patterns, check=start is not None)
        network = solved(walk, solution)
        walk.offer(network)
        for _ in range(self.most_turns if self.alternate else 0):
            if network.objective <= walk.target():
                break
            if (reason := walk.exhausted()) is not None:
                walk.offer(network)
                return reason
            before = network.objective
            network = self._train_output(walk, network)
            problem = problem.with_output_weights(network.v)
            solution = problem.solve(patterns, start=solution, check=False)
            network = min(network, solved(walk, solution), key=lambda one: one.objective)
            if not network.objective < (1.0 - self.settled) * before:
                break
        walk.count(moves=1)
        walk.visit(network)
        return None

    @staticmethod
    def _train_output(walk: Walk, network: Network) -> Network:
        v, c, steps = solve_output(walk.problem, network.W, network.v, network.c)
        walk.count(programs=1, steps=steps)
        problem = walk.problem.with_output_weights(v)
        return Network(network.W, c, v, problem.mean_loss(problem.predict(network.W, c)))
