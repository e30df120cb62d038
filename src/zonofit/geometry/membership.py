r"""Is a pattern a chamber? Yes with a witness, no with a Gordan certificate: either way a proof in rational arithmetic.

A pattern a names the open cone {w : sᵢ gᵢ·w > 0 for all i}, s = 2a - 1. By Gordan's theorem exactly one of these holds:

- the cone is not empty: any w in it is a *witness*;
- there are multipliers λ ≥ 0, not all zero, with Σ λᵢ sᵢ gᵢ = 0.

A zero generator has bit 0 in every chamber; it is left out of the inequalities, and a set bit on it is refuted by
λᵢ = 1 alone.

Floats find the answer: the nearest point of the convex hull of the signed unit generators to the origin, one
non-negative least squares problem, is a witness of largest margin if it is not the origin, and its coefficients
are the multipliers of a circuit if it is. Rational arithmetic then proves it: the witness by the signs of gᵢ·w, the
circuit by solving its null space in integers. When neither proof goes through (generators within rounding of a
dependency, chambers narrower than about 1e-8), an exact simplex method decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Literal

import numpy as np

from zonofit.errors import InputError
from zonofit.geometry.rational import dependency, gordan, integer_rows, small_rationals

if TYPE_CHECKING:
    from zonofit.geometry.arrangement import Arrangement

_EPS = np.finfo(float).eps
_TINY = np.finfo(float).tiny


@dataclass(frozen=True, eq=False)
class Membership:
    """Whether a pattern is a chamber, with the proof.

    Attributes
    ----------
    generators : ndarray (N, n)
    pattern : ndarray (N,) of bool
    feasible : bool
    witness : ndarray (n,) or None
        A point inside the chamber, of unit length; `exact_witness` rounded.
    multipliers : ndarray (N,) or None
        λ of the certificate, summing to one; `exact_multipliers` rounded.
    margin : float
        For a chamber the least of sᵢ gᵢ·w / Σⱼ |gᵢⱼ wⱼ| over the generators that are not zero: every entry of the data
        may change by less than this fraction of itself and the witness stays one. The scale of generators and of
        features does not matter. 0 when infeasible. Below about 1e-12 only rounding in the data separates the pattern
        from a degenerate one, and methods that merge what lies within `Tolerances` may not list it.
    exact_witness : tuple of Fraction, or None
    exact_multipliers : dict of int to Fraction, or None
        Positive multipliers by generator; the generators form a circuit.
    arithmetic : {"dyadic", "rational"}
        What the proof takes the generators for: the floats as stored, or the short rationals that they stand for.
    """

    generators: np.ndarray = field(repr=False)
    pattern: np.ndarray
    feasible: bool
    witness: np.ndarray | None
    multipliers: np.ndarray | None
    margin: float
    exact_witness: tuple[Fraction, ...] | None = field(repr=False)
    exact_multipliers: dict[int, Fraction] | None
    arithmetic: Literal["dyadic", "rational"] = "dyadic"

    def verify(self) -> bool:
        """Prove `feasible` again from generators, pattern and certificate alone, in rational arithmetic.

        True means proved for the generators exactly as `arithmetic` says: no tolerance is involved.
        """
        rows = small_rationals(self.generators) if self.arithmetic == "rational" else None
        if rows is None:
            rows = [[Fraction(x) for x in g] for g in self.generators.tolist()]
        signs = [1 if bit else -1 for bit in self.pattern.tolist()]
        if self.feasible:
            w = self.exact_witness
            if w is None or len(w) != self.generators.shape[1]:
                return False
            return all(
                s * sum(x * y for x, y in zip(g, w, strict=True)) > 0 if any(g) else s < 0
                for s, g in zip(signs, rows, strict=True)
            )
        certificate = self.exact_multipliers
        if not certificate or min(certificate.values()) <= 0:
            return False
        if any(not any(rows[i]) and signs[i] < 0 for i in certificate):
            return False
        return all(sum(m * signs[i] * rows[i][j] for i, m in certificate.items()) == 0 for j in range(len(rows[0])))


def membership(
    arrangement: Arrangement, pattern, *, arithmetic: Literal["rational", "dyadic"] = "rational"
) -> Membership:
    r"""Decide whether `pattern` is a chamber, with a witness or a Gordan certificate.

    The answer is exact; no tolerance enters it. Where all entries are short decimals or fractions it is about the
    numbers that were meant, as is everything else that an `Arrangement` says. Other floats are taken exactly as stored,
    so a pattern whose chamber exists only through the rounding of the data is feasible here, with a `margin` of
    rounding size, although methods that merge what lies within `Tolerances` do not list it.

    Parameters
    ----------
    arrangement : Arrangement
    pattern : array_like (N,) of bool
        One bit a generator, 1 for gᵢ·w > 0.
    arithmetic : {"rational", "dyadic"}
        "rational": entries stand for the p/q, q ≤ 1000, or the decimals of up to nine digits, that they are to within
        one unit in the last place; if any is neither, all are taken as stored. "dyadic": all as stored in any case.

    Returns
    -------
    Membership
    """
    bits = as_pattern(arrangement, pattern)
    if arithmetic not in ("dyadic", "rational"):
        raise InputError(f'arithmetic: expected "dyadic" or "rational", got {arithmetic!r}.')
    G = _Generators(
        arrangement.generators, small_rationals(arrangement.generators) if arithmetic == "rational" else None
    )
    live = G.live
    if np.any(bits & ~live):
        return _infeasible(G, bits, {int(np.flatnonzero(bits & ~live)[0]): Fraction(1)})
    if not live.any():
        return _feasible(G, bits, [Fraction(1)] + [Fraction(0)] * (arrangement.dimension - 1))
    for kind, guess in _guesses(arrangement, bits):
        if kind == "witness":
            if _exact_signs_agree(G, bits, live, guess):
                return _feasible(G, bits, [Fraction(x) for x in guess.tolist()], guess)
        else:
            multipliers = _circuit_multipliers(G, bits, guess)
            if multipliers is not None:
                return _infeasible(G, bits, multipliers)
    return _decide_exactly(G, bits, live)


def is_chamber(arrangement: Arrangement, pattern, *, arithmetic: Literal["rational", "dyadic"] = "rational") -> bool:
    """Whether `pattern` (N,) is a chamber of the generators exactly as stored, or as meant; see `membership`."""
    return membership(arrangement, pattern, arithmetic=arithmetic).feasible


def as_pattern(arrangement: Arrangement, pattern) -> np.ndarray:
    """Return a fresh boolean array (N,), or raise an `InputError`."""
    array = np.array(pattern)
    N = arrangement.n_generators
    if array.shape != (N,):
        raise InputError(f"pattern: expected {N} bits, one a generator, got shape {array.shape}; pass one pattern.")
    if array.dtype != bool and not (array.dtype.kind in "iuf" and np.all((array == 0) | (array == 1))):
        raise InputError("pattern: expected booleans or zeros and ones; for a sign vector s pass s > 0.")
    array = array.astype(bool)
    array.setflags(write=False)
    return array


@dataclass(frozen=True, eq=False)
class _Generators:
    """Generators as floats and as exact numbers, which are the floats themselves where `rationals` is None."""

    floats: np.ndarray
    rationals: list[list[Fraction]] | None

    @property
    def live(self) -> np.ndarray:
        return np.any(self.floats != 0, axis=1)

    @property
    def arithmetic(self) -> Literal["dyadic", "rational"]:
        return "dyadic" if self.rationals is None else "rational"

    def row(self, i: int) -> list[Fraction]:
        return [Fraction(x) for x in self.floats[i].tolist()] if self.rationals is None else self.rationals[i]

    def integers(self, members) -> tuple[list[list[int]], list[Fraction]]:
        """Integer rows, and the positive factors by which they exceed the generators."""
        if self.rationals is None:
            rows, exponents = integer_rows(self.floats[members])
            return rows, [1 / Fraction(2) ** e for e in exponents]
        exact = [self.rationals[i] for i in members]
        factors = [lcm(*(x.denominator for x in row)) for row in exact]
        return [[int(x * f) for x in row] for row, f in zip(exact, factors, strict=True)], [
            Fraction(f) for f in factors
        ]


def _guesses(arrangement: Arrangement, bits: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Candidates from floats, the likelier first: ("witness", w) or ("circuit", generator numbers)."""
    from scipy.optimize import nnls

    reduction = arrangement.reduction
    live = np.flatnonzero(reduction.orientation)
    member = reduction.member[live]
    signs = np.where(bits[live], 1, -1) * reduction.orientation[live]
    M, r = reduction.simple.shape
    representative = np.empty(M, int)
    representative[member[::-1]] = live[::-1]
    clash = np.flatnonzero(signs != np.where(bits[representative[member]], 1, -1))
    if len(clash):  # representatives have orientation +1
        yield "circuit", np.array([representative[member[clash[0]]], live[clash[0]]])
        return
    A = np.where(bits[representative], 1.0, -1.0)[:, None] * reduction.simple
    system = np.vstack([A.T, np.ones(M)])
    try:
        multipliers, distance = nnls(system, np.eye(r + 1)[r])
    except RuntimeError:  # did not converge
        return
    support = np.flatnonzero(multipliers)
    nearest = multipliers @ A
    circuit = "circuit", representative[support]
    if distance < np.sqrt(_EPS):
        yield circuit
    yield "witness", _unit(reduction.lift @ nearest)
    # the same point from its tight rows alone, which cancellation does not spoil
    tight = np.linalg.lstsq(A[support], np.ones(len(support)), rcond=None)[0]
    yield "witness", _unit(reduction.lift @ tight)
    if distance >= np.sqrt(_EPS):
        yield circuit


def _unit(w: np.ndarray) -> np.ndarray:
    w = w / max(np.max(np.abs(w)), _TINY)
    return w / max(np.linalg.norm(w), _TINY)


def _exact_signs_agree(G: _Generators, bits: np.ndarray, live: np.ndarray, w: np.ndarray) -> bool:
    """Whether w is a witness, exactly: by the rounding error bound where it suffices, else by fractions."""
    with np.errstate(all="ignore"):
        values = np.where(bits, 1.0, -1.0) * (G.floats @ w)
        bound = (len(w) + 4) * (_EPS * (np.abs(G.floats) @ np.abs(w)) + _TINY)
        proved = values > bound
        refuted = values < -bound
    if np.any(refuted & live):
        return False
    exact = [Fraction(x) for x in w.tolist()]
    return all(_product(G.row(i), exact) * (1 if bits[i] else -1) > 0 for i in np.flatnonzero(live & ~proved).tolist())


def _product(g: list[Fraction], w: list[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(g, w, strict=True)), Fraction(0))


def _circuit_multipliers(G: _Generators, bits: np.ndarray, members: np.ndarray) -> dict[int, Fraction] | None:
    """Multipliers of the circuit among `members`, or None when they have no dependency of the right signs."""
    integers, factors = G.integers(members)
    solution = dependency(integers)
    if solution is None:
        return None
    turned = [m if bits[i] else -m for i, m in zip(members, solution, strict=True)]
    if min(turned) < 0 < max(turned):
        return None
    return {int(i): abs(m) * f for i, m, f in zip(members, turned, factors, strict=True) if m}


def _decide_exactly(G: _Generators, bits: np.ndarray, live: np.ndarray) -> Membership:
    members = np.flatnonzero(live)
    integers, factors = G.integers(members)
    proof = gordan([[x if bits[i] else -x for x in row] for i, row in zip(members, integers, strict=True)])
    if isinstance(proof, list):
        return _feasible(G, bits, proof)
    return _infeasible(G, bits, {int(members[j]): m * factors[j] for j, m in proof.items()})


def _feasible(G: _Generators, bits: np.ndarray, exact: list[Fraction], w: np.ndarray | None = None) -> Membership:
    if w is None:
        largest = max(abs(x) for x in exact)
        w = _unit(np.array([float(x / largest) for x in exact]))
        if _exact_signs_agree(G, bits, G.live, w):
            exact = [Fraction(x) for x in w.tolist()]
    w.setflags(write=False)
    return Membership(G.floats, bits, True, w, None, _margin(G, w, exact), tuple(exact), None, G.arithmetic)


def _infeasible(G: _Generators, bits: np.ndarray, multipliers: dict[int, Fraction]) -> Membership:
    total = sum(multipliers.values())
    exact = {i: m / total for i, m in sorted(multipliers.items())}
    rounded = np.zeros(len(bits))
    rounded[list(exact)] = [float(m) for m in exact.values()]
    rounded.setflags(write=False)
    return Membership(G.floats, bits, False, None, rounded, 0.0, None, exact, G.arithmetic)


def _margin(G: _Generators, w: np.ndarray, exact: list[Fraction]) -> float:
    with np.errstate(all="ignore"):
        ratio = np.abs(G.floats @ w) / (np.abs(G.floats) @ np.abs(w))
    ratio[~G.live] = 1.0
    for i in np.flatnonzero(~(ratio > 1e3 * (len(w) + 4) * _EPS)).tolist():  # also where it overflowed
        g = G.row(i)
        size = sum(abs(x * y) for x, y in zip(g, exact, strict=True))
        ratio[i] = float(abs(_product(g, exact)) / size)
    return float(np.min(ratio))
