"""Searches for tests of the command alone: quick to say what they should, and registered in whatever process asks."""

import sys
import time
from dataclasses import dataclass
from typing import ClassVar

from zonofit.cli import main
from zonofit.errors import BudgetError
from zonofit.search.methods import METHODS
from zonofit.search.walk import Network, Search


@dataclass(frozen=True)
class Restarts(Search):
    """Facet descent from random weights, again and again."""

    name: ClassVar[str] = "restarts"
    pause: float = 0.0

    def begin(self, walk, start):
        self._descend(walk, start)

    def advance(self, walk):
        walk.count(moves=1)
        self._descend(walk, None)
        time.sleep(self.pause)

    def _descend(self, walk, start):
        problem = walk.problem
        if start is None:
            start = walk.rng.standard_normal((problem.width, problem.generators.shape[1]))
        found = problem.descend(start, target=max(walk.target(), 0.0))
        walk.count(programs=1, steps=found.steps, flips=found.flips)
        walk.visit(Network(found.W, found.c, problem.output_weights, found.objective))


@dataclass(frozen=True)
class Slow(Restarts):
    """Moves that last long enough to be interrupted in."""

    name: ClassVar[str] = "slow"
    pause: float = 0.05


@dataclass(frozen=True)
class Refusing(Search):
    """Finds the task too large."""

    name: ClassVar[str] = "refusing"

    def begin(self, walk, start):
        raise BudgetError("exact: needs 1,000,000 programs, and 10 are allowed; raise the budget.")

    def advance(self, walk):
        raise AssertionError


NAMES = {name: (__name__, name.capitalize()) for name in ("restarts", "slow", "refusing")}

if __name__ == "__main__":
    METHODS.update({name: ("tests.cli.standin", home) for name, (_, home) in NAMES.items()})
    sys.exit(main())
