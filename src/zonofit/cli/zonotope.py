"""``zonofit zonotope``: faces, volume and a picture of the zonotope."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from zonofit import __version__
from zonofit.cli.options import Columns, File, Generators, Json, read_arrangement
from zonofit.cli.output import WARNINGS, count, emit, say, show
from zonofit.cli.progress import Progress

IN_JSON = 1000
ON_SCREEN = 12


def zonotope(
    file: File,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="NAME.svg", help="Draw it (.svg, .png, .pdf) in R^2 or R^3.")
    ] = None,
    generators: Generators = False,
    columns: Columns = None,
    json: Json = False,
) -> None:
    """Describe and draw the zonotope of the examples.

    Its generators are the examples in FILE with a 1 appended, its vertices the activation patterns of one ReLU unit. It
    is described by its faces, its volume, and how far the data are from general position.

    \b
    JSON: command, version, file: str;
      examples, dimension: int, of the generators (dimension counts the bias); rank: int, dimension of the zonotope;
      f_vector: list of int, numbers of faces of dimension 0, 1, ..., rank;
      volume: float, of that dimension, or null (too many determinants to sum, or beyond the range of floats);
      vertices: list of {pattern: str of 0 and 1, point: list of float}, or null when there are more than 1,000;
      position: {general: bool or null (unknown), exact: bool, zero: list of int, equal: list of list of int,
      parallel: list of list of int, circuits: list of int (number of minimal dependent sets of k generators, by k),
      nearest: float, nearest_subset: list of int or null}, rows counted from 0;
      plot: str or null; seconds: float;
      warnings: list of str.
    """  # noqa: D301
    from zonofit.errors import BudgetError
    from zonofit.geometry.zonotope import Zonotope

    if plot is not None:
        from zonofit.plots.canvas import check_path

        check_path(plot)
    arrangement = read_arrangement(file, generators, columns)
    polytope = Zonotope(arrangement)
    if plot is not None:
        from zonofit.plots.labelled import check_drawable

        check_drawable(polytope)
    start = time.perf_counter()
    with Progress("enumerating faces"):
        f_vector = polytope.f_vector()
    with Progress("checking general position"):
        report = arrangement.position()
    try:
        with Progress("summing volumes"):
            volume = polytope.volume()
    except BudgetError as error:
        volume = None
        say(f"zonofit: {error}")
    if plot is not None:
        from zonofit.plots.labelled import zonotope_figure

        with Progress("drawing"):
            zonotope_figure(polytope, path=plot)
    seconds = time.perf_counter() - start
    shown = IN_JSON if json else ON_SCREEN
    vertices = _vertices(polytope) if polytope.n_vertices <= shown else None
    if json:
        emit(
            {
                "command": "zonotope",
                "version": __version__,
                "file": str(file),
                "examples": arrangement.n_generators,
                "dimension": arrangement.dimension,
                "rank": arrangement.rank,
                "f_vector": list(f_vector),
                "volume": volume,
                "vertices": vertices,
                "position": _position(report),
                "plot": None if plot is None else str(plot),
                "seconds": seconds,
                "warnings": WARNINGS,
            }
        )
        return
    faces = list(enumerate(f_vector[:-1]))
    rows = [
        ("generators", f"{arrangement.n_generators} in dimension {arrangement.dimension}"),
        ("dimension", str(polytope.dimension)),
        ("faces", ", ".join(f"{count(f)} {_face(k, polytope.dimension)}" for k, f in faces) or "1 vertex"),
        ("volume", "not summed" if volume is None else f"{volume:.6g}"),
    ]
    if vertices is not None:
        rows += [
            ("vertices" if k == 0 else "", f"{v['pattern']}  ({', '.join(f'{x:.4g}' for x in v['point'])})")
            for k, v in enumerate(vertices)
        ]
    if plot is not None:
        rows.append(("picture", str(plot)))
    show(rows)
    print(report)


def _face(k: int, dimension: int) -> str:
    if k == 0:
        return "vertices"
    if k == 1 and dimension > 1:
        return "edges"
    return "facets" if k == dimension - 1 else f"{k}-faces"


def _vertices(polytope) -> list[dict]:
    points, barcodes = polytope.vertices()
    patterns = ["".join("01"[bit] for bit in row) for row in barcodes.astype(int).tolist()]
    return [{"pattern": a, "point": p} for a, p in zip(patterns, points.tolist(), strict=True)]


def _position(report) -> dict:
    return {
        "general": report.is_generic,
        "exact": report.exact,
        "zero": report.zero,
        "equal": report.equal,
        "parallel": [[i for i, _ in group] for group in report.parallel],
        "circuits": report.circuit_counts,
        "nearest": report.nearest,
        "nearest_subset": report.nearest_subset,
    }
