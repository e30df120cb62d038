"""Where text goes: rectangles in pixels that neither meet each other nor the lines they must not hide."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np


class Measure:
    """Sizes of texts on a figure, in pixels, without drawing them."""

    def __init__(self, figure):
        self._figure = figure
        self._renderer = figure.canvas.get_renderer()
        self.size = cache(self._size)
        self.pixel = figure.dpi / 72

    def _size(self, text: str, points: float, weight: str = "normal") -> tuple[float, float, float, float]:
        artist = self._figure.text(0, 0, text, fontsize=points, fontweight=weight, ha="center", va="center")
        artist.set_linespacing(1.1)
        box = artist.get_window_extent(self._renderer)
        artist.remove()
        return box.x0, box.y0, box.x1, box.y1

    def box(self, text: str, points: float, weight: str = "normal", at=(0.0, 0.0)) -> np.ndarray:
        """Rectangle (x0, y0, x1, y1) of a text that is anchored by its centre in `at`."""
        return np.array(self.size(text, points, weight)) + np.tile(at, 2)


class Boxes:
    """Rectangles and segments that are taken."""

    def __init__(self):
        self.boxes: list[np.ndarray] = []
        self._segments = np.zeros((0, 4))
        self._weights = np.zeros(0)

    def add(self, box: np.ndarray) -> None:
        """Take a rectangle."""
        self.boxes.append(np.asarray(box, float))

    def add_segments(self, segments: np.ndarray, weight: float = 1.0) -> None:
        """Take segments (k, 2, 2); faint ones may weigh less."""
        self._segments = np.vstack([self._segments, np.asarray(segments, float).reshape(-1, 4)])
        self._weights = np.append(self._weights, np.full(len(self._segments) - len(self._weights), weight))

    def free(self, box: np.ndarray, gap: float = 0.0) -> bool:
        """Whether a rectangle, grown by `gap`, meets none of the rectangles taken."""
        x0, y0, x1, y1 = box + np.array([-gap, -gap, gap, gap])
        return not any(x0 < b[2] and b[0] < x1 and y0 < b[3] and b[1] < y1 for b in self.boxes)

    def crossed(self, box: np.ndarray, gap: float = 0.0) -> float:
        """How many of the segments taken meet a rectangle grown by `gap`, each with its weight."""
        met = segments_meet_box(self._segments, box + np.array([-gap, -gap, gap, gap]))
        return float(self._weights[met].sum())


def segments_meet_box(segments: np.ndarray, box: np.ndarray) -> np.ndarray:
    """Which segments (k, 4) have a point in a closed rectangle: each is clipped to it (Liang and Barsky)."""
    start, step = segments[:, :2], segments[:, 2:] - segments[:, :2]
    enter, leave = np.zeros(len(segments)), np.ones(len(segments))
    for axis in (0, 1):
        for bound, sign in ((box[axis], 1.0), (box[axis + 2], -1.0)):
            slope, room = sign * step[:, axis], sign * (bound - start[:, axis])
            with np.errstate(divide="ignore", invalid="ignore"):
                t = room / slope
            enter = np.where(slope > 0, np.fmax(enter, t), enter)
            leave = np.where(slope < 0, np.fmin(leave, t), leave)
            leave = np.where((slope == 0) & (room > 0), -1.0, leave)
    return enter <= leave


def segments_cross(segment: np.ndarray, others: np.ndarray) -> int:
    """How many of the segments `others` (k, 4) the segment (4,) crosses."""
    if not len(others):
        return 0
    a, b = segment[:2], segment[2:]
    c, d = others[:, :2], others[:, 2:]

    def turn(p, q, r):
        u, v = q - p, r - p
        return u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0]

    return int(np.sum((turn(a, b, c) * turn(a, b, d) < 0) & (turn(c, d, a) * turn(c, d, b) < 0)))


def room_in(polygon: np.ndarray, width: float = 0.0, height: float = 0.0) -> tuple[np.ndarray, float]:
    """Centre of the width x height rectangle that stays farthest from the sides of a convex polygon.

    Parameters
    ----------
    polygon : ndarray (k, 2)
        Corners, counter-clockwise.
    width, height : float
        Size of the rectangle; 0, 0 asks for the point farthest from the sides.

    Returns
    -------
    centre : ndarray (2,)
    clearance : float
        Distance between the rectangle and the nearest side; negative when it does not fit.

    Notes
    -----
    The linear program max t, n·c + t ≤ b − (|n₁| width + |n₂| height) / 2 over the sides n·c ≤ b, solved by trying
    every basis; the centre is the mean of the optimal ones, which puts the text in the middle of a strip.
    """
    side = np.roll(polygon, -1, axis=0) - polygon
    length = np.hypot(*side.T)
    keep = length > 1e-9 * length.max()
    normal = np.c_[side[keep, 1], -side[keep, 0]] / length[keep, None]
    level = np.einsum("ij,ij->i", normal, polygon[keep]) - np.abs(normal) @ [width / 2, height / 2]
    rows = np.array(list(combinations(range(len(level)), 3)))
    system = np.concatenate([normal[rows], np.ones((*rows.shape, 1))], axis=2)
    regular = np.abs(np.linalg.det(system)) > 1e-9
    basic = np.linalg.solve(system[regular], level[rows[regular]][..., None])[..., 0]
    slack = level - basic[:, :2] @ normal.T - basic[:, 2:]
    size = 1e-7 * (1 + np.abs(level).max())
    feasible = basic[slack.min(axis=1) >= -size]
    best = feasible[:, 2].max()
    return feasible[feasible[:, 2] >= best - size, :2].mean(axis=0), float(best)
