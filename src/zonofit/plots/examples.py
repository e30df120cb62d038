"""The left panel of Figure 1: numbered examples and the line of the highlighted unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zonofit.plots.canvas import ACCENT, FAINT, INK
from zonofit.plots.chart import clip, line_ends
from zonofit.plots.drawing import Style, around, place_text
from zonofit.plots.layout import Boxes, Measure, room_in
from zonofit.plots.names import runs

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from zonofit.plots.figure_one import Scene

STYLE = Style(vertex=6.0, name=9.0)


def draw_examples(axes: Axes, scene: Scene, measure: Measure) -> None:
    """Draw the examples; those active in the highlighted chamber are filled, and its unit's zero line is dashed."""
    X = scene.X
    low, high = X.min(axis=0), X.max(axis=0)
    extent = high - low
    extent = np.where(extent > 0, extent, extent.max() or max(np.abs(X).max(), 1.0))
    axes.set_xlim(*((low[0] + high[0]) / 2 + extent[0] * np.array([-0.7, 0.7])))
    axes.set_ylim(*((low[1] + high[1]) / 2 + extent[1] * np.array([-0.7, 0.7])))
    axes.locator_params(nbins=5)
    across, up = (f"$x_{k}$ {_common_factor(axis)}".strip() for k, axis in ((1, axes.xaxis), (2, axes.yaxis)))
    axes.annotate(across, (1, 0), (0, -26), "axes fraction", textcoords="offset points", fontsize=9, ha="right")
    axes.annotate(up, (0, 1), (-6, 5), "axes fraction", textcoords="offset points", fontsize=9, ha="left")
    axes.tick_params(labelsize=7, length=2.5, color=FAINT, labelcolor=INK)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("bottom", "left"):
        axes.spines[side].set_color(FAINT)

    taken = Boxes()
    _draw_unit(axes, scene, taken)
    pixels = axes.transData.transform(X)
    radius = STYLE.vertex / 2 * measure.pixel
    for p in pixels:
        taken.add(np.array([*(p - radius), *(p + radius)]))
    fill = np.where(scene.active, ACCENT, "white")
    axes.scatter(X[:, 0], X[:, 1], s=STYLE.vertex**2, c=fill, edgecolors=INK, linewidths=0.9, zorder=5, clip_on=False)
    frame = axes.get_window_extent().extents
    middle = pixels.mean(axis=0)
    for group in _equal_rows(X):
        p = pixels[group[0]]
        name = ",".join(runs(np.array(group) + scene.first))
        outward = p - middle if np.linalg.norm(p - middle) > 1 else np.array([1.0, 1.0])
        place_text(axes, measure, taken, name, around(p, outward, measure, name, STYLE), STYLE.name, frame)


def _draw_unit(axes: Axes, scene: Scene, taken: Boxes) -> None:
    if scene.highlight is None:
        return
    size = np.ptp(scene.window, axis=1)
    w = scene.turn @ (room_in(scene.cells[scene.highlight].polygon / size)[0] * size)
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    frame = np.array([[left, bottom], [right, bottom], [right, top], [left, top]])
    active = clip(frame, w, scene.bias)
    if len(active) < 3:
        return
    axes.fill(*active.T, color=ACCENT, alpha=0.07, linewidth=0, zorder=0)
    ends = line_ends(w, scene.bias, np.array([[left, right], [bottom, top]]))
    if ends is not None:
        axes.plot(*ends.T, color=ACCENT, linewidth=1.1, linestyle=(0, (4, 2)), zorder=1)
        taken.add_segments(axes.transData.transform(ends)[None])


def _common_factor(axis) -> str:
    """Factor and offset that the tick labels leave out, which Matplotlib would put where the names are."""
    formatter = axis.get_major_formatter()
    formatter.set_useMathText(True)
    formatter.format_ticks(axis.get_majorticklocs())
    axis.offsetText.set_visible(False)
    return formatter.get_offset()


def _equal_rows(X: np.ndarray) -> list[list[int]]:
    groups: dict[bytes, list[int]] = {}
    for i, row in enumerate(X + 0.0):
        groups.setdefault(row.tobytes(), []).append(i)
    return list(groups.values())
