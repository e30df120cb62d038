"""Zonotopes with something written at every vertex, as in the paper's appendix D."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from zonofit.errors import BudgetError, InputError
from zonofit.geometry.zonotope import Zonotope
from zonofit.plots.canvas import ACCENT, FAINT, INK, check_path, new_figure, save
from zonofit.plots.colours import chamber_colours
from zonofit.plots.drawing import Style, draw_solid
from zonofit.plots.layout import Measure
from zonofit.plots.polygon import draw_polygon, outline, set_lines
from zonofit.plots.solid import Solid

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_NAMED = 48
MOST_DRAWN = 4000


def labelled_zonotope(
    generators,
    labels: Mapping,
    *,
    path=None,
    mark="least",
    axis_names: tuple[str, str] = ("", ""),
    first: int = 1,
    size: tuple[float, float] = (6.4, 4.6),
) -> Figure:
    """Draw a zonotope in the plane, each vertex with its label in bold and its set of active examples.

    Parameters
    ----------
    generators : array_like (N, n), Arrangement or Zonotope
        Of rank at most 2: appendix D's data are in a plane of R^3, and a column of zeros is left out.
    labels : mapping
        From active examples, as a set of rows (counted from 0) or a pattern of N zeros and ones, to a label: a number,
        such as the least loss of the vertex, or a text. Vertices that are not in it show their active set only.
    path : str or Path, optional
        Where to write the picture: .svg, .png or .pdf.
    mark : "least", None, or set of int, optional
        Vertex to mark; "least" marks the smallest label when all of them are numbers.
    axis_names : tuple of str, optional
        Names of the two axes.
    first : int, optional
        Number given to row 0 in the picture; the paper counts from 1.
    size : tuple of float, optional
        Width and height in inches.

    Returns
    -------
    matplotlib.figure.Figure
    """
    if path is not None:
        check_path(path)
    zonotope = as_zonotope(generators)
    if zonotope.dimension > 2:
        raise InputError(
            f"generators: labels are written beside polygons, these generators have rank {zonotope.dimension}; "
            "take a slice in which they have rank 2."
        )
    points, barcodes = outline(zonotope)
    if len(points) > MOST_NAMED:
        raise BudgetError(f"generators: {len(points)} vertices cannot be named legibly; draw at most {MOST_NAMED}.")
    place = {frozenset(np.flatnonzero(b).tolist()): v for v, b in enumerate(barcodes)}
    named = {_vertex(key, place, len(zonotope.generators), "labels"): value for key, value in labels.items()}
    marked = _marked(mark, named, place, len(zonotope.generators))
    texts = set_lines(barcodes, first, 7.5)
    for v, value in named.items():
        texts[v] = [(_written(value), 9.0, "bold"), *texts[v]]
    colours = np.ones((len(points), 3))
    if marked is not None:
        from matplotlib.colors import to_rgb

        colours[marked] = to_rgb(ACCENT)

    figure = new_figure(*size)
    axes = figure.add_axes((0.1, 0.11, 0.87, 0.86))
    _bare(axes, axis_names)
    lost = draw_polygon(axes, points, texts, colours, Measure(figure))
    if lost:
        raise InputError(f"size: no room for the labels of {len(lost)} vertices; make the figure larger.")
    if path is not None:
        save(figure, path)
    return figure


def zonotope_figure(zonotope, *, path=None, first: int = 1, size: tuple[float, float] = (6.0, 5.4)) -> Figure:
    """Draw a zonotope in R^2 or R^3; vertices are named by their active examples where that is legible.

    Parameters
    ----------
    zonotope : Zonotope, Arrangement or array_like (N, n)
        With n = 2 or n = 3.
    path : str or Path, optional
        Where to write the picture: .svg, .png or .pdf.
    first : int, optional
        Number given to row 0 in the picture.
    size : tuple of float, optional
        Width and height in inches.

    Returns
    -------
    matplotlib.figure.Figure
    """
    if path is not None:
        check_path(path)
    zonotope = as_zonotope(zonotope)
    check_drawable(zonotope)
    figure = new_figure(*size)
    measure = Measure(figure)
    if zonotope.dimension <= 2:
        axes = figure.add_axes((0.09, 0.08, 0.88, 0.89))
        points, barcodes = outline(zonotope)
        _bare(axes, ("", ""))
        few = len(points) <= MOST_NAMED
        texts = set_lines(barcodes, first) if few else [[] for _ in points]
        draw_polygon(axes, points, texts, chamber_colours(barcodes, points[:, 0]), measure)
    else:
        axes = figure.add_axes((0.02, 0.02, 0.96, 0.96))
        solid = Solid(zonotope)
        view = solid.best_view()
        across = solid.points @ view.axes[0]
        colours = chamber_colours(solid.barcodes, across)
        none = np.zeros(0, int)
        draw_solid(axes, solid, view, colours, measure, path=none, first=first, style=Style(vertex=7.0, name=7.5))
    if path is not None:
        save(figure, path)
    return figure


def check_drawable(zonotope: Zonotope) -> None:
    """Raise one clear sentence when there is no picture of `zonotope`, before any vertex is enumerated."""
    n = zonotope.ambient_dimension
    if n not in (2, 3):
        raise InputError(
            f"zonotope: pictures are of zonotopes in R^2 or R^3, this one is in R^{n}; choose one or two features "
            "(the bias adds a dimension), or two or three columns of generators."
        )
    M, r = len(zonotope.classes), zonotope.dimension
    bound = 2 * M if r <= 2 else 2 + M * (M - 1)
    if bound > MOST_DRAWN:
        raise BudgetError(
            f"zonotope: up to {bound:,} vertices are too many for a picture, which shows at most {MOST_DRAWN:,}; "
            "draw fewer examples."
        )


def as_zonotope(generators) -> Zonotope:
    """A `Zonotope` of generators, of an arrangement, or as it is."""
    return generators if isinstance(generators, Zonotope) else Zonotope(generators)


def _vertex(key, place: Mapping, N: int, name: str) -> int:
    if isinstance(key, (set, frozenset)):
        rows = frozenset(int(i) for i in key)
    else:
        bits = [int(b) for b in key] if isinstance(key, (str, tuple, list, np.ndarray)) else None
        if bits is None or len(bits) != N or not set(bits) <= {0, 1}:
            raise InputError(f"{name}: {key!r} is neither a set of rows nor a pattern of {N} zeros and ones.")
        rows = frozenset(np.flatnonzero(bits).tolist())
    if rows not in place:
        raise InputError(f"{name}: no vertex has the active rows {sorted(rows)}; rows count from 0.")
    return place[rows]


def _marked(mark, named: Mapping, place: Mapping, N: int) -> int | None:
    if mark is None:
        return None
    if isinstance(mark, str) and mark == "least":
        numbers = {v: float(x) for v, x in named.items() if isinstance(x, Real)}
        return min(numbers, key=lambda v: numbers[v]) if numbers and len(numbers) == len(named) else None
    return _vertex(mark, place, N, "mark")


def _written(value) -> str:
    return f"{value:.4g}" if isinstance(value, Real) else str(value)


def _bare(axes: Axes, names: tuple[str, str]) -> None:
    axes.tick_params(labelsize=7, length=2.5, color=FAINT, labelcolor=INK)
    axes.locator_params(nbins=7)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("bottom", "left"))
        spine.set_color(FAINT)
    axes.set_xlabel(names[0], fontsize=9)
    axes.set_ylabel(names[1], fontsize=9)
