"""How facet descent moves: the exact line search of its first step, and its way through the chambers of a plane."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zonofit.errors import BudgetError, InputError
from zonofit.plots.canvas import ACCENT, FAINT, INK, NOTE, check_path, new_figure, save
from zonofit.plots.chart import slice_cells
from zonofit.plots.colours import chamber_colours, ink_on
from zonofit.plots.drawing import Style, around, place_text, text_at
from zonofit.plots.figure_one import MOST_CHAMBERS
from zonofit.plots.layout import Boxes, Measure, room_in
from zonofit.plots.names import active_set
from zonofit.plots.ray import NEWTON, Ray, dot, draw_ray, halo
from zonofit.plots.slice import draw_lines, name_axes, shade

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from zonofit.programs.problem import Problem

HEIGHT = 4.3
WIDTHS = (5.4, 10.6)
PANELS = ((0.06, 0.135, 0.405, 0.70), (0.545, 0.135, 0.42, 0.70))
ALONE = (0.12, 0.135, 0.84, 0.70)
MOST_STEPS = 60
LEVELS = 16
PALE = 0.38
FINE = 301
_STYLE = Style(vertex=7.0, name=8.0)
_STILL = 1e-12  # a step shorter than this part of the weights is none


def engine_figure(problem: Problem, W, c: float | None = None, *, path=None, first: int = 1) -> Figure:
    """Draw how `Problem.descend` gets from (W, c) to a local minimum.

    Left, the objective along the first step. Vertical lines are the breakpoints, where the preactivation of an example
    passes zero; between them the objective is one smooth piece. The dashed curve extends the first piece. A
    plain Newton step would end above its least point, and the exact line search goes on through the walls while the
    objective falls.

    Right, for one unit on one feature with a fixed output bias: its two weights are all the parameters, so that the
    plane is the whole of parameter space. Cones are chambers, named by their active examples; curves are level
    lines of the objective, with a bend at each wall; the thick line is the descent, a point for each step. The
    hollow diamond is where the plain Newton step would end. Problems with more parameters have the left panel only.

    Parameters
    ----------
    problem : Problem
    W : array_like (m, n)
        Where the descent starts.
    c : float, optional
        Output bias to start from, as in `Problem.descend`.
    path : str or Path, optional
        Where to write the picture: .svg, .png or .pdf.
    first : int, optional
        Number given to row 0 in the picture; the paper counts from 1.

    Returns
    -------
    matplotlib.figure.Figure
        On an Agg canvas of its own; pyplot is not used.
    """
    if path is not None:
        check_path(path)
    flat = problem.width == 1 and problem.generators.shape[1] == 2 and problem.output_bias is not None
    if flat and 2 * problem.n_examples > MOST_CHAMBERS:
        raise BudgetError(
            f"problem: {problem.n_examples} examples have chambers too narrow to be seen; "
            f"draw at most {MOST_CHAMBERS // 2}."
        )
    weights, biases = descent_path(problem, W, c, most=MOST_STEPS if flat else 1)
    if len(weights) < 2:
        raise InputError("W: no step leads down from here, so that there is nothing to draw; start somewhere else.")
    ray = Ray(problem, weights[0], weights[1] - weights[0], biases[0], biases[1] - biases[0])
    figure = new_figure(WIDTHS[flat], HEIGHT)
    measure = Measure(figure)
    left = figure.add_axes(PANELS[0] if flat else ALONE)
    titles = [(left, "a" if flat else "", "The objective along the first step")]
    if flat:
        right = figure.add_axes(PANELS[1])
        titles.append((right, "b", f"Parameter space: descent in {_steps(len(weights) - 1)}"))
        bands = _draw_plane(right, ray, weights[:, 0], measure, first)
        draw_ray(left, ray, 1.0, measure, bands=bands, first=first)
    else:
        draw_ray(left, ray, 1.0, measure, first=first)
    for axes, letter, title in titles:
        box = axes.get_position()
        figure.text(box.x0, 0.93, letter, fontsize=11, fontweight="bold", va="baseline")
        figure.text(box.x0 + (0.2 if letter else 0.0) / figure.get_figwidth(), 0.93, title, fontsize=10, va="baseline")
    if path is not None:
        save(figure, path)
    return figure


def descent_path(
    problem: Problem, W, c: float | None = None, *, most: int = MOST_STEPS
) -> tuple[np.ndarray, np.ndarray]:
    """Where each step of a descent ends: weights (k + 1, m, n) and output biases (k + 1,), the start first.

    A descent is stopped after one step, after two, and so on; steps that do not move are left out.
    """
    start = problem.descend(W, c, max_steps=0, valleys=0)
    weights, biases = [np.array(W, float)], [start.c]
    steps = problem.descend(W, c, max_steps=most + MOST_STEPS, valleys=0).steps
    for k in range(1, steps + 1):
        found = problem.descend(W, c, max_steps=k, valleys=0)
        moved = max(np.max(np.abs(found.W - weights[-1])), abs(found.c - biases[-1]))
        if moved > _STILL * max(np.max(np.abs(found.W)), abs(found.c)):
            weights.append(found.W)
            biases.append(found.c)
        if len(weights) > most:
            break
    return np.array(weights), np.array(biases)


def _steps(count: int) -> str:
    return f"{count} step" if count == 1 else f"{count} steps"


def _draw_plane(axes: Axes, ray: Ray, path: np.ndarray, measure: Measure, first: int) -> Callable:
    """Draw chambers, level lines and the path (k, 2); returns the function from a pattern to its colour."""
    problem, X = ray.problem, ray.problem.generators
    target = path[0] + ray.newton * (path[1] - path[0]) if np.isfinite(ray.newton) else path[1]
    size = np.abs(X).max(axis=0)  # weights in units of their inverse are of order one
    size[size == 0] = 1.0
    window = plane_window(size * np.vstack([path, target])) / size[:, None]
    patterns = problem.arrangement.patterns()
    cells = slice_cells(X, patterns, 0.0, window)
    middles = np.array([cell.polygon.mean(axis=0) for cell in cells])
    colours = chamber_colours(np.array([cell.pattern for cell in cells]), middles[:, 0])
    colours = PALE + (1.0 - PALE) * colours
    shade(axes, window, cells, colours)
    outside = Boxes()
    name_axes(axes, measure, outside)
    draw_lines(axes, X, 0.0, window, first, measure, outside)
    _draw_levels(axes, problem, window)

    names = Boxes()
    pixels = axes.transData.transform(np.vstack([path, target]))
    names.add_segments(np.stack([pixels[:-2], pixels[1:-1]], axis=1))
    names.add_segments(np.stack([pixels[[0]], pixels[[-1]]], axis=1))
    for p in pixels:
        names.add(np.array([*(p - 5 * measure.pixel), *(p + 5 * measure.pixel)]))
    _draw_path(axes, path, target)
    frame = axes.get_window_extent().extents
    for k, name in ((0, "start"), (len(path) - 1, "end")):
        spots = around(pixels[k], pixels[k] - pixels[: len(path)].mean(axis=0), measure, name, _STYLE)
        place_text(axes, measure, names, name, spots, _STYLE.name, frame)
    for cell, colour in zip(cells, colours, strict=True):
        _name_chamber(axes, measure, names, cell, active_set(cell.pattern, first), colour)
    halo(axes)
    spot = [(frame[0] + frame[2]) / 2, 0.035 * axes.figure.bbox.height]
    text_at(axes, "chambers are named by their active examples", spot, NOTE, color=FAINT)
    shown = {cell.pattern.tobytes(): colour for cell, colour in zip(cells, colours, strict=True)}
    return lambda pattern: shown.get(pattern[0].tobytes(), (1.0, 1.0, 1.0))


def plane_window(points: np.ndarray) -> np.ndarray:
    """Window ((left, right), (bottom, top)) with points (k, 2), and the apex of the cones if it is not far."""
    low, high = points.min(axis=0), points.max(axis=0)
    size = max(np.max(high - low), 1e-300)
    wide_low, wide_high = np.minimum(low, 0.0), np.maximum(high, 0.0)
    if np.max(wide_high - wide_low) <= 2.5 * size:
        low, high = wide_low, wide_high
    half = np.maximum((high - low) / 2, 0.22 * size) * 1.25
    middle = (low + high) / 2
    return np.c_[middle - half, middle + half]


def _draw_levels(axes: Axes, problem: Problem, window: np.ndarray) -> None:
    a, b = (np.linspace(low, high, FINE) for low, high in window)
    grid = np.stack(np.meshgrid(a, b), axis=-1).reshape(-1, 2)
    u = problem.output_weights[0] * np.maximum(grid @ problem.generators.T, 0.0) + problem.output_bias
    value = problem.loss.value(u, problem.labels) @ problem.weights + problem.alpha / 2 * np.sum(grid**2, axis=1)
    low, high = value.min(), value.max()
    levels = low + (high - low) * (np.arange(1, LEVELS + 1) / (LEVELS + 1)) ** 2.5
    axes.contour(a, b, value.reshape(FINE, FINE), np.unique(levels), colors=INK, linewidths=0.6, alpha=0.55, zorder=2)


def _draw_path(axes: Axes, path: np.ndarray, target: np.ndarray) -> None:
    axes.plot(*np.c_[path[0], target], color=NEWTON, linewidth=1.3, linestyle=(0, (4, 2)), zorder=6)
    axes.plot(*path.T, color="white", linewidth=4.2, zorder=6, solid_joinstyle="round")
    axes.plot(*path.T, color=ACCENT, linewidth=2.2, zorder=7, solid_joinstyle="round", gid="path")
    dot(axes, target, "D", NEWTON)
    for k, point in enumerate(path):
        dot(axes, point, "o", INK if k == 0 else ACCENT, 7.0 if k in (0, len(path) - 1) else 5.5)


def _name_chamber(axes: Axes, measure: Measure, names: Boxes, cell, name: str, colour) -> None:
    """Write the name in the chamber, off the path, as far from its sides as it will go."""
    polygon = axes.transData.transform(cell.polygon)
    x0, y0, x1, y1 = measure.box(name, 7.5)
    middle = room_in(polygon, x1 - x0, y1 - y0)[0]
    inner = [middle + s * (corner - middle) for s in (0.25, 0.45, 0.6, 0.75) for corner in _rim(polygon)]
    side = np.roll(polygon, -1, axis=0) - polygon
    length = np.hypot(*side.T)
    base, side = polygon[length > 0], side[length > 0] / length[length > 0, None]
    for spot in [middle, *inner]:
        box = measure.box(name, 7.5, at=spot - [(x0 + x1) / 2, (y0 + y1) / 2])
        corners = box[[0, 2, 2, 0, 1, 1, 3, 3]].reshape(2, 4).T
        off = corners[:, None] - base
        inside = side[:, 0] * off[..., 1] - side[:, 1] * off[..., 0]
        if inside.min() >= 2.0 * measure.pixel and names.free(box, 2.0) and names.crossed(box, 2.0) == 0:
            names.add(box)
            text_at(axes, name, spot - [(x0 + x1) / 2, (y0 + y1) / 2], 7.5, color=ink_on(colour))
            return


def _rim(polygon: np.ndarray) -> np.ndarray:
    """Points along the sides of a polygon."""
    t = np.arange(0.0, 1.0, 0.25)[:, None, None]
    return ((1 - t) * polygon + t * np.roll(polygon, -1, axis=0)).reshape(-1, 2)
