r"""A dual point of a relaxation in rational arithmetic, from one in floats.

κ is written as κⱼᵢ = fⱼᵢ vⱼ νᵢ + oⱼᵢ, f in {0, 1}, so that most offsets o are zero. Numbers are rounded to a grid; then
as many of them as there are equations, those that may move farthest before a bound is met, are moved by the solution of
a small linear system in integers, after which all equations hold exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import qr
from scipy.optimize import nnls

from zonofit.errors import InputError
from zonofit.geometry.rational import echelon

if TYPE_CHECKING:
    from zonofit.programs.problem import Problem
    from zonofit.programs.relaxation import Relaxed

_DIGITS = 36  # binary digits of rounded numbers below those of the largest ν
_NEGLIGIBLE = 1e-9, 1e-7, 1e-11  # numbers below this part of the largest ν are rounding; the first that works
_FREE = 10.0  # how far a number moves that no bound holds, in units of the largest ν
_RANK = 1e-9  # columns that stick out of the span of the others by less, in units of the largest, are in it
_RESIDUAL = 1e-7  # of a non-negative combination that is taken for one of unit rows


@dataclass(frozen=True, eq=False)
class ExactDual:
    """ν (N,), f (m, N) and the offsets that are not zero, by (unit, example)."""

    nu: list[Fraction]
    follows: np.ndarray
    offsets: dict[tuple[int, int], Fraction]

    def kappa(self, j: int, i: int, v: Fraction) -> Fraction:
        """κ of a unit and an example."""
        offset = self.offsets.get((j, i), Fraction(0))
        return v * self.nu[i] + offset if self.follows[j, i] else offset


class ExactData:
    """Examples and labels as the shortest decimals that name the floats, and what exact proofs do with them.

    Parameters
    ----------
    problem : Problem
        With the squared or the absolute loss, equal sample weights and a free output bias.
    """

    def __init__(self, problem: Problem):
        kind = type(problem.loss).__name__.lower()
        if kind not in ("squared", "absolute"):
            raise InputError(f"loss: certificates are written for the squared and absolute loss, not for {kind}.")
        if problem.output_bias is not None or np.ptp(problem.weights) > 0 or np.any(problem.generators[:, -1] != 1.0):
            raise InputError(
                "problem: certificates are written for equal sample weights, a free output bias and units with a bias; "
                "search without a certificate."
            )
        self.problem, self.squared = problem, kind == "squared"
        self.N, self.n = problem.generators.shape
        self.rows = [[decimal(x) for x in row] for row in problem.generators.tolist()]
        self.labels = [decimal(y) for y in problem.labels.tolist()]
        self.v = [decimal(x) for x in problem.output_weights.tolist()]
        self.alpha = decimal(problem.alpha)
        self.units = [lcm(*(row[k].denominator for row in self.rows)) for k in range(self.n)]
        self.integers = [[int(x * unit) for x, unit in zip(row, self.units, strict=True)] for row in self.rows]
        largest = max(float(np.max(np.abs(problem.null))), 1e-300)
        self.digits = _DIGITS - int(np.frexp(largest)[1])
        self.largest = largest
        size = np.linalg.norm(problem.design.X, axis=1)
        self.unit_rows = problem.design.X / size[:, None]
        self._implied: dict[tuple[bytes, int, int], dict[int, Fraction] | None] = {}

    def objective(self, W, c: float) -> Fraction:
        """Exact objective of a network whose numbers are taken as the shortest decimals that name them."""
        exact, total = [[decimal(x) for x in w] for w in np.asarray(W).tolist()], Fraction(0)
        for row, y in zip(self.rows, self.labels, strict=True):
            u = decimal(c)
            for v, w in zip(self.v, exact, strict=True):
                u += v * max(sum(a * b for a, b in zip(row, w, strict=True)), Fraction(0))
            total += (u - y) ** 2 if self.squared else abs(u - y)
        return total / self.N + self.alpha / 2 * sum(x * x for w in exact for x in w)

    def value(self, dual: ExactDual) -> Fraction:
        """The dual's value; its equations are taken for granted."""
        total = Fraction(0)
        for nu, y in zip(dual.nu, self.labels, strict=True):
            total -= nu * y + (nu * nu * self.N / 4 if self.squared else 0)
        if self.alpha:
            for j, v in enumerate(self.v):
                kappa = [dual.kappa(j, i, v) for i in range(self.N)]
                for k in range(self.n):
                    total -= sum(a * row[k] for a, row in zip(kappa, self.rows, strict=True)) ** 2 / (2 * self.alpha)
        return total

    def dual(self, signs: np.ndarray, relaxed: Relaxed) -> ExactDual | None:
        """An exact dual point near the one of a relaxation with these signs, or None."""
        for part in _NEGLIGIBLE:
            dual = self._dual(signs, relaxed, part * self.largest)
            if dual is not None and self.holds(dual, signs):
                return dual
        return None

    def _dual(self, signs: np.ndarray, relaxed: Relaxed, near: float) -> ExactDual | None:
        """The same, with what is at most `near` taken for zero: dependent equations want exact zeros."""
        v, grid = self.problem.output_weights[:, None], 2.0**self.digits
        nu = np.where(np.abs(relaxed.nu) > near, relaxed.nu, 0.0)
        top, near = v * nu, near * max(float(np.max(np.abs(v))), 1e-300)
        follows = (signs > 0) | ((signs == 0) & (top > near) & (relaxed.kappa > 0.5 * top))
        offset = np.where(follows, relaxed.kappa - top, relaxed.kappa)
        offset[np.abs(offset) <= near] = 0.0
        exact = [Fraction(round(x * grid)) / Fraction(2) ** self.digits for x in nu.tolist()]
        if not self.squared:
            exact = [max(min(x, Fraction(1, self.N)), Fraction(-1, self.N)) for x in exact]
        offsets = {
            (j, i): Fraction(round(offset[j, i] * grid)) / Fraction(2) ** self.digits
            for j, i in np.argwhere(offset).tolist()
        }
        dual = ExactDual(exact, follows, offsets)
        return dual if self._settle(dual, self._slacks(signs, nu, follows, offset)) else None

    def holds(self, dual: ExactDual, signs: np.ndarray) -> bool:
        """Whether the bounds on ν and κ hold that these signs leave."""
        if not self.squared and any(abs(nu) * self.N > 1 for nu in dual.nu):
            return False
        return not any(self.wants(dual, j, i, int(signs[j, i])) for j in range(len(signs)) for i in range(self.N))

    def wants(self, dual: ExactDual, j: int, i: int, sign: int = 0) -> bool:
        """Whether κ breaks a bound that holds with this sign."""
        kappa = dual.kappa(j, i, self.v[j])
        return (sign <= 0 and kappa < 0) or (sign >= 0 and kappa > self.v[j] * dual.nu[i])

    def implied(self, signs: np.ndarray, example: int, sign: int) -> dict[int, Fraction] | None:
        """Multipliers μ >= 0 with ``sign x̄ = Σ μₖ sₖ x̄ₖ`` over the decided signs (N,) of one unit, or None."""
        key = signs.tobytes(), example, sign
        if key not in self._implied:
            self._implied[key] = self._combination(signs, example, sign)
        return self._implied[key]

    def _combination(self, signs: np.ndarray, example: int, sign: int) -> dict[int, Fraction] | None:
        known = np.flatnonzero(signs)
        rows = self.unit_rows[known] * signs[known, None]
        weights, rest = nnls(rows.T, sign * self.unit_rows[example])
        if rest > _RESIDUAL:
            return None
        members = [int(k) for k in known[weights > _NEGLIGIBLE[0]]]
        system = [[int(signs[k]) * self.integers[k][a] for k in members] for a in range(self.n)]
        solution = _solve(system, [sign * x for x in self.integers[example]])
        if solution is None or min(solution) < 0:
            return None
        return dict(zip(members, solution, strict=True))

    def _slacks(self, signs, nu, follows, offset) -> tuple[np.ndarray, np.ndarray]:
        """How far each ν and each offset may move before a bound is met."""
        free = _FREE * self.largest
        top = self.problem.output_weights[:, None] * nu
        room = np.where(follows, top, top - offset)
        of_nu = np.min(np.where(signs == 0, np.abs(room), free), axis=0)
        if not self.squared:
            of_nu = np.minimum(of_nu, 1.0 / self.N - np.abs(nu)).clip(0.0)
        inside = np.where(signs == 0, np.minimum(np.abs(offset), np.abs(np.where(follows, top + offset, room))), free)
        return of_nu, np.where(offset != 0.0, np.minimum(np.abs(offset), inside), 0.0)

    def _settle(self, dual: ExactDual, slacks: tuple[np.ndarray, np.ndarray]) -> bool:
        """Move numbers in place until the equations hold."""
        of_nu, of_offset = slacks
        v, X, m = self.problem.output_weights, self.problem.design.X, len(self.v)
        flows = 0 if self.alpha else m
        places: list[tuple[int, int]] = [(-1, i) for i in np.flatnonzero(of_nu).tolist()]
        places += [(int(j), int(i)) for j, i in np.argwhere(of_offset)] if flows else []
        r = X.shape[1]
        A = np.zeros((flows * r + 1, len(places)))
        for k, (j, i) in enumerate(places):
            if j < 0:
                A[-1, k] = of_nu[i]
                for unit in np.flatnonzero(dual.follows[:flows, i]):
                    A[unit * r : unit * r + r, k] = v[unit] * X[i] * of_nu[i]
            else:
                A[j * r : j * r + r, k] = X[i] * of_offset[j, i]
        if not places:
            return not any(dual.nu) and not dual.offsets
        _, R, order = qr(A, mode="economic", pivoting=True)
        diagonal = np.abs(np.diag(R))
        few = int(np.sum(diagonal > _RANK * diagonal[0]))
        ordered = [places[k] for k in order]
        # what floats take for a basis may fall short of one by numbers that may hardly move; then all are asked
        return self._move(dual, ordered[:few], flows) or (few < len(ordered) and self._move(dual, ordered, flows))

    def _move(self, dual: ExactDual, basis: list[tuple[int, int]], flows: int) -> bool:
        """Make the equations hold by moving these numbers, the first ones of them if there are too many."""
        system: list[list[int]] = []
        right: list[Fraction] = []
        for j in range(flows):
            kappa = [dual.kappa(j, i, self.v[j]) for i in range(self.N)]
            scale = self.v[j].denominator
            for k in range(self.n):
                column = [row[k] for row in self.integers]
                right.append(-scale * sum((a * x for a, x in zip(kappa, column, strict=True)), Fraction(0)))
                line = []
                for unit, i in basis:
                    inside = (int(self.v[j] * scale) if dual.follows[j, i] else 0) if unit < 0 else scale * (unit == j)
                    line.append(inside * column[i])
                system.append(line)
        system.append([int(unit < 0) for unit, _ in basis])
        right.append(-sum(dual.nu, Fraction(0)))
        shared = lcm(*(x.denominator for x in right))
        solution = _solve(system, [int(x * shared) for x in right])
        if solution is None:
            return False
        for (unit, i), step in zip(basis, solution, strict=True):
            if not step:
                continue
            if unit < 0:
                dual.nu[i] += step / shared
            else:
                dual.offsets[unit, i] += step / shared
        return True


def decimal(x: float) -> Fraction:
    """The shortest decimal that names a float, exactly."""
    return Fraction(repr(float(x)))


def _solve(system: list[list[int]], right: list[int]) -> list[Fraction] | None:
    """A solution of a linear system in integers, 0 in what depends on earlier unknowns; or None."""
    if not system or not system[0]:
        return None if any(right) else []
    width = len(system[0])
    reduced, d, pivots, _ = echelon([[*line, b] for line, b in zip(system, right, strict=True)])
    if width in pivots:
        return None
    solution = [Fraction(0)] * width
    for line, k in zip(reduced, pivots, strict=False):
        solution[k] = Fraction(line[width], d)
    return solution
