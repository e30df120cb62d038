"""One walker: where a search is, what it has found, and what it took. Everything about it fits into JSON."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from zonofit.search.coding import decode, encode

if TYPE_CHECKING:
    from zonofit.programs.problem import Problem
    from zonofit.search.budget import Budget

COUNTS = ("programs", "vertices", "moves", "steps", "flips")
COLUMNS = ("seconds", "loss", *COUNTS)


class Search(ABC):
    """A way to choose patterns. Subclasses are frozen dataclasses whose fields are their settings.

    Laws, which `tests/search/test_contract.py` checks for every search:

    * `begin` and `advance` read and write the walk and nothing else, and draw from ``walk.rng`` alone;
    * whatever they keep in ``walk.state`` is made of arrays, numbers, strings, lists and dictionaries;
    * ``walk.best`` never gets worse; `advance` returns why the search is over, or None.
    """

    name: ClassVar[str]

    @abstractmethod
    def begin(self, walk: Walk, start) -> None:
        """Take the start, or choose one, and record it with `Walk.visit`."""

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
    """

    problem: Problem
    rng: np.random.Generator
    best: Network | None = None
    state: dict[str, Any] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))
    history: list[tuple] = field(default_factory=list)
    seconds: float = 0.0
    reason: str | None = None
    _since: float | None = None
    _deadline: float = np.inf
    _budget: Budget | None = None

    def visit(self, network: Network) -> bool:
        """Report a network that was reached; whether it is the best so far."""
        self.counts["vertices"] += 1
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

    def go(self, search: Search, start, budget: Budget, seconds_left: float, moves: float) -> None:
        """Advance by at most so many moves; `reason` says why it ended, if it did.

        An interrupt leaves the walk as it is, with the reason "interrupted".
        """
        self._since = time.perf_counter()
        self._budget, self._deadline = budget, self._since + seconds_left
        try:
            if self.best is None:
                search.begin(self, start)
            until = self.counts["moves"] + moves
            while self.reason is None and self.counts["moves"] < until:
                self.reason = self.exhausted() or search.advance(self)
            self.reason = self.reason or self.exhausted()
        except KeyboardInterrupt:
            self.reason = "interrupted"
        finally:
            self.seconds, self._since = self.elapsed(), None

    def to_dict(self) -> dict[str, Any]:
        """Everything but the problem, in what JSON knows."""
        best = None if self.best is None else vars(self.best)
        return {
            "rng": encode(self.rng.bit_generator.state),
            "best": encode(best),
            "state": encode(self.state),
            "counts": self.counts,
            "history": encode(self.history),
            "seconds": self.seconds,
            "reason": self.reason,
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
        )  # fmt: skip
