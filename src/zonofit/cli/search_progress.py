"""How far a search is: the best loss, the rate, and the time left of its budget."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from zonofit.cli.output import elapsed, rate
from zonofit.cli.progress import Progress

if TYPE_CHECKING:
    from zonofit.search.budget import Budget
    from zonofit.search.walk import Walk

PARTS = 1000


class SearchProgress(Progress):
    """`Progress` whose calls are those of ``zonofit.search.run(progress=...)``.

    The bar fills as the nearest limit is used up. Between rounds it reads the walkers as they are: those of this
    process are seen at work, those in workers as they were after the last round.

    Parameters
    ----------
    title : str
    budget : Budget
    """

    def __init__(self, title: str, budget: Budget):
        super().__init__(title)
        self._budget = budget
        self._walks: list[Walk] = []
        self._spent, self._at = 0.0, time.monotonic()
        self._first: tuple[float, int, int] | None = None

    def __call__(self, walks: list[Walk], seconds: float) -> None:  # type: ignore[override]
        """Note the walkers after `seconds`."""
        self._walks, self._spent, self._at = walks, seconds, time.monotonic()
        if self._first is None:
            self._first = (self._at, self._total_of("programs"), self._total_of("moves"))

    def _total_of(self, name: str) -> int:
        return sum(walk.counts[name] for walk in self._walks)

    def _status(self) -> str:
        if self._first is None:
            return elapsed(time.monotonic() - self._start)
        now = time.monotonic()
        seconds = self._spent + now - self._at
        part, left = self._part(seconds, now - self._first[0])
        self._done, self._total = (round(PARTS * part), PARTS) if part > 0 else (0, 0)
        found = [walk.best.objective for walk in self._walks if walk.best is not None]
        parts = [f"best loss {min(found):.4g}" if found else "no loss yet"]
        for name, before in (("programs", self._first[1]), ("moves", self._first[2])):
            number = self._total_of(name)
            if number and len(parts) == 1:
                parts.append(f"{number:,} {name}, {rate(number - before, now - self._first[0])}")
        parts.append(elapsed(seconds))
        if left is not None:
            parts.append(f"{elapsed(left)} left")
        return ", ".join(parts)

    def _part(self, seconds: float, here: float) -> tuple[float, float | None]:
        """How much of the nearest limit is used up, and the seconds until it is at the present rate."""
        budget = self._budget
        parts = [(seconds / budget.seconds, max(budget.seconds - seconds, 0.0))]
        for k, (name, limit) in enumerate((("programs", budget.programs), ("moves", budget.moves)), 1):
            least = min(walk.counts[name] for walk in self._walks)
            begun = self._first[k] / len(self._walks) if self._first else 0.0
            if 0 < limit < float("inf") and least > begun:
                parts.append((least / limit, here * max(limit - least, 0.0) / (least - begun)))
        part, left = min(parts, key=lambda pair: pair[1])
        return min(part, 1.0), left if left < float("inf") else None
