"""A zonotope in the plane with a text beside every vertex, outside the outline."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zonofit.plots.canvas import FAINT, INK
from zonofit.plots.layout import Boxes, Measure
from zonofit.plots.names import active_set

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from zonofit.geometry.zonotope import Zonotope

FILL = "#f1eee6"
TURNS = np.radians([0, 12, -12, 24, -24, 36, -36, 50, -50, 65, -65, 80, -80])
REACHES = (5.0, 8.0, 12.0, 17.0, 23.0, 30.0, 38.0)
LEADER = 12.0
MARGINS = (0.2, 0.27, 0.35, 0.45, 0.6)
LINE_GAP = 1.5


def plane_coordinates(generators: np.ndarray, rank: int) -> np.ndarray:
    """Generators (N, n) of `rank` at most 2 as (N, 2): the two columns that are not zero, or an orthonormal basis.

    Rank 1 stands upright, and the basis points to where the generators' sum lies.
    """
    used = np.flatnonzero(np.any(generators != 0, axis=0))
    if len(used) <= 2:
        flat = np.zeros((len(generators), 2))
        flat[:, 2 - len(used) :] = generators[:, used]
        return flat
    along = generators @ np.linalg.svd(generators)[2][:rank].T
    flat = np.zeros((len(generators), 2))
    flat[:, 2 - rank :] = np.where(along.sum(axis=0) < 0, -1.0, 1.0) * along
    return flat


def outline(zonotope: Zonotope) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (V, 2) counter-clockwise and their barcodes (V, N)."""
    flat = plane_coordinates(zonotope.generators, zonotope.dimension)
    barcodes = zonotope.barcodes()
    points = barcodes @ flat
    offset = points - points.mean(axis=0)
    # angles are measured after an even scaling, so that a needle's vertices keep apart
    size = np.abs(offset).max(axis=0)
    offset = offset / np.where(size > 0, size, 1.0)
    order = np.argsort(np.arctan2(offset[:, 1], offset[:, 0]), kind="stable")
    return points[order], barcodes[order]


def draw_polygon(
    axes: Axes, points: np.ndarray, texts: list[list[tuple[str, float, str]]], colours: np.ndarray, measure: Measure
) -> list[int]:
    """Draw a convex polygon, and beside each vertex lines of text, each (text, size in points, weight).

    Returns
    -------
    list of int
        Vertices whose text found no place.
    """
    lost: list[int] = []
    for margin in MARGINS:
        _limits(axes, points, margin)
        spots, lost = _places(axes, points, texts, measure)
        if not lost:
            break
    axes.fill(*points.T, facecolor=FILL, edgecolor=INK, linewidth=1.1, joinstyle="round", zorder=1)
    size = 32.0 if len(points) <= 60 else 0.0
    axes.scatter(points[:, 0], points[:, 1], s=size, c=colours, edgecolors=INK, linewidths=0.8, zorder=4)
    to_data = axes.transData.inverted().transform
    pixels = axes.transData.transform(points)
    for v, (box, reach) in spots.items():
        if reach > LEADER:
            near = np.clip(pixels[v], box[:2], box[2:])
            axes.plot(*to_data(np.array([pixels[v], near])).T, color=FAINT, linewidth=0.6, zorder=0)
        top = box[3]
        for text, points_size, weight in texts[v]:
            x0, y0, x1, y1 = measure.box(text, points_size, weight)
            x, y = to_data([(box[0] + box[2]) / 2 - (x0 + x1) / 2, top - y1])
            axes.text(x, y, text, fontsize=points_size, fontweight=weight, ha="center", va="center", zorder=5)
            top -= y1 - y0 + LINE_GAP * measure.pixel
    return lost


def set_lines(barcodes: np.ndarray, first: int, points: float = 7.0) -> list[list[tuple[str, float, str]]]:
    """The active sets as texts for `draw_polygon`."""
    return [[("{" + active_set(b, first) + "}" if b.any() else "∅", points, "normal")] for b in barcodes]


def _limits(axes: Axes, points: np.ndarray, margin: float) -> None:
    low, high = points.min(axis=0), points.max(axis=0)
    extent = high - low
    extent = np.where(extent > 0, extent, extent.max() or 1.0)
    axes.set_xlim(low[0] - margin * extent[0], high[0] + margin * extent[0])
    axes.set_ylim(low[1] - margin * extent[1], high[1] + margin * extent[1])


def _places(axes, points, texts, measure: Measure) -> tuple[dict, list[int]]:
    pixels = axes.transData.transform(points)
    frame = axes.get_window_extent().extents
    taken = Boxes()
    taken.add_segments(np.stack([pixels, np.roll(pixels, -1, axis=0)], axis=1))
    dot = 4.0 * measure.pixel
    for p in pixels:
        taken.add(np.array([*(p - dot), *(p + dot)]))
    before, after = pixels - np.roll(pixels, 1, axis=0), np.roll(pixels, -1, axis=0) - pixels
    gap = np.minimum(np.hypot(*before.T), np.hypot(*after.T))
    spots, lost = {}, []
    # where vertices are crowded there is least choice
    for v in np.argsort(gap, kind="stable"):
        if not texts[v]:
            continue
        boxes = [measure.box(*line) for line in texts[v]]
        width = max(b[2] - b[0] for b in boxes)
        height = sum(b[3] - b[1] for b in boxes) + LINE_GAP * measure.pixel * (len(boxes) - 1)
        outward = _outward(before[v], after[v], pixels[v] - pixels.mean(axis=0))
        place = _first_free(pixels[v], outward, width, height, taken, frame, measure)
        if place is None:
            lost.append(int(v))
            continue
        taken.add(place[0])
        spots[int(v)] = place
        if place[1] > LEADER:
            near = np.clip(pixels[v], place[0][:2], place[0][2:])
            taken.add_segments(np.array([[pixels[v], near]]))
    return spots, lost


def _outward(before: np.ndarray, after: np.ndarray, radial: np.ndarray) -> float:
    """Angle of the bisector of the two outward normals at a vertex."""
    normals = [np.array([e[1], -e[0]]) / np.hypot(*e) for e in (before, after) if np.hypot(*e) > 0]
    direction = sum(normals, np.zeros(2))
    if np.hypot(*direction) < 1e-6:
        direction = radial if np.hypot(*radial) > 0 else np.array([0.0, 1.0])
    return float(np.arctan2(direction[1], direction[0]))


def _first_free(vertex, outward, width, height, taken: Boxes, frame, measure: Measure):
    for reach in REACHES:
        for turn in TURNS:
            c, s = np.cos(outward + turn), np.sin(outward + turn)
            # the box touches the circle of radius `reach` about the vertex
            far = reach * measure.pixel + min(width / 2 / max(abs(c), 1e-9), height / 2 / max(abs(s), 1e-9))
            centre = vertex + far * np.array([c, s])
            half = np.array([width / 2, height / 2])
            box = np.array([*(centre - half), *(centre + half)])
            inside = box[0] > frame[0] + 2 and box[1] > frame[1] + 2 and box[2] < frame[2] - 2 and box[3] < frame[3] - 2
            if inside and taken.free(box, 1.5 * measure.pixel) and not taken.crossed(box, 2.0 * measure.pixel):
                return box, reach
    return None
