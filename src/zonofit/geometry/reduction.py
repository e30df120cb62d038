"""The simple arrangement behind any generators.

Zero generators, parallel generators and a common null space change nothing about which chambers exist: bits
of a zero generator are 0 everywhere, bits of parallel generators are copies or complements of each other, and an
invertible change of features moves chambers without changing their patterns. `reduce_generators` takes these
away once, so that every algorithm sees unit, pairwise non-parallel rows of full rank in coordinates whitened so
that ``simple.T @ simple`` is close to a multiple of the identity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from zonofit.geometry.rational import small_rationals
from zonofit.tolerances import Tolerances

_BALANCING_STEPS = 10
_WHITENING_STEPS = 20
_WORST_CONDITION = 100.0
_SAME_DIRECTION = 1e-6
_LEAST_SINGULAR = 1e-15
_PRIME = 2**31 - 1
_MODULAR_WORK = 10**8
_SURELY_APART = 1e-14  # whitening adds a few roundings to rows that are parallel as given


class ExactRows(NamedTuple):
    """Row i of `Reduction.simple` is, but for rounding, a positive multiple of ``integers[i] @ frame``.

    `integers` (M, n) are floats, `frame` is (n, r).
    """

    integers: np.ndarray
    frame: np.ndarray


@dataclass(frozen=True)
class Reduction:
    """``generators[i]`` is a positive multiple of ``orientation[i] * simple[member[i]]`` in whitened coordinates.

    Attributes
    ----------
    simple : ndarray (M, r)
        Unit rows, pairwise non-parallel, of rank r.
    member : ndarray (N,) of int
        Row of `simple` of each generator; -1 for a zero generator.
    orientation : ndarray (N,) of int8
        +1 or -1; 0 for a zero generator.
    lift : ndarray (n, r)
        ``w = lift @ u``: the weights whose signs on the generators are those of ``simple @ u``.
    noise : float
        How far the rounding of the entries of the generators may have turned a row of `simple`, in units of 2^-52;
        0 where all entries are integers or short decimals.
    exact : ExactRows or None
        What `simple` stands for exactly, where all entries are integers or short decimals.
    """

    simple: np.ndarray
    member: np.ndarray
    orientation: np.ndarray
    lift: np.ndarray
    noise: float
    exact: ExactRows | None = None

    @property
    def rank(self) -> int:
        """Rank r of the generators."""
        return self.simple.shape[1]

    @property
    def is_trivial(self) -> bool:
        """Whether bits of `simple` are the bits of the generators, one for one."""
        N = len(self.member)
        return len(self.simple) == N and bool(np.all(self.orientation == 1))

    def expand(self, patterns) -> np.ndarray:
        """Patterns of `simple`, shape (..., M), to patterns of the generators, shape (..., N)."""
        patterns = np.asarray(patterns, bool)
        live = self.orientation != 0
        bits = np.zeros((*patterns.shape[:-1], len(self.member)), bool)
        bits[..., live] = patterns[..., self.member[live]] ^ (self.orientation[live] < 0)
        return bits


def reduce_generators(generators: np.ndarray, tolerances: Tolerances) -> Reduction:
    """Merge, drop and whiten; `generators` (N, n) are finite floats."""
    N, n = generators.shape
    live = np.flatnonzero(np.any(generators != 0, axis=1))
    member = np.full(N, -1)
    orientation = np.zeros(N, np.int8)
    if live.size == 0:
        return Reduction(np.zeros((0, 0)), member, orientation, np.zeros((n, 0)), 0.0)
    white, lift, noise, exact = _whiten(generators[live], tolerances.rank)
    first, side = _parallel_classes(white, tolerances.parallel)
    if np.any(np.abs(white - side[:, None] * white[first]) > _SURELY_APART):
        first, side = _split_exactly(generators[live], first, side)
    representatives = np.flatnonzero(first == np.arange(len(live)))
    place = np.empty(len(live), int)
    place[representatives] = np.arange(len(representatives))
    member[live] = place[first]
    orientation[live] = side
    if exact is not None:
        exact = ExactRows(exact.integers[representatives], exact.frame)
    return Reduction(np.ascontiguousarray(white[representatives]), member, orientation, lift, noise, exact)


def _whiten(rows: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray, float, ExactRows | None]:
    """Unit rows of ``rows @ lift``, the change of coordinates `lift` (n, rank), its noise, and what they stand for."""
    decimal, exact = _decimal_scale(rows)
    rows = np.where(exact, np.round(rows * decimal) / _power_of_two(decimal), rows)
    column = decimal / _power_of_two(decimal)
    row_power, column_power = balance(rows)
    column = column * np.ldexp(1.0, centred(-column_power, rows))
    # powers of two keep integer data exact
    scaled = np.ldexp(rows, -row_power[:, None] - column_power)
    _, singular, right = np.linalg.svd(_unit(scaled), full_matrices=False)
    rank = int(np.sum(singular > tolerance * singular[0]))
    if exact.all() and rank < len(singular):
        # integers beside large ones can be independent and have a smaller singular value than that
        rank = max(rank, _modular_rank(rows * _power_of_two(decimal)))
    change = right[:rank].T / np.maximum(singular[:rank], _LEAST_SINGULAR * singular[0])
    change = change @ _isotropic(_unit(scaled @ change))
    image = _accurate_product(scaled, change)
    length = np.linalg.norm(image, axis=1)
    blurred = np.linalg.norm((np.abs(scaled) * ~exact) @ np.abs(change), axis=1)
    known = None
    if exact.all():
        known = ExactRows(
            rows * _power_of_two(decimal), np.ldexp(change, (1 - column_power - np.frexp(decimal)[1])[:, None])
        )
    return image / length[:, None], column[:, None] * change, float(np.max(blurred / length)), known


def _modular_rank(integers: np.ndarray) -> int:
    """Rank modulo a prime, which the rank is not below; 0 when that is too much work."""
    if integers.size * integers.shape[1] > _MODULAR_WORK:
        return 0
    T = integers.astype(np.int64) % _PRIME
    rank = 0
    for column in range(T.shape[1]):
        pivots = np.flatnonzero(T[rank:, column])
        if not len(pivots):
            continue
        p = rank + pivots[0]
        T[[rank, p]] = T[[p, rank]]
        factor = T[rank + 1 :, column] * pow(int(T[rank, column]), -1, _PRIME) % _PRIME
        T[rank + 1 :] = (T[rank + 1 :] - factor[:, None] * T[rank] % _PRIME) % _PRIME
        rank += 1
        if rank == len(T):
            break
    return rank


def _isotropic(unit: np.ndarray) -> np.ndarray:
    """Change of coordinates (r, r) after which unit rows, made unit again, point everywhere alike: Tyler's iteration.

    Lengths mean nothing here, so directions are whitened, each once however many generators share it. Where more than
    a share k/r of the directions lie in a k-dimensional flat no such change exists and the iteration would squeeze
    all others together; the bound on its condition stops it.
    """
    first, _ = _parallel_classes(unit, _SAME_DIRECTION)
    unit = unit[first == np.arange(len(unit))]
    change = np.eye(unit.shape[1])
    for _ in range(_WHITENING_STEPS):
        turned = _unit(unit @ change)
        spread, axes = np.linalg.eigh(turned.T @ turned)
        if spread[-1] <= 2 * spread[0]:
            break
        further = change @ (axes / np.sqrt(np.maximum(spread, spread[-1] * 1e-16)))
        if np.linalg.cond(further) > _WORST_CONDITION:
            break
        change = further
    return change


def balance(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Exponents of two, one a row and one a column, that bring the largest entry of each to about 1.

    Columns come first: features have units, while examples rarely differ in length by as much. Largest entries rather
    than means or medians, because many of the others may be zeros spoilt by rounding.
    """
    live, used = np.any(rows != 0, axis=1), np.any(rows != 0, axis=0)
    size = np.where(rows != 0, np.frexp(rows)[1], -(10**6))
    row = np.zeros(len(rows), int)
    column = np.zeros(rows.shape[1], int)
    for _ in range(_BALANCING_STEPS):
        before = column
        column = np.where(used, np.max(size - row[:, None], axis=0), 0)
        row = np.where(live, np.max(size - column, axis=1), 0)
        if np.array_equal(column, before):
            break
    return row, column


def centred(exponents: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Exponents of the columns of `rows` less the middle of those that matter, so that the common scale of all is gone.

    A factor that all columns share changes no sign, and 2^-1050 has no reciprocal.
    """
    used = exponents[np.any(rows != 0, axis=0)]
    return exponents - (int(used.max()) + int(used.min())) // 2 if len(used) else exponents


def lengths(rows: np.ndarray) -> np.ndarray:
    """Euclidean norms over the last axis, also where squares of the entries are not in the range of floats."""
    largest = np.max(np.abs(rows), axis=-1, initial=0.0)
    return largest * np.linalg.norm(rows / np.where(largest > 0, largest, 1.0)[..., None], axis=-1)


def _unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1)[:, None]


def _decimal_scale(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each column the power of ten that makes it integer and whether there is one; 1 where there is none.

    0.1, 0.2 and 0.3 are not evenly spaced as binary fractions, but whoever typed them meant that they are.
    """
    scale = np.ones(rows.shape[1])
    exact = np.zeros(rows.shape[1], bool)
    for j, values in enumerate(rows.T):
        for power in 10.0 ** np.arange(10):
            integers = np.round(values * power)
            if np.max(np.abs(integers)) > 1e9:
                break
            if np.all(np.abs(values * power - integers) <= 2 * np.spacing(np.abs(integers))):
                scale[j], exact[j] = power, True
                break
    return scale, exact


def _accurate_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """``a @ b`` as if in twice the working precision (Ogita, Rump and Oishi's Dot2).

    So the change of coordinates, whatever its condition, adds no more than one rounding to a generator.
    """
    total = np.zeros((len(a), b.shape[1]))
    error = np.zeros_like(total)
    for j in range(a.shape[1]):
        x, y = a[:, j : j + 1], b[j]
        product = x * y
        (x1, x2), (y1, y2) = _split(x), _split(y)
        lost = x2 * y2 - (((product - x1 * y1) - x2 * y1) - x1 * y2)
        previous = total
        total = previous + product
        part = total - previous
        error += (previous - (total - part)) + (product - part) + lost
    return total + error


def _split(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Veltkamp's split into a high and a low half of 26 bits each."""
    high = 134217729.0 * x
    high = high - (high - x)
    return high, x - high


def _parallel_classes(unit: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
    """First member of each row's parallel class, and whether the row points the same way (+1) or not (-1)."""
    N, r = unit.shape
    first = np.arange(N)
    side = np.ones(N, np.int8)
    key = np.abs(unit @ np.random.default_rng(0).standard_normal(r)) / np.sqrt(r)
    order = np.argsort(key, kind="stable")
    # parallel rows have keys within a few `tolerance` of each other, so only neighbours in this order are compared
    for shift in range(1, N):
        a, b = order[:-shift], order[shift:]
        close = key[b] - key[a] <= 8 * tolerance
        if not close.any():
            break
        for i, j in zip(a[close], b[close], strict=True):
            sign = 1 if unit[i] @ unit[j] > 0 else -1
            if np.linalg.norm(unit[i] - sign * unit[j]) > tolerance:
                continue
            low, high = min(first[i], first[j]), max(first[i], first[j])
            if low == high:
                continue
            flip = side[i] * side[j] * sign
            moved = first == high
            first[moved] = low
            side[moved] *= flip
            if side[low] < 0:
                side[first == low] *= -1
    return first, side


def _split_exactly(rows: np.ndarray, first: np.ndarray, side: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Take `_parallel_classes` apart where the numbers that were meant are not parallel.

    Beside an example of size 1e12 the examples 0 and 1 differ by less than any tolerance, and yet they differ.
    """
    rationals = small_rationals(rows)
    if rationals is None:
        return first, side
    heads: dict[tuple, int] = {}
    turned = np.ones(len(rows), np.int8)
    first, side = first.copy(), side.copy()
    for i, row in enumerate(rationals):
        pivot = next(x for x in row if x)
        turned[i] = 1 if pivot > 0 else -1
        first[i] = heads.setdefault((first[i], *(x / pivot for x in row)), i)
        side[i] = turned[i] * turned[first[i]]
    return first, side


def _power_of_two(x: np.ndarray) -> np.ndarray:
    return np.ldexp(1.0, np.frexp(x)[1] - 1)
