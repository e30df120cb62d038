r"""Branch and bound over patterns: a global minimum, and a bound that says how far from one it can be at most.

A node decides some signs of preactivations; its bound is a convex relaxation (`zonofit.programs.relaxation`) that can
only rise as more are decided, and it is closed once that bound is within the gap of the best network. Three things keep
the tree small.

* Branches are taken where the relaxation is wrong: on the example whose loss it underrates most.
* A sign on which all chambers of one unit with the decided signs agree is decided with them. This takes the list of
  all chambers of one unit, which is short where the whole product Z^m is far too long.
* Units of one output weight whose decided signs are the same are interchangeable, and are decided together: of a group
  of g such units only how many become active matters, g + 1 branches instead of 2^g.

Without a ridge only the sign of an output weight matters, and weights are whatever real numbers they like: nothing is
boxed in.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from zonofit.errors import BudgetError
from zonofit.geometry.packing import mask, n_words, pack, unpack
from zonofit.programs.relaxation import Relaxation, Relaxed, relaxation_of
from zonofit.search._branch_kernel import choose_branch, imply
from zonofit.search.exact import chambers, turns_of
from zonofit.search.hopping import Hopping
from zonofit.search.starts import at_least, choose, solved, start_patterns
from zonofit.search.walk import Network, Search, Walk

if TYPE_CHECKING:
    from zonofit.geometry.arrangement import Arrangement
    from zonofit.programs.problem import Problem

_BLOCK = 64  # nodes in a move, or
_PART = 16  # one in so many of the open ones where these are more: a move copies them
_STEPS = 300  # Newton steps of a descent from a better network
_BLUR = 1e3  # in units of the loss of a residual of one rounding error
_BITS = 2**33  # most that the list of chambers may take, a gibibyte
_COLUMNS: WeakKeyDictionary[Arrangement, tuple[np.ndarray, np.ndarray]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Branch(Search):
    """Branch and bound; one move is a block of nodes. The trace's `details` hold the bound.

    Parameters
    ----------
    gap : float
        Nodes are closed when their bound is at least the best objective minus this part of the objective of the best
        constant network.
    signs : {"all", "problem"}
        Output weights: all m + 1 numbers of plus signs, which makes the answer optimal over all parameters, or those
        of the problem. With a ridge, "all" wants output weights of one size.
    order : {"best", "depth"}
        Which node is next: the one with the least bound, which makes the bound rise soonest, or the one decided last,
        which needs little memory.
    hops : int
        Hops of `Hopping` for each unit that look for a good network first.

    Notes
    -----
    ``details``: `bound`, which no network's objective is below; `gap`, what is between it and the best network, in
    units of the best constant network's objective; `nodes` looked at, `open_nodes` to look at, and `relaxations`, the
    convex programs that gave bounds.
    """

    name: ClassVar[str] = "branch"

    gap: float = 1e-6
    signs: str = "all"
    order: str = "best"
    hops: int = 20

    def __post_init__(self) -> None:
        """Refuse settings that are none."""
        choose("signs", self.signs, ("all", "problem"))
        choose("order", self.order, ("best", "depth"))
        at_least("gap", self.gap, 0)
        at_least("hops", self.hops, 0)

    def begin(self, walk: Walk, start) -> str | None:
        """Hop to a good network, and open a root for each choice of output weights."""
        problem = walk.problem
        shape = len(turns_of(problem, self.signs)), problem.width, problem.n_examples
        reason = self._hop(walk, start) if problem.loss.smooth else self._guess(walk, start)
        walk.state.clear()
        walk.state.update(plus=np.zeros(shape, bool), minus=np.zeros(shape, bool), bounds=np.zeros(shape[0]))
        walk.state.update(turns=np.arange(shape[0]), closed=np.inf, nodes=0, relaxations=0)
        self._describe(walk)
        return reason

    def advance(self, walk: Walk) -> str | None:
        """Look at the next block of nodes."""
        tree = _Tree(self, walk)
        for _ in range(max(_BLOCK, len(tree.open) // _PART)):
            if not tree.open or walk.exhausted() is not None:
                break
            if (reason := tree.look()) is not None:
                return reason
        tree.put_away()
        self._describe(walk)
        walk.count(moves=1)
        return None if len(walk.state["bounds"]) else "complete"

    def _hop(self, walk: Walk, start) -> str | None:
        """A good network for a loss with slopes."""
        hopping = Hopping(signs="fixed" if self.signs == "problem" else "search")
        hopping.begin(walk, start)
        for _ in range(int(self.hops * walk.problem.width)):
            if (reason := walk.exhausted()) is not None:
                return reason
            walk.count(moves=-1)  # a hop counts itself, and is none of ours
            hopping.advance(walk)
        return None

    def _guess(self, walk: Walk, start) -> str | None:
        """A network for a loss with corners: the tree finds good ones by itself."""
        problem = walk.problem
        patterns = start_patterns(problem, walk.rng, start, "gaussian")
        walk.visit(solved(walk, problem.solve(patterns, check=False)))
        return None

    def _describe(self, walk: Walk) -> None:
        state, scale = walk.state, walk.problem.null_objective or 1.0
        assert walk.best is not None
        least = min(float(np.min(state["bounds"], initial=np.inf)), state["closed"], walk.best.objective)
        details: dict[str, Any] = {"bound": max(least, 0.0), "gap": (walk.best.objective - max(least, 0.0)) / scale}
        details.update({name: state[name] for name in ("nodes", "relaxations")})
        state["details"] = details | {"open_nodes": len(state["bounds"])}


class _Tree:
    """The open nodes while a move lasts: a heap or a stack of (key, serial, bound, turn, signs)."""

    def __init__(self, search: Branch, walk: Walk):
        self.search, self.walk, self.state = search, walk, walk.state
        problem = walk.problem
        self.turns = turns_of(problem, search.signs)
        self.relaxations: dict[int, Relaxation] = {}
        self.slack = slack_of(problem, search.gap)
        state = walk.state
        signs = state["plus"].astype(np.int64) - state["minus"]
        self.serial = len(signs)
        self.open = [
            (float(b) if search.order == "best" else -k, k, float(b), int(t), s)
            for k, (b, t, s) in enumerate(zip(state["bounds"], state["turns"], signs, strict=True))
        ]
        heapq.heapify(self.open)
        self.chambers = Chambers(problem)

    def put_away(self) -> None:
        nodes = sorted(self.open, key=lambda node: node[1])
        shape = -1, self.walk.problem.width, self.walk.problem.n_examples
        signs = np.array([node[4] for node in nodes], np.int64).reshape(shape)
        self.state.update(plus=signs > 0, minus=signs < 0, bounds=np.array([node[2] for node in nodes], float))
        self.state.update(turns=np.array([node[3] for node in nodes], np.int64))

    def look(self) -> str | None:
        """Close the next node, or branch; the limit that cut it short, or None."""
        walk, state = self.walk, self.state
        _, _, bound, turn, signs = heapq.heappop(self.open)
        state["nodes"] += 1
        if self._closes(bound):
            return None
        problem = self.turns[turn]
        if turn not in self.relaxations:
            self.relaxations[turn] = relaxation_of(problem)
        relaxed = self.relaxations[turn].solve(signs, self._cutoff())
        walk.count(programs=1)
        state["relaxations"] += 1
        bound = max(bound, relaxed.bound)
        if self._closes(bound):
            return None
        unit, example, Z, objective = self.chambers.choose(problem, signs, relaxed)
        assert walk.best is not None
        if objective < walk.best.objective and (reason := self._improve(problem, relaxed, objective)) is not None:
            return reason
        if unit < 0:  # a vertex, whose own program says the last word
            if (reason := walk.exhausted()) is not None:
                return reason
            solution = problem.solve(signs > 0, check=False)
            walk.visit(solved(walk, solution))
            state["closed"] = min(state["closed"], max(bound, solution.certificate.bound))
            return None
        if self._closes(bound):
            return None
        for child in children(problem, signs, unit, example, Z):
            self.chambers.imply(child)
            self.serial += 1
            key = bound if self.search.order == "best" else -self.serial
            heapq.heappush(self.open, (key, self.serial, bound, turn, child))
        return None

    def _cutoff(self) -> float:
        assert self.walk.best is not None
        return self.walk.best.objective - self.slack

    def _closes(self, bound: float) -> bool:
        """Whether a node with this bound needs no look; then it counts in the bound of the whole."""
        if bound < self._cutoff():
            return False
        self.state["closed"] = min(self.state["closed"], bound)
        return True

    def _improve(self, problem: Problem, relaxed: Relaxed, objective: float) -> str | None:
        """Offer a network that is better than all before, and the local minimum below it."""
        walk, v = self.walk, np.array(problem.output_weights)
        walk.visit(Network(relaxed.W.copy(), relaxed.c, v, objective))
        if (reason := walk.exhausted()) is not None:
            return reason
        if problem.loss.smooth:
            found = problem.descend(relaxed.W, relaxed.c, max_steps=_STEPS)
            walk.count(programs=1, steps=found.steps, flips=found.flips)
            walk.offer(Network(found.W, found.c, v, found.objective))
        else:
            walk.offer(solved(walk, problem.solve(problem.patterns(relaxed.W), check=False)))
        return None


class Chambers:
    """The list of all chambers of one unit, a bit for each and example, and what the kernels ask of it.

    Parameters
    ----------
    problem : Problem
        Refused with a `BudgetError` if the list would be too long.
    """

    def __init__(self, problem: Problem):
        (m, N), bound = (problem.width, problem.n_examples), problem.arrangement.chamber_bound()
        if bound * N > _BITS:
            raise BudgetError(
                f"Branch: up to {bound} chambers of one unit on {N} examples, {bound * N / 2**33:.1f} GiB where 1 is "
                "allowed; take fewer examples or features, or search with Hopping, which proves nothing."
            )
        if problem.arrangement not in _COLUMNS:
            _COLUMNS[problem.arrangement] = _columns(problem)
        self._columns, self._everyone = _COLUMNS[problem.arrangement]
        self._active, self._total = np.zeros((m, N), np.int64), np.zeros(m, np.int64)
        self._fitting, self._words = np.zeros_like(self._everyone), np.zeros(len(self._everyone), np.int64)

    def imply(self, signs: np.ndarray) -> bool:
        """Decide in place what follows from the signs; False if some unit has no chamber with them."""
        return imply(self._columns, self._everyone, signs, self._active, self._total, self._fitting, self._words)

    def choose(self, problem: Problem, signs: np.ndarray, relaxed: Relaxed):
        """Unit and example of the next branch (-1 for none), preactivations, and the objective of the network."""
        self.imply(signs)
        v, c = problem.output_weights, relaxed.c
        Z = relaxed.W @ problem.generators.T
        loss = problem.weights * problem.loss.value(v @ np.maximum(Z, 0.0) + c, problem.labels)
        objective = float(np.sum(loss)) + problem.alpha / 2.0 * float(np.sum(relaxed.W**2))
        unit, example = choose_branch(
            Z, c, problem.labels, problem.weights, v, signs, self._active, self._total, loss, problem.loss.quadratic
        )
        return unit, example, Z, objective


def slack_of(problem: Problem, gap: float) -> float:
    """The gap in the units of the objective, and at least what rounding makes of labels that are all alike."""
    rounding = np.finfo(float).eps * float(np.max(np.abs(problem.labels)))
    return max(gap * problem.null_objective, _BLUR * rounding**problem.loss.label_power if gap > 0 else 0.0)


def _columns(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Bit-packed over chambers: for each example those that are active on it (N, V / 64), and all of them (V / 64,)."""
    packed, N = chambers(problem), problem.n_examples
    columns = np.zeros((N, n_words(len(packed))), np.uint64)
    for k in range(0, N, 64):  # one word of the patterns at a time
        bits = unpack(packed[:, k // 64 : k // 64 + 1], min(64, N - k))
        columns[k : k + 64] = pack(np.ascontiguousarray(bits.T))
    return columns, mask(len(packed))


def group_of(problem: Problem, signs: np.ndarray, unit: int) -> list[int]:
    """Units that nothing tells from `unit` yet: the same output weight and the same decided signs."""
    v = problem.output_weights
    return [j for j in range(len(v)) if v[j] == v[unit] and np.array_equal(signs[j], signs[unit])]


def children(problem: Problem, signs: np.ndarray, unit: int, example: int, Z: np.ndarray):
    """Signs of the branches, those last that agree most with the preactivations Z (m, N)."""
    group = group_of(problem, signs, unit)
    here = int(np.sum(Z[group, example] > 0))
    for n_active in sorted(range(len(group) + 1), key=lambda k: -abs(k - here)):
        child = signs.copy()
        child[group, example] = -1
        child[group[:n_active], example] = 1
        yield child
