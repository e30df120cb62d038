"""Whether two data sets have combinatorially equal zonotopes, and the pattern that tells them apart if not."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np

from zonofit.errors import BudgetError, InputError
from zonofit.geometry.arrangement import Arrangement, as_points
from zonofit.geometry.membership import Membership, membership


@dataclass(frozen=True, eq=False)
class Comparison:
    """Whether two data sets have combinatorially equal zonotopes, that is, the same set of patterns.

    Attributes
    ----------
    equal : bool
    n_first, n_second : int
        Numbers of patterns.
    pattern : ndarray (N,) of bool, or None
        The first pattern, in lexicographic order, that only one of them has.
    owner : {"first", "second"} or None
        Which has it.
    proofs : tuple of Membership, or None
        Membership of `pattern` in the first and in the second.
    """

    equal: bool
    n_first: int
    n_second: int
    pattern: np.ndarray | None
    owner: str | None
    proofs: tuple[Membership, Membership] | None

    def verify(self) -> bool:
        """Prove in rational arithmetic that `pattern` belongs to `owner` alone; equality has no such proof.

        False if the data are so near a dependency that the exact answer differs from that within `Tolerances`.
        """
        if self.proofs is None:
            return False
        first, second = self.proofs
        return (
            first.feasible == (self.owner == "first")
            and second.feasible == (self.owner == "second")
            and first.verify()
            and second.verify()
        )


def same_zonotope(first, second, *, budget: int = 20_000_000) -> Comparison:
    """Compare the sets of patterns of two data sets with equal N.

    Parameters
    ----------
    first, second : Arrangement or array_like (N, d)
        Their dimensions may differ.
    budget : int
        `BudgetError` if either has more chambers; each costs 8 ⌈N/64⌉ bytes, twice while sorting.
    """
    one, two = arrangement_of(first), arrangement_of(second)
    if one.n_generators != two.n_generators:
        raise InputError(
            f"second: {two.n_generators} generators, but first has {one.n_generators}; patterns of different lengths "
            "cannot be compared."
        )
    a, b = _sorted_patterns(one, budget), _sorted_patterns(two, budget)
    shared = min(len(a), len(b))
    different = np.flatnonzero(np.any(a[:shared] != b[:shared], axis=1))
    if len(different) == 0 and len(a) == len(b):
        return Comparison(True, len(a), len(b), None, None, None)
    k = int(different[0]) if len(different) else shared
    first_has_it = k < len(a) and (k == len(b) or a[k].tolist() < b[k].tolist())
    pattern = _bits(a[k] if first_has_it else b[k], one.n_generators)
    proofs = membership(one, pattern, arithmetic="rational"), membership(two, pattern, arithmetic="rational")
    return Comparison(False, len(a), len(b), pattern, "first" if first_has_it else "second", proofs)


def arrangement_of(data) -> Arrangement:
    """Return `data` itself, or the arrangement of the examples that it holds."""
    return data if isinstance(data, Arrangement) else Arrangement.from_examples(as_points(data, "data"))


def _sorted_patterns(arrangement: Arrangement, budget: int) -> np.ndarray:
    """List all patterns in lexicographic order, as big-endian words so that words compare as patterns do."""
    blocks, count = [], 0
    for block in arrangement.chambers():
        count += len(block)
        if count > budget:
            M, r = arrangement.reduction.simple.shape
            most = 2 * sum(comb(M - 1, j) for j in range(r))
            raise BudgetError(
                f"budget: there are more than the {budget:,} chambers allowed (at most {most:,}); pass a larger budget."
            )
        blocks.append(_reversed_bits(block))
    words = np.concatenate(blocks)
    if words.shape[1] == 1:
        words[:, 0].sort()
        return words
    return words[np.lexsort(words.T[::-1])]


_REVERSED = np.array([int(f"{b:08b}"[::-1], 2) for b in range(256)], np.uint8)


def _reversed_bits(words: np.ndarray) -> np.ndarray:
    octets = np.ascontiguousarray(words).astype("<u8").view(np.uint8)
    return _REVERSED[octets].view(">u8").astype(np.uint64)


def _bits(words: np.ndarray, n_bits: int) -> np.ndarray:
    return np.unpackbits(words.astype(">u8").view(np.uint8), count=n_bits).astype(bool)
