r"""Walls of one chamber: the edges of the zonotope at one vertex (the paper's section 3 and appendix A.3).

The chamber {w : sᵢ gᵢ·w > 0 for all i}, s = 2a - 1, is cut out by N inequalities, of which few matter. Inequality i is
a *wall* when some point violates it and no other; otherwise it is *redundant*, and by Farkas' lemma sᵢ gᵢ = Σ λⱼ sⱼ gⱼ
with λ ≥ 0 over the walls j. Either answer has a short proof, which `Walls.certificate` hands out. Crossing a
wall flips bit i, and with it the bits of all generators parallel to gᵢ; the zonotope has an edge there.

Walls are the corners of the polytope spanned by the points gᵢ / gᵢ·w for any w inside. Clarkson's algorithm finds
them with programs of as many columns as there are walls instead of N; `zonofit.geometry._wall_kernel` says how. A row
that defies floats (within rounding of where neither proof is clear) goes to one non-negative least squares problem.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from zonofit.errors import InputError
from zonofit.geometry._wall_kernel import find_walls
from zonofit.geometry._wall_query import AT, DOUBTFUL, DOUBTS, INSIDE, LANES, NUDGE, REDUNDANT, ROWS, WALL
from zonofit.geometry.membership import as_pattern, membership
from zonofit.geometry.reduction import lengths

if TYPE_CHECKING:
    from zonofit.geometry.arrangement import Arrangement

_TOUCH = 1e-10  # a unit row this near to a cone counts as in it; a hyperplane this near to a unit point touches it
_SEED = 20


@dataclass(frozen=True, eq=False)
class WallCertificate:
    """Why generator i is a wall of the chamber, or why not; `zonofit.geometry.facets` states the theorem.

    Attributes
    ----------
    index : int
        The generator i.
    is_wall : bool
    point : ndarray (n,) or None
        For a wall: a point whose pattern differs from the chamber's in i and the generators parallel to it only.
    walls : ndarray of int
        Otherwise: walls with positive multipliers.
    multipliers : ndarray
        λ with ``s_i g_i = sum(λ_j s_j g_j)`` over `walls`; empty for a zero generator.
    """

    index: int
    is_wall: bool
    point: np.ndarray | None
    walls: np.ndarray
    multipliers: np.ndarray


@dataclass(frozen=True, eq=False)
class Walls:
    """Walls of one chamber, in increasing order of `indices`; the length is their number.

    Attributes
    ----------
    pattern : ndarray (N,) of bool
        The chamber.
    witness : ndarray (n,)
        A point strictly inside.
    indices : ndarray (K,) of int
        Generators that are walls; of parallel ones, which are one wall, the first.
    """

    pattern: np.ndarray
    witness: np.ndarray
    indices: np.ndarray
    _arrangement: Arrangement = field(repr=False)
    _rows: np.ndarray = field(repr=False)  # rows of reduction.simple that are walls
    _inside: np.ndarray = field(repr=False)  # a point well inside, in reduced coordinates
    _touch: np.ndarray = field(repr=False)  # for each wall a point on it and on no other hyperplane; nan if not known
    _proof: np.ndarray = field(repr=False)  # for each redundant row the rows whose cone holds it, else -1
    _work: np.ndarray = field(repr=False)  # programs, simplex steps, queries, doubtful rows

    def __len__(self) -> int:
        return len(self.indices)

    def __iter__(self) -> Iterator[int]:
        """Generators that are walls."""
        return iter(self.indices.tolist())

    @cached_property
    def classes(self) -> tuple[tuple[int, ...], ...]:
        """For each wall all generators on it, which flip together."""
        member = self._arrangement.reduction.member
        order = np.argsort(member, kind="stable")
        start, stop = (np.searchsorted(member[order], self._rows, side) for side in ("left", "right"))
        return tuple(tuple(order[a:b].tolist()) for a, b in zip(start, stop, strict=True))

    @property
    def work(self) -> dict[str, int]:
        """Programs started, simplex steps and queries made, and rows that went to least squares."""
        return dict(zip(("programs", "steps", "queries", "doubtful"), self._work.tolist(), strict=True))

    def neighbors(self) -> np.ndarray:
        """Patterns (K, N) of the chambers behind the walls, in the order of `indices`."""
        return self.pattern ^ (self._arrangement.reduction.member == self._rows[:, None])

    def neighbor(self, i: int) -> np.ndarray:
        """Pattern (N,) of the chamber behind the wall of generator i."""
        return self.pattern ^ (self._arrangement.reduction.member == self._rows[self._position(i)])

    def neighbor_witnesses(self) -> np.ndarray:
        """Points (K, n) strictly inside the neighbours, in the order of `indices`."""
        return self._witnesses_behind.copy()

    def neighbor_witness(self, i: int) -> np.ndarray:
        """Point (n,) strictly inside the chamber behind the wall of generator i."""
        return self._witnesses_behind[self._position(i)].copy()

    @cached_property
    def _witnesses_behind(self) -> np.ndarray:
        arrangement, reduction = self._arrangement, self._arrangement.reduction
        K = len(self)
        depth = np.abs(reduction.simple @ self._inside)
        with np.errstate(invalid="ignore"):
            # from the point on the wall away from the inside, half way to the next hyperplane
            reach = np.abs(self._touch @ reduction.simple.T) / depth
            reach[np.arange(K), self._rows] = 1.0
            half = np.minimum(np.min(reach, axis=1, initial=1.0), 1.0) / 2
            points = (self._touch - half[:, None] * self._inside) @ reduction.lift.T
        patterns = self.neighbors()
        wanted = np.where(patterns, 1, -1) * (reduction.orientation != 0)
        good = np.all(np.isfinite(points), axis=1)
        good[good] = np.all(arrangement.sign_vector(points[good]) == wanted[good], axis=1)
        for k in np.flatnonzero(~good):
            points[k] = membership(arrangement, patterns[k]).witness
        return points

    def certificate(self, i: int) -> WallCertificate:
        """Proof that generator i is a wall, or that it is not."""
        i = self._generator(i)
        reduction = self._arrangement.reduction
        row = reduction.member[i]
        nothing = np.zeros(0, int), np.zeros(0)
        if row < 0:
            return WallCertificate(i, False, None, *nothing)
        k = np.searchsorted(self._rows, row)
        if k < len(self) and self._rows[k] == row:
            return WallCertificate(i, True, self._witnesses_behind[k].copy(), *nothing)
        turned = reduction.simple * np.sign(reduction.simple @ self._inside)[:, None]
        support = self._proof[row]
        if support[0] < 0 or not np.all(np.isin(support, self._rows)):
            support = self._rows
        multipliers, distance = _nearest_combination(turned[support], turned[row])
        if distance > _TOUCH and len(support) < len(self._rows):
            support = self._rows
            multipliers, _ = _nearest_combination(turned[support], turned[row])
        keep = np.flatnonzero(multipliers > 0)
        keep = keep[np.argsort(support[keep])]
        at = self.indices[np.searchsorted(self._rows, support[keep])]
        size = lengths(self._arrangement.generators[[i, *at]] @ reduction.lift)
        return WallCertificate(i, False, None, at, multipliers[keep] * size[0] / size[1:])

    def _generator(self, i: int) -> int:
        if not isinstance(i, (int, np.integer)) or not 0 <= i < len(self.pattern):
            raise InputError(f"i: {i!r} is no generator; pass a number from 0 to {len(self.pattern) - 1}.")
        return int(i)

    def _position(self, i: int) -> int:
        row = self._arrangement.reduction.member[self._generator(i)]
        k = int(np.searchsorted(self._rows, row))
        if row < 0 or k == len(self) or self._rows[k] != row:
            raise InputError(f"i: generator {i} is not a wall of this chamber; pass one of `indices`.")
        return k


def walls(arrangement: Arrangement, chamber, *, witness=None, warm: Walls | None = None) -> Walls:
    """Walls of one chamber.

    Parameters
    ----------
    arrangement : Arrangement
    chamber : array_like
        Weights w (n,) strictly inside the chamber, or its pattern (N,). When N = n, booleans and integers that are
        all 0 or 1 are a pattern and other numbers are weights.
    witness : array_like (n,), optional
        With a pattern: a point strictly inside, which saves the search for one.
    warm : Walls, optional
        Walls of a chamber whose pattern differs in few bits, best in one wall. Proofs of redundancy that the flipped
        bits do not touch are kept, which halves the simplex steps.

    Returns
    -------
    Walls

    Raises
    ------
    InputError
        When the pattern is no chamber, or the point is on a hyperplane.
    """
    if warm is not None and warm._arrangement is not arrangement:
        raise InputError("warm: these walls belong to another arrangement; pass walls of the same one.")
    frame = _frame_of(arrangement)
    pattern, w = _chamber_and_witness(arrangement, frame, chamber, witness)
    found = _solve(arrangement, frame, pattern, w, w, warm)
    if found is None:
        # inside, but too near to the boundary for whitened coordinates
        best = membership(arrangement, pattern).witness
        found = None if best is None else _solve(arrangement, frame, pattern, w, best, warm)
    if found is None:
        raise InputError(
            "chamber: narrower than rounding in whitened coordinates; merge generators that are nearly dependent."
        )
    return found


def walls_of(arrangement: Arrangement, chambers: Iterable, *, witnesses: Sequence | None = None) -> list[Walls]:
    """`walls` of each of several chambers.

    Parameters
    ----------
    arrangement : Arrangement
    chambers : array_like (K, N) or (K, n), or an iterable of patterns and weights
    witnesses : sequence of array_like (n,), optional
        One for each, when the chambers are patterns.
    """
    if witnesses is None:
        return [walls(arrangement, chamber) for chamber in chambers]
    chambers = list(chambers)
    if len(chambers) != len(witnesses):
        raise InputError(f"witnesses: {len(witnesses)} for {len(chambers)} chambers; pass one for each.")
    return [walls(arrangement, c, witness=w) for c, w in zip(chambers, witnesses, strict=True)]


class _Frame:
    """What all chambers of one arrangement share, and one workspace a thread."""

    def __init__(self, arrangement: Arrangement):
        reduction = arrangement.reduction
        M, r = reduction.simple.shape
        self.representative = np.full(M, -1)
        live = np.flatnonzero(reduction.orientation)[::-1]
        self.representative[reduction.member[live]] = live
        self.rows = np.array(reduction.simple)
        self.column = np.zeros((0, arrangement.dimension))
        if M:
            # u = column @ w has simple @ u proportional to the products g·w, whatever w is in the null space
            first = arrangement.generators[self.representative]
            first = first / np.max(np.abs(first), axis=1, keepdims=True)
            self.column = np.linalg.pinv(self.rows) @ (first / lengths(first @ reduction.lift)[:, None])
        rng = np.random.default_rng(_SEED)
        self.directions = np.linalg.qr(rng.standard_normal((max(r, 1), max(r, 1))))[0]
        self.nudge = self.directions @ rng.standard_normal(max(r, 1)) / np.sqrt(max(r, 1))
        self._equilibrated, self._sizes = arrangement._equilibrated
        self._limits = arrangement.tolerances.sign * np.linalg.norm(self._equilibrated, axis=1)
        self.cost = 1 + 0.2 * rng.random(M)
        self._local = threading.local()

    def side(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Whether g·w > 0, and which products count as zero (None for none), as `Arrangement.sign_vector` has it.

        A small chamber takes so little time that the norms of all generators would be a tenth of it.
        """
        u = w * self._sizes
        u /= np.abs(u).max(initial=0.0) or 1.0
        values = self._equilibrated @ u
        clear = np.abs(values) > self._limits * math.sqrt(u @ u)
        return values > 0, None if clear.all() else ~clear

    def reduced(self, w: np.ndarray) -> np.ndarray:
        """The point w (n,) in reduced coordinates, of length 1."""
        u = self.column @ (w / (np.abs(w).max() or 1.0))
        u /= np.abs(u).max(initial=0.0) or 1.0
        return u / (math.sqrt(u @ u) or 1.0)

    def workspace(self) -> tuple[np.ndarray, ...]:
        """``across`` and the arrays from ``lines`` on of `_wall_kernel.find_walls`."""
        if not hasattr(self._local, "arrays"):
            M, r = self.rows.shape
            wide, slots = _filled(M), _filled(r)
            across = _aligned(r, wide)
            across[:, :M] = self.rows.T
            self._local.arrays = (
                across,
                *(_aligned(5, wide), _aligned(4, wide + LANES), _aligned(12, slots)),
                np.zeros((11, max(M, r)), np.int64),
                *(_aligned(M, slots), _aligned(r, wide), _aligned(r, wide + LANES), _aligned(wide + LANES, slots)),
                *(_aligned(r, slots) for _ in range(4)),
            )
        return self._local.arrays


_FRAMES: WeakKeyDictionary[Arrangement, _Frame] = WeakKeyDictionary()


def _frame_of(arrangement: Arrangement) -> _Frame:
    frame = _FRAMES.get(arrangement)
    if frame is None:
        frame = _FRAMES[arrangement] = _Frame(arrangement)
    return frame


def _solve(arrangement, frame: _Frame, pattern, w, point, warm: Walls | None) -> Walls | None:
    """Walls from a point in the chamber; None when rounding has it outside in reduced coordinates."""
    M, r = frame.rows.shape
    bits = pattern[frame.representative]
    inside = frame.reduced(point)
    work = np.zeros(4, np.int64)
    proof = np.full((M, r), -1, np.int32)
    if r <= 1:  # all generators on one line: the chamber is a half-space, or everything
        rows = np.arange(M)
        if not np.all(np.where(bits, 1.0, -1.0) * (frame.rows @ inside) > 0):
            return None
        return Walls(pattern, w, frame.representative, arrangement, rows, inside, np.zeros((M, r)), proof, work)
    across, *arrays = frame.workspace()
    vectors, index = arrays[2], arrays[3]
    vectors[INSIDE, :r] = inside
    vectors[NUDGE, :r] = frame.nudge
    status = np.zeros(M, np.uint8)
    if warm is not None:
        flipped = warm.pattern[frame.representative] != bits
        kept = (warm._proof[:, 0] >= 0) & ~flipped & ~np.any(flipped[warm._proof], axis=1)
        status[kept] = REDUNDANT
        proof[kept] = warm._proof[kept]
    touch = np.empty((M, r))
    count = find_walls(
        frame.rows, across, frame.directions, frame.cost, _TOUCH, status, proof, touch, work, bits, *arrays
    )
    if count < 0:
        return None
    inside = vectors[INSIDE, :r].copy()
    rows = index[ROWS, :count].copy()
    touch = touch[index[AT, :count]]
    if work[DOUBTS]:
        _settle(frame.rows, inside, status)
        late = np.setdiff1d(np.flatnonzero(status == WALL), rows)
        order = np.argsort(np.concatenate([rows, late]))
        rows = np.concatenate([rows, late])[order]
        touch = np.concatenate([touch, np.full((len(late), r), np.nan)])[order]
    return Walls(pattern, w, frame.representative[rows], arrangement, rows, inside, touch, proof, work)


def _settle(rows: np.ndarray, inside: np.ndarray, status: np.ndarray) -> None:
    """Decide doubtful rows by their distance to the cone of all other rows that may be walls."""
    turned = rows * np.sign(rows @ inside)[:, None]
    for i in np.flatnonzero(status == DOUBTFUL):
        others = np.flatnonzero(status != REDUNDANT)
        others = others[others != i]
        _, distance = _nearest_combination(turned[others], turned[i])
        status[i] = WALL if distance > _TOUCH else REDUNDANT


def _nearest_combination(rows: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, float]:
    """Multipliers λ ≥ 0 with ``λ @ rows`` nearest to `target`, and the distance."""
    from scipy.optimize import nnls

    return nnls(np.ascontiguousarray(rows.T), target, maxiter=100 * rows.size)


def _chamber_and_witness(arrangement: Arrangement, frame: _Frame, chamber, witness) -> tuple[np.ndarray, np.ndarray]:
    array = np.asarray(chamber)
    N, n = arrangement.generators.shape
    if array.shape not in ((N,), (n,)):
        raise InputError(
            f"chamber: expected a pattern of {N} bits or {n} weights, got shape {array.shape}; "
            "for several chambers use walls_of."
        )
    is_bits = array.dtype == bool or (array.dtype.kind in "iu" and bool(np.all((array == 0) | (array == 1))))
    if array.shape == (n,) and not (N == n and is_bits):
        if witness is not None:
            raise InputError("witness: `chamber` holds weights already; leave it out, or pass a pattern.")
        return _inner_point(arrangement, frame, array, "chamber")
    pattern = as_pattern(arrangement, array)
    if witness is None:
        found = membership(arrangement, pattern)
        if found.witness is None:
            raise InputError("chamber: no weights have this pattern; `membership` proves it with a certificate.")
        return pattern, found.witness
    own, w = _inner_point(arrangement, frame, witness, "witness")
    if not np.array_equal(own, pattern):
        raise InputError("witness: its pattern is not `chamber`; pass a point inside, or leave it out.")
    return pattern, w


def _inner_point(arrangement: Arrangement, frame: _Frame, w, name: str) -> tuple[np.ndarray, np.ndarray]:
    w = np.array(w, float)
    if w.shape != (arrangement.dimension,) or not np.isfinite(w).all():
        raise InputError(f"{name}: expected {arrangement.dimension} finite weights, got shape {w.shape}.")
    pattern, zero = frame.side(w)
    if zero is not None:
        on = np.flatnonzero(zero & (arrangement.reduction.orientation != 0))
        if len(on):
            raise InputError(f"{name}: on the hyperplane of generator {on[0]}; pass weights strictly inside a chamber.")
        pattern &= ~zero
    w.setflags(write=False)
    return pattern, w


def _filled(length: int) -> int:
    return -(-length // LANES) * LANES


def _aligned(rows: int, width: int) -> np.ndarray:
    """Zeros that start on a cache line, because loads across lines halve the speed of the kernel."""
    flat = np.zeros(rows * width + 8)
    skip = -(flat.ctypes.data // 8) % 8
    return flat[skip : skip + rows * width].reshape(rows, width)
