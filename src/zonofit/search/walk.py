"""One walker: where a search is, what it has found, and what it took. Everything about it fits into JSON."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from zonofit.search.coding import decode, encode

if TYPE_CHECKING:
    from zonofit.programs.problem import Problem
    from zonofit.search.budget import Budget

COUNTS = ("programs", "vertices", "moves", "steps", "flips")
COLUMNS = ("seconds", "loss", *COUNTS)
LIMITS = ("target", "seconds", "programs", "moves")


class Search(ABC):
    """A way to choose patterns. Subclasses are frozen dataclasses whose fields are their settings.

    Laws, which `tests/search/test_contract.py` checks for every search:

    * `begin` and `advance` read and write the walk and nothing else, and draw from ``walk.rng`` alone;
    * whatever they keep in ``walk.state`` is made of arrays, numbers, strings, lists and dictionaries;
    * ``walk.best`` never gets worse; `advance` returns why the search is over, or None;
    * a move that ends with one of `LIMITS`, or with an interrupt, was cut short: the walk takes back what it did to
      ``walk.state`` and drew from ``walk.rng``, and a search that goes on makes the same move again, whole.

    Attributes
    ----------
    name : str
        What the command line calls it.
    longest_round : int
        Most moves between two looks of the caller, if several walk; few where a move takes seconds.
    """

    name: ClassVar[str]
    longest_round: ClassVar[int] = 64

    @abstractmethod
    def begin(self, walk: Walk, start) -> str | None:
        """Take the start, or choose one, and record it with `Walk.visit`; the limit that cut it short, or None."""

    @abstractmethod
    def advance(self, walk: Walk) -> str | None:
        """One move; the reason why there is none left, or None."""


@dataclass(frozen=True)
class Network:
    """Weights W (m, n), output bias c, output weights v (m,), and the objective they have."""

    W: np.ndarray
    c: float
    v: np.ndarray
    objective: float


@dataclass(eq=False)
class Walk:
    """State of one walker.

    Attributes
    ----------
    problem : Problem
    rng : numpy.random.Generator
    best : Network or None
    state : dict
        What the search wants to remember.
    counts : dict
        `programs` solved, `vertices` visited, `moves`, Newton `steps`, and `flips` of bits.
    history : list of tuple
        One row for each improvement, of the columns `COLUMNS`.
    seconds : float
        Time spent so far, over all resumptions.
    reason : str or None
        Why it ended, if it did.
    begun : bool
        Whether the search has taken its start.
    """

    problem: Problem
    rng: np.random.Generator
    best: Network | None = None
    state: dict[str, Any] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))
    history: list[tuple] = field(default_factory=list)
    seconds: float = 0.0
    reason: str | None = None
    begun: bool = False
    _since: float | None = None
    _deadline: float = np.inf
    _budget: Budget | None = None

    def visit(self, network: Network) -> bool:
        """Report a network that was reached; whether it is the best so far."""
        self.counts["vertices"] += 1
        return self.offer(network)

    def offer(self, network: Network) -> bool:
        """Report a network that was looked at from afar, such as a neighbour; whether it is the best so far."""
        if self.best is not None and not network.objective < self.best.objective:
            return False
        self.best = network
        self.history.append((self.elapsed(), network.objective, *(self.counts[name] for name in COUNTS)))
        return True

    def count(self, **amounts: int) -> None:
        """Add to the counts."""
        for name, amount in amounts.items():
            self.counts[name] += int(amount)

    def elapsed(self) -> float:
        """Seconds of this walker so far."""
        return self.seconds + (0.0 if self._since is None else time.perf_counter() - self._since)

    def exhausted(self) -> str | None:
        """Which limit is reached, or None; searches ask it within long moves."""
        budget = self._budget
        if budget is None:
            return None
        if self.best is not None and self.best.objective <= budget.target:
            return "target"
        if self.counts["programs"] >= budget.programs:
            return "programs"
        if self.counts["moves"] >= budget.moves:
            return "moves"
        return "seconds" if time.perf_counter() >= self._deadline else None

    def target(self) -> float:
        """Objective that is good enough, for inner solvers that can stop there."""
        return -np.inf if self._budget is None else self._budget.target

    def limit(self, name: str) -> float:
        """What the budget allows, for searches that know beforehand what they need."""
        return np.inf if self._budget is None else getattr(self._budget, name)

    def go(self, search: Search, start, budget: Budget, seconds_left: float, moves: float) -> None:
        """Advance by at most so many moves; `reason` says why it ended, if it did.

        An interrupt leaves the walk as it was before the move, with the reason "interrupted".
        """
        self._since = time.perf_counter()
        self._budget, self._deadline = budget, self._since + seconds_left
        try:
            if not self.begun:
                self.reason = self._whole(lambda: search.begin(self, start))
                self.begun = self.reason is None
            until = self.counts["moves"] + moves
            while self.reason is None and self.counts["moves"] < until:
                self.reason = self.exhausted() or self._whole(lambda: search.advance(self))
            self.reason = self.reason or self.exhausted()
        except KeyboardInterrupt:
            self.reason = "interrupted"
        except SystemError as error:
            # what numba makes of an interrupt that reaches it between two kernels
            if not _by_interrupt(error):
                raise
            self.reason = "interrupted"
        finally:
            self.seconds, self._since = self.elapsed(), None

    def _whole(self, move: Callable[[], str | None]) -> str | None:
        """Make a move; take it back, but for the work it took and the best network, if it is cut short."""
        state, random, moves = deepcopy(self.state), self.rng.bit_generator.state, self.counts["moves"]
        reason: str | None = "interrupted"
        try:
            reason = move()
        finally:
            if reason == "interrupted" or reason in LIMITS:
                self.state, self.rng.bit_generator.state = state, random
                self.counts["moves"] = moves
        return reason

    def to_dict(self) -> dict[str, Any]:
        """Everything but the problem, in what JSON knows."""
        best = None if self.best is None else vars(self.best)
        return {
            "rng": encode(self.rng.bit_generator.state),
            "best": encode(best),
            "state": encode(self.state),
            "counts": dict(self.counts),
            "history": encode(self.history),
            "seconds": self.seconds,
            "reason": self.reason,
            "begun": self.begun,
        }

    @classmethod
    def from_dict(cls, problem: Problem, data: dict[str, Any]) -> Walk:
        """The walk that `to_dict` wrote."""
        rng = np.random.default_rng()
        rng.bit_generator.state = decode(data["rng"])
        best = decode(data["best"])
        return cls(
            problem, rng, None if best is None else Network(**best), decode(data["state"]), dict(data["counts"]),
            [tuple(row) for row in decode(data["history"])], float(data["seconds"]), data["reason"],
            bool(data["begun"]),
        )  # fmt: skip


def _by_interrupt(error: BaseException | None) -> bool:
    """Whether an interrupt is among the causes of an exception."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None
