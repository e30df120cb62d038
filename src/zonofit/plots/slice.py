"""The middle panel of Figure 1: shaded, named chambers and the lines that bound them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zonofit.plots.canvas import ACCENT, FAINT, INK, NOTE
from zonofit.plots.chart import Cell, line_ends
from zonofit.plots.colours import ink_on
from zonofit.plots.drawing import text_at
from zonofit.plots.layout import Boxes, Measure, room_in, segments_cross, segments_meet_box
from zonofit.plots.names import active_set, runs, wrap

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from zonofit.plots.figure_one import Scene

SIZES = (8.0, 7.0, 6.0)
CLEAR = 1.2
LINE_NAME = 7.5
MOST_LEADERS = 12
LONGEST = 0.3
ASIDE = 42.0
BAND = 9.0


def draw_slice(axes: Axes, scene: Scene, measure: Measure) -> None:
    """Draw the chambers; the name of one that is too small for it goes outside the frame, on a leader."""
    shade(axes, scene.window, scene.cells, scene.colours)
    frame = axes.get_window_extent().extents
    outside = Boxes()
    name_axes(axes, measure, outside, "'" if scene.is_turned else "")
    draw_lines(axes, scene.turned, scene.bias, scene.window, scene.first, measure, outside)
    if scene.highlight is not None:
        polygon = scene.cells[scene.highlight].polygon
        _outline(axes, polygon, scene.window)

    names = Boxes()
    small = []
    for cell, colour in zip(scene.cells, scene.colours, strict=True):
        pixels = axes.transData.transform(cell.polygon)
        name = active_set(cell.pattern, scene.first)
        if not _name_inside(axes, measure, names, pixels, name, colour):
            small.append((room_in(pixels), name))
    dropped = _name_outside(axes, measure, names, outside, frame, small)
    note = "chambers are named by their active examples"
    if scene.is_turned:
        note += "; axes turned"
    if dropped:
        note += f"; {dropped} small one{'s' if dropped > 1 else ''} left out"
    text_at(axes, note, [(frame[0] + frame[2]) / 2, 0.038 * axes.figure.bbox.height], NOTE, color=FAINT)


def shade(axes: Axes, window: np.ndarray, cells: list[Cell], colours: np.ndarray) -> None:
    """Fill `window` with chambers, without ticks."""
    axes.set_xlim(*window[0])
    axes.set_ylim(*window[1])
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_color(FAINT)
        spine.set_zorder(6)
    for cell, colour in zip(cells, colours, strict=True):
        axes.fill(*cell.polygon.T, facecolor=colour, edgecolor="none", zorder=1)


def _outline(axes, polygon: np.ndarray, window: np.ndarray) -> None:
    """The sides of a polygon that are not cut by the window."""
    tight = np.abs(polygon[:, None, :] - window.T) < 1e-9 * np.ptp(window, axis=1)
    for k in range(len(polygon)):
        if not (tight[k] & tight[k - 1]).any():
            axes.plot(*polygon[[k - 1, k]].T, color=ACCENT, linewidth=2.2, zorder=4, solid_capstyle="round")


def _name_inside(axes, measure: Measure, names: Boxes, polygon: np.ndarray, name: str, colour) -> bool:
    for points in SIZES:
        for lines in (1, 2, 3):
            text = wrap(name, lines)
            if text is None:
                continue
            x0, y0, x1, y1 = measure.box(text, points)
            centre, clearance = room_in(polygon, x1 - x0, y1 - y0)
            if clearance >= CLEAR * measure.pixel:
                anchor = centre - [(x0 + x1) / 2, (y0 + y1) / 2]
                text_at(axes, text, anchor, points, color=ink_on(colour))
                names.add(measure.box(text, points, at=anchor))
                return True
    return False


def name_axes(axes: Axes, measure: Measure, outside: Boxes, prime: str = "") -> None:
    """Write w₁ and w₂ at the ends of the axes, outside the frame."""
    frame = axes.get_window_extent().extents
    low = frame[1] - BAND * measure.pixel
    left = frame[0] - BAND * measure.pixel
    for name, spot in ((f"$w_1{prime}$", [frame[2] - 10, low]), (f"$w_2{prime}$", [left, frame[3] - 8])):
        text_at(axes, name, spot, 9.0)
        outside.add(measure.box(name, 9.0, at=spot))


def draw_lines(
    axes: Axes, X: np.ndarray, bias: float, window: np.ndarray, first: int, measure: Measure, outside: Boxes
) -> None:
    """Draw the lines x·w + `bias` = 0 of the rows of X inside `window`, each with its name outside the frame."""
    frame = axes.get_window_extent().extents
    for group in _equal_lines(X):
        ends = line_ends(X[group[0]], bias, window)
        if ends is None:
            continue
        axes.plot(*ends.T, color=INK, linewidth=1.0, zorder=3, solid_capstyle="butt")
        pixels = axes.transData.transform(ends)
        name = "$H_{" + ",".join(runs(np.array(group) + first)) + "}$"
        spots = [_beyond(p, other, frame, measure, shift) for shift in _shifts() for p, other in (pixels, pixels[::-1])]
        for spot in spots:
            box = measure.box(name, LINE_NAME, at=spot)
            if outside.free(box, 1.5 * measure.pixel) and _off_frame(box, frame):
                outside.add(box)
                text_at(axes, name, spot, LINE_NAME)
                break


def _shifts() -> list[float]:
    return [0.0, *(s * d for d in (4.0, 8.0, 12.0) for s in (1, -1))]


def _off_frame(box, frame) -> bool:
    return box[2] < frame[0] or box[0] > frame[2] or box[3] < frame[1] or box[1] > frame[3]


def _beyond(end, other, frame, measure, shift: float) -> np.ndarray:
    """Where the name of a line goes: across the frame from its end, in the line's direction, `shift` points aside."""
    out = _outward(end, frame)
    along = (end - other) / max(np.hypot(*(end - other)), 1e-9)
    reach = BAND * measure.pixel
    lean = along - (along @ out) * out
    lean = np.clip(lean / max(along @ out, 0.3), -1.0, 1.0)
    aside = np.array([-out[1], out[0]]) * shift * measure.pixel
    return end + reach * (out + lean) + aside


def _outward(point, frame) -> np.ndarray:
    """Outward normal of the side of the frame that a point is nearest to."""
    gaps = [point[0] - frame[0], point[1] - frame[1], frame[2] - point[0], frame[3] - point[1]]
    return np.array([[-1.0, 0.0], [0.0, -1.0], [1.0, 0.0], [0.0, 1.0]])[int(np.argmin(gaps))]


def _name_outside(axes, measure, names: Boxes, outside: Boxes, frame, small) -> int:
    """Place names of small chambers around the frame; returns how many found no place."""
    leaders = np.zeros((0, 4))
    longest = LONGEST * np.hypot(frame[2] - frame[0], frame[3] - frame[1])
    placed = 0
    spots = _perimeter(frame, BAND * measure.pixel)
    order = sorted(small, key=lambda item: -item[0][1])
    for (target, _), name in order:
        best, chosen = np.inf, None
        if placed < MOST_LEADERS:
            for spot in spots:
                x0, y0, x1, y1 = measure.box(name, SIZES[-1])
                out = _outward(spot, frame)
                at = spot + out * (np.abs(out) @ [(x1 - x0) / 2, (y1 - y0) / 2] - 4 * measure.pixel)
                box = measure.box(name, SIZES[-1], at=at)
                far = max(frame[0] - box[0], box[2] - frame[2]) > ASIDE * measure.pixel
                if far or not _off_frame(box, frame) or not outside.free(box, 3.5 * measure.pixel):
                    continue
                start = spot - out * (BAND - 3) * measure.pixel
                leader = np.r_[start, target]
                if np.hypot(*(start - target)) > longest:
                    continue
                if any(segments_meet_box(leader[None], taken)[0] for taken in names.boxes):
                    continue
                cost = np.hypot(*(start - target)) + 60 * segments_cross(leader, leaders)
                if cost < best:
                    best, chosen = cost, (at, box, start)
        if chosen is None:
            continue
        at, box, start = chosen
        outside.add(box)
        leaders = np.vstack([leaders, np.r_[start, target]])
        text_at(axes, name, at, SIZES[-1])
        line = axes.transData.inverted().transform(np.array([start, target]))
        axes.plot(*line.T, color=INK, linewidth=0.6, zorder=5, clip_on=False)
        axes.plot(*line[1], marker="o", markersize=1.8, color=INK, zorder=5)
        placed += 1
    return len(small) - placed


def _perimeter(frame, reach: float) -> list[np.ndarray]:
    x0, y0, x1, y1 = frame
    across = np.arange(x0 + 4, x1 - 4, 4.0)
    along = np.arange(y0 + 4, y1 - 4, 4.0)
    return [
        *(np.array([x, level]) for level in (y1 + reach, y0 - reach) for x in across),
        *(np.array([level, y]) for level in (x1 + reach, x0 - reach) for y in along),
    ]


def _equal_lines(X: np.ndarray) -> list[list[int]]:
    groups: dict[bytes, list[int]] = {}
    for i, row in enumerate(X + 0.0):
        if row.any():
            groups.setdefault(row.tobytes(), []).append(i)
    return list(groups.values())
