r"""Theorem 3: an exact fit with 2⌈N/(d+1)⌉ units, in the time of sorting and of solving N/(d+1) small linear systems.

The proof (section 4.2.1 and appendix F) fits chunk after chunk of examples sorted by their last coordinate: two units
with output weights 1 and -1 for each, which are silent on the chunks before. `printed` is that construction. It cuts
at right angles to a coordinate whose gaps are of size 1/N, multiplies by the inverse of the gap what has to be large
enough already, and so makes two huge numbers whose difference is the label.

`interpolate` has the same pattern and solves its vertex program (eq. 3) instead, with the shortest weights: of each
pair the difference z is known beforehand (see `zonofit.theory.chunks`), and for given z the shortest pair (z + u, u) in
the chamber is the point u nearest to -z/2, which is a least distance problem in n variables. Any direction can take
the part of the last coordinate; the one is chosen, of several, that keeps the weights small.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from zonofit.errors import BudgetError, InputError
from zonofit.geometry.arrangement import as_points
from zonofit.theory.chunks import Chunks, ContradictionError, as_labels, cut, merge_equal, refit
from zonofit.theory.frames import Frame
from zonofit.tolerances import DEFAULT_TOLERANCES, Tolerances

__all__ = ["ContradictionError", "Interpolation", "interpolate", "printed", "theorem_width"]

_ROUNDS = 3  # of iterative refinement
_MOST_BITS = 4_000_000_000


@dataclass(frozen=True, eq=False)
class Interpolation:
    """A network through all examples, f(x) = Σⱼ vⱼ max(0, wⱼ·x̄) + c.

    Attributes
    ----------
    W : ndarray (m, n)
        Weights, the bias last; rows 2k and 2k + 1 belong to chunk k.
    output_weights : ndarray (m,)
        1 and -1 in turn.
    c : float
        Output bias.
    patterns : ndarray (m, N) of bool
        The theorem's pattern of each unit.
    direction : ndarray (d,)
        Along which the examples were sorted.
    chunks : tuple of ndarray of int
        Examples of each chunk; of equal ones the first.
    residual : float
        Largest error of a prediction, in units of the largest label.
    condition : float
        Largest sum of the absolute values of all products that a prediction is made of, in units of the largest label:
        what a relative change of the weights and examples is multiplied by.
    """

    W: np.ndarray
    output_weights: np.ndarray
    c: float
    patterns: np.ndarray
    direction: np.ndarray
    chunks: tuple[np.ndarray, ...]
    residual: float
    condition: float

    def __repr__(self) -> str:
        return (
            f"Interpolation(width={len(self.W)}, residual={self.residual:.2g}, condition={self.condition:.2g}, "
            f"largest_weight={self.largest_weight:.2g})"
        )

    @property
    def largest_weight(self) -> float:
        """Largest absolute weight."""
        return float(np.max(np.abs(self.W)))

    @property
    def norm(self) -> float:
        """Euclidean norm of all weights W."""
        return float(np.linalg.norm(self.W))

    def predict(self, X) -> np.ndarray:
        """Predictions (N,) for examples (N, d)."""
        X = as_points(X, "X")
        if X.shape[1] + 1 != self.W.shape[1]:
            raise InputError(f"X: expected {self.W.shape[1] - 1} features, got {X.shape[1]}.")
        return np.maximum(X @ self.W[:, :-1].T + self.W[:, -1], 0.0) @ self.output_weights + self.c


def theorem_width(N: int, d: int) -> int:
    """2⌈N/(d+1)⌉."""
    return 2 * -(-N // (d + 1))


def interpolate(
    X, y, *, direction=None, tries: int = 64, rng=0, tolerances: Tolerances = DEFAULT_TOLERANCES
) -> Interpolation:
    """Fit all examples exactly, with 2⌈N/(d+1)⌉ units in general position (Theorem 3).

    Parameters
    ----------
    X : array_like (N, d)
    y : array_like (N,)
    direction : array_like (d,), optional
        Along which to sort. By default the best of the coordinates, the principal axes and `tries` random directions.
    tries : int
    rng : None, int or numpy.random.Generator
        Of the random directions.
    tolerances : Tolerances, optional

    Raises
    ------
    ContradictionError
        Where equal examples have different labels.

    Notes
    -----
    Equal examples with equal labels count once. Where examples of a chunk depend on each other and no affine function
    has their labels, the chunk is ended there, so that the network may become wider than the theorem's; where all
    examples lie in a flat of dimension r < d, its width is 2⌈N/(r+1)⌉.
    """
    X, y, keep, group = _checked(X, y)
    frame = Frame.of(X[keep], y[keep], tolerances)
    if direction is not None:
        candidates = [frame.inward(_direction(direction, X.shape[1]))]
    else:
        candidates = frame.candidates(tries, np.random.default_rng(rng))
    chunks = min((cut(frame.G, frame.labels, one, tolerances) for one in candidates), key=frame.cost)
    _check_size(chunks, len(X))
    fits, shared, along = chunks.fits, frame.shared(chunks), frame.outward_direction(chunks.direction)
    best: Interpolation | None = None
    for _ in range(_ROUNDS + 1):
        found = _measured(X, y, frame.weights(fits, shared), frame.centre, chunks, along, keep, group)
        if best is not None and not found.residual < best.residual:
            break
        best = found
        fits = fits + refit(frame.G, (y - found.predict(X))[keep] / frame.unit, chunks, tolerances)
    assert best is not None
    return best


def printed(X, y, *, direction=None, tolerances: Tolerances = DEFAULT_TOLERANCES) -> Interpolation:
    """The construction of the proof of Theorem 3, as it is printed.

    Its lemma keeps the signs of the two units of a chunk on that chunk and on those before it only. On later chunks
    they may differ from the pattern that section 4.2.1 promises, which later units make good.

    Parameters
    ----------
    X, y : array_like (N, d), (N,)
    direction : array_like (d,), optional
        In the place of the last coordinate.
    """
    X, y, keep, group = _checked(X, y)
    frame = Frame.of(X[keep], y[keep], tolerances)
    along = frame.last_coordinate() if direction is None else frame.inward(_direction(direction, X.shape[1]))
    chunks = cut(frame.G, frame.labels, along, tolerances)
    _check_size(chunks, len(X))
    G, labels = np.c_[X, np.ones(len(X))][keep], y[keep]
    W = np.zeros((2 * len(chunks), X.shape[1] + 1))
    for k, (members, u) in enumerate(zip(chunks.members, frame.outward(chunks.separators), strict=True)):
        before = G[~chunks.active[k]]
        u = u * (2.0 / np.min(np.abs(np.vstack([before, G[members]]) @ u)))  # beyond 1 and -1, as the proof has it
        w = np.linalg.lstsq(G[members], labels[members], rcond=None)[0]
        beta = max(np.max(before @ w, initial=0.0), np.max(-(G[members] @ w), initial=0.0))
        W[2 * k], W[2 * k + 1] = w + beta * u, beta * u
        labels = labels - (np.maximum(G @ W[2 * k], 0.0) - np.maximum(G @ W[2 * k + 1], 0.0))
    return _measured(X, y, W, 0.0, chunks, frame.outward_direction(chunks.direction), keep, group)


def _checked(X, y) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    X = as_points(X, "X")
    y = as_labels(y, len(X))
    return X, y, *merge_equal(X, y)


def _direction(direction, d: int) -> np.ndarray:
    try:
        array = np.array(direction, float)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.shape != (d,) or not np.isfinite(array).all() or not np.any(array):
        raise InputError(f"direction: {direction!r} will not do; pass {d} finite numbers, one a feature, not all 0.")
    return array / np.max(np.abs(array))


def _check_size(chunks: Chunks, N: int) -> None:
    if 2 * len(chunks) * N > _MOST_BITS:
        raise BudgetError(
            f"X: {N:,} examples need {2 * len(chunks):,} units, whose patterns have more than the {_MOST_BITS:,} bits "
            "allowed; take fewer examples, or a wider table."
        )


def _measured(X, y, W, c: float, chunks: Chunks, direction, keep, group) -> Interpolation:
    v = np.tile([1.0, -1.0], len(chunks))
    patterns = np.repeat(chunks.active, 2, axis=0)[:, group]
    members = tuple(keep[rows] for rows in chunks.members)
    found = Interpolation(W, v, float(c), patterns, direction, members, np.nan, np.nan)
    G = np.c_[X, np.ones(len(X))]
    size = float(np.max(np.abs(y))) or 1.0
    residual = float(np.max(np.abs(found.predict(X) - y))) / size
    reach = np.zeros(len(X))
    for w in W:
        reach += np.where(G @ w > 0, np.abs(G) @ np.abs(w), 0.0)
    return replace(found, residual=residual, condition=float(np.max(reach + abs(c))) / size)
