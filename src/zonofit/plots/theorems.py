"""The pictures of the theorems: drifts and jumps of the optimum, interpolation, random features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from zonofit.errors import InputError
from zonofit.plots.canvas import ACCENT, FAINT, check_path, new_figure, save
from zonofit.plots.curves import BLUE, GREEN, above, curve, names, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from zonofit.theory.continuity import Drift
    from zonofit.theory.overparameterisation import Independence

TWO = (9.6, 3.7)
PANELS = ((0.075, 0.15, 0.395, 0.70), (0.58, 0.15, 0.395, 0.70))
ALONE = (0.11, 0.14, 0.86, 0.74)
_ROOM = 0.12  # of the height, above and below


def drift_figure(drift: Drift, *, path=None) -> Figure:
    """Draw the optimum against the length of a move, with the three radii of Theorem 1.

    Points are filled while the patterns are those of the unmoved data. The shaded lengths are within the certified
    radius, where nothing can jump.

    Parameters
    ----------
    drift : Drift
    path : str or Path, optional
        Where to write the picture: .svg, .png or .pdf.
    """
    if path is not None:
        check_path(path)
    if len(drift.lengths) == 0:
        raise InputError("drift: there are no lengths to draw; follow the optimum over some.")
    figure = new_figure(6.4, 3.9)
    axes = figure.add_axes(ALONE)
    same = drift.changed == 0
    axes.axvspan(0.0, drift.stability.radius, color="#e7efe9", zorder=0)
    axes.plot(drift.lengths[same], drift.optimum[same], "o", color=BLUE, markersize=4, label="patterns as before")
    axes.plot(
        drift.lengths[~same], drift.optimum[~same], "o", markerfacecolor="white", markeredgecolor=ACCENT, markersize=4,
        label="other patterns",
    )  # fmt: skip
    top = 1.0 + _ROOM
    low, high = float(np.min(drift.optimum)), float(np.max(drift.optimum))
    span = (high - low) or abs(high) or 1.0
    axes.set_ylim(low - _ROOM * span, low + (top + 0.14) * span)
    axes.set_xlim(0.0, float(np.max(drift.lengths)) * 1.02)
    for length, name, colour in (
        (drift.proof, "proof", FAINT), (drift.stability.radius, "certified", GREEN),
        (drift.stability.tight_radius, "best possible", ACCENT),
    ):  # fmt: skip
        axes.axvline(length, color=colour, linewidth=1.0, linestyle=(0, (3, 2)), zorder=1)
        right = name == "certified" and drift.stability.tight_radius < 1.6 * length
        axes.annotate(
            name, (length, 1.0), xycoords=("data", "axes fraction"), xytext=(-3 if right else 3, -9),
            textcoords="offset points", fontsize=7.5, color=colour, ha="right" if right else "left",
        )  # fmt: skip
    style(axes, "length of the moves", "least loss of any patterns")
    above(axes, 2)
    if path is not None:
        save(figure, path)
    return figure


def jump_figure(curves: Mapping[str, tuple], *, path=None) -> Figure:
    """Draw least losses, and lengths of the weights that have them, against the size of a perturbation.

    Parameters
    ----------
    curves : mapping
        From a name to sizes ε > 0 (K,), least losses (K,), the loss at ε = 0, and lengths of weights (K,). Losses are
        drawn in units of that at ε = 0, which is the dashed line.
    path : str or Path, optional
    """
    if path is not None:
        check_path(path)
    figure = new_figure(*TWO)
    left, right = (figure.add_axes(panel) for panel in PANELS)
    for axes in (left, right):
        axes.set_xscale("log")
    right.set_yscale("log")
    left.axhline(1.0, color=FAINT, linewidth=1.0, linestyle=(0, (3, 2)))
    for k, (name, (epsilon, loss, before, length)) in enumerate(curves.items()):
        curve(left, epsilon, np.asarray(loss, float) / before, name, k)
        curve(right, epsilon, length, name, k)
    left.set_ylim(-0.06, 1.12)
    left.annotate(
        "ε = 0", (1.0, 1.0), xycoords=("axes fraction", "data"), xytext=(-2, 4), textcoords="offset points",
        fontsize=7.5, color=FAINT, ha="right",
    )  # fmt: skip
    style(left, "perturbation ε", "least loss, of that at ε = 0", "a")
    style(right, "perturbation ε", "length of the weights", "b")
    above(right, len(curves))
    if path is not None:
        save(figure, path)
    return figure


def interpolation_figure(rows: Sequence[Mapping], *, title: str = "", path=None) -> Figure:
    """Draw residual and length of the weights against N, for several ways to fit all labels.

    Parameters
    ----------
    rows : sequence of mapping
        With `name`, `N`, `residual` and `norm`; rows of one name make a curve through the medians of equal N.
    title : str, optional
    path : str or Path, optional
    """
    if path is not None:
        check_path(path)
    if not rows:
        raise InputError("rows: there are none to draw; pass what was measured.")
    figure = new_figure(*TWO)
    panels = [figure.add_axes(panel) for panel in PANELS]
    columns = ("residual", "largest error, of the largest label", "a"), ("norm", "length of all weights", "b")
    for axes, (column, name, letter) in zip(panels, columns, strict=True):
        axes.set_xscale("log")
        axes.set_yscale("log")
        for k, kind in enumerate(dict.fromkeys(row["name"] for row in rows)):
            mine = [row for row in rows if row["name"] == kind]
            sizes = sorted({row["N"] for row in mine})
            middle = [np.median([row[column] for row in mine if row["N"] == N]) for N in sizes]
            curve(axes, sizes, middle, kind, k)
        style(axes, "examples N", name, letter)
    panels[0].axhline(1e-8, color=FAINT, linewidth=1.0, linestyle=(0, (3, 2)), zorder=1)
    names(panels[1], "upper left", title=title or None)
    if path is not None:
        save(figure, path)
    return figure


def independence_figure(found: Mapping[str, Independence], *, path=None) -> Figure:
    """Draw how often random units have independent activations, against m / N.

    Solid with W frozen, dashed with W free in its chambers.

    Parameters
    ----------
    found : mapping
        From the name of a data set to its `Independence`.
    path : str or Path, optional
    """
    if path is not None:
        check_path(path)
    figure = new_figure(6.4, 3.9)
    axes = figure.add_axes(ALONE)
    axes.set_xscale("log")
    for k, (name, one) in enumerate(found.items()):
        share = one.widths / one.n_examples
        curve(axes, share, one.frozen, name, k, mark=False)
        curve(axes, share, one.free, "_" + name, k, dashed=True, mark=False)
    axes.set_ylim(-0.03, 1.05)
    axes.axvline(1.0, color=FAINT, linewidth=1.0, linestyle=(0, (3, 2)), zorder=1)
    style(axes, "units m, in examples N", "share of draws that are independent")
    above(axes, len(found))
    if path is not None:
        save(figure, path)
    return figure


def figure_two(
    widths: Sequence[int],
    losses: Mapping[str, Sequence],
    more: Sequence[int],
    accuracies: Mapping[str, Sequence],
    *,
    path=None,
) -> Figure:
    """Draw both halves of the paper's Figure 2: losses on synthetic data, and accuracies on classes of images.

    Parameters
    ----------
    widths, more : sequence of int
        Units, left and right.
    losses, accuracies : mapping
        From a name to numbers, one for each width; nan where there is none. Names that begin with "paper" are dashed.
    path : str or Path, optional
    """  # fmt: skip
    if path is not None:
        check_path(path)
    figure = new_figure(*TWO)
    left, right = (figure.add_axes(panel) for panel in PANELS)
    left.set_yscale("log")
    _against_width(left, widths, losses, "median loss", "a")
    _against_width(right, more, accuracies, "median accuracy, %", "b")
    names(left, "lower left")
    names(right, "lower right")
    if path is not None:
        save(figure, path)
    return figure


def _against_width(axes: Axes, widths: Sequence[int], series: Mapping[str, Sequence], up: str, letter: str) -> None:
    axes.set_xscale("log", base=2)
    for k, (name, values) in enumerate(series.items()):
        curve(axes, widths, values, name, k, dashed=name.startswith("paper"))
    axes.set_xticks(list(widths), [str(m) for m in widths])
    style(axes, "units m", up, letter)
