"""Chambers of single subsets in integers, for those where the rounding of the compiled walk could decide.

Short decimals are integers after scaling, and the floats of a frame are dyadic, so the coordinates of
`zonofit.geometry.bijection` are integers up to positive factors of rows and columns, which no sign depends on. The one
condition on the frame that rounding spoils, that the last generator has no coordinate but the first, is restored by
taking that generator as the first pivot. Eliminations are fraction-free: every entry is a minor.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from zonofit.geometry.rational import determinant, echelon
from zonofit.geometry.reduction import ExactRows

_MARGIN = 1e-4  # a random frame makes values smaller than volumes, by more than this so rarely that it cannot matter


class ExactSubsets:
    """The bijection in exact arithmetic, in the same frame as the compiled walk.

    Parameters
    ----------
    columns : list of integer rows
        From `exact_columns`; the last one is the generator that the frame starts with.
    """

    def __init__(self, columns: list[list[int]]):
        self.M = len(columns) - 1
        self.n = len(columns[0])
        self._columns = columns
        self._subset: tuple[int, ...] = ()
        self._stack: list[tuple[list[list[int]], int, list[int]]] = []
        self._level = -1

    def pattern(self, subset: tuple[int, ...]) -> list[bool] | None:
        """Bits of the chamber that `subset` names, or None when it holds a broken circuit."""
        k = len(subset)
        level = self.n - 1 - k
        tableau = self._eliminated(subset, level)
        if tableau is None:
            return None
        T, d, pivots = tableau
        positive = d > 0
        last = T[0]
        ray = T[1] if level else last
        # h_(l+1) is the last column; a multiplier of zero would be an accident of the frame
        active = [(T[r][-1] > 0) != positive for r in pivots]
        if any(T[r][-1] == 0 for r in pivots):
            raise ArithmeticError("the frame is not in general position")
        bits = [False] * self.M + [True]
        for q, j in enumerate(subset):
            bits[j] = active[q]
        chosen = set(subset)
        for i in range(self.M):
            if i in chosen:
                continue
            value = ray[i] or last[i]
            if value:
                bits[i] = (value > 0) == positive
                continue
            for q in range(k - 1, -1, -1):
                value = T[pivots[q]][i]
                if value:
                    if i > subset[q]:
                        return None
                    bits[i] = ((value > 0) == positive) == active[q]
                    break
        return bits

    def _eliminated(self, subset: tuple[int, ...], level: int):
        """Tableau, common denominator and pivot rows; what the subset before shares with this one is kept."""
        if level != self._level:
            self._stack = [self._first(level)]
            self._subset, self._level = (), level
        common = 0
        while common < min(len(subset), len(self._subset)) and subset[common] == self._subset[common]:
            common += 1
        common = min(common, len(self._stack) - 1)
        del self._stack[common + 1 :]
        self._subset = subset
        for p in subset[common:]:
            T, d, pivots = self._stack[-1]
            found = [a for a in range(1 + (level > 0), len(T)) if a not in pivots and T[a][p]]
            if not found:
                return None
            r = found[0]
            self._stack.append((_pivot(T, d, r, p), T[r][p], [*pivots, r]))
        return self._stack[-1]

    def _first(self, level: int) -> tuple[list[list[int]], int, list[int]]:
        """Rows h_0, h_l, ..., h_(n-1), columns x_0, ..., x_(M-1), h_(l+1), after eliminating x_N from all but h_0."""
        axes = [0, *range(max(level, 1), self.n)]
        T = [[row[a] for row in self._columns[:-1]] for a in axes]
        own = [self._columns[-1][a] for a in axes]
        for a, row in zip(axes, T, strict=True):
            row.append(int(a == level + 1))
        d = own[0]
        others = zip(T[1:], own[1:], strict=True)
        return [T[0], *([d * x - f * y for x, y in zip(row, T[0], strict=True)] for row, f in others)], d, []


def exact_columns(exact: ExactRows, axes: np.ndarray) -> list[list[int]]:
    """Integer coordinates of each generator in the frame `axes`, up to a positive factor."""
    rows = exact.integers.astype(np.int64).astype(object)
    result = (rows @ (_integers(exact.frame) @ _integers(axes))).tolist()
    return [[x >> shift for x in row] for row, shift in ((row, _twos(row)) for row in result)]


def least_value(exact: ExactRows) -> float:
    """Below the least non-zero residual of a generator from the span of others, in the reduction's unit coordinates.

    Full minors of integers are multiples of a unit, one for all, and smaller volumes of unit generators are not less.
    """
    image = exact.integers @ exact.frame
    length = np.linalg.norm(image, axis=1)
    r = image.shape[1]
    basis = _independent_rows(image / length[:, None])
    chosen = [[int(x) for x in row] for row in exact.integers[basis].tolist()]
    pivots = echelon(chosen)[2]
    if len(pivots) < r:
        return 0.0
    minor = abs(determinant([[row[j] for j in pivots] for row in chosen]))
    volume = abs(np.linalg.det(image[basis] / length[basis][:, None]))
    logarithm = math.log(volume) - math.log(minor) + np.log(length[basis]).sum() - np.log(np.sort(length)[-r:]).sum()
    return _MARGIN * math.exp(logarithm)


def _independent_rows(unit: np.ndarray) -> list[int]:
    """Rows of large volume, the farthest from the span of the ones before each time."""
    rest = unit.copy()
    basis: list[int] = []
    for _ in range(unit.shape[1]):
        i = int(np.argmax(np.sum(rest**2, axis=1)))
        direction = rest[i] / np.linalg.norm(rest[i])
        rest = rest - np.outer(rest @ direction, direction)
        basis.append(i)
    return basis


def _pivot(T: list[list[int]], d: int, r: int, p: int) -> list[list[int]]:
    pivot_row = T[r]
    pivot = pivot_row[p]
    result = []
    for a, row in enumerate(T):
        if a == r:
            result.append(row)
        else:
            f = row[p]
            result.append([(pivot * x - f * y) // d for x, y in zip(row, pivot_row, strict=True)])
    return result


def _integers(matrix: np.ndarray) -> np.ndarray:
    """Integers proportional to the floats of `matrix`."""
    fractions = [[Fraction(x) for x in row] for row in matrix.tolist()]
    common = max(f.denominator for row in fractions for f in row)
    return np.array([[int(f * common) for f in row] for row in fractions], object)


def _twos(row: list[int]) -> int:
    """How often two divides all of `row`."""
    common = 0
    for x in row:
        common |= x if x >= 0 else -x
    return (common & -common).bit_length() - 1 if common else 0
