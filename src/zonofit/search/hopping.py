r"""Hopping over local minima: kick one unit, descend again, and keep what is not much worse.

One hop:

1. *Kick.* Mostly one unit, chosen at random, is replaced by one of the best of many random units for what the others
   miss (`rate_units`), with the output sign that suits it. Sometimes the unit gets random weights, with or without the
   other sign, or all weights are jittered.
2. *Descend.* Damped steps first, which are cheap; only if they come near what would be accepted, facet descent.
3. *Accept* what is better, and what is worse by a random share of the spread that minima have here. After many hops
   without gain, begin anew.

Signs of the output weights are part of the search: v max(0, w·x) = sign(v) max(0, |v| w·x), so that ±1 is all that a
unit without a ridge can want, and which sign is not known in advance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from zonofit.errors import InputError
from zonofit.programs.proposals import random_weights, rate_units
from zonofit.search.walk import Network, Search, Walk

_MEMORY, _FEW = 40, 8  # facet descents that are remembered, and that are needed to judge by


@dataclass(frozen=True)
class Hopping(Search):
    """Hopping over local minima of facet descent.

    Parameters
    ----------
    signs : {"search", "fixed"}
        Whether output weights may change their sign. With "fixed" they stay those of the problem.
    among, best : int
        An informed kick takes one of the `best` of `among` random units.
    blind : float
        Share of kicks that do not look at what is missing.
    damped : int
        Damped steps of a descent at most; 0 for none.
    near : float
        Facet descent follows only if the damped steps came within this factor of what would be accepted, or within a
        smaller one where facet descent is seen to gain less.
    worse : float
        A hop that multiplies the objective by ``exp(s σ)`` is accepted with probability ``exp(-s / worse)``, where σ is
        the spread of the logarithms of the minima that were seen.
    patience : float
        Hops without gain, per unit, after which the walk begins anew.
    spread : float
        With each new beginning, `worse` and `patience` are multiplied by factors drawn from ``exp(-spread)`` to
        ``exp(spread)``: no value is best for all data.
    max_steps : int
        Newton steps of a facet descent.
    """

    name: ClassVar[str] = "hopping"

    signs: str = "search"
    among: int = 600
    best: int = 15
    blind: float = 0.2
    damped: int = 60
    hurdles: tuple[int, ...] = (4, 8, 16)
    keep: float = 0.65
    near: float = 0.03
    worse: float = 0.5
    patience: float = 50.0
    spread: float = 0.0
    max_steps: int = 300

    def __post_init__(self) -> None:
        """Refuse settings that make no search."""
        if self.signs not in ("search", "fixed"):
            raise InputError(f'signs: {self.signs!r} will not do; choose "search" or "fixed".')
        if not 1 <= self.best <= self.among:
            raise InputError(f"best: pass a number from 1 to among={self.among}, not {self.best!r}.")

    def begin(self, walk: Walk, start) -> None:
        """Descend from the given weights, or from random ones."""
        walk.state.update(stall=0, worse=self.worse, patience=self.patience, minima=[], gains=[], races=[])
        v = np.array(walk.problem.output_weights)
        if start is None:
            self._anew(walk)
        else:
            self._settle(walk, self._descend(walk, np.asarray(start, float), None, v, np.inf))

    def advance(self, walk: Walk) -> str | None:
        """One hop."""
        state, rng = walk.state, walk.rng
        walk.count(moves=1)
        if state["stall"] >= state["patience"] * len(state["v"]):
            self._anew(walk)
            return None
        here = state["objective"]
        # how much worse may be accepted is counted in the spread of the minima that were seen, whatever the loss
        most = here * np.exp(state["worse"] * _spread(state["minima"]) * rng.exponential())
        hurdles = [
            (step, max(most, np.sort(race)[int(self.keep * (len(race) - 1))] if len(race) >= 20 else np.inf))
            for step, race in zip(self.hurdles, state["races"], strict=True)
        ]
        found = self._descend(walk, *self._kick(walk), most * _gain(state["gains"], self.near), hurdles)
        state["stall"] = 0 if found.objective < state["lowest"] else state["stall"] + 1
        if found.objective < most:
            self._settle(walk, found)
        return None

    def _anew(self, walk: Walk) -> None:
        m = walk.problem.width
        v = np.array(walk.problem.output_weights)
        if self.signs == "search":
            v = np.abs(v) * np.where(walk.rng.random(m) < 0.5, -1.0, 1.0)
        mood = np.exp(self.spread * walk.rng.uniform(-1.0, 1.0, 2))
        walk.state.update(
            lowest=np.inf, stall=0, worse=self.worse * mood[0], patience=self.patience * mood[1], races=[np.empty(0) for _ in self.hurdles]
        )
        self._settle(walk, self._descend(walk, random_weights(walk.problem, walk.rng, m), None, v, np.inf))

    def _settle(self, walk: Walk, network: Network) -> None:
        walk.state.update(W=network.W, c=network.c, v=network.v, objective=network.objective)
        walk.state["lowest"] = min(walk.state.get("lowest", np.inf), network.objective)
        walk.visit(network)

    def _descend(self, walk: Walk, W, c, v, worth: float, hurdles=()) -> Network:
        problem = walk.problem.with_output_weights(v)
        found = problem.descend(
            W, c, max_steps=self.max_steps, target=max(walk.target(), 0.0), valleys=0, damped=self.damped, worth=worth,
            hurdles=hurdles,
        )
        walk.count(programs=1, steps=found.steps, flips=found.flips)
        races = walk.state["races"]
        for k, value in enumerate(found.seen[: len(races)]):
            races[k] = np.append(races[k][-99:], value)
        if (found.damped < worth or self.damped == 0) and found.objective > 0.0:
            _remember(walk.state["minima"], np.log(found.objective))
            if np.isfinite(found.damped):
                _remember(walk.state["gains"], np.log(found.damped / found.objective))
        return Network(found.W, found.c, v, found.objective)

    def _kick(self, walk: Walk) -> tuple[np.ndarray, float, np.ndarray]:
        problem, state, rng = walk.problem, walk.state, walk.rng
        W, v, c = state["W"].copy(), state["v"].copy(), float(state["c"])
        j = int(rng.integers(len(v)))
        if rng.random() < self.blind:
            return self._blind_kick(walk, W, c, v, j)
        rest = problem.with_output_weights(np.where(np.arange(len(v)) == j, 0.0, v))
        units, signs = rate_units(problem, rest.predict(W, c), rng, self.among)
        if self.signs == "fixed":
            units = units[signs == np.sign(v[j])] if np.any(signs == np.sign(v[j])) else units
        k = int(rng.integers(min(self.best, len(units))))
        size = abs(v[j]) or 1.0
        W[j] = units[k] / size
        if self.signs == "search":
            v[j] = signs[k] * size
        return W, c, v

    def _blind_kick(self, walk: Walk, W, c: float, v, j: int) -> tuple[np.ndarray, float, np.ndarray]:
        problem, rng = walk.problem, walk.rng
        what = rng.random()
        size = np.sqrt(np.mean(np.sum((W @ problem.design.drop.T) ** 2, axis=1)) / problem.design.X.shape[1])
        fresh = size / problem.unit * random_weights(problem, rng, len(W))
        if what < 0.8:
            W[j] = fresh[j]
            if what < 0.4 and self.signs == "search":
                v[j] = -v[j]
        else:
            W = W + 0.3 * fresh
        return W, c, v


def _remember(values: list[float], value: float) -> None:
    values.append(float(value))
    del values[:-_MEMORY]


def _spread(minima: list[float]) -> float:
    """Spread of the logarithms of the minima that were seen: half of the range of the middle two thirds, 1 at most."""
    if len(minima) < _FEW:
        return 1.0
    low, high = np.quantile(minima, (1 / 6, 5 / 6))
    return min(max(0.5 * float(high - low), 1e-6), 1.0)


def _gain(gains: list[float], first: float) -> float:
    """By which factor facet descent lowers what damped steps leave: the median, and at most `first`."""
    return first if len(gains) < _FEW else min(float(np.exp(np.median(gains))), first)
