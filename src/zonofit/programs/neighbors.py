r"""The neighbours of a solved vertex: which can be better, and their solutions, so that a search may stop early.

Crossing a wall of unit j flips the bit of example i there (and of examples parallel to it). Let ν and λ be the dual
values of the solution, λ = 0 off its tight walls, and λ′ = vⱼ νᵢ - λⱼᵢ.

- If λ′ >= 0, the same ν with λ′ on the flipped wall is dual feasible at the neighbour, so that the neighbour is no
  better.
- ν may be dual feasible there with other multipliers too: it is exactly when -vⱼ Σ a′ⱼᵢ νᵢ x̄ᵢ, projected onto the
  neighbour's chamber, is no longer than alpha ‖wⱼ‖. This excludes all that λ′ does and most of the rest, for a small
  non-negative least squares problem each.
- If λ′ < 0, the wall is tight, and the tight walls of the unit are independent, the neighbour is better.
- What remains, `Neighborhood` solves from where the solution is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from zonofit.programs._screen_kernel import screen
from zonofit.programs.feasibility import find_inside

if TYPE_CHECKING:
    from zonofit.programs.problem import Problem
    from zonofit.programs.vertex import VertexSolution

_ROUNDING = 1e-10  # λ′ counts as >= 0 down to this, in units of the terms that it is the difference of
_BLUR = 1e-14  # what of a ν is rounding, in units of the largest and of those of the best constant
_BETTER = 1e-10  # a neighbour is better when its objective is less by more than this part
_NOTHING = 1e-20  # and by more than this part of the best constant's, below which there is only rounding


def to_beat(solution: VertexSolution) -> float:
    """What the objective of another vertex must be less than to count as better."""
    here = solution.objective
    return here - _BETTER * abs(here) - _NOTHING * solution.problem.null_objective


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
    """All neighbours of one solution, in the order of units and, within a unit, of walls; the length is their number.

    Iterating solves every one of them. `best` and `better` solve only those that can be better.

    Attributes
    ----------
    problem : Problem
    solution : VertexSolution
    units, examples : ndarray (K,) of int
        The walls, one a neighbour.
    """

    def __init__(self, problem: Problem, solution: VertexSolution):
        self.problem = problem
        self.solution = solution
        W = find_inside(problem, solution.patterns, solution)
        self._walls = [problem.arrangement.walls(a, witness=w) for a, w in zip(solution.patterns, W, strict=True)]
        self.units = np.repeat(np.arange(len(W)), [len(found) for found in self._walls])
        self.examples = np.concatenate([found.indices for found in self._walls]).astype(np.int64)
        classes = [members for found in self._walls for members in found.classes]
        self._start = np.concatenate([[0], np.cumsum([len(members) for members in classes])]).astype(np.int64)
        self._members = np.array([i for members in classes for i in members], np.int64)

    def __len__(self) -> int:
        return len(self.units)

    def patterns(self, k: int) -> np.ndarray:
        """Patterns (m, N) of neighbour k."""
        A = self.solution.patterns.copy()
        A[self.units[k], self._members[self._start[k] : self._start[k + 1]]] ^= True
        return A

    @cached_property
    def _slopes(self) -> tuple[np.ndarray, np.ndarray]:
        solution, X = self.solution, self.problem.design.X
        k = np.repeat(np.arange(len(self)), np.diff(self._start))
        j, i, first = self.units[k], self._members, self.examples[k]
        side = np.where(solution.patterns, 1.0, -1.0)
        # parallel examples flip together: all in lengths of the first, on its side
        share = side[j, first] * side[j, i] * np.sum(X[i] * X[first], axis=1) / np.sum(X[first] ** 2, axis=1)
        turned = share * self.problem.output_weights[j] * solution.nu[i]
        held = share * solution.multipliers[j, i]
        at = self._start[:-1]
        return np.add.reduceat(turned - held, at), np.add.reduceat(np.abs(turned) + np.abs(held), at)

    @property
    def slopes(self) -> np.ndarray:
        """λ′ (K,): no neighbour with a slope >= 0 is better."""
        return self._slopes[0]

    @cached_property
    def excess(self) -> np.ndarray:
        """By how much (K,) ν fails to be dual feasible at each neighbour, in whitened coordinates; 0 where it does not.

        It is the length of the steepest descent that the neighbour's chamber allows its unit.
        """
        slopes, sizes = self._slopes
        excess = np.zeros(len(self))
        problem, solution, design = self.problem, self.solution, self.problem.design
        v = np.abs(problem.output_weights)[self.units]
        blur = _BLUR * v * max(np.max(np.abs(solution.nu)), np.max(np.abs(problem.null)))
        which = np.flatnonzero(slopes < -_ROUNDING * sizes - blur)
        # nothing is better than an exact fit, or than separated classes, whose loss would fall and fall
        if self.solution.status in ("exact", "separable") or len(which) == 0:
            return excess
        length, bound = np.empty(len(which)), np.empty(len(which))
        screen(
            design.X, design.XT, design.size, solution.patterns, problem.output_weights, solution._nu,
            solution._walls, solution._n_walls, self.units, self._start, self._members, which, length, bound,
        )  # fmt: skip
        rounding = problem.unit / problem.loss_factor * blur[which] * np.max(design.size)
        held = problem.ridge * np.linalg.norm(solution._u, axis=1)[self.units[which]]
        excess[which] = np.where(length > held * (1.0 + _ROUNDING) + bound + rounding, length - held, 0.0)
        return excess

    @property
    def promising(self) -> np.ndarray:
        """Neighbours (K,) of bool that are not excluded: only these can be better."""
        return self.excess > 0

    def solve(self, k: int) -> VertexSolution:
        """Solution of neighbour k, from where the solved vertex is."""
        return self.problem.solve(self.patterns(k), start=self.solution, check=False)

    def __iter__(self) -> Iterator[Neighbor]:
        """Every neighbour, solved, whether or not it can be better."""
        return self._solved(range(len(self)))

    def _solved(self, order) -> Iterator[Neighbor]:
        for k in order:
            yield Neighbor(int(self.units[k]), int(self.examples[k]), self.solve(k))

    def better(self, order=None) -> Iterator[Neighbor]:
        """Neighbours that are better, one after another as they are found: mGLS takes the first.

        Parameters
        ----------
        order : array_like of int, optional
            In which order to look; those that cannot be better are skipped. By default the largest `excess` comes
            first.
        """
        if order is None:
            order = np.argsort(-self.excess, kind="stable")
        least = to_beat(self.solution)
        for neighbor in self._solved(k for k in order if self.excess[k] > 0):
            if neighbor.solution.objective < least:
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
