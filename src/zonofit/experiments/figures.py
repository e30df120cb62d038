"""The paper's figures, from the rows of the tables and from the theory; nothing is trained here.

Figure 1 and appendix D need no rows: they are exact. Figures 2 and 3 show what rows there are, and the paper's numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from zonofit.experiments.paper import printed
from zonofit.experiments.spec import Cell
from zonofit.experiments.summary import summarise
from zonofit.experiments.tables import BEST, make_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FIGURES", "draw", "needs"]

# tables, the synthetic cells of the left panel, the image cells of the right one, and the methods
_PANELS: dict[str, tuple[str, tuple[int, int], str, tuple[str, int, int], tuple[str, str]]] = {
    "figure-2": ("table-a1", (8, 8), "table-a2", ("fashion_24", 16, 700), ("random-vertex", "random-vertex")),
    "figure-3": ("table-a1", (4, 2), "table-a3", ("fashion_24", 8, 350), ("gls", "mgls")),
}
FIGURES = ("figure-1", "figure-2", "figure-3", "appendix-d")
_NAMES_IN_A_ROW = 3
_CORNER = (-0.12, 1.1)
_SIZES = ("1e-1", "1e-2", "1e-3", "1e-4", "1e-6", "1e-8")


def needs(figure: str) -> list[str]:
    """The tables whose rows a figure shows."""
    return [_PANELS[figure][0], _PANELS[figure][2]] if figure in _PANELS else []


def draw(figure: str, scale: str, rows: Sequence[dict[str, Any]], path) -> Figure:
    """Draw one of `FIGURES` to a file.

    Parameters
    ----------
    figure : {"figure-1", "figure-2", "figure-3", "appendix-d"}
    scale : {"smoke", "paper"}
    rows : sequence of dict
        As `zonofit.experiments.store.Store.rows` returns them.
    path : str or Path
    """
    if figure == "figure-1":
        from zonofit.data.example import load_example
        from zonofit.plots.figure_one import figure_one

        return figure_one(load_example(), path=path)
    if figure == "appendix-d":
        return _jumps(path)
    return _against_width(figure, scale, rows, path)


def _jumps(path) -> Figure:
    """Appendix D in rational arithmetic: least losses and weights as one example leaves the plane of the others."""
    from zonofit.plots.theorems import jump_figure
    from zonofit.theory.discontinuity import EXAMPLES

    curves = {}
    for name, example in EXAMPLES.items():
        jumps = [example.jump(size) for size in _SIZES]
        losses = [float(jump.lifted.best.loss) for jump in jumps]
        lengths = [float(sum(x * x for x in jump.lifted.best.w)) ** 0.5 for jump in jumps]
        curves[f"appendix {name}"] = ([float(size) for size in _SIZES], losses, float(example.before), lengths)
    return jump_figure(curves, path=path)


def _against_width(figure: str, scale: str, rows, path) -> Figure:
    from zonofit.plots.canvas import check_path, save
    from zonofit.plots.curves import above
    from zonofit.plots.theorems import figure_two

    check_path(path)
    left, (d, m_gen), right, (task, features, examples), methods = _PANELS[figure]
    synthetic = [c for c in _cells(left) if (c.d, c.m_gen) == (d, m_gen)]
    images = [c for c in _cells(right) if (c.data, c.d, c.n_examples) == (task, features, examples)]
    losses = _series(left, scale, rows, synthetic, ("gradient-descent", methods[0]), "loss")
    accuracies = _series(right, scale, rows, images, ("gradient-descent", methods[1]), "accuracy")
    drawn = figure_two([c.m for c in synthetic], losses, [c.m for c in images], accuracies)
    for axes in drawn.axes:
        above(axes, _NAMES_IN_A_ROW)  # losses from 1 to 1e-30 leave no free corner within
        for letter in axes.texts:
            letter.set_position(_CORNER)
    save(drawn, path)
    return drawn


def _cells(table: str) -> list[Cell]:
    return make_table(table, "paper").cells


def _series(table: str, scale: str, rows, cells: list[Cell], methods, what: str) -> dict[str, list[float]]:
    """Curves, without those that have no point: ours, then the paper's as printed."""
    ours = {(e.cell, e.method): getattr(e, what) for e in summarise(make_table(table, scale), rows)}
    paper = {key: getattr(entry, what) for key, entry in printed(table).items()}
    curves = {}
    for source, names in ((ours, (*methods, BEST)), (paper, methods)):
        for name in names:
            values = [source.get((cell, name)) for cell in cells]
            label = name.replace("-", " ")
            # a curve of zeros (exact fits) stays visible on a logarithmic axis
            floor = 1e-32 if what == "loss" else 0.0
            points = [np.nan if value is None else max(value, floor) for value in values]
            if np.isfinite(points).any():
                curves[f"paper: {label}" if source is paper else label] = points
    return curves
