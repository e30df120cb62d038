r"""How far generators are from general position, and which dependencies keep them from it.

Generators are in general position when every n of them are linearly independent (all of them, if N < n); for the
homogeneous examples x̄ᵢ = (xᵢ, 1) that is the paper's "no nontrivial affine dependencies" (section 2). Otherwise the
rank is too small or there is a *circuit*, a minimal dependent set, with at most rank-many members: a zero generator, a
parallel pair, three collinear examples, ...

Short numbers are recognised (every entry p/q with q ≤ 1000, or a decimal of up to nine digits) and then decided
exactly. Other floats are compared with ``tolerances.dependent``, as volumes of unit generators in the whitened
coordinates of `Arrangement.reduction`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb, gcd, lcm
from typing import TYPE_CHECKING, Literal

import numpy as np

from zonofit.errors import InputError
from zonofit.geometry.rational import dependency, echelon, integer_rows, small_rationals
from zonofit.geometry.reduction import lengths

if TYPE_CHECKING:
    from zonofit.geometry.arrangement import Arrangement
    from zonofit.geometry.minors import Minors

_SAMPLES = 100_000
_SHOWN = 16
_NEAR_ROUNDING = 1e-9
_EXACT_COST = 1000  # a subset decided in integers costs as much as so many decided in floats


@dataclass(frozen=True)
class PositionReport:
    """Dependencies among generators; print it.

    Attributes
    ----------
    n_generators, dimension, rank : int
        N, n and the rank of the generators.
    is_generic : bool or None
        Whether they are in general position; None when subsets were only sampled and no dependency was found.
    arithmetic : {"rational", "dyadic", "floating"}
        What decided: the small rationals that the data are, the floats exactly as stored, or a tolerance.
    zero : tuple of int
        Generators that are zero.
    equal : tuple of tuples of int
        Groups of equal generators, zero ones left out.
    parallel : tuple of tuples of (int, int)
        Groups of parallel generators (equal ones included) as (generator, +1 or -1).
    dependencies : tuple of dict
        The first few circuits of 3 to `rank` pairwise non-parallel generators, one from each parallel group:
        coefficients by generator, coprime integers when exact, largest coefficient 1 when not. Smaller circuits first.
    circuit_counts : tuple of int
        ``circuit_counts[k]``: number of all such circuits of k generators, for every k up to `depth`.
    depth : int
        Subsets of up to so many generators were all visited; equal to `rank` unless there were too many.
    n_subsets, n_visited : int
        Number of `rank`-subsets of pairwise non-parallel generators, and how many of them were looked at.
    nearest : float
        Least volume of `rank` unit generators (product of sines, 1 for orthogonal ones) in whitened coordinates; 0
        when a visited subset is dependent.
    nearest_independent : float
        The least that is not zero; infinite if there is none.
    nearest_subset : tuple of int or None
        Where `nearest_independent` is attained.
    """

    n_generators: int
    dimension: int
    rank: int
    is_generic: bool | None
    arithmetic: Literal["rational", "dyadic", "floating"]
    zero: tuple[int, ...]
    equal: tuple[tuple[int, ...], ...]
    parallel: tuple[tuple[tuple[int, int], ...], ...]
    dependencies: tuple[dict[int, float], ...]
    circuit_counts: tuple[int, ...]
    depth: int
    n_subsets: int
    n_visited: int
    nearest: float
    nearest_independent: float
    nearest_subset: tuple[int, ...] | None

    @property
    def exact(self) -> bool:
        """Whether dependencies were decided in exact arithmetic."""
        return self.arithmetic != "floating"

    @property
    def exhaustive(self) -> bool:
        """Whether all subsets were visited, so that `circuit_counts` counts all circuits of up to `rank` generators."""
        return self.depth == self.rank

    @property
    def complete(self) -> bool:
        """Whether `dependencies` lists every circuit of 3 to `rank` pairwise non-parallel generators."""
        return self.exhaustive and len(self.dependencies) == sum(self.circuit_counts)

    @property
    def circuits(self) -> tuple[tuple[int, ...], ...]:
        """The members of `dependencies`."""
        return tuple(tuple(d) for d in self.dependencies)

    def __str__(self) -> str:
        verdict = {True: "yes", False: "no", None: "unknown: no dependency found, but not all subsets were visited"}
        deficient = self.rank < min(self.n_generators, self.dimension)
        lines = [
            ("general position", verdict[self.is_generic] + f": every {self.rank + 1} are dependent" * deficient),
            ("generators", f"{self.n_generators} in dimension {self.dimension}, rank {self.rank}"),
            ("zero", _listed([str(i) for i in self.zero])),
            ("equal", _listed([_set(group) for group in self.equal])),
            ("parallel", _listed([_set(["-" * (s < 0) + str(i) for i, s in group]) for group in self.parallel])),
        ]
        sizes = ", ".join(f"{c:,} of {k} generators" for k, c in enumerate(self.circuit_counts) if c)
        if not self.exhaustive:
            found = f"{sizes or 'none'} of up to {self.depth} generators; larger ones only sampled"
        else:
            found = sizes or "none"
        lines.append(("dependencies", found))
        lines += [("", _equation(d)) for d in self.dependencies[:8]]
        shown = min(len(self.dependencies), 8)
        if shown and not (self.complete and shown == len(self.dependencies)):
            lines.append(("", "..."))
        if self.nearest_subset is not None:
            where = f"{self.nearest_independent:.3g} at {_set(self.nearest_subset)}"
            lines.append(("least volume", f"{where} (of unit generators, whitened; 1 is orthogonal)"))
            if not self.exact and self.nearest_independent < _NEAR_ROUNDING:
                lines.append(("", "so near a dependency that rounding in the data may decide"))
        how = {
            "rational": "exactly, as small rationals",
            "dyadic": "exactly, as the floats stored",
            "floating": "in floating point, with a tolerance",
        }[self.arithmetic]
        if self.n_visited < self.n_subsets:
            visited = f"{self.n_visited:,} of {self.n_subsets:,} subsets of {self.rank}, at random"
        else:
            visited = f"all {self.n_subsets:,} subsets of {self.rank}"
        lines.append(("checked", f"{visited}, {how}"))
        return "\n".join(f"{name:<17} {text}" for name, text in lines)


def position_report(
    arrangement: Arrangement,
    *,
    budget: int | None = None,
    exact: bool | Literal["auto"] = "auto",
    seed: int = 0,
) -> PositionReport:
    """Find what keeps the generators of `arrangement` from general position.

    Parameters
    ----------
    arrangement : Arrangement
    budget : int, optional
        Subsets to visit at most, 2e8 by default; beyond it the larger ones are sampled.
    exact : {"auto", True, False}
        "auto": exactly when all entries are rationals p/q, q ≤ 1000, or decimals of up to nine digits, to within one
        unit in the last place; True: otherwise too, then as the floats are stored; False: always with
        ``arrangement.tolerances``.
    seed : int
        Of the sampling.
    """
    from zonofit.geometry.minors import DEFAULT_BUDGET, extreme_minors

    if exact not in (True, False, "auto"):
        raise InputError(f'exact: expected True, False or "auto", got {exact!r}.')
    budget = DEFAULT_BUDGET if budget is None else budget
    G, reduction = arrangement.generators, arrangement.reduction
    N, n = G.shape
    integers_of, arithmetic = _exact_rows(G, exact)
    rows = None if integers_of is None else integers_of[0]
    groups = _parallel_groups(reduction.member, reduction.orientation) if rows is None else _exact_groups(rows)
    heads = [group[0][0] for group in groups]
    unit, integers, rounding, r = _unit_rows(arrangement, rows, heads)
    M = len(heads)
    if rounding == np.inf:
        budget //= _EXACT_COST
    depth = r
    while depth > 1 and comb(M, depth) > budget:
        depth -= 1
    walk: Minors | None = None
    if r:
        walk = extreme_minors(
            unit,
            integers=integers,
            depth=depth,
            budget=max(budget, M),
            tolerance=arrangement.tolerances.dependent,
            rounding=rounding,
            first=_SHOWN,
        )
    circuits = list(walk.circuits) if walk else []
    n_visited, least, subset = comb(M, r), np.inf, None
    if walk and depth == r:
        least, subset = walk.smallest, walk.subset
    elif walk:
        n_visited = min(_SAMPLES, budget)
        least, subset, found = _sample(unit, integers, n_visited, arrangement.tolerances.dependent, rounding, seed)
        circuits += sorted((C for C in found if len(C) > depth), key=lambda C: (len(C), C))
    counts = walk.circuit_counts if walk else ()
    zero = tuple(np.flatnonzero(~np.any(G != 0, axis=1)).tolist())
    parallel = tuple(group for group in groups if len(group) > 1)
    dependent = bool(circuits) or r < min(N, n) or bool(zero) or (n > 1 and bool(parallel))
    return PositionReport(
        n_generators=N,
        dimension=n,
        rank=r,
        is_generic=False if dependent else True if depth == r else None,
        arithmetic=arithmetic,
        zero=zero,
        equal=_equal_groups(G),
        parallel=parallel,
        dependencies=tuple(
            _float_coefficients(C, arrangement) if integers_of is None else _exact_coefficients(C, integers_of)
            for C in ([heads[i] for i in circuit] for circuit in circuits)
        ),
        circuit_counts=counts,
        depth=depth,
        n_subsets=comb(M, r),
        n_visited=n_visited,
        nearest=0.0 if circuits else float(least),
        nearest_independent=float(least),
        nearest_subset=None if subset is None else tuple(heads[i] for i in subset),
    )


def _exact_rows(
    G: np.ndarray, exact
) -> tuple[tuple[list[list[int]], list[Fraction]] | None, Literal["rational", "dyadic", "floating"]]:
    """Find integer rows, and their factors over the generators, if these are to be decided exactly."""
    if exact is False:
        return None, "floating"
    rationals = small_rationals(G)
    if rationals is not None:
        factors = [lcm(*(x.denominator for x in row)) for row in rationals]
        rows = [[int(x * f) for x in row] for row, f in zip(rationals, factors, strict=True)]
        return (rows, [Fraction(f) for f in factors]), "rational"
    if exact is True:
        rows, exponents = integer_rows(G)
        return (rows, [1 / Fraction(2) ** e for e in exponents]), "dyadic"
    return None, "floating"


def _parallel_groups(member: np.ndarray, orientation: np.ndarray) -> list[tuple[tuple[int, int], ...]]:
    groups: dict[int, list[tuple[int, int]]] = {}
    for i, (m, side) in enumerate(zip(member.tolist(), orientation.tolist(), strict=True)):
        if side:
            groups.setdefault(m, []).append((i, side))
    return [tuple(group) for group in groups.values()]


def _exact_groups(rows: list[list[int]]) -> list[tuple[tuple[int, int], ...]]:
    groups: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for i, row in enumerate(rows):
        common = gcd(*row)
        if common:
            line = tuple(x // common for x in row)
            opposite = tuple(-x for x in line)
            if opposite in groups:
                groups[opposite].append((i, -1))
            else:
                groups.setdefault(line, []).append((i, 1))
    return [tuple(group) for group in groups.values()]


def _equal_groups(G: np.ndarray) -> tuple[tuple[int, ...], ...]:
    keys = [tuple(row) for row in (G + 0.0).tolist()]
    shared = {key for key, count in Counter(keys).items() if count > 1 and any(key)}
    groups: dict[tuple, list[int]] = {}
    for i, key in enumerate(keys):
        if key in shared:
            groups.setdefault(key, []).append(i)
    return tuple(tuple(group) for group in groups.values())


def _unit_rows(
    arrangement: Arrangement, rows: list[list[int]] | None, heads: list[int]
) -> tuple[np.ndarray, list[list[int]] | None, float, int]:
    """Return unit rows (M, r) of the heads, integer rows (M, r), a bound on the rounding of the former, the rank."""
    reduction = arrangement.reduction
    if rows is None:
        return reduction.simple, None, 0.0, reduction.rank
    if not heads:
        return np.zeros((0, 0)), None, 0.0, 0
    pivots = echelon([rows[i] for i in heads])[2]
    integers = [[rows[i][j] for j in pivots] for i in heads]
    r = len(pivots)
    if r == reduction.rank:
        # the whitened rows are exact images under `lift` but for the rounding of this product
        G = arrangement.generators[heads]
        with np.errstate(all="ignore"):
            image = np.linalg.norm(G @ reduction.lift, axis=1)
            size = np.linalg.norm(np.abs(G) @ np.abs(reduction.lift), axis=1)
            rounding = float(np.max(size / image)) * (G.shape[1] + 8) * float(np.finfo(float).eps)
        if rounding < 1e-6:
            # and rows that were merged as parallel, though exactly they are not, stand in for each other
            rounding += arrangement.tolerances.parallel
            return reduction.simple[reduction.member[heads]], integers, rounding, r
    scale = [max(abs(row[j]) for row in integers) for j in range(r)]
    unit = np.array([[x / s for x, s in zip(row, scale, strict=True)] for row in integers])
    unit /= np.linalg.norm(unit, axis=1)[:, None]
    return unit, integers, np.inf, r


def _sample(
    unit: np.ndarray, integers, n_samples: int, tolerance: float, rounding: float, seed: int
) -> tuple[float, tuple[int, ...] | None, list[tuple[int, ...]]]:
    """Find the least non-zero volume among random r-subsets, where it is, and circuits met on the way."""
    M, r = unit.shape
    rng = np.random.default_rng(seed)
    doubtful = tolerance if integers is None else max(1e-9, 4 * r * min(rounding, 1.0))
    found: list[tuple[int, ...]] = []
    least, where = np.inf, None
    block = max(1, min(8192, 4_000_000 // M))
    for start in range(0, n_samples, block):
        size = min(block, n_samples - start)
        subsets = np.sort(np.argpartition(rng.random((size, M)), r - 1, axis=1)[:, :r], axis=1)
        volumes = np.abs(np.linalg.det(unit[subsets]))
        for k in np.argsort(volumes)[: 4 * _SHOWN]:
            S, volume = subsets[k], volumes[k]
            if volume <= doubtful:
                circuit = _circuit_within(S, unit, integers, tolerance)
                if circuit is not None:
                    if circuit not in found and len(found) < _SHOWN:
                        found.append(circuit)
                    continue
            if volume < least:
                least, where = float(volume), tuple(S.tolist())
            if volume > doubtful:
                break
    return least, where, found


def _circuit_within(S: np.ndarray, unit: np.ndarray, integers, tolerance: float) -> tuple[int, ...] | None:
    """Drop members of S while it stays dependent; None if it is independent."""

    def dependent(C: Sequence[int]) -> bool:
        if integers is not None:
            return len(echelon([integers[i] for i in C])[2]) < len(C)
        return bool(np.prod(np.linalg.svd(unit[list(C)], compute_uv=False)) <= tolerance)

    members = S.tolist()
    if not dependent(members):
        return None
    for i in S.tolist():
        rest = [j for j in members if j != i]
        if dependent(rest):
            members = rest
    return tuple(members)


def _exact_coefficients(names: Sequence[int], exact: tuple[list[list[int]], list[Fraction]]) -> dict[int, float]:
    rows, scales = exact
    solution = dependency([rows[i] for i in names])
    if solution is None:
        raise ArithmeticError(f"generators {tuple(names)} are not a circuit")
    on_generators = [m * scales[i] for m, i in zip(solution, names, strict=True)]
    common = lcm(*(x.denominator for x in on_generators))
    integers = [int(x * common) for x in on_generators]
    shared = gcd(*integers)
    return {i: m // shared for i, m in zip(names, integers, strict=True)}


def _float_coefficients(names: Sequence[int], arrangement: Arrangement) -> dict[int, float]:
    image = arrangement.generators[list(names)] @ arrangement.reduction.lift
    length = lengths(image)
    null = np.linalg.svd((image / length[:, None]).T)[2][-1] / (length / length.max())
    largest = null[np.argmax(np.abs(null))]
    null = null / (abs(largest) * np.sign(null[0]))
    return dict(zip(names, null.tolist(), strict=True))


def _listed(items: Sequence[str]) -> str:
    if not items:
        return "none"
    more = f" ... ({len(items)} in all)" if len(items) > _SHOWN else ""
    return ", ".join(items[:_SHOWN]) + more


def _set(items) -> str:
    items = [str(i) for i in items]
    more = f", ... ({len(items)} in all)" if len(items) > _SHOWN else ""
    return "{" + ", ".join(items[:_SHOWN]) + more + "}"


def _equation(coefficients: dict[int, float]) -> str:
    terms = []
    for i, c in coefficients.items():
        size = abs(c)
        number = f"{size:.4g}" if isinstance(c, float) else str(size)
        shown = "" if number == "1" else f"{number} "
        terms.append(f"{'-' if c < 0 else '+'} {shown}g{i}")
    return " ".join(terms).removeprefix("+ ") + " = 0"
