"""Theorem 1 on generic data: how the optimum moves with the examples, within the certified radius and beyond it.

While every example moves by less than `stability_radius`, the set of patterns stays as it is, and the optimum of one
unit, the least of finitely many continuous functions, moves continuously; that of two units need not, see
`zonofit.theory.discontinuity.concurrent_lines`. The tight radius is where the first minor vanishes:
beyond it some pattern is gone and another one there in its place, and at it the optimum may jump.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from zonofit.errors import InputError
from zonofit.geometry.arrangement import Arrangement, as_points
from zonofit.geometry.stability import StabilityRadius, breaking_move, proof_radius, stability_radius

__all__ = ["Drift", "drift", "towards_the_break"]


@dataclass(frozen=True, eq=False)
class Drift:
    """The optimum along a motion of the examples.

    Attributes
    ----------
    lengths : ndarray (K,)
        How far the examples that move farthest have moved.
    optimum : ndarray (K,)
        Least loss over all patterns, by exhaustion.
    changed : ndarray (K,) of int
        Patterns that only the moved or only the original examples have.
    stability : StabilityRadius
    proof : float
        The radius in the proof of Theorem 1.
    """

    lengths: np.ndarray
    optimum: np.ndarray
    changed: np.ndarray
    stability: StabilityRadius
    proof: float

    def steepest(self, up_to: float) -> float:
        """Largest change of the optimum per length between neighbouring steps, up to a length."""
        inside = self.lengths <= up_to
        steps = np.diff(self.lengths[inside])
        return float(np.max(np.abs(np.diff(self.optimum[inside])) / steps, initial=0.0))


def towards_the_break(X, stability: StabilityRadius | None = None) -> np.ndarray:
    """Unit moves (N, d) along which the patterns change soonest; zero for the examples that stay.

    Parameters
    ----------
    X : array_like (N, d)
    stability : StabilityRadius, optional
        Of these examples, if it is known.
    """
    X = as_points(X, "X")
    stability = stability_radius(X) if stability is None else stability
    return (breaking_move(X, stability, beyond=1.0) - X) / stability.tight_radius


def drift(X, y, moves, lengths: Sequence[float], *, output_weights=1, loss="squared", output_bias=None) -> Drift:
    """Follow the optimum while the examples move.

    Parameters
    ----------
    X, y : array_like (N, d), (N,)
    moves : array_like (N, d)
        Where each example goes, of length 1 at most.
    lengths : sequence of float
        How far.
    output_weights, loss, output_bias
        Of the `Problem`.
    """
    from zonofit.programs.problem import Problem
    from zonofit.search.exact import Exact
    from zonofit.search.runner import run

    X = as_points(X, "X")
    moves = as_points(moves, "moves")
    if moves.shape != X.shape:
        raise InputError(f"moves: expected the shape {X.shape} of X, got {moves.shape}; pass one move an example.")
    stability = stability_radius(X)
    before = _patterns(X)
    optimum, changed = [], []
    for length in lengths:
        moved = X + length * moves
        problem = Problem(moved, y, output_weights, loss=loss, output_bias=output_bias)
        optimum.append(run(Exact(), problem).loss)
        changed.append(len(before ^ _patterns(moved)))
    return Drift(np.array(lengths, float), np.array(optimum), np.array(changed), stability, proof_radius(X))


def _patterns(X: np.ndarray) -> set[bytes]:
    return {row.tobytes() for row in Arrangement.from_examples(X).patterns()}
