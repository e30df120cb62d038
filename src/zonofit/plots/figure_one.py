"""The paper's Figure 1 for any examples in the plane: the examples, a slice of parameter space, the zonotope."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from zonofit.errors import BudgetError, InputError
from zonofit.geometry.arrangement import as_points
from zonofit.plots.canvas import FAINT, NOTE, check_path, new_figure, save
from zonofit.plots.chart import Cell, area, slice_cells, slice_turn, slice_window
from zonofit.plots.colours import chamber_colours

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from zonofit.plots.solid import Solid

MOST_CHAMBERS = 2000
WIDTH, HEIGHT = 11.0, 4.3
PANELS = ((0.045, 0.12, 0.23, 0.72), (0.335, 0.12, 0.315, 0.72), (0.675, 0.075, 0.32, 0.80))


@dataclass(frozen=True)
class Scene:
    """What the three panels share.

    Attributes
    ----------
    X : ndarray (N, 2)
        The examples.
    bias : float
        The slice is w₃ = bias.
    turn : ndarray (2, 2)
        The slice is drawn in the coordinates w' = A⁻¹w with this A, see `slice_turn`.
    window : ndarray (2, 2)
        Part of the slice that is drawn.
    cells : list of Cell
        Chambers in the window.
    colours : ndarray (len(cells), 3)
        Their colours.
    highlight : int or None
        The cell whose active examples are shown.
    first : int
        Number given to the first example.
    """

    X: np.ndarray
    bias: float
    turn: np.ndarray
    window: np.ndarray
    cells: list[Cell]
    colours: np.ndarray
    highlight: int | None
    first: int

    @property
    def turned(self) -> np.ndarray:
        """The examples whose lines are drawn."""
        return self.X @ self.turn

    @property
    def is_turned(self) -> bool:
        """Whether the axes of the slice are other than w₁ and w₂."""
        return not np.array_equal(self.turn, np.eye(2))

    @cached_property
    def active(self) -> np.ndarray:
        """Active examples of the highlighted chamber."""
        none = np.zeros(len(self.X), bool)
        return none if self.highlight is None else self.cells[self.highlight].pattern


def figure_one(
    X,
    *,
    path=None,
    bias: float = 1.0,
    highlight="auto",
    window=None,
    first: int = 1,
) -> Figure:
    """Draw the three panels of the paper's Figure 1.

    Left, the examples. Middle, the slice w₃ = `bias` of parameter space: the lines are the hyperplanes H_i^0, the
    polygons are the chambers, named by their active examples. Right, the zonotope of the homogeneous examples; a
    vertex has the colour of its chamber, and is white when the chamber does not meet the slice. One chamber is
    highlighted: its examples are filled on the left, and on the right the thick edges, translations of those examples,
    add up to its vertex.

    Parameters
    ----------
    X : array_like (N, 2)
        Examples; duplicates and collinear ones are welcome. Up to about 12 stay legible.
    path : str or Path, optional
        Where to write the picture: .svg, .png or .pdf.
    bias : float, optional
        +1 or -1, the slice of parameter space.
    highlight : "auto", None, or set of int, optional
        Chamber to highlight, by the rows of its active examples (from 0).
    window : array_like (2, 2), optional
        ((left, right), (bottom, top)) of the slice; by default every bounded chamber is inside.
    first : int, optional
        Number given to row 0 in the picture; the paper counts from 1.

    Returns
    -------
    matplotlib.figure.Figure
        On an Agg canvas of its own; pyplot is not used.
    """
    if path is not None:
        check_path(path)
    scene, solid = _scene(X, bias, highlight, window, first)
    return _draw(scene, solid, path)


def _scene(X, bias, highlight, window, first) -> tuple[Scene, Solid]:
    from zonofit.geometry.zonotope import Zonotope
    from zonofit.plots.solid import Solid

    X = as_points(X, "X")
    if X.shape[1] != 2:
        raise InputError(f"X: Figure 1 shows examples in the plane, got {X.shape[1]} features; choose two columns.")
    if abs(bias) != 1:
        raise InputError(f"bias: the slices are w3 = 1 and w3 = -1, got {bias}.")
    zonotope = Zonotope.from_examples(X)
    M = len(zonotope.classes)
    bound = 2 + M * (M - 1)
    if bound > MOST_CHAMBERS:
        raise BudgetError(
            f"X: {len(X)} examples may have {bound:,} chambers, too many to be told apart; "
            f"draw at most {int(MOST_CHAMBERS**0.5)} examples."
        )
    solid = Solid(zonotope)
    turn = slice_turn(X, bias) if window is None else np.eye(2)
    window = slice_window(X @ turn, bias) if window is None else _window(window)
    cells = slice_cells(X @ turn, solid.barcodes, bias, window)
    middles = np.array([cell.polygon.mean(axis=0) for cell in cells])
    colours = chamber_colours(np.array([cell.pattern for cell in cells]), middles[:, 0])
    return Scene(X, bias, turn, window, cells, colours, _highlight(highlight, cells, window), first), solid


def _window(window) -> np.ndarray:
    window = as_points(window, "window")
    if window.shape != (2, 2) or not np.all(window[:, 0] < window[:, 1]):
        raise InputError("window: pass ((left, right), (bottom, top)) with left < right and bottom < top.")
    return window


def _highlight(highlight, cells: list[Cell], window: np.ndarray) -> int | None:
    if highlight is None:
        return None
    if isinstance(highlight, str):
        return _interesting(cells, window)
    wanted = frozenset(int(i) for i in highlight)
    for k, cell in enumerate(cells):
        if frozenset(np.flatnonzero(cell.pattern).tolist()) == wanted:
            return k
    raise InputError(f"highlight: no chamber of this slice has the active rows {sorted(wanted)}; rows count from 0.")


def _interesting(cells: list[Cell], window: np.ndarray) -> int | None:
    """A large chamber with three fifths of the examples active, as in the paper's figure."""
    size = np.ptp(window, axis=1)
    best, chosen = -np.inf, None
    for k, cell in enumerate(cells):
        count, N = int(cell.pattern.sum()), len(cell.pattern)
        if count == 0:
            continue
        score = area(cell.polygon / size) ** 0.5 - 3 * abs(count - 0.6 * N) / N
        if score > best:
            best, chosen = score, k
    return chosen


def _draw(scene: Scene, solid: Solid, path) -> Figure:
    from zonofit.plots.drawing import Style, draw_solid
    from zonofit.plots.examples import draw_examples
    from zonofit.plots.layout import Measure
    from zonofit.plots.slice import draw_slice

    figure = new_figure(WIDTH, HEIGHT)
    measure = Measure(figure)
    left, middle, right = (figure.add_axes(panel) for panel in PANELS)
    draw_examples(left, scene, measure)
    draw_slice(middle, scene, measure)
    colours, marked = _vertex_colours(scene, solid)
    view = solid.best_view(marked)
    edges = np.zeros(0, int) if marked is None else solid.path_to(marked, view)
    draw_solid(right, solid, view, colours, measure, path=edges, marked=marked, first=scene.first, style=Style())
    sign = "1" if scene.bias > 0 else "-1"
    titles = ("Examples", rf"Parameter space, slice $w_3 = {sign}$", r"Zonotope $\mathcal{Z}$")
    for axes, letter, title in zip((left, middle, right), "abc", titles, strict=True):
        x = axes.get_position().x0
        figure.text(x, 0.92, letter, fontsize=11, fontweight="bold", va="baseline")
        figure.text(x + 0.018, 0.92, title, fontsize=10, va="baseline")
    if np.isnan(colours).any():
        note = "white: the chamber does not meet the slice"
        figure.text(PANELS[2][0] + PANELS[2][2] / 2, 0.03, note, fontsize=NOTE, color=FAINT, ha="center")
    if path is not None:
        save(figure, path)
    return figure


def _vertex_colours(scene: Scene, solid: Solid) -> tuple[np.ndarray, int | None]:
    place = {barcode.tobytes(): v for v, barcode in enumerate(solid.barcodes)}
    colours = np.full((len(solid.points), 3), np.nan)
    vertices = [place[cell.pattern.tobytes()] for cell in scene.cells]
    colours[vertices] = scene.colours
    return colours, None if scene.highlight is None else vertices[scene.highlight]
