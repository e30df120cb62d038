r"""Hopping over local minima: kick one unit, descend again, and keep what is not much worse.

One hop:

1. *Kick.* Mostly one unit, chosen at random, is replaced by one of the best of many random units for what the others
   miss (`rate_units`), with the output sign that suits it. Sometimes the unit gets random weights, with or without the
   other sign, or all weights are jittered.
2. *Descend* by damped steps. Facet descent, which takes far longer, follows only where they fell far below what would
   be accepted, and once for the lowest network of all before the walk gives it up: there walls decide.
3. *Accept* what is better, and what is worse by a random share of the spread that minima have here. After many hops
   that found nothing lower, begin anew.

Where there are at least two examples for each parameter (`Problem.many_examples`), noise is not fitted and minima
differ by percents. Which valley a walk is in matters more than how long it looks around there, so a race of several
walks takes the place of the one (`zonofit.search._race`): all begin at random, and the better half goes on with twice
as many hops. Facet descent only polishes the best of them. While the last one hops, the best network of all is shaken
now and then: a valley holds many minima that differ by less than a thousandth.

Signs of the output weights are part of the search: v max(0, w·x) = sign(v) max(0, |v| w·x), so that ±1 is all that a
unit without a ridge can want, and which sign is not known in advance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from zonofit.errors import InputError
from zonofit.programs.proposals import random_weights
from zonofit.search import _kicks, _race
from zonofit.search.starts import at_least
from zonofit.search.walk import Network, Search, Walk

_MEMORY, _FEW = 100, 20  # descents that are remembered, and that are needed to judge by
_TRIFLE = 1e-3  # gains by a smaller part do not keep a walk going
_RATED = 500  # with many examples units are rated on so many of them,
_FEWER = 4  # and fewer units by this factor: a descent takes no longer than rating them all would
_SHADE = 5e-3  # there, `worse` counts in this part of the objective, by which minima of one valley differ


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
        Facet descent follows if the damped steps came below this part of what would be accepted.
    worse : float
        A hop that multiplies the objective by ``exp(s σ)`` is accepted with probability ``exp(-s / worse)``, where σ is
        the spread of the logarithms of the minima that were seen.
    patience : float
        Hops, per unit, that find nothing lower before the walk begins anew.
    max_steps : int
        Newton steps of a facet descent.
    crowd : int
        Walks of a race, where examples are many.
    """

    name: ClassVar[str] = "hopping"

    signs: str = "search"
    among: int = 600
    best: int = 15
    blind: float = 0.2
    damped: int = 60
    near: float = 0.03
    worse: float = 0.5
    patience: float = 35.0
    max_steps: int = 300
    crowd: int = 8

    def __post_init__(self) -> None:
        """Refuse settings that make no search."""
        if self.signs not in ("search", "fixed"):
            raise InputError(f'signs: {self.signs!r} will not do; choose "search" or "fixed".')
        if not 1 <= self.best <= self.among:
            raise InputError(f"best: pass a number from 1 to among={self.among}, not {self.best!r}.")
        at_least("crowd", self.crowd, 1)
        at_least("patience", self.patience, 0)

    def begin(self, walk: Walk, start) -> None:
        """Descend from the given weights, or from random ones."""
        if walk.problem.many_examples:
            walk.state["race"] = _race.enter(self.crowd)
        v = np.array(walk.problem.output_weights)
        if start is None:
            self._anew(walk, self.max_steps)
        else:
            self._enter(walk, self._descend(walk, np.asarray(start, float), None, v, np.inf, steps=self.max_steps))
        if walk.problem.many_examples:
            _race.started(walk.state["race"], _here(walk), walk.problem.width, self.patience)

    def advance(self, walk: Walk) -> str | None:
        """One hop."""
        walk.count(moves=1)
        if "race" in walk.state:
            self._run(walk)
        else:
            self._wander(walk)
        return None

    def _wander(self, walk: Walk) -> None:
        """A move of a single walk."""
        state = walk.state
        patience = int(self.patience * walk.problem.width)
        if state["stall"] >= patience:
            self._anew(walk)
            return
        if state["stall"] == max(patience // 2, 1):  # not before the first hop
            low = state["lowest"]
            found, most = self._descend(walk, low["W"], low["c"], low["v"], np.inf, 0), np.inf
        else:
            # how much worse may be accepted is counted in the spread of the minima that were seen, whatever the loss
            most = state["objective"] * np.exp(self.worse * _spread(state["minima"]) * walk.rng.exponential())
            found = self._descend(walk, *self._kick(walk), most * self.near)
            state["minima"] = np.append(state["minima"][1 - _MEMORY :], found.objective)
        least = state["lowest"]["objective"]
        if found.objective < max(least, most):
            self._settle(walk, found)
        if found.objective < least:
            state["lowest"] = _here(walk)
        state["stall"] = 0 if found.objective < least * (1.0 - _TRIFLE) else state["stall"] + 1

    def _run(self, walk: Walk) -> None:
        """A move of the race."""
        state, race = walk.state, walk.state["race"]
        task, pace = race["task"], (walk.problem.width, self.patience)
        following = None
        if task == "start":
            self._anew(walk)
            _race.started(race, _here(walk), *pace)
        elif task == "hop":
            here = state["objective"]
            most = here * np.exp(_SHADE * self.worse * walk.rng.exponential())
            if _race.alone(race) and walk.rng.random() < self.blind:
                found = self._shake(walk)
                most = here
            else:
                found = self._descend(walk, *self._kick(walk), most)
            if found.objective < most:
                self._settle(walk, found)
            following = _race.hopped(race, _here(walk), *pace)
        else:
            best = _race.leader(race)
            self._settle(walk, self._descend(walk, best["W"], best["c"], best["v"], np.inf, 0, self.max_steps))
            following = _race.polished(race, _here(walk), *pace)
        if following is not None:
            state.update(following)

    def _shake(self, walk: Walk) -> Network:
        """Descend, to the end, from close to the best network so far: a valley holds many minima."""
        best = walk.state["champion"]  # not `walk.best`: that outlives a move that is cut short
        W = _kicks.shaken(walk.problem, walk.rng, best["W"])
        found = self._descend(walk, W, best["c"], best["v"], np.inf, steps=self.max_steps)
        walk.offer(found)
        return found

    def _anew(self, walk: Walk, steps: int | None = None) -> None:
        m = walk.problem.width
        v = np.array(walk.problem.output_weights)
        if self.signs == "search":
            v = np.abs(v) * np.where(walk.rng.random(m) < 0.5, -1.0, 1.0)
        self._enter(walk, self._descend(walk, random_weights(walk.problem, walk.rng, m), None, v, np.inf, steps=steps))

    def _enter(self, walk: Walk, network: Network) -> None:
        """Settle at a new beginning."""
        self._settle(walk, network)
        if "race" not in walk.state:
            walk.state.update(stall=0, lowest=_here(walk), minima=np.empty(0))

    def _settle(self, walk: Walk, network: Network) -> None:
        walk.state.update(W=network.W, c=network.c, v=network.v, objective=network.objective)
        walk.visit(network)

    def _descend(
        self, walk: Walk, W, c, v, worth: float, damped: int | None = None, steps: int | None = None
    ) -> Network:
        problem, race = walk.problem.with_output_weights(v), "race" in walk.state
        damped = self.damped if damped is None else damped
        if steps is None:
            steps = 0 if race and damped > 0 else self.max_steps
        found = problem.descend(
            W, c, max_steps=steps, target=max(walk.target(), 0.0), valleys=0, damped=damped, worth=worth
        )
        walk.count(programs=1, steps=found.steps, flips=found.flips)
        network = Network(found.W, found.c, v, found.objective)
        if race:
            if "champion" not in walk.state or network.objective < walk.state["champion"]["objective"]:
                walk.state["champion"] = dict(vars(network))
        return network

    def _kick(self, walk: Walk) -> tuple[np.ndarray, float, np.ndarray]:
        problem, state, rng = walk.problem, walk.state, walk.rng
        here = state["W"], float(state["c"]), state["v"], int(rng.integers(len(state["v"])))
        free = self.signs == "search"
        if rng.random() < self.blind:
            return _kicks.blind(problem, rng, *here, free)
        if "race" in state:
            return _kicks.informed(problem, rng, *here, max(self.among // _FEWER, 1), self.best, free, _RATED)
        return _kicks.informed(problem, rng, *here, self.among, self.best, free)


def _here(walk: Walk) -> dict[str, Any]:
    return {name: walk.state[name] for name in ("W", "c", "v", "objective")}


def _spread(minima: np.ndarray) -> float:
    """Spread of the logarithms of the minima that were seen: half of the range of the middle two thirds, 1 at most."""
    if len(minima) < _FEW:
        return 1.0
    low, high = np.sort(minima)[[len(minima) // 6, -1 - len(minima) // 6]]
    return min(0.5 * float(np.log(high / low)), 1.0) if low > 0 else 1.0
