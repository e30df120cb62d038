"""Hopping: which regime is which, what a race does, and that it finds more than descents alone."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.programs.test_damped import noisy
from tests.search.instances import paper
from zonofit.errors import InputError
from zonofit.programs import Problem
from zonofit.search import Budget, FacetDescent, Hopping, Walk, _race, run


def network(objective: float) -> dict:
    return {"W": np.full((2, 2), objective), "c": 0.0, "v": np.ones(2), "objective": objective}


@pytest.mark.parametrize("size", [1, 2, 5, 8])
def test_a_race_halves_its_walks_and_doubles_their_hops(size):
    race, rng, width, patience = _race.enter(size), np.random.default_rng(size), 3, 4.0
    turns, hops, best = [], 0, np.inf
    while True:
        json.dumps({name: race[name] for name in ("task", "size", "round", "left")})
        if race["task"] == "start":
            _race.started(race, network(100 * (1 + rng.random())), width, patience)
        elif race["task"] == "hop":
            hops += 1
            top = race["top"]["objective"]
            following = _race.hopped(race, network(top * (0.9 if hops == 1 else 1.1)), width, patience)
            if race["task"] != "hop" or following is not None:
                turns.append(hops)
                hops = 0
            best = min(best, top * (0.9 if hops == 1 else 1.0))
        else:
            finished = _race.alone(race)
            assert _race.leader(race)["objective"] == min(walk["objective"] for walk in race["done"])
            _race.polished(race, network(0.5 * _race.leader(race)["objective"]), width, patience)
            if finished:
                break
    expected, walks, each = [], size, 1
    while walks > 1:
        expected += [each * width] * walks
        walks, each = walks // 2, 2 * each
    assert turns == [*expected, 1 + width * patience]
    assert race == _race.enter(size)


def test_examples_say_whether_it_races():
    for problem, many in ((paper(0, 3, 3, 3), False), (noisy(), True)):
        walk = Walk(problem, np.random.default_rng(0))
        walk.go(Hopping(), None, Budget(moves=2), np.inf, np.inf)
        assert problem.many_examples == ("race" in walk.state) == many


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("options", [{}, {"alpha": 0.01}, {"output_bias": 0.3}])
def test_a_race_is_below_descents(loss, options):
    problem = noisy(200, 5, 4, loss=loss, **options)
    race = run(Hopping(crowd=4, patience=5.0), problem, budget=Budget(moves=600), seed=1)
    descents = run(FacetDescent(starts=30, signs="random"), problem, seed=1)
    assert race.loss < descents.loss * (1 - 1e-4)
    assert race.counts["programs"] == race.counts["moves"] + 1


def test_fixed_signs_stay_fixed_in_a_race():
    problem = noisy(200, 3, 4)
    trace = run(Hopping(signs="fixed", crowd=2, patience=2.0), problem, budget=Budget(moves=80))
    assert np.array_equal(trace.output_weights, problem.output_weights)


def test_without_damped_steps_it_still_races():
    problem = noisy(100, 3, 2)
    trace = run(Hopping(damped=0, crowd=2, patience=2.0), problem, budget=Budget(moves=20))
    assert trace.loss <= run(Hopping(damped=0), problem, budget=Budget(moves=0)).loss


def test_a_small_change_of_units_changes_little():
    problem = noisy(150, 3, 2)
    other = Problem(1e3 * problem.generators[:, :-1] - 5, 1e-3 * problem.labels, problem.output_weights)
    one, two = (run(Hopping(crowd=2, patience=3.0), each, budget=Budget(moves=60)) for each in (problem, other))
    assert two.loss == pytest.approx(1e-6 * one.loss, rel=0.02)


def test_bad_settings_are_named():
    for name, value in (("crowd", 0), ("patience", -1.0), ("best", 0), ("best", 10_000), ("signs", "free")):
        with pytest.raises(InputError, match=rf"^{name}: "):
            Hopping(**{name: value})


def test_it_hops_however_little_patience_it_has():
    """Half of a patience of one hop is none, and the lowest network must not be polished in the place of a kick."""
    kicks = {}
    for patience in (0.5, 50.0):
        search, problem = Hopping(patience=patience), paper(0, 3, 3, 2)
        walk = Walk(problem, np.random.default_rng(0))
        walk.go(search, None, Budget(moves=40), np.inf, np.inf)
        kicks[patience] = len(walk.state["minima"])
        walk.go(search, None, Budget(moves=41), np.inf, np.inf)
        kicks[patience] = max(kicks[patience], len(walk.state["minima"]))
    assert min(kicks.values()) > 0


@pytest.mark.parametrize("size", [(4, 2, 2), (4, 4, 4), (8, 4, 4)])
def test_finds_the_network_that_made_the_data(size):
    for seed in range(8):
        trace = run(Hopping(), paper(seed, *size), budget=Budget(moves=5000, target=1e-12), seed=seed)
        assert trace.stop_reason == "target" and trace.loss <= 1e-12


def walked(search, moves: int, seed: int = 0):
    """State after each move on labels that two units do not fit."""
    rng = np.random.default_rng(seed)
    problem = Problem(rng.standard_normal((12, 3)), rng.standard_normal(12), 2)
    walk, states = Walk(problem, np.random.default_rng(seed)), []
    for _ in range(moves):
        walk.go(search, None, Budget(), np.inf, 1)
        states.append(dict(walk.state))
    return walk, states


def test_a_walk_polishes_its_lowest_network_and_begins_anew():
    search = Hopping(patience=6.0)
    walk, states = walked(search, 300)
    assert all(len(state["minima"]) <= 100 for state in states)
    stalls = np.array([state["stall"] for state in states])
    assert stalls.max() == 12
    anew = np.flatnonzero(stalls[:-1] == 12)
    assert len(anew) > 3 and np.all(stalls[anew + 1] == 0)
    for k in np.flatnonzero(stalls == 7):  # the sixth hop in vain was followed by facet descent, which gained nothing
        low = states[k]["lowest"]
        own = walk.problem.with_output_weights(low["v"])
        again = own.descend(low["W"], low["c"], max_steps=search.max_steps, valleys=0)
        assert low["objective"] <= again.objective * (1 + 2e-3)
    lows = [state["lowest"]["objective"] for state in states]
    assert min(lows) == walk.best.objective
    for before, after, stall in zip(lows, lows[1:], stalls, strict=False):
        assert after <= before or stall == 12
