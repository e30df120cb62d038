"""Set cover instances: what they are, which are known, and the smallest cover by integer programming."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from zonofit.errors import InputError

__all__ = ["SetCover", "greedy_cover", "greedy_trap", "partition", "random_cover", "smallest_cover"]


@dataclass(frozen=True)
class SetCover:
    """Sets, of which as few as possible shall have all elements.

    Attributes
    ----------
    elements : tuple of str
    names : tuple of str
        Names of the sets.
    sets : tuple of frozenset of int
        Elements of each set, by number.
    """

    elements: tuple[str, ...]
    names: tuple[str, ...]
    sets: tuple[frozenset[int], ...]

    @classmethod
    def of(cls, sets: Mapping | Sequence, elements: Iterable | None = None, *, uncovered: bool = False) -> SetCover:
        """An instance from names of elements.

        Parameters
        ----------
        sets : mapping, or sequence of collections
            From the name of a set to its elements; the sets of a sequence are called T1, T2, ...
        elements : iterable, optional
            What to cover; by default all elements of the sets.
        uncovered : bool
            Accept an element that is in no set, though there is no cover then.
        """
        named = dict(sets) if isinstance(sets, Mapping) else {f"T{k + 1}": T for k, T in enumerate(sets)}
        if not named:
            raise InputError("sets: there are none; pass at least one set.")
        members = {str(name): _names(T, f"sets: {name!s}") for name, T in named.items()}
        found = list(dict.fromkeys(u for T in members.values() for u in T))
        wanted = found if elements is None else _names(elements, "elements")
        if not wanted:
            raise InputError("elements: there is nothing to cover; pass at least one element.")
        number = {u: k for k, u in enumerate(wanted)}
        strange = next(((name, u) for name, T in members.items() for u in T if u not in number), None)
        if strange is not None:
            raise InputError(
                f"sets: {strange[0]} has {strange[1]}, which is not among the elements; add it or drop it."
            )
        missing = [u for u in wanted if u not in set(found)]
        if missing and not uncovered:
            more = f" ({len(missing)} such in all)" if len(missing) > 1 else ""
            raise InputError(
                f"elements: {missing[0]} is in no set{more}, so that nothing covers it; "
                "add it to a set, or leave it out of the elements."
            )
        return cls(tuple(wanted), tuple(members), tuple(frozenset(number[u] for u in T) for T in members.values()))

    @classmethod
    def from_json(cls, text: str) -> SetCover:
        """An instance from ``{"sets": {"A": ["x", "y"], ...}, "elements": [...]}``; the second part may be missing."""
        try:
            data = json.loads(text)
        except ValueError as error:
            raise InputError(f"instance: this is no JSON ({error}); {_SHAPE}.") from None
        if not isinstance(data, dict) or "sets" not in data:
            raise InputError(f'instance: there is no object with "sets" in it; {_SHAPE}.')
        if other := sorted(set(data) - {"sets", "elements"}):
            raise InputError(f'instance: {other[0]!r} is neither "sets" nor "elements"; {_SHAPE}.')
        if not isinstance(data["sets"], (dict, list)):
            raise InputError(f'instance: "sets" is neither an object nor a list; {_SHAPE}.')
        return cls.of(data["sets"], data.get("elements"))

    @cached_property
    def incidence(self) -> np.ndarray:
        """Which set has which element, (M, |U|) of bool."""
        table = np.zeros((len(self.sets), len(self.elements)), bool)
        for k, T in enumerate(self.sets):
            table[k, list(T)] = True
        return table

    def covers(self, chosen: Iterable[int]) -> bool:
        """Whether the sets with these numbers have all elements."""
        return bool(np.all(np.any(self.incidence[list(chosen)], axis=0)))

    def prune(self, chosen: Iterable[int]) -> tuple[int, ...]:
        """A part of a cover without a superfluous set; small sets are left out first."""
        kept = sorted(chosen)
        for k in sorted(kept, key=lambda k: len(self.sets[k])):
            rest = [j for j in kept if j != k]
            kept = rest if self.covers(rest) else kept
        return tuple(kept)


_SHAPE = 'write {"sets": {"A": ["x", "y"], "B": ["y"]}}'


def smallest_cover(instance: SetCover) -> tuple[int, ...]:
    """A cover with the fewest sets, by integer programming (HiGHS), as a judge that knows nothing of networks."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    table = instance.incidence.astype(float)
    result = milp(
        np.ones(len(table)),
        constraints=LinearConstraint(table.T, lb=1.0),
        integrality=np.ones(len(table)),
        bounds=Bounds(0.0, 1.0),
    )
    if result.x is None:
        raise InputError("instance: some element is in no set, so that there is no cover; add it to one.")
    return tuple(np.flatnonzero(result.x > 0.5).tolist())


def greedy_cover(instance: SetCover) -> tuple[int, ...]:
    """Take the set with the most elements that are still missing, again and again."""
    table, chosen = instance.incidence.copy(), []
    while np.any(table):
        k = int(np.argmax(table.sum(axis=1)))
        chosen.append(k)
        table[:, table[k]] = False
    return tuple(sorted(chosen))


def greedy_trap(k: int) -> SetCover:
    """Two sets cover 2 (2ᵏ - 1) elements, and `greedy_cover` takes k: the sets of 2, 4, ..., 2ᵏ, half from each."""
    if k < 1:
        raise InputError(f"k: {k} will not do; pass a number of at least 1.")
    halves = [range(2**i - 1, 2 ** (i + 1) - 1) for i in range(k)]
    columns = {f"C{i + 1}": [f"{side}{u}" for side in "ab" for u in half] for i, half in enumerate(halves)}
    rows = {side.upper(): [f"{side}{u}" for half in halves for u in half] for side in "ab"}
    return SetCover.of(columns | rows)


def partition(M: int, size: int = 1) -> SetCover:
    """M disjoint sets, all of them needed."""
    return SetCover.of([[f"{k}.{i}" for i in range(size)] for k in range(M)])


def random_cover(M: int, n_elements: int, rng=None, *, density: float = 0.4) -> SetCover:
    """Every element in every set with probability `density`, and in one at least."""
    rng = np.random.default_rng(rng)
    table = rng.random((M, n_elements)) < density
    table[rng.integers(0, M, n_elements), np.arange(n_elements)] = True
    return SetCover.of(
        [[f"u{u + 1}" for u in np.flatnonzero(row)] for row in table], (f"u{u + 1}" for u in range(n_elements))
    )


def _names(values, where: str) -> list[str]:
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InputError(f"{where}: {values!r} is not a list of elements; write it in brackets.")
    names = list(values)
    for u in names:
        if not isinstance(u, (str, int, float)):
            raise InputError(f"{where}: an element is a name or a number; found {u!r}, so write it otherwise.")
    return list(dict.fromkeys(str(u) for u in names))
