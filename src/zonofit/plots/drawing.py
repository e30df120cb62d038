"""Drawing a solid on an axes: hidden edges below, faces that look at the reader, visible edges, vertices, names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from zonofit.plots.canvas import ACCENT, FAINT, INK
from zonofit.plots.layout import Boxes, Measure
from zonofit.plots.names import active_set
from zonofit.plots.solid import Solid, View

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLANK = "#ffffff"
FACE = "#f1eee6"
MOST_NAMES = 24
MOST_VERTICES = 160
ROUND = np.radians(np.arange(0.0, 360.0, 22.5))


@dataclass(frozen=True)
class Style:
    """Sizes in points."""

    vertex: float = 6.5
    name: float = 7.0


def draw_solid(
    axes: Axes,
    solid: Solid,
    view: View,
    colours: np.ndarray,
    measure: Measure,
    *,
    path: np.ndarray,
    marked: int | None = None,
    first: int = 1,
    style: Style,
) -> None:
    """Draw `solid`, its vertices filled with `colours` (V, 3); a row of NaN leaves a vertex white.

    Parameters
    ----------
    path : ndarray of int
        Edges to be drawn thick and named after the generator that they are translations of.
    marked : int, optional
        Vertex with a thick rim.
    """
    from matplotlib.collections import LineCollection, PolyCollection

    flat = solid.points @ view.axes[:2].T
    seen_edge, seen_vertex = solid.visible_edges(view), solid.visible_vertices(view)
    fit_limits(axes, flat, pad=0.12)
    many = len(flat) > MOST_VERTICES
    thin = 0.4 if many else 1.0

    hidden = [flat[e] for e in solid.ends[~seen_edge]]
    if not many:
        axes.add_collection(LineCollection(hidden, colors=FAINT, linewidths=0.8, linestyles=(0, (3, 2)), zorder=1))
        scatter(axes, flat[~seen_vertex], colours[~seen_vertex], 0.75 * style.vertex, FAINT, 0.6, 2)
    light = shades(solid, view)
    polygons = [flat[face] for face, keep in zip(solid.faces, solid.visible_faces(view), strict=True) if keep]
    axes.add_collection(PolyCollection(polygons, facecolors=light, edgecolors="none", alpha=0.55, zorder=3))
    axes.add_collection(LineCollection([flat[e] for e in solid.ends[seen_edge]], colors=INK, linewidths=thin, zorder=4))
    axes.add_collection(
        LineCollection([flat[e] for e in solid.ends[path]], colors=ACCENT, linewidths=2.4, zorder=5, capstyle="round")
    )
    if not many:
        scatter(axes, flat[seen_vertex], colours[seen_vertex], style.vertex, INK, 0.8, 6)
    if marked is not None:
        scatter(axes, flat[[marked]], colours[[marked]], 1.25 * style.vertex, ACCENT, 2.0, 7)
    _name(axes, solid, flat, seen_edge, seen_vertex, path, marked, measure, first, style)


def scatter(axes: Axes, points, colours, size: float, rim: str, width: float, layer: int) -> None:
    """Filled discs; a colour that is NaN becomes white."""
    fill = np.where(np.isnan(colours), 1.0, colours)
    x, y = np.reshape(points, (-1, 2)).T
    axes.scatter(x, y, s=size**2, c=fill, edgecolors=rim, linewidths=width, zorder=layer, clip_on=False)


def shades(solid: Solid, view: View) -> np.ndarray:
    """Greys of the faces in sight, lighter where they face up."""
    keep = solid.visible_faces(view)
    slope = np.abs(solid.normals[keep] @ (0.4 * view.axes[2] + 0.6 * view.axes[1])) if keep.any() else np.zeros(0)
    return np.array([0.95, 0.94, 0.92]) - 0.16 * (1 - slope[:, None]) * np.array([1, 1, 0.95])


def fit_limits(axes: Axes, points: np.ndarray, pad: float) -> None:
    """Equal scales on both axes, and room for names around the points."""
    box = axes.get_window_extent()
    low, high = points.min(axis=0), points.max(axis=0)
    middle = (low + high) / 2
    scale = max((high - low) / ((1 - 2 * pad) * np.array([box.width, box.height])))
    half = np.array([box.width, box.height]) / 2 * (scale or 1.0 / max(box.width, box.height))
    axes.set_xlim(middle[0] - half[0], middle[0] + half[0])
    axes.set_ylim(middle[1] - half[1], middle[1] + half[1])
    axes.set_axis_off()


def _name(axes, solid, flat, seen_edge, seen_vertex, path, marked, measure, first, style) -> None:
    pixels = axes.transData.transform(flat)
    taken = Boxes()
    radius = style.vertex / 2 * measure.pixel
    for p, seen in zip(pixels, seen_vertex, strict=True):
        r = radius * (1.4 if seen else 0.9)
        taken.add(np.array([*(p - r), *(p + r)]))
    taken.add_segments(pixels[solid.ends[seen_edge]])
    taken.add_segments(pixels[solid.ends[~seen_edge]], weight=0.1)
    middle = pixels.mean(axis=0)
    frame = axes.get_window_extent().extents
    for e in path:
        members = solid.zonotope.classes[solid.flips[e]] + first
        name = r"$\bar{x}_{" + ",".join(map(str, members)) + "}$"
        ends = pixels[solid.ends[e]]
        along = ends[1] - ends[0]
        side = np.array([along[1], -along[0]]) / max(np.hypot(*along), 1e-9)
        spots = [
            ends[0] + t * along + s * d * measure.pixel * side
            for d in (9.0, 12.0, 15.0)
            for t in (0.5, 0.4, 0.6, 0.3, 0.7)
            for s in (1, -1)
        ]
        place_text(axes, measure, taken, name, spots, style.name + 3, frame, color=ACCENT)
    order = np.flatnonzero(seen_vertex)
    if len(order) > MOST_NAMES:
        counts = solid.barcodes.sum(axis=1)
        ends = [] if marked is None else [marked]
        order = np.array([*ends, counts.argmin(), counts.argmax()])
    for v in order[np.argsort(-np.linalg.norm(pixels[order] - middle, axis=1))]:
        outward = pixels[v] - middle
        name = active_set(solid.barcodes[v], first)
        place_text(axes, measure, taken, name, around(pixels[v], outward, measure, name, style), style.name, frame)


def around(point, outward, measure: Measure, name: str, style: Style) -> list[np.ndarray]:
    """Centres for a text beside a vertex, the outward ones first."""
    x0, y0, x1, y1 = measure.box(name, style.name)
    start = np.arctan2(outward[1], outward[0])
    spots = []
    for distance in (2.0, 5.0, 9.0):
        reach = (style.vertex / 2 + distance) * measure.pixel
        for turn in sorted(ROUND, key=lambda t: min(t, 2 * np.pi - t)):
            towards = np.array([np.cos(start + turn), np.sin(start + turn)])
            spots.append(point + towards * (reach + np.array([x1 - x0, y1 - y0]) / 2))
    return spots


def place_text(axes, measure, taken: Boxes, name: str, spots, points: float, frame, *, color=INK) -> bool:
    """Put a text on the first spot that is free, or on the one that hides the fewest lines; False when none is."""
    best, chosen = np.inf, None
    for rank, spot in enumerate(spots):
        box = measure.box(name, points, at=spot)
        inside = box[0] >= frame[0] and box[1] >= frame[1] and box[2] <= frame[2] and box[3] <= frame[3]
        if not inside or not taken.free(box, 1.0 * measure.pixel):
            continue
        cost = 100 * taken.crossed(box, 0.5 * measure.pixel) + rank
        if cost < best:
            best, chosen = cost, (spot, box)
        if cost == rank:
            break
    if chosen is None:
        return False
    spot, box = chosen
    taken.add(box)
    text_at(axes, name, spot, points, color=color)
    return True


def text_at(axes, name: str, pixel, points: float, **options):
    """A text centred on a pixel of the axes' figure."""
    x, y = axes.transData.inverted().transform(pixel)
    artist = axes.text(x, y, name, fontsize=points, ha="center", va="center", zorder=10, clip_on=False, **options)
    artist.set_linespacing(1.1)
    return artist
