r"""Exact empirical risk minimisation (Alg 1): every vertex of Z^m, and so a global minimum.

Units with equal output weights are interchangeable, and permuting them changes no loss, so that of each group of p such
units only the multisets of p chambers are looked at: Π C(V + p - 1, p) vertices instead of V^m. Without a ridge only
the sign of an output weight matters, v φ(w·x̄) = sign(v) φ(|v| w·x̄), so that weights of one sign make a group.

Vertices are numbered by the m chambers of their units, in the lexicographic order of these; the walk remembers only
where it is, and the chambers of one unit are kept bit-packed.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, prod
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from zonofit.errors import BudgetError, InputError
from zonofit.geometry.packing import unpack
from zonofit.search.starts import at_least, choose, solved
from zonofit.search.walk import Search

if TYPE_CHECKING:
    from zonofit.geometry.arrangement import Arrangement
    from zonofit.programs.problem import Problem
    from zonofit.search.walk import Walk

_BLOCK = 64  # vertices in a move
_QUICK = 10_000_000  # chambers that are counted one by one where Cover's number is too large
_NOTHING = 1e-9  # labels are met when residuals are below this part of those of the best constant
_CHAMBERS: WeakKeyDictionary[Arrangement, np.ndarray] = WeakKeyDictionary()


@dataclass(frozen=True)
class Exact(Search):
    """Look at every vertex; one move is a block of them. The trace's `details` hold all optimal vertices.

    Parameters
    ----------
    signs : {"problem", "all"}
        Output weights: those of the problem, or all m + 1 numbers of plus signs, which makes the answer optimal over
        all parameters. With a ridge, "all" wants output weights of one size.
    most_programs : float
        Refuse with a `BudgetError` that names the number when there are more programs than this.
    optimal_within : float
        Vertices count as optimal when their objective exceeds the least by no more than this part.
    most_listed : int
        Optimal vertices whose patterns are listed; all are counted.

    Notes
    -----
    ``details``: `n_vertices`, how many were solved; `n_optimal`, how many of them are optimal, and `n_optimal_ordered`,
    how many there are when permutations of units count as different; `optimal_patterns` (k, m, N),
    `optimal_output_weights` (k, m) and `optimal_objectives` (k,).

    A start is of no use here and is ignored.
    """

    name: ClassVar[str] = "exact"

    signs: str = "problem"
    most_programs: float = 1e6
    optimal_within: float = 1e-9
    most_listed: int = 1000

    def __post_init__(self) -> None:
        """Refuse settings that are none."""
        choose("signs", self.signs, ("problem", "all"))
        for name in ("most_programs", "optimal_within", "most_listed"):
            at_least(name, getattr(self, name), 0)

    def begin(self, walk: Walk, start) -> None:
        """Count the programs, refuse if they are too many, and solve the first."""
        total = self.n_programs(walk.problem, walk.limit("programs"))
        walk.state.update(total=total, turn=0, at=np.zeros(walk.problem.width, np.int64), objectives=np.zeros(0))
        walk.state.update(chosen=np.zeros((0, walk.problem.width), np.int64), turns=np.zeros(0, np.int64))
        walk.state.update(orders=np.zeros(0, np.int64))
        self._block(walk, 1)

    def advance(self, walk: Walk) -> str | None:
        """Solve the next block."""
        if walk.state["turn"] < 0:
            return "complete"
        self._block(walk, _BLOCK)
        walk.count(moves=1)
        return "complete" if walk.state["turn"] < 0 else None

    def n_programs(self, problem: Problem, most: float = np.inf) -> int:
        """How many programs there are, or a `BudgetError` if that is more than `most` or than the setting."""
        most = min(most, self.most_programs)
        turns = turns_of(problem, self.signs)
        count = sum(n_multisets(problem.arrangement.chamber_bound(), turn) for turn in turns)
        bound = problem.arrangement.chamber_bound()
        words = "up to "
        if count > most and bound <= _QUICK:
            count = sum(n_multisets(problem.arrangement.n_chambers(), turn) for turn in turns)
            words = ""
        if count > most:
            raise BudgetError(
                f"Exact: {words}{count} programs, more than the {most:.0f} allowed; raise most_programs (and the "
                "budget's programs), or take fewer units or examples, or another search."
            )
        return sum(n_multisets(len(chambers(problem)), turn) for turn in turns)

    def _block(self, walk: Walk, size: int) -> None:
        state, turns = walk.state, turns_of(walk.problem, self.signs)
        words, N = chambers(walk.problem), walk.problem.n_examples
        at, turn = state["at"].copy(), int(state["turn"])
        rows: list[tuple[np.ndarray, int, float]] = []
        while turn >= 0 and len(rows) < size and (not rows or walk.exhausted() is None):
            solution = turns[turn].solve(unpack(words[at], N), check=False)
            network = solved(walk, solution)
            walk.visit(network)
            rows.append((at.copy(), turn, network.objective))
            if not successor(at, len(words), groups(turns[turn])):
                turn = turn + 1 if turn + 1 < len(turns) else -1
        state["at"], state["turn"] = at, turn
        self._keep(walk, rows, turns)

    def _keep(self, walk: Walk, rows: list, turns: list[Problem]) -> None:
        """Add the optimal ones of the block, drop what is optimal no more, and describe them."""
        state, problem = walk.state, walk.problem
        assert walk.best is not None
        least = walk.best.objective
        nothing = _NOTHING**problem.loss.label_power * problem.mean_loss(np.full(problem.n_examples, problem.constant))
        bound = least * (1.0 + self.optimal_within) + max(nothing, problem.separable_below)
        new = [row for row in rows if row[2] <= bound]
        chosen = np.array([row[0] for row in new], np.int64).reshape(len(new), problem.width)
        objectives = np.concatenate([state["objectives"], [row[2] for row in new]])
        keep = objectives <= bound
        state["objectives"] = objectives = objectives[keep]
        state["chosen"] = chosen = np.concatenate([state["chosen"], chosen])[keep]
        state["turns"] = which = np.concatenate([state["turns"], np.array([row[1] for row in new], np.int64)])[keep]
        orders = np.array([orders_of(row[0], groups(turns[row[1]])) for row in new], np.int64)
        state["orders"] = orders = np.concatenate([state["orders"], orders])[keep]
        listed = slice(self.most_listed)
        v = np.array([turns[k].output_weights for k in which[listed]]).reshape(-1, problem.width)
        details: dict[str, Any] = {
            "n_vertices": walk.counts["vertices"], "n_optimal": len(chosen), "n_optimal_ordered": int(orders.sum()),
            "optimal_patterns": unpack(chambers(problem)[chosen[listed]], problem.n_examples),
            "optimal_output_weights": v, "optimal_objectives": objectives[listed],
        }  # fmt: skip
        state["details"] = details


def turns_of(problem: Problem, signs: str) -> list[Problem]:
    """The problem with each choice of output weights: "problem" for its own, "all" for all numbers of plus signs."""
    if signs == "problem":
        return [problem]
    size = np.abs(problem.output_weights)
    if problem.alpha > 0 and not np.all(size == size[0]):
        raise InputError(
            'signs: with a ridge, output weights of several sizes are not interchangeable; pass signs="problem", '
            "or output weights of one size."
        )
    size = np.where(size > 0, size, 1.0)
    m = problem.width
    return [problem.with_output_weights(np.where(np.arange(m) < k, size, -size)) for k in range(m, -1, -1)]


def chambers(problem: Problem) -> np.ndarray:
    """All chambers of one unit, bit-packed, in the order of their enumeration."""
    arrangement = problem.arrangement
    if arrangement not in _CHAMBERS:
        _CHAMBERS[arrangement] = np.concatenate(list(arrangement.chambers()))
    return _CHAMBERS[arrangement]


def groups(problem: Problem) -> list[np.ndarray]:
    """Units that may be permuted: without a ridge, those of one sign."""
    v = problem.output_weights if problem.alpha > 0 else np.sign(problem.output_weights)
    return [np.flatnonzero(v == value) for value in dict.fromkeys(v.tolist())]


def n_multisets(V: int, problem: Problem) -> int:
    """Vertices of Z^m up to permutations of interchangeable units, for V chambers."""
    return prod(comb(V + len(group) - 1, len(group)) for group in groups(problem))


def orders_of(chosen: np.ndarray, units: list[np.ndarray]) -> int:
    """How many vertices of Z^m come from one by permutations of interchangeable units."""
    count = 1
    for group in units:
        done = 0
        for repeats in np.unique(chosen[group], return_counts=True)[1]:
            done += int(repeats)
            count *= comb(done, int(repeats))
    return count


def successor(at: np.ndarray, V: int, units: list[np.ndarray]) -> bool:
    """Go on to the next vertex in place, chambers not falling within a group; False, and back at 0, after the last."""
    for group in reversed(units):
        for k in range(len(group) - 1, -1, -1):
            if at[group[k]] < V - 1:
                at[group[k:]] = at[group[k]] + 1
                return True
        at[group] = 0
    return False
