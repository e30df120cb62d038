r"""The pattern of Theorem 3: examples sorted along a direction and cut into chunks of d + 1.

Two units belong to chunk k, with output weights 1 and -1, and both are inactive on the chunks before k and active from
k on. The difference z of their weights is free: whatever it is, some multiple of a separating hyperplane added to both
puts them into the chamber. So the pattern's predictions on chunk k are X̄_k (z₁ + ... + z_k), and an exact fit has

    z₁ + ... + z_k = X̄_k⁻¹ y_k.

Nothing is carried from chunk to chunk but this sum, whose size the condition of the X̄_k alone decides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zonofit.errors import InputError
from zonofit.tolerances import Tolerances

__all__ = ["Chunks", "ContradictionError", "as_labels", "cut", "merge_equal", "refit"]


class ContradictionError(InputError):
    """Equal examples with different labels, which no function fits.

    Attributes
    ----------
    groups : tuple of tuple of int
        The examples that are equal to each other.
    """

    def __init__(self, message: str, groups: tuple[tuple[int, ...], ...]):
        super().__init__(message)
        self.groups = groups


@dataclass(frozen=True, eq=False)
class Chunks:
    """Generators in their order along a direction, and where they are cut.

    Attributes
    ----------
    direction : ndarray (d,)
        Of unit length; ties across a cut have been broken by a little turn.
    order : ndarray (N,) of int
        Rows from the lowest to the highest.
    starts : ndarray (K,) of int
        Where in `order` each chunk begins.
    offsets : ndarray (K,)
        Height of the cut below each chunk.
    fits : ndarray (K, n)
        Weights of an affine function through the labels of each chunk: z₁ + ... + z_k.
    """

    direction: np.ndarray
    order: np.ndarray
    starts: np.ndarray
    offsets: np.ndarray
    fits: np.ndarray

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def members(self) -> list[np.ndarray]:
        """Rows of each chunk."""
        return np.split(self.order, self.starts[1:])

    @property
    def active(self) -> np.ndarray:
        """Patterns (K, N) of bool: active on the own chunk and on all above it."""
        place = np.empty(len(self.order), np.int64)
        place[self.order] = np.arange(len(self.order))
        return place[None, :] >= self.starts[:, None]

    @property
    def separators(self) -> np.ndarray:
        """Weights (K, n) of the cuts: positive on the own chunk and above it, negative below."""
        return np.column_stack([np.tile(self.direction, (len(self), 1)), -self.offsets])


def as_labels(y, N: int) -> np.ndarray:
    """Finite labels (N,), or an `InputError`."""
    try:
        labels = np.array(y, float)
    except (TypeError, ValueError) as error:
        raise InputError(f"y: not a list of numbers ({error}); pass one number an example.") from None
    if labels.shape != (N,):
        raise InputError(f"y: expected {N} numbers, one an example, got shape {labels.shape}.")
    bad = np.flatnonzero(~np.isfinite(labels))
    if len(bad):
        raise InputError(f"y: {labels[bad[0]]} at place {bad[0]} ({len(bad)} such in all); drop these examples first.")
    return labels


def merge_equal(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First row of each group of equal examples, and the group of each example; refuses different labels."""
    _, first, group = np.unique(X + 0.0, axis=0, return_index=True, return_inverse=True)
    group = group.ravel()
    bad = np.unique(group[y != y[first][group]])
    if len(bad):
        groups = tuple(tuple(np.flatnonzero(group == g).tolist()) for g in bad)
        i = groups[0][0]
        j = next(j for j in groups[0] if y[j] != y[i])
        more = f" ({len(groups)} such groups of rows in all)" if len(groups) > 1 else ""
        raise ContradictionError(
            f"y: rows {i} and {j} are equal examples with the labels {y[i]:g} and {y[j]:g}{more}, which no network "
            "fits; keep one of them, or give both their mean.",
            groups,
        )
    keep = np.sort(first)
    renumber = np.empty(len(keep), np.int64)
    renumber[np.argsort(first)] = np.arange(len(keep))
    return keep, renumber[group]


def cut(G: np.ndarray, y: np.ndarray, direction: np.ndarray, tolerances: Tolerances) -> Chunks:
    """Cut generators (N, n) of rank n, no two of them equal, into chunks along a direction of their features.

    In general position the chunks have n examples, the last one the rest. Otherwise one is ended early where its
    labels are not those of an affine function.
    """
    direction = direction / np.linalg.norm(direction)
    F = G[:, :-1]
    order, height = _sorted(F, direction)
    starts, fits = _even(G[order], y[order], tolerances)
    if fits is None:
        starts, fits = _greedy(G[order], y[order], tolerances)
    if np.any(_gaps(height, starts) <= tolerances.parallel * np.ptp(height)):
        # equal heights across a cut: a turn so small that it decides among these alone
        direction = _turned(F, direction, tolerances)
        order, height = _sorted(F, direction)
        starts, fits = _even(G[order], y[order], tolerances)
        if fits is None:
            starts, fits = _greedy(G[order], y[order], tolerances)
    below = np.where(starts > 0, height[starts - 1], height[0] - max(np.ptp(height) / len(height), 1.0))
    return Chunks(direction, order, starts, (below + height[starts]) / 2, fits)


def refit(G: np.ndarray, y: np.ndarray, chunks: Chunks, tolerances: Tolerances) -> np.ndarray:
    """Least changes (K, n) of the fits that raise the predictions on each chunk by `y`."""
    return np.array([np.linalg.lstsq(G[rows], y[rows], rcond=tolerances.rank)[0] for rows in chunks.members])


def _sorted(F: np.ndarray, direction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    height = F @ direction
    order = np.argsort(height, kind="stable")
    return order, height[order]


def _gaps(height: np.ndarray, starts: np.ndarray) -> np.ndarray:
    return height[starts[1:]] - height[starts[1:] - 1]


def _turned(F: np.ndarray, direction: np.ndarray, tolerances: Tolerances) -> np.ndarray:
    """The direction, turned towards another one along which no two of the rows with equal heights are tied."""
    height = np.sort(F @ direction)
    steps = np.diff(height)
    real = steps[steps > tolerances.parallel * np.ptp(height)]
    other = np.random.default_rng(0).standard_normal(len(direction))
    other -= (other @ direction) * direction
    width = float(np.ptp(F @ other))
    # where all heights are equal there is nothing to keep in order
    factor = 1.0 if len(real) == 0 else 0.25 * float(np.min(real)) / max(width, 1e-300)
    turned = direction + factor * other
    return turned / np.linalg.norm(turned)


def _even(G: np.ndarray, y: np.ndarray, tolerances: Tolerances) -> tuple[np.ndarray, np.ndarray | None]:
    """Chunks of n rows, and None for their fits if one of them is dependent."""
    N, n = G.shape
    starts = np.arange(0, N, n)
    full = N // n
    blocks = G[: full * n].reshape(full, n, n)
    if full:
        singular = np.linalg.svd(blocks, compute_uv=False)
        if np.any(singular[:, -1] <= tolerances.rank * singular[:, 0]):
            return starts, None
    fits = np.empty((len(starts), n))
    fits[:full] = np.linalg.solve(blocks, y[: full * n].reshape(full, n, 1))[..., 0]
    if full < len(starts):
        rest, labels = G[full * n :], y[full * n :]
        before = fits[full - 1] if full else np.zeros(n)
        step, _, rank, _ = np.linalg.lstsq(rest, labels - rest @ before, rcond=tolerances.rank)
        if rank < len(rest):
            return starts, None
        fits[full] = before + step  # the least change of the affine function
    return starts, fits


def _greedy(G: np.ndarray, y: np.ndarray, tolerances: Tolerances) -> tuple[np.ndarray, np.ndarray]:
    """Chunks as long as an affine function fits their labels."""
    N, n = G.shape
    miss = tolerances.affine * float(np.max(np.abs(y), initial=0.0))
    starts, fits = [0], [np.zeros(n)]
    full = False
    for i in range(N):
        if full:
            fits_too = abs(G[i] @ fits[-1] - y[i]) <= miss
        else:
            rows = slice(starts[-1], i + 1)
            before = fits[-2] if len(fits) > 1 else np.zeros(n)
            step, _, rank, _ = np.linalg.lstsq(G[rows], y[rows] - G[rows] @ before, rcond=tolerances.rank)
            fits_too = bool(np.max(np.abs(G[rows] @ (before + step) - y[rows])) <= miss)
            if fits_too:
                fits[-1], full = before + step, bool(rank == n)
        if not fits_too:
            starts.append(i)
            full = n == 1
            before = fits[-1]
            fits.append(before + G[i] * (y[i] - G[i] @ before) / (G[i] @ G[i]))
    return np.array(starts), np.array(fits)
