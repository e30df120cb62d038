"""A race of walks: all take a few hops in turn, the better half goes on with twice as many, until one is left.

Which valley a random start leads to cannot be foreseen, but much of it is known long before the end. A round costs the
same number of hops as the one before it. After each, the best network is polished; the last walk hops until it stalls.

A race is a dictionary that fits into JSON: the `task` of the next move ("start", "hop" or "polish"), the networks that
wait for their turn (`crowd`), those whose turn is over (`done`), the best of the present turn (`top`), and how many
hops are `left` to it.
"""

from __future__ import annotations

from typing import Any

Race = dict[str, Any]
_TRIFLE = 1e-4  # gains by a smaller part do not keep the last walk going


def enter(size: int) -> Race:
    """Before the start of so many walks."""
    return {"task": "start", "size": size, "round": 0, "left": 0.0, "crowd": [], "done": [], "top": None}


def started(race: Race, network: Race, width: int, patience: float) -> None:
    """A new walk begins its first turn."""
    _turn(race, network, width, patience)


def hopped(race: Race, network: Race, width: int, patience: float) -> Race | None:
    """The walk whose turn it is has made a hop; where to go on, if it is another's turn now."""
    least = race["top"]["objective"]
    if network["objective"] < least:
        race["top"] = network
    gained = network["objective"] < least * (1.0 - _TRIFLE)
    race["left"] = width * patience if gained and alone(race) else race["left"] - 1
    if race["left"] > 0:
        return None
    race["done"].append(race["top"])
    if race["crowd"]:
        return _turn(race, race["crowd"].pop(0), width, patience)
    if race["round"] == 0 and len(race["done"]) < race["size"]:
        race["task"] = "start"
    else:
        race["task"] = "polish"
        race["done"].sort(key=lambda walk: walk["objective"])
    return None


def leader(race: Race) -> Race:
    """The network to polish."""
    return race["done"][0]


def polished(race: Race, network: Race, width: int, patience: float) -> Race | None:
    """The next round begins with the polished network, or, if only one walk was left, the next race with none."""
    if network["objective"] < leader(race)["objective"]:
        race["done"][0] = network
    if alone(race):
        race.update(enter(race["size"]))
        return None
    race["round"] += 1
    race.update(crowd=race["done"][: race["size"] >> race["round"]], done=[])
    return _turn(race, race["crowd"].pop(0), width, patience)


def alone(race: Race) -> bool:
    """Whether one walk is left."""
    return race["size"] >> race["round"] == 1


def _turn(race: Race, network: Race, width: int, patience: float) -> Race:
    race.update(task="hop", top=network, left=float(width * (patience if alone(race) else 2 ** race["round"])))
    return network
