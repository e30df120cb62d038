"""What a search took: best loss against seconds and against programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zonofit.errors import InputError
from zonofit.plots.canvas import ACCENT, FAINT, INK, check_path, new_figure, save
from zonofit.plots.layout import Measure
from zonofit.search.trace import STOP_REASONS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from zonofit.search.trace import Trace

SIZE = (9.6, 3.9)
PANELS = ((0.085, 0.15, 0.395, 0.66), (0.575, 0.15, 0.395, 0.66))
COLUMNS = (("seconds", "seconds"), ("programs", "convex programs"))
WALKER = "#5b7fa6"
_EARLY = 0.1  # with most improvements in this part of the axis it is a logarithmic one
_MARGIN = 0.09  # of the height, above and below
_LEAST, _MOST = 1e-200, 1e200  # losses beyond are drawn as 0 and as this: axes need room in the range of floats
_NARROW = 0.25  # part of the panel in which a number has no place
_CONSTANT = 1e-3  # decades that are no fall to speak of
_FEW_DECADES = 1.3


def trace_figure(trace: Trace, *, path=None) -> Figure:
    """Draw how the best loss of a search fell, against time and against work.

    The bold staircase is the best loss so far of all walkers, as if they had started together; faint ones are the
    walkers, each in its own seconds and programs. The vertical axis is logarithmic, a loss of exactly 0 is drawn on a
    line of its own below. A horizontal axis is logarithmic when more than half of the improvements fall into its first
    tenth.

    Parameters
    ----------
    trace : Trace
    path : str or Path, optional
        Where to write the picture: .svg, .png or .pdf.

    Returns
    -------
    matplotlib.figure.Figure
        On an Agg canvas of its own; pyplot is not used.
    """
    if path is not None:
        check_path(path)
    if not len(trace.history["loss"]):
        raise InputError("trace: its history is empty, there is nothing to draw; let the search find something.")
    figure = new_figure(*SIZE)
    measure = Measure(figure)
    height = _Height(trace.history["loss"])
    for rectangle, (column, name), letter in zip(PANELS, COLUMNS, "ab", strict=True):
        axes = figure.add_axes(rectangle)
        _draw(axes, trace, column, height)
        axes.set_xlabel(f"{name} of each walker" if trace.walkers > 1 else name, fontsize=8)
        axes.set_ylabel("best loss", fontsize=8)
        axes.text(0.0, 1.035, letter, transform=axes.transAxes, fontsize=11, fontweight="bold", va="baseline")
    _name_lines(figure.axes[0], trace)
    left, room = PANELS[0][0], (PANELS[1][0] + PANELS[1][2] - PANELS[0][0]) * figure.bbox.width
    figure.text(left, 0.925, _title(trace, measure, room), fontsize=10, va="baseline")
    if path is not None:
        save(figure, path)
    return figure


def staircase(trace: Trace, column: str, walker: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Corners of the best loss so far as a function of a column of the history.

    Parameters
    ----------
    trace : Trace
    column : str
        `seconds`, or one of the counts.
    walker : int, optional
        Of this walker alone; by default of all, as if they had started together.

    Returns
    -------
    at, loss : ndarray (k,)
        From each of `at` on the best loss is the one beside it; the last of them is where the walking ended.
    """
    history = trace.history
    rows = np.arange(len(history["loss"])) if walker is None else np.flatnonzero(history["walker"] == walker)
    at, loss = np.asarray(history[column], float)[rows], history["loss"][rows]
    if not len(loss):
        return at, loss
    order = np.lexsort((loss, at))
    at, loss = at[order], np.minimum.accumulate(loss[order])
    better = np.r_[True, np.diff(loss) < 0]
    last = at[-1:]
    if column in trace.ends:
        ends = trace.ends[column] if walker is None else trace.ends[column][[walker]]
        last = np.array([max(float(np.max(ends)), at[-1])])
    return np.r_[at[better], last], np.r_[loss[better], loss[-1:]]


class _Height:
    """Where losses are drawn on a logarithmic axis that has a place for 0."""

    def __init__(self, loss: np.ndarray):
        loss = np.where(loss < _LEAST, 0.0, np.minimum(loss, _MOST))
        positive = loss[loss > 0]
        self.has_zero, self.only_zero = len(positive) < len(loss), not len(positive)
        high = float(positive.max()) if len(positive) else 1.0
        low = float(positive.min()) if len(positive) else 1.0
        self.decades = np.log10(high / low)
        self.zero = low / 10 ** max(0.12 * self.decades, 0.3)
        bottom = self.zero if self.has_zero else low
        span = np.log10(high / bottom)
        room = _MARGIN * span if span > _CONSTANT else _MARGIN
        self.limits = bottom / 10 ** (1.6 * room), high * 10**room
        self.least = low

    def of(self, loss: np.ndarray) -> np.ndarray:
        """Where losses are drawn."""
        return np.where(loss < _LEAST, self.zero, np.minimum(loss, _MOST))


def _draw(axes: Axes, trace: Trace, column: str, height: _Height) -> None:
    at, loss = staircase(trace, column)
    lines = [staircase(trace, column, k) for k in range(trace.walkers)] if trace.walkers > 1 else []
    end = max([at[-1], *(line[0][-1] for line in lines if len(line[0]))])
    first = _set_across(axes, np.asarray(trace.history[column], float), float(end))
    _set_up(axes, height)
    for x, y in lines:
        axes.step(np.maximum(x, first), height.of(y), where="post", color=WALKER, linewidth=0.9, alpha=0.7, zorder=2)
    x, y = np.maximum(at, first), height.of(loss)
    axes.step(x, y, where="post", color=ACCENT, linewidth=2.2, zorder=4, gid="best", solid_joinstyle="round")
    axes.plot(x[-1:], y[-1:], "o", color=ACCENT, markersize=5.5, markeredgecolor="white", zorder=6, clip_on=False)


def _set_across(axes: Axes, at: np.ndarray, end: float) -> float:
    """Scale the horizontal axis; returns the least number that has a place on it."""
    from matplotlib.ticker import MaxNLocator

    positive = at[at > 0]
    early = np.mean(at <= _EARLY * end) if end > 0 else 0.0
    if early > 0.5 and len(positive) and end > 10 * positive.min():
        axes.set_xscale("log")
        first = float(positive.min())
        axes.set_xlim(first * (first / end) ** 0.03, end * (end / first) ** 0.04)
        return first
    axes.set_xlim(-0.03 * (end or 1.0), 1.04 * (end or 1.0))
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=end >= 3 and not np.any(at % 1)))
    return 0.0


def _set_up(axes: Axes, height: _Height) -> None:
    """Scale the vertical axis."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

    axes.set_yscale("log")
    axes.set_ylim(*height.limits)
    axis, lowest = axes.yaxis, height.least if height.has_zero else height.limits[0]
    if height.decades < _FEW_DECADES and height.has_zero:
        named = [(t, f"{t:.3g}") for t in sorted({height.least, height.least * 10**height.decades})]
    elif height.decades < _FEW_DECADES:
        ticks = np.asarray(MaxNLocator(5).tick_values(lowest, height.limits[1]))
        digits = _digits(ticks)
        named = [(t, f"{t:.{digits}g}") for t in ticks]
    else:
        ticks = np.asarray(LogLocator(numticks=8).tick_values(lowest, height.limits[1]))
        named = [(t, f"$10^{{{round(np.log10(t))}}}$") for t in ticks]
    named = [(t, text) for t, text in named if lowest <= t <= height.limits[1]]
    named = named or [(height.least, f"{height.least:.3g}")]
    if height.has_zero:
        named = [(height.zero, "0"), *(pair for pair in named if pair[0] > 1.05 * height.zero)]
        named = named[:1] if height.only_zero else named
        axes.axhline(height.zero, color=FAINT, linewidth=0.7, linestyle=(0, (2, 3)), zorder=1, gid="zero")
    texts = dict(named)
    axis.set_major_locator(FixedLocator([t for t, _ in named]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: texts.get(value, "")))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())
    axes.tick_params(labelsize=7.5, length=2.5, color=FAINT, labelcolor=INK)
    axes.grid(axis="y", color="#e4e4e4", linewidth=0.6, zorder=0)
    axes.set_axisbelow(True)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("bottom", "left"))
        spine.set_color(FAINT)


def _digits(ticks: np.ndarray) -> int:
    """Significant digits in which ticks differ."""
    step = np.min(np.diff(ticks)) if len(ticks) > 1 else ticks[0]
    return max(1, int(np.floor(np.log10(np.abs(ticks).max()))) - int(np.floor(np.log10(step) + 1e-9)) + 1)


def _name_lines(axes: Axes, trace: Trace) -> None:
    """Write the least loss below the end of the best line, where nothing else is, and say which lines are walkers."""
    from matplotlib.lines import Line2D

    line = next(line for line in axes.lines if line.get_gid() == "best")
    end = float(np.asarray(line.get_xdata())[-1]), float(np.asarray(line.get_ydata())[-1])
    room = axes.transAxes.inverted().transform(axes.transData.transform(end))[0]
    axes.annotate(
        f"{trace.loss:.3g}", end, (0, -6), textcoords="offset points", fontsize=8.5, color=ACCENT, fontweight="bold",
        ha="right" if room > _NARROW else "left", va="top",
    )  # fmt: skip
    if trace.walkers > 1:
        handles = [
            Line2D([], [], color=ACCENT, linewidth=2.2, label=f"best of {trace.walkers}"),
            Line2D([], [], color=WALKER, linewidth=0.9, alpha=0.7, label="one walker"),
        ]
        axes.legend(
            handles=handles, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, frameon=False, fontsize=7.5,
            handlelength=1.6, borderaxespad=0.1,
        )  # fmt: skip


def _title(trace: Trace, measure: Measure, room: float) -> str:
    """The search with its settings, shortened to the width, and its end."""
    end = f": {STOP_REASONS[trace.stop_reason]}, after {trace.seconds:.3g} s"
    name = trace.search.replace("$", "")
    for short in (name, name.partition("(")[0]):
        if measure.box(short + end, 10)[2] * 2 <= room:
            return short + end
    return name.partition("(")[0][:40] + end
