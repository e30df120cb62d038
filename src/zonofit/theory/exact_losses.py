r"""Vertex programs of one unit with the absolute loss, and all patterns, in rational arithmetic.

One unit with output weight 1 and no output bias, as in appendix D: with the pattern a given,

    minimise  Σ_{a_i = 1} |gᵢ·w - yᵢ| + Σ_{a_i = 0} |yᵢ|   subject to   sᵢ gᵢ·w >= 0

is a linear program, solved here by the simplex method in fractions. Its proof is a ν with |νᵢ| <= 1 on the active
examples and λ >= 0 with Σ νᵢ gᵢ = Σ λᵢ sᵢ gᵢ: then no w does better than -Σ νᵢ yᵢ plus the inactive labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm

from zonofit.errors import BudgetError, InputError
from zonofit.geometry.rational import gordan

__all__ = ["ExactTable", "ExactVertex", "exact_patterns", "solve_all_exactly", "solve_exactly"]

_MOST = 16  # examples of which all patterns are found one by one

Rows = Sequence[Sequence[Fraction]]


@dataclass(frozen=True)
class ExactVertex:
    """The least mean absolute loss with a pattern, with weights and a proof.

    Attributes
    ----------
    pattern : tuple of bool
    loss : Fraction
        Mean over all examples.
    w : tuple of Fraction
    nu, multipliers : tuple of Fraction
        ν and λ of the sum of losses, one an example.
    """

    pattern: tuple[bool, ...]
    loss: Fraction
    w: tuple[Fraction, ...]
    nu: tuple[Fraction, ...] = field(repr=False)
    multipliers: tuple[Fraction, ...] = field(repr=False)

    def verify(self, rows: Rows, labels: Sequence[Fraction]) -> bool:
        """Check feasibility, the loss and its proof, all exactly."""
        values = [_dot(g, self.w) for g in rows]
        total, bound = Fraction(0), Fraction(0)
        for active, z, y, nu, multiplier in zip(self.pattern, values, labels, self.nu, self.multipliers, strict=True):
            if (z < 0 if active else z > 0) or multiplier < 0 or abs(nu) > active:
                return False
            total += abs(z - y) if active else abs(y)
            bound += -nu * y if active else abs(y)
        balance = [
            sum((nu - (m if active else -m)) * g[k] for active, nu, m, g in self._terms(rows))
            for k in range(len(rows[0]))
        ]
        return total == bound == self.loss * len(labels) and not any(balance)

    def _terms(self, rows: Rows):
        return zip(self.pattern, self.nu, self.multipliers, rows, strict=True)


@dataclass(frozen=True)
class ExactTable:
    """All vertices of a small data set.

    Attributes
    ----------
    rows : tuple of tuple of Fraction
        Generators.
    labels : tuple of Fraction
    vertices : tuple of ExactVertex
        Lexicographic in their patterns.
    """

    rows: tuple[tuple[Fraction, ...], ...]
    labels: tuple[Fraction, ...]
    vertices: tuple[ExactVertex, ...]

    @property
    def best(self) -> ExactVertex:
        """The vertex with the least loss; the first if there are several."""
        return min(self.vertices, key=lambda vertex: vertex.loss)

    def of(self, pattern) -> ExactVertex | None:
        """The vertex with this pattern, if it is one."""
        wanted = tuple(bool(bit) for bit in pattern)
        return next((vertex for vertex in self.vertices if vertex.pattern == wanted), None)

    def missing_from(self, other: ExactTable) -> tuple[ExactVertex, ...]:
        """Vertices whose pattern the other data set has not."""
        theirs = {vertex.pattern for vertex in other.vertices}
        return tuple(vertex for vertex in self.vertices if vertex.pattern not in theirs)

    def verify(self) -> bool:
        """Check every vertex."""
        return all(vertex.verify(self.rows, self.labels) for vertex in self.vertices)


def solve_all_exactly(rows, labels) -> ExactTable:
    """Every pattern of one unit and its least mean absolute loss, in rational arithmetic.

    Parameters
    ----------
    rows : sequence of rows
        Generators, of integers, fractions, or floats taken as the numbers that they are; none of them zero.
    labels : sequence
    """
    exact = tuple(tuple(Fraction(x) for x in row) for row in rows)
    y = tuple(Fraction(x) for x in labels)
    if len(y) != len(exact):
        raise InputError(f"labels: expected {len(exact)} numbers, one a row, got {len(y)}.")
    return ExactTable(exact, y, tuple(solve_exactly(exact, y, pattern) for pattern in exact_patterns(exact)))


def exact_patterns(rows: Rows) -> list[tuple[bool, ...]]:
    """All patterns of generators, by Gordan's alternative for every prefix; lexicographic."""
    if len(rows) > _MOST:
        raise BudgetError(f"rows: {len(rows)} examples, more than the {_MOST} allowed; enumerate Arrangement.chambers.")
    integers = [_integers(row) for row in rows]
    if any(not any(row) for row in integers):
        raise InputError("rows: one of them is zero, on which no unit is ever active; leave it out.")
    found: list[tuple[bool, ...]] = [()]
    for i in range(len(integers)):
        longer = [(*prefix, bit) for prefix in found for bit in (False, True)]
        found = [pattern for pattern in longer if not isinstance(gordan(_signed(integers[: i + 1], pattern)), dict)]
    return found


def solve_exactly(rows: Rows, labels: Sequence[Fraction], pattern: Sequence[bool]) -> ExactVertex:
    """The linear program of one pattern, by the simplex method with Bland's rule."""
    n, N = len(rows[0]), len(rows)
    active = [i for i in range(N) if pattern[i]]
    side = [1 if bit else -1 for bit in pattern]
    # columns: w⁺ and w⁻, what a prediction lacks and what it has too much, slacks of the signs, right-hand side
    lack, excess, slack = 2 * n, 2 * n + len(active), 2 * n + 2 * len(active)
    width = slack + N + 1
    tableau, basis = [], []
    for k, i in enumerate(active):
        line = [Fraction(0)] * width
        line[:n], line[n : 2 * n] = rows[i], [-x for x in rows[i]]
        line[lack + k], line[excess + k], line[-1] = Fraction(1), Fraction(-1), labels[i]
        negative = labels[i] < 0
        tableau.append([-x for x in line] if negative else line)
        basis.append(excess + k if negative else lack + k)
    for i in range(N):
        line = [Fraction(0)] * width
        line[:n], line[n : 2 * n] = [-side[i] * x for x in rows[i]], [side[i] * x for x in rows[i]]
        line[slack + i] = Fraction(1)
        tableau.append(line)
        basis.append(slack + i)
    cost = [Fraction(int(lack <= j < slack)) for j in range(width)]
    for line, j in zip(tableau, basis, strict=True):
        if cost_of := Fraction(int(lack <= j < slack)):
            cost = [a - cost_of * b for a, b in zip(cost, line, strict=True)]
    _simplex(tableau, basis, cost)
    value = dict(zip(basis, (line[-1] for line in tableau), strict=True))
    w = tuple(value.get(k, Fraction(0)) - value.get(n + k, Fraction(0)) for k in range(n))
    nu, multipliers = [Fraction(0)] * N, [Fraction(0)] * N
    for k, i in enumerate(active):
        nu[i] = cost[lack + k] - 1
    for i in range(N):
        multipliers[i] = cost[slack + i]
    total = -cost[-1] + sum((abs(labels[i]) for i in range(N) if not pattern[i]), Fraction(0))
    return ExactVertex(tuple(bool(b) for b in pattern), total / N, w, tuple(nu), tuple(multipliers))


def _simplex(tableau: list[list[Fraction]], basis: list[int], cost: list[Fraction]) -> None:
    """Pivot in place until no reduced cost is negative."""
    while True:
        column = next((j for j, c in enumerate(cost[:-1]) if c < 0), None)
        if column is None:
            return
        rows = [r for r, line in enumerate(tableau) if line[column] > 0]
        row = min(rows, key=lambda r: (tableau[r][-1] / tableau[r][column], basis[r]))
        pivot = tableau[row][column]
        tableau[row] = [x / pivot for x in tableau[row]]
        for line in (*(other for r, other in enumerate(tableau) if r != row), cost):
            if factor := line[column]:
                line[:] = [x - factor * p for x, p in zip(line, tableau[row], strict=True)]
        basis[row] = column


def _integers(row: Sequence[Fraction]) -> list[int]:
    shared = lcm(*(x.denominator for x in row))
    return [int(x * shared) for x in row]


def _signed(rows: list[list[int]], pattern: Sequence[bool]) -> list[list[int]]:
    return [row if bit else [-x for x in row] for row, bit in zip(rows, pattern, strict=True)]


def _dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))
