"""The tables of appendix H as plans, at the paper's scale and as a miniature that takes minutes.

At paper scale runs, steps and moves are the paper's: 8 runs of gradient descent, of GLS (T = 1024) and of mGLS
(T = 2048), 16 random vertices. GLS and mGLS get half an hour a run and hopping a minute; a run that the clock ended
says so. The miniature counts moves instead, so that it gives the same rows everywhere.
"""

from __future__ import annotations

from zonofit.errors import InputError
from zonofit.experiments.paper import printed
from zonofit.experiments.spec import Cell, Method, Table, size

__all__ = ["SCALES", "TABLES", "make_table"]

SCALES = ("smoke", "paper")
TABLES = ("table-a1", "table-a2", "table-a3")
BEST = "hopping"

_HALF_AN_HOUR = ("seconds", 1800.0)
_GD_SYNTHETIC: tuple = (("scale", "sum"),)  # docs/notes.md: the reading that gives the paper's numbers
_GD_IMAGES: tuple = (("output", "signs"), ("train_output", False))
_ALTERNATE: tuple = (("starts", 1), ("alternate", True))

_PAPER: dict[str, dict[str, Method]] = {
    "table-a1": {
        "gradient-descent": Method("gradient-descent", (("steps", 400_000), *_GD_SYNTHETIC)),
        "random-vertex": Method("random-vertex", _ALTERNATE, runs=16),
        "gls": Method("gls", (("max_moves", 1024),), (_HALF_AN_HOUR,)),
        BEST: Method(BEST, (), (("seconds", 60.0), ("target", 1e-24))),
    },
    "table-a2": {
        "gradient-descent": Method("gradient-descent", (("steps", 1_000_000), *_GD_IMAGES)),
        "random-vertex": Method("random-vertex", (("starts", 1),), runs=16),
        BEST: Method(BEST, (), (("seconds", 60.0), ("target", 1e-12))),
    },
    "table-a3": {
        "gradient-descent": Method("gradient-descent", (("steps", 1_000_000), *_GD_IMAGES)),
        "mgls": Method("mgls", (("max_moves", 2048),), (_HALF_AN_HOUR,)),
        BEST: Method(BEST, (), (("seconds", 60.0), ("target", 1e-12))),
    },
}
_SMOKE: dict[str, dict[str, Method]] = {
    "table-a1": {
        "gradient-descent": Method("gradient-descent", (("steps", 20_000), *_GD_SYNTHETIC), runs=2),
        "random-vertex": Method("random-vertex", _ALTERNATE, runs=2),
        "gls": Method("gls", (("max_moves", 8),), runs=2),
        BEST: Method(BEST, (), (("moves", 200.0), ("target", 1e-24)), runs=2),
    },
    "table-a2": {
        "gradient-descent": Method("gradient-descent", (("steps", 5_000), *_GD_IMAGES), runs=2),
        "random-vertex": Method("random-vertex", (("starts", 1),), runs=2),
        BEST: Method(BEST, (), (("moves", 20.0), ("target", 1e-12)), runs=2),
    },
    "table-a3": {
        "gradient-descent": Method("gradient-descent", (("steps", 5_000), *_GD_IMAGES), runs=2),
        "mgls": Method("mgls", (("max_moves", 8),), runs=2),
        BEST: Method(BEST, (), (("moves", 20.0), ("target", 1e-12)), runs=2),
    },
}
_SMOKE_LARGEST = 20_000  # cells of the miniature: entries of the matrix of a vertex program
_PLANS = {"paper": _PAPER, "smoke": _SMOKE}


def make_table(name: str, scale: str = "paper") -> Table:
    """The plan of one of the paper's tables.

    Parameters
    ----------
    name : {"table-a1", "table-a2", "table-a3"}
    scale : {"smoke", "paper"}

    Returns
    -------
    Table
        A cell gets the methods for which the paper has a number there, and hopping.
    """
    if name not in TABLES:
        raise InputError(f"name: {name!r} is no table of the paper; choose one of {', '.join(TABLES)}.")
    if scale not in SCALES:
        raise InputError(f"scale: {scale!r} will not do; choose one of {', '.join(SCALES)}.")
    methods, entries = _PLANS[scale][name], printed(name)
    cells = list(dict.fromkeys(cell for cell, _ in entries))
    cells.sort(key=lambda cell: (_ORDER.index(cell.data), cell.d, cell.n_examples, cell.m_gen, cell.m))
    if scale == "smoke":
        cells = [cell for cell in cells if _in_smoke(cell)]
    plan = [
        (cell, tuple(method for key, method in methods.items() if key == BEST or (cell, key) in entries))
        for cell in cells
    ]
    return Table(name, scale, tuple(plan))


_ORDER = ("synthetic", "mnist_49", "mnist_59", "fashion_24")


def _in_smoke(cell: Cell) -> bool:
    if cell.data == "synthetic":
        return cell.d * cell.m_gen <= 16 or (cell.d, cell.m_gen) == (8, 8)
    return size(cell) <= _SMOKE_LARGEST or (cell.data == "fashion_24" and cell.d == 16 and cell.m == 4)
