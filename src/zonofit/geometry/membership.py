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
from typing import TYPE_CHECKING

import numpy as np

from zonofit.errors import InputError
from zonofit.geometry.rational import dependency, gordan, integer_rows

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
    """

    generators: np.ndarray = field(repr=False)
    pattern: np.ndarray
    feasible: bool
    witness: np.ndarray | None
    multipliers: np.ndarray | None
    margin: float
    exact_witness: tuple[Fraction, ...] | None = field(repr=False)
    exact_multipliers: dict[int, Fraction] | None

    def verify(self) -> bool:
        """Prove `feasible` again from generators, pattern and certificate alone, in rational arithmetic.

        True means proved for the generators exactly as stored: no tolerance is involved.
        """
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


def membership(arrangement: Arrangement, pattern) -> Membership:
    r"""Decide whether `pattern` is a chamber, with a witness or a Gordan certificate.

    The answer is right for the generators exactly as stored, which are dyadic rationals; no tolerance enters it.
    So a pattern whose chamber exists only through the rounding of the data (0.1 + 0.2 is not 0.3) is feasible here,
    with a `margin` of rounding size, although methods that merge what lies within `Tolerances` do not list it.

    Parameters
    ----------
    arrangement : Arrangement
    pattern : array_like (N,) of bool
        One bit a generator, 1 for gᵢ·w > 0.

    Returns
    -------
    Membership
    """
    bits = as_pattern(arrangement, pattern)
    G = arrangement.generators
    live = np.any(G != 0, axis=1)
    if np.any(bits & ~live):
        return _infeasible(G, bits, {int(np.flatnonzero(bits & ~live)[0]): Fraction(1)})
    if not live.any():
        return _feasible(G, bits, [Fraction(1)] + [Fraction(0)] * (G.shape[1] - 1))
    for kind, guess in _guesses(arrangement, bits):
        if kind == "witness":
            found = _exact_signs_agree(G, bits, live, guess)
            if found:
                return _feasible(G, bits, [Fraction(x) for x in guess.tolist()], guess)
        else:
            multipliers = _circuit_multipliers(G, bits, guess)
            if multipliers is not None:
                return _infeasible(G, bits, multipliers)
    return _decide_exactly(G, bits, live)


def is_chamber(arrangement: Arrangement, pattern) -> bool:
    """Whether `pattern` (N,) is a chamber of the generators exactly as stored; see `membership`."""
    return membership(arrangement, pattern).feasible


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


def _exact_signs_agree(G: np.ndarray, bits: np.ndarray, live: np.ndarray, w: np.ndarray) -> bool:
    """Whether w is a witness, exactly: by the rounding error bound where it suffices, else by fractions."""
    with np.errstate(all="ignore"):
        values = np.where(bits, 1.0, -1.0) * (G @ w)
        bound = (len(w) + 2) * (_EPS * (np.abs(G) @ np.abs(w)) + _TINY)
        proved = values > bound
        refuted = values < -bound
    if np.any(refuted & live):
        return False
    doubtful = np.flatnonzero(live & ~proved)
    exact = [Fraction(x) for x in w.tolist()]
    return all(_product(G[i], exact) * (1 if bits[i] else -1) > 0 for i in doubtful)


def _product(g: np.ndarray, w: list[Fraction]) -> Fraction:
    return sum((Fraction(x) * y for x, y in zip(g.tolist(), w, strict=True)), Fraction(0))


def _circuit_multipliers(G: np.ndarray, bits: np.ndarray, members: np.ndarray) -> dict[int, Fraction] | None:
    """Multipliers of the circuit among `members`, or None when they have no dependency of the right signs."""
    integers, exponents = integer_rows(G[members])
    solution = dependency(integers)
    if solution is None:
        return None
    signs = [1 if bits[i] else -1 for i in members]
    turned = [m * s for m, s in zip(solution, signs, strict=True)]
    if min(turned) < 0 < max(turned):
        return None
    return {int(i): abs(m) / Fraction(2) ** e for i, m, e in zip(members, turned, exponents, strict=True) if m}


def _decide_exactly(G: np.ndarray, bits: np.ndarray, live: np.ndarray) -> Membership:
    members = np.flatnonzero(live)
    integers, exponents = integer_rows(G[members])
    signed = [[x if bits[i] else -x for x in row] for i, row in zip(members, integers, strict=True)]
    proof = gordan(signed)
    if isinstance(proof, list):
        return _feasible(G, bits, proof)
    return _infeasible(G, bits, {int(members[j]): m / Fraction(2) ** exponents[j] for j, m in proof.items()})


def _feasible(G: np.ndarray, bits: np.ndarray, exact: list[Fraction], w: np.ndarray | None = None) -> Membership:
    if w is None:
        largest = max(abs(x) for x in exact)
        w = _unit(np.array([float(x / largest) for x in exact]))
        if _exact_signs_agree(G, bits, np.any(G != 0, axis=1), w):
            exact = [Fraction(x) for x in w.tolist()]
    w.setflags(write=False)
    return Membership(G, bits, True, w, None, _margin(G, w, exact), tuple(exact), None)


def _infeasible(G: np.ndarray, bits: np.ndarray, multipliers: dict[int, Fraction]) -> Membership:
    total = sum(multipliers.values())
    exact = {i: m / total for i, m in sorted(multipliers.items())}
    rounded = np.zeros(len(bits))
    rounded[list(exact)] = [float(m) for m in exact.values()]
    rounded.setflags(write=False)
    return Membership(G, bits, False, None, rounded, 0.0, None, exact)


def _margin(G: np.ndarray, w: np.ndarray, exact: list[Fraction]) -> float:
    size = np.abs(G) @ np.abs(w)
    live = size > 0
    if not live.any():
        return 1.0
    ratio = np.full(len(G), np.inf)
    ratio[live] = np.abs(G @ w)[live] / size[live]
    for i in np.flatnonzero(ratio < 1e3 * (len(w) + 2) * _EPS):
        products = [abs(Fraction(x) * y) for x, y in zip(G[i].tolist(), exact, strict=True)]
        ratio[i] = float(abs(_product(G[i], exact)) / sum(products))
    return float(np.min(ratio))
