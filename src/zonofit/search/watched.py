"""A search judged on other examples: it keeps the network that predicts those best, and ends once none is better.

The search itself goes on as it would alone. After each of its moves that lowered the loss, the best network is tried on
the examples that were held back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zonofit.search.starts import at_least
from zonofit.search.walk import LIMITS, Search

if TYPE_CHECKING:
    from zonofit.programs.problem import Problem
    from zonofit.search.walk import Walk


@dataclass(frozen=True)
class Watched(Search):
    """Early stopping of another search.

    Its trace's ``details["validation"]`` holds the network with the least validation loss: ``W``, ``c``, ``v``,
    ``loss`` and the number of ``moves`` that it took.

    Parameters
    ----------
    search : Search
    held_back : Problem
        Examples that were held back, with their labels and sample weights; its ridge and its widths do not matter.
    patience : int
        Moves without a lower validation loss after which the search ends.
    """

    search: Search
    held_back: Problem
    patience: int

    def __post_init__(self) -> None:
        """Refuse a patience that is none."""
        at_least("patience", self.patience, 1)

    @property
    def name(self) -> str:  # type: ignore[override]
        """That of the search."""
        return self.search.name

    @property
    def longest_round(self) -> int:  # type: ignore[override]
        """That of the search."""
        return self.search.longest_round

    def begin(self, walk: Walk, start) -> str | None:
        """Begin, and judge the start."""
        return self._whole(walk, self.search.begin(walk, start))

    def advance(self, walk: Walk) -> str | None:
        """One move, and its judgement."""
        return self._whole(walk, self.search.advance(walk))

    def _whole(self, walk: Walk, reason: str | None) -> str | None:
        """What ends the search, after a move that is judged unless it was cut short."""
        verdict = None if reason in LIMITS else self._judge(walk)
        return reason or verdict

    def _judge(self, walk: Walk) -> str | None:
        details: dict[str, Any] = walk.state.setdefault("details", {})
        kept, best, moves = details.get("validation"), walk.best, walk.counts["moves"]
        if best is None:
            return None
        if kept is None or best.objective < kept["seen"]:
            problem = self.held_back.with_output_weights(best.v)
            loss = problem.mean_loss(problem.predict(best.W, best.c))
            if kept is None or loss < kept["loss"]:
                kept = {"W": best.W, "c": best.c, "v": best.v, "loss": loss, "moves": moves}
            details["validation"] = kept | {"seen": best.objective}
        return "validation" if moves - details["validation"]["moves"] >= self.patience else None
