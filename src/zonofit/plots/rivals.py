"""Methods side by side: the loss on the examples that they saw, and on those that they did not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from zonofit.plots.canvas import ACCENT, INK, check_path, new_figure, save
from zonofit.plots.curves import GREY, above, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TINY = 1e-12  # what a logarithmic axis shows of 0
_DECADES = 30.0  # a wider range is drawn on a logarithmic axis


def rivals_figure(rivals: Sequence[Any], loss: str, *, title: str = "", path=None) -> Figure:
    """A line for each method, ours in colour: a disc for the training loss, a ring for the held-out loss.

    Parameters
    ----------
    rivals : sequence
        With ``name``, ``training`` and ``held_out``; the first is ours.
    loss : str
        Name of the axis.
    title : str
    path : str or Path, optional

    Returns
    -------
    matplotlib.figure.Figure
    """
    if path is not None:
        check_path(path)
    figure = new_figure(6.4, 1.3 + 0.42 * len(rivals))
    axes = figure.add_axes((0.22, 0.5 / figure.get_figheight(), 0.74, 1 - 1.0 / figure.get_figheight()))
    values = [max(x, _TINY) for rival in rivals for x in (rival.training, rival.held_out)]
    if max(values) > _DECADES * min(values):
        axes.set_xscale("log")
    for k, rival in enumerate(rivals):
        colour, last = (ACCENT, k == 0) if k == 0 else (GREY, False)
        seen, unseen = max(rival.training, _TINY), max(rival.held_out, _TINY)
        axes.plot([seen, unseen], [k, k], color=colour, linewidth=1.2, zorder=2)
        axes.plot([seen], [k], "o", color=colour, markersize=8, zorder=3, label="training" if last else None)
        axes.plot(
            [unseen], [k], "o", markerfacecolor="white", markeredgecolor=colour, markeredgewidth=1.8, markersize=8,
            zorder=3, label="held out" if last else None,
        )  # fmt: skip
    style(axes, loss, "")
    axes.set_yticks(range(len(rivals)), [rival.name for rival in rivals])
    axes.set_ylim(len(rivals) - 0.5, -0.5)
    above(axes, 2)
    axes.set_title(title, fontsize=9, color=INK, loc="left")
    if path is not None:
        save(figure, path)
    return figure
