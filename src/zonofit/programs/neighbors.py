r"""The neighbours of a solved vertex: which can be better, and their solutions in an order that lets a search stop early.

Crossing a wall of unit j flips the bit of example i there (and of examples parallel to it). Put
λ′ = vⱼ νᵢ - λⱼᵢ with ν and λ of the solution, λ = 0 off its tight walls.

- If λ′ >= 0, the same ν with λ′ on the flipped wall is dual feasible at the neighbour, so that the neighbour is no better.
- If λ′ < 0, the wall is tight, and the tight walls of the unit are independent, the neighbour is better.
- Otherwise only solving tells, which is what `Neighborhood` does, from where the solution is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from zonofit.programs.feasibility import find_inside

if TYPE_CHECKING:
    from zonofit.programs.problem import Problem
    from zonofit.programs.vertex import VertexSolution

_PRUNE = 1e-10  # λ′ counts as >= 0 down to this, in units of the absolute terms that it is the difference of


@dataclass(frozen=True)
class Neighbor:
    """One vertex next to a solved one.

    Attributes
    ----------
    unit, example : int
        The wall that was crossed; of parallel examples, which flip together, the first.
    solution : VertexSolution
    """

    unit: int
    example: int
    solution: VertexSolution


class Neighborhood:
    """All neighbours of one solution, in the order of units and, within a unit, of walls.

    Attributes
    ----------
    units, examples : ndarray (K,) of int
        The walls, one a neighbour.
    slopes : ndarray (K,)
        λ′, in units of the gradient: no neighbour with ``slopes >= 0`` is better.
    promising : ndarray (K,) of bool
        Neighbours that the rule does not exclude.
    """

    def __init__(self, problem: Problem, solution: VertexSolution):
        self.problem = problem
        self.solution = solution
        W = find_inside(problem, solution.patterns)
        self._walls = [problem.arrangement.walls(a, witness=w) for a, w in zip(solution.patterns, W, strict=True)]
        self.units = np.repeat(np.arange(len(W)), [len(found) for found in self._walls])
        self.examples = np.concatenate([found.indices for found in self._walls]).astype(np.int64)

    def __len__(self) -> int:
        return len(self.units)

    def patterns(self, k: int) -> np.ndarray:
        """Patterns (m, N) of neighbour k."""
        A = self.solution.patterns.copy()
        j = self.units[k]
        A[j] = self._walls[j].neighbor(int(self.examples[k]))
        return A

    @cached_property
    def _slopes(self) -> tuple[np.ndarray, np.ndarray]:
        problem, solution = self.problem, self.solution
        X, v = problem.design.X, problem.output_weights
        nu, multipliers = solution.nu, solution.multipliers
        slopes, sizes = np.empty(len(self)), np.empty(len(self))
        k = 0
        for j, found in enumerate(self._walls):
            side = np.where(found.pattern, 1.0, -1.0)
            for members in found.classes:
                i = members[0]
                among = list(members)
                # projections onto x_i of the parallel rows, in its lengths
                share = side[i] * (X[among] @ X[i]) / (X[i] @ X[i])
                held = side[among] * multipliers[j, among] * share
                turned = side[among] * v[j] * nu[among] * share
                slopes[k] = turned.sum() - held.sum()
                sizes[k] = np.abs(turned).sum() + np.abs(held).sum()
                k += 1
        return slopes, sizes

    @property
    def slopes(self) -> np.ndarray:
        """λ′ of every neighbour."""
        return self._slopes[0]

    @cached_property
    def promising(self) -> np.ndarray:
        """Which neighbours λ′ does not exclude."""
        slopes, sizes = self._slopes
        if self.solution.status == "exact":
            return np.zeros(len(self), bool)
        return slopes < -_PRUNE * sizes

    def solve(self, k: int) -> VertexSolution:
        """Solution of neighbour k, from where the solved vertex is."""
        return self.problem.solve(self.patterns(k), start=self.solution, check=False)

    def __iter__(self) -> Iterator[Neighbor]:
        """Every neighbour, solved, whether or not it can be better."""
        return self._solved(range(len(self)))

    def _solved(self, order) -> Iterator[Neighbor]:
        for k in order:
            yield Neighbor(int(self.units[k]), int(self.examples[k]), self.solve(k))

    def better(self, order=None, *, margin: float = 1e-12) -> Iterator[Neighbor]:
        """Neighbours that are better, one after another as they are found: what mGLS takes the first of.

        Parameters
        ----------
        order : array_like of int, optional
            In which order to look; those that the rule excludes are skipped. By default the steepest come first.
        margin : float
            A neighbour is better when its objective is less by more than this part.
        """
        if order is None:
            order = np.argsort(self.slopes, kind="stable")
        best = self.solution.objective
        for neighbor in self._solved(k for k in order if self.promising[k]):
            if neighbor.solution.objective < best - margin * abs(best):
                yield neighbor

    def best(self) -> Neighbor | None:
        """The best of the neighbours that are better, or None at a local minimum: one step of GLS.

        Ties go to the first in the order of the neighbourhood.
        """
        best: Neighbor | None = None
        for neighbor in self.better(range(len(self))):
            if best is None or neighbor.solution.objective < best.solution.objective:
                best = neighbor
        return best
