r"""The slice w₃ = ±1 of parameter space: chambers as convex polygons.

On the plane {(w₁, w₂, b)} with b fixed at ±1 the hyperplane of example x is the line x·w + b = 0, and a chamber is a
convex polygon, bounded or not. The origin is on no line, an example at 0 has no line.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MARGIN = 0.2
PARALLEL = 1e-9
SLIVER = 1e-9
SLANTED = 0.95


@dataclass(frozen=True)
class Cell:
    """A chamber of the slice: its pattern and its corners (k, 2), counter-clockwise, clipped to the window."""

    pattern: np.ndarray
    polygon: np.ndarray


def slice_turn(X: np.ndarray, bias: float) -> np.ndarray:
    """Invertible matrix A (2, 2): in the coordinates w' = A⁻¹w, those of the data XA, the slice fills its window.

    The identity, unless the corners of the slice lie along a slanted line, as for data far from the origin; then axes
    along and across that line.
    """
    scale = _scale(X)
    corners = _corners(X / scale, bias)
    if len(corners) < 3:
        return np.eye(2)
    corners = corners - corners.mean(axis=0)
    spread = np.linalg.norm(corners, axis=0)
    if spread.min() <= 0 or abs(corners[:, 0] @ corners[:, 1]) <= SLANTED * spread[0] * spread[1]:
        return np.eye(2)
    axes = np.linalg.svd(corners, full_matrices=False)[2]
    return (axes / scale).T


def slice_window(X: np.ndarray, bias: float) -> np.ndarray:
    """Window ((left, right), (bottom, top)) that holds every bounded chamber, with a margin."""
    scale = _scale(X)
    corners = _corners(X / scale, bias)
    if not len(corners):
        return np.array([[-1.0, 1.0], [-1.0, 1.0]]) / scale[:, None]
    low, high = corners.min(axis=0), corners.max(axis=0)
    extent = high - low
    # one corner only, or all of them on a line along an axis: the distance to the origin sets the size
    least = max(extent.max(), 0.0)
    if least <= 1e-6 * np.abs(corners).max():
        least = 1.5 * np.linalg.norm(corners, axis=1).max()
    short = extent < 0.02 * least
    middle = (low + high) / 2
    half = np.where(short, least, extent) / 2 * (1 + 2 * MARGIN)
    return np.c_[middle - half, middle + half] / scale[:, None]


def slice_cells(X: np.ndarray, patterns: np.ndarray, bias: float, window: np.ndarray) -> list[Cell]:
    """The chambers among `patterns` (V, N) that meet the slice inside `window`."""
    scale = _scale(X)
    Z = X / scale
    (left, right), (bottom, top) = window * scale[:, None]
    frame = np.array([[left, bottom], [right, bottom], [right, top], [left, top]])
    least = SLIVER * (right - left) * (top - bottom)
    sides = np.where(patterns, 1.0, -1.0)
    cells = []
    for pattern, side in zip(patterns, sides, strict=True):
        polygon = frame
        for s, z in zip(side, Z, strict=True):
            polygon = clip(polygon, s * z, s * bias)
            if len(polygon) < 3:
                break
        if len(polygon) >= 3 and area(polygon) > least:
            cells.append(Cell(pattern, polygon / scale))
    return cells


def clip(polygon: np.ndarray, normal: np.ndarray, offset: float) -> np.ndarray:
    """The part of a convex polygon with normal·w + offset ≥ 0."""
    height = polygon @ normal + offset
    if height.min() >= 0:
        return polygon
    if height.max() <= 0:
        return polygon[:0]
    corners = []
    for k in range(len(polygon)):
        a, b = height[k - 1], height[k]
        if (a > 0 > b) or (a < 0 < b):
            corners.append(polygon[k - 1] + (polygon[k] - polygon[k - 1]) * (a / (a - b)))
        if b >= 0:
            corners.append(polygon[k])
    return np.array(corners)


def area(polygon: np.ndarray) -> float:
    """Signed area of a polygon, positive when its corners run counter-clockwise."""
    x, y = (polygon - polygon[0]).T
    return 0.5 * float(x @ np.roll(y, -1) - y @ np.roll(x, -1))


def line_ends(x: np.ndarray, bias: float, window: np.ndarray) -> np.ndarray | None:
    """Where the line x·w + bias = 0 enters and leaves `window`, (2, 2), or None when it misses it."""
    size = window[:, 1] - window[:, 0]
    # coordinates in which the window is the unit square
    normal, offset = x * size, float(x @ window[:, 0] + bias)
    found = []
    for axis in (0, 1):
        for level in (0.0, 1.0):
            if normal[1 - axis] != 0:
                other = -(normal[axis] * level + offset) / normal[1 - axis]
                if -1e-12 <= other <= 1 + 1e-12:
                    found.append((level, other) if axis == 0 else (other, level))
    if len(found) < 2:
        return None
    ends = np.array(found)
    gap = np.linalg.norm(ends[:, None] - ends, axis=2)
    i, j = np.unravel_index(gap.argmax(), gap.shape)
    return window[:, 0] + ends[[i, j]] * size


def _corners(Z: np.ndarray, bias: float) -> np.ndarray:
    """Where lines meet; where none do, the point of each line that is nearest to the origin."""
    Z = Z[np.any(Z != 0, axis=1)]
    length = np.linalg.norm(Z, axis=1)
    i, j = np.triu_indices(len(Z), 1)
    cross = Z[i, 0] * Z[j, 1] - Z[i, 1] * Z[j, 0]
    meets = np.abs(cross) > PARALLEL * length[i] * length[j]
    i, j, cross = i[meets], j[meets], cross[meets]
    if len(i):
        return bias * np.c_[Z[i, 1] - Z[j, 1], Z[j, 0] - Z[i, 0]] / cross[:, None]
    return -bias * Z / length[:, None] ** 2


def _scale(X: np.ndarray) -> np.ndarray:
    """Column sizes of the data; w in units of their inverse is of order one, whatever the units of the data."""
    size = np.abs(X).max(axis=0)
    return np.where(size > 0, size, 1.0)
