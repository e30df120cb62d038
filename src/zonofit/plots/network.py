"""A network as a picture: on one feature its graph with the breakpoints, on two its level lines and hyperplanes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zonofit.errors import InputError
from zonofit.plots.canvas import ACCENT, FAINT, INK, check_path, new_figure, save
from zonofit.plots.curves import BLUE, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from zonofit.network import ShallowReLU

_MARGIN = 0.06  # of the range of the examples, or of the breakpoints
_GRID = 161  # points along each feature of the level lines
_LEVELS = 14
_MOST_POINTS = 2000


def network_figure(network: ShallowReLU, X=None, y=None, *, path=None) -> Figure:
    """Draw a network on one or two features.

    Parameters
    ----------
    network : ShallowReLU
    X : array_like (N, d), optional
        Examples, which also say what part to draw.
    y : array_like (N,), optional
        Their labels.
    path : str or Path, optional
        Written there too: .svg, .png or .pdf.

    Returns
    -------
    matplotlib.figure.Figure
    """
    d = network.n_features
    if d > 2:
        raise InputError(f"network: pictures are of networks on one or two features, this one has {d}; fix the others.")
    if path is not None:
        check_path(path)
    points = None if X is None else np.asarray(X, float).reshape(-1, d)
    labels = None if y is None else np.asarray(y)
    if labels is not None and (points is None or labels.shape != (len(points),)):
        raise InputError(f"y: expected one label for each row of X, got shape {labels.shape}.")
    if points is not None and len(points) > _MOST_POINTS:  # more hide the network
        some = np.linspace(0, len(points) - 1, _MOST_POINTS).astype(int)
        points, labels = points[some], None if labels is None else labels[some]
    if labels is not None and network.classes is not None:
        labels = (labels == network.classes[1]).astype(float)
    figure = new_figure(6.4, 3.8 if d == 1 else 4.8)
    axes = figure.add_axes((0.11, 0.15, 0.85, 0.75) if d == 1 else (0.11, 0.13, 0.85, 0.78))
    (_graph if d == 1 else _levels)(axes, network, points, labels)
    axes.set_title(repr(network)[len("ShallowReLU(") : -1], fontsize=9, color=INK, loc="left")
    if path is not None:
        save(figure, path)
    return figure


def _graph(axes: Axes, network: ShallowReLU, points, labels) -> None:
    breaks = network.breakpoints
    left, right = _range(breaks if points is None else points[:, 0])
    inside = breaks[(breaks > left) & (breaks < right)]
    x = np.r_[left, inside, right]
    for at in inside:
        axes.axvline(at, color=FAINT, linewidth=0.6, linestyle=(0, (2, 3)), zorder=1)
    if labels is not None:
        axes.scatter(points[:, 0], labels, s=9, color=BLUE, alpha=0.5, linewidths=0, zorder=2)
    axes.plot(x, network.predict(x[:, None]), color=ACCENT, linewidth=1.8, zorder=3, gid="network")
    axes.scatter(inside, network.predict(inside[:, None]) if len(inside) else [], s=22, color=ACCENT, zorder=4)
    axes.set_xlim(left, right)
    style(axes, network.names[0], network.target or "f(x)")


def _levels(axes: Axes, network: ShallowReLU, points, labels) -> None:
    if points is None:
        bent = network.W[network.W[:, :2].any(axis=1)]
        points = -bent[:, :2] * bent[:, 2:] / np.sum(bent[:, :2] ** 2, axis=1, keepdims=True)  # feet of the lines
        drawn = None
    else:
        drawn = points
    (left, right), (bottom, top) = (_range(points[:, k]) for k in (0, 1))
    a, b = np.linspace(left, right, _GRID), np.linspace(bottom, top, _GRID)
    grid = np.stack(np.meshgrid(a, b), axis=-1)
    values = network.predict(grid.reshape(-1, 2)).reshape(_GRID, _GRID)
    shown = axes.contourf(a, b, values, levels=_LEVELS, cmap="cividis", alpha=0.85, zorder=0)
    for w in network.W:
        if w[:2].any():
            z = grid @ w[:2] + w[2]
            axes.contour(a, b, z, levels=[0.0], colors=[INK], linewidths=0.7, linestyles="dashed", zorder=2)
    if network.classes is not None:
        axes.contour(a, b, values, levels=[0.0], colors=[ACCENT], linewidths=2.0, zorder=3)
    if drawn is not None:
        known = labels is not None
        axes.scatter(
            drawn[:, 0], drawn[:, 1], c=labels if known else FAINT, cmap="cividis" if known else None, s=14,
            edgecolors="white", linewidths=0.4, zorder=4,
            vmin=values.min() if known else None, vmax=values.max() if known else None,
        )  # fmt: skip
    bar = axes.figure.colorbar(shown, ax=axes, shrink=0.9)
    bar.set_label(network.target or "f(x)", fontsize=8.5)
    bar.ax.tick_params(labelsize=7.5)
    style(axes, *network.names)
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, top)
    axes.grid(visible=False)


def _range(values: np.ndarray) -> tuple[float, float]:
    """Least and largest value with a margin; something around 0 where there are none."""
    low, high = (float(values.min()), float(values.max())) if len(values) else (-1.0, 1.0)
    room = _MARGIN * (high - low) if high > low else 0.5 * (abs(low) or 1.0)
    return low - room, high + room
