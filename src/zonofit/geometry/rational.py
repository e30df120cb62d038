"""Exact linear algebra on a few integer rows, and Gordan's alternative decided without rounding.

Floats are dyadic rationals, so a row of floats is an integer row times a power of two. Everything here is in Python's
integers, which do not overflow; eliminations are integer-preserving (Edmonds, Bareiss): after each pivot every entry
is a minor of the input, so numbers stay as short as Hadamard's bound allows and no fraction is ever reduced.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm

import numpy as np

Rows = Sequence[Sequence[int]]

_LARGEST_DENOMINATOR = 1000
_LARGEST_DECIMAL = 10**9
_COINCIDENCE = 2.0**40  # |x| q² up to here: a float is within one ulp of such a p/q by chance with odds below 2^-12
_DANTZIG_PIVOTS = 200  # then Bland's rule, which is slower and cannot cycle


def integer_rows(rows) -> tuple[list[list[int]], list[int]]:
    """Find integers and exponents with ``rows[i] == integers[i] * 2**exponents[i]`` exactly.

    Parameters
    ----------
    rows : array_like (N, n)
        Finite floats.
    """
    integers, exponents = [], []
    for row in np.asarray(rows, float).tolist():
        ratios = [x.as_integer_ratio() for x in row]
        denominator = max(q for _, q in ratios)
        numerators = [p * (denominator // q) for p, q in ratios]
        common = 0
        for p in numerators:
            common |= p if p >= 0 else -p
        shift = (common & -common).bit_length() - 1 if common else 0
        integers.append([p >> shift for p in numerators])
        exponents.append(shift - denominator.bit_length() + 1)
    return integers, exponents


def small_rationals(values) -> list[list[Fraction]] | None:
    """Recognise `values` (N, n) as short rationals to within one unit in the last place; None if they are not.

    Short are p/q with q ≤ 1000 and decimals of up to nine digits.
    """
    values = np.asarray(values, float)
    known: dict[float, Fraction] = {}
    for x in np.unique(values).tolist():
        f = _short(x)
        if f is None:
            return None
        known[x] = f
    return [[known[x] for x in row] for row in values.tolist()]


def _short(x: float) -> Fraction | None:
    if x == 0:
        return Fraction(0)
    ulp = float(np.spacing(abs(x)))
    f = Fraction(x).limit_denominator(_LARGEST_DENOMINATOR)
    if f and abs(float(f) - x) <= ulp and (f.denominator == 1 or abs(x) * f.denominator**2 <= _COINCIDENCE):
        return f
    power = 10**4
    while abs(x) * power <= _LARGEST_DECIMAL and power <= 10**18:
        f = Fraction(round(x * power), power)
        if f and abs(float(f) - x) <= ulp:
            return f
        power *= 10
    return None


def echelon(matrix: Rows) -> tuple[list[list[int]], int, list[int], int]:
    """Integer-preserving Gauss-Jordan elimination.

    Returns
    -------
    reduced : list of rows
        Row-equivalent to `matrix`; its first ``len(pivots)`` rows have `d` in their pivot column, which is zero in all
        other rows.
    d : int
        Common pivot: plus or minus the minor of the pivot rows and columns; 1 when the matrix is zero.
    pivots : list of int
        Pivot columns, increasing; their number is the rank.
    parity : int
        Sign of the row exchanges made: for a square matrix of full rank the determinant is ``parity * d``.
    """
    T = [list(row) for row in matrix]
    pivots: list[int] = []
    d, parity = 1, 1
    for column in range(len(T[0]) if T else 0):
        top = len(pivots)
        found = next((i for i in range(top, len(T)) if T[i][column]), None)
        if found is None:
            continue
        if found != top:
            T[top], T[found] = T[found], T[top]
            parity = -parity
        pivot_row, pivot = T[top], T[top][column]
        for i, row in enumerate(T):
            if i != top:
                f = row[column]
                T[i] = [(pivot * x - f * p) // d for x, p in zip(row, pivot_row, strict=True)]
        d = pivot
        pivots.append(column)
        if len(pivots) == len(T):
            break
    return T, d, pivots, parity


def determinant(matrix: Rows) -> int:
    """Compute the exact determinant of a square integer matrix."""
    _, d, pivots, parity = echelon(matrix)
    return parity * d if len(pivots) == len(matrix) else 0


def rank(matrix: Rows) -> int:
    """Compute the exact rank of an integer matrix."""
    return len(echelon(matrix)[2])


def dependency(rows: Rows) -> list[int] | None:
    """Find the only linear dependency of `rows`, as coprime integers with the first non-zero one positive.

    None when the rows are independent, or when they have more than one dependency.
    """
    columns = [list(column) for column in zip(*rows, strict=True)]
    T, d, pivots, _ = echelon(columns)
    free = [j for j in range(len(rows)) if j not in pivots]
    if len(free) != 1:
        return None
    solution = [0] * len(rows)
    solution[free[0]] = d
    for row, j in zip(T, pivots, strict=False):
        solution[j] = -row[free[0]]
    common = gcd(*solution)
    first = next(x for x in solution if x)
    common = common if first > 0 else -common
    return [x // common for x in solution]


def primes_below(limit: int, count: int) -> list[int]:
    """List the `count` largest primes below `limit` ≤ 2^31, decreasing."""
    found: list[int] = []
    candidate = limit
    while len(found) < count:
        candidate -= 1
        if _is_prime(candidate):
            found.append(candidate)
    return found


def _is_prime(p: int) -> bool:
    """Miller and Rabin; the bases 2, 3, 5, 7 decide every p below 3,215,031,751."""
    if p < 2 or any(p % q == 0 for q in (2, 3, 5, 7)):
        return p in (2, 3, 5, 7)
    twos = ((p - 1) & (1 - p)).bit_length() - 1
    for base in (2, 3, 5, 7):
        x = pow(base, (p - 1) >> twos, p)
        if x in (1, p - 1):
            continue
        if not any((x := x * x % p) == p - 1 for _ in range(twos - 1)):
            return False
    return True


def gordan(rows: Rows) -> list[Fraction] | dict[int, Fraction]:
    r"""Decide whether some w has ``rows[i]·w > 0`` for every i, exactly.

    Gordan: either such a w exists, or multipliers λ ≥ 0, not all zero, with Σ λᵢ rows[i] = 0. A few rows decide most
    instances, so rows enter only when the witness of the others violates them, the most violated first.

    Parameters
    ----------
    rows : sequence of integer rows
        At least one, none of them zero.

    Returns
    -------
    list of Fraction, or dict of int to Fraction
        The list is w. The dict has the positive multipliers by row number, and these rows form a circuit.
    """
    n = len(rows[0])
    weights = [1 << max(abs(x) for x in row).bit_length() for row in rows]
    working = list(range(min(len(rows), n + 1)))
    while True:
        witness = _phase_one([rows[i] for i in working], [weights[i] for i in working])
        if isinstance(witness, dict):
            return {working[j]: m for j, m in witness.items()}
        denominator = lcm(*(x.denominator for x in witness))
        w = [int(x * denominator) for x in witness]
        violated = []
        for i, row in enumerate(rows):
            value = sum(a * b for a, b in zip(row, w, strict=True))
            if value <= 0:
                violated.append((Fraction(value, weights[i]), i))
        if not violated:
            return witness
        working = sorted({*working, *(i for _, i in sorted(violated)[:n])})


def _phase_one(rows: Rows, weights: Sequence[int]) -> list[Fraction] | dict[int, Fraction]:
    """Phase-one simplex for λ ≥ 0, Σ λᵢ rows[i] = 0, Σ λᵢ weights[i] = 1; its dual values are the witness."""
    N, n = len(rows), len(rows[0])
    # columns: N multipliers, n + 1 artificials, right-hand side; last row: reduced costs with the opposite sign
    T = np.zeros((n + 2, N + n + 2), object)
    T[:n, :N] = np.array(rows, object).T
    T[n, :N] = weights
    T[n, -1] = 1
    T[: n + 1, N : N + n + 1] = np.eye(n + 1, dtype=int).astype(object)
    T[n + 1] = T[: n + 1].sum(axis=0)
    T[n + 1, N : N + n + 1] = 0
    basis = list(range(N, N + n + 1))
    d, steps = 1, 0
    while True:
        gain = T[n + 1, :N]
        entering = np.flatnonzero(gain > 0)
        if len(entering) == 0:
            break
        column = int(entering[0]) if steps >= _DANTZIG_PIVOTS else int(entering[np.argmax(gain[entering])])
        candidates = [i for i in range(n + 1) if T[i, column] > 0]
        row = min(candidates, key=lambda i: (Fraction(T[i, -1], T[i, column]), basis[i]))
        pivot, pivot_row, factors = T[row, column], T[row].copy(), T[:, column].copy()
        T = (pivot * T - np.outer(factors, pivot_row)) // d
        T[row] = pivot_row
        basis[row] = column
        d, steps = pivot, steps + 1
    if T[n + 1, -1] == 0:
        return {j: Fraction(T[i, -1], d) for i, j in enumerate(basis) if j < N and T[i, -1]}
    # artificial i costs 1 and its dual value is y_i, so the last row holds (y_i - 1) d
    return [Fraction(-T[n + 1, N + i] - d, d) for i in range(n)]
