"""Panels with a few named curves on linear or logarithmic axes, for the pictures of the theorems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from zonofit.plots.canvas import ACCENT, FAINT, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, GREEN, GREY = "#0b5a8a", "#4c8f5a", "#8c8c8c"
COLOURS = (ACCENT, BLUE, GREEN, "#b08a1a", GREY)
MARKS = ("o", "s", "^", "D", "v")
_LEAST = 1e-300  # what a logarithmic axis shows of 0


def style(axes: Axes, across: str, up: str, letter: str = "") -> None:
    """Axis names, thin spines, a grid that stays behind; called when the scales are set."""
    from matplotlib.ticker import NullFormatter

    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_formatter(NullFormatter())
    axes.set_xlabel(across, fontsize=8.5)
    axes.set_ylabel(up, fontsize=8.5)
    axes.tick_params(labelsize=7.5, length=2.5, color=FAINT, labelcolor=INK)
    axes.tick_params(which="minor", length=0)
    axes.grid(color="#e4e4e4", linewidth=0.6)
    axes.set_axisbelow(True)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("bottom", "left"))
        spine.set_color(FAINT)
    if letter:
        axes.text(0.0, 1.035, letter, transform=axes.transAxes, fontsize=11, fontweight="bold", va="baseline")


def curve(axes: Axes, x, y, name: str, number: int, *, dashed: bool = False, mark: bool = True) -> None:
    """One curve; entries that are not finite are left out, and 0 is drawn at the bottom of a logarithmic axis."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    keep = np.isfinite(x) & np.isfinite(y)
    k = number % len(COLOURS)
    axes.plot(
        x[keep], np.maximum(y[keep], _LEAST) if axes.get_yscale() == "log" else y[keep],
        marker=MARKS[k] if mark else None, markersize=4.5, color=COLOURS[k], linewidth=1.4, label=name,
        linestyle=(0, (4, 2)) if dashed else "-", markeredgecolor="white", markeredgewidth=0.5, zorder=3,
    )  # fmt: skip


def names(axes: Axes, where: Literal["upper left", "lower left", "lower right"], title: str | None = None) -> None:
    """The names of the curves in a corner of the panel."""
    axes.legend(loc=where, frameon=False, fontsize=7.5, handlelength=2.2, title=title, title_fontsize=7.5)


def above(axes: Axes, columns: int) -> None:
    """The names of the curves in a row above the panel, where no curve is."""
    axes.legend(
        loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=columns, frameon=False, fontsize=7.5, handlelength=1.8,
        borderaxespad=0.1, columnspacing=1.2,
    )  # fmt: skip
