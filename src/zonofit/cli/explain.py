"""``zonofit explain``: the linear pieces that a network is made of."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zonofit import __version__
from zonofit.cli.models import Model, formula, picture, plural, read_features, rows_of
from zonofit.cli.options import Json
from zonofit.cli.output import WARNINGS, emit, show

if TYPE_CHECKING:
    import numpy as np

    from zonofit.network import ShallowReLU

PIECES_ON_SCREEN, UNITS_ON_SCREEN, FEATURES_ON_SCREEN = 12, 12, 6


def explain(
    model: Model,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data", metavar="FILE", help="A table: count its rows on each piece. Needed with many features."
        ),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="NAME.svg", help="Draw it, on one or two features.")
    ] = None,
    json: Json = False,
) -> None:
    """Say what a network computes: a formula, and an affine function on each of its linear pieces.

    On one feature all pieces are listed, from left to right. On more, those that the rows of --data lie on, the most
    frequent first. The network is simplified before, which does not change what it computes.

    \b
    JSON: command, version, model: str; target: str or null; features: list of str; width: int;
      units: list of {output_weight: float, weights: list of float, bias: float};
      pieces: list of {slopes: list of float, one a feature; intercept: float;
      left, right: float or null, on one feature; rows: int or null, of --data};
      plot: str or null, the file; warnings: list of str.
    """  # noqa: D301
    from zonofit.export.json import load

    picture(plot, "--plot")
    network = load(model).simplify()
    X = None if data is None else read_features(data, network)
    pieces = _intervals(network, X) if network.n_features == 1 else _of_rows(network, X)
    if plot is not None:
        from zonofit.plots.network import network_figure

        network_figure(network, X, path=plot)
    fields = {
        "command": "explain",
        "version": __version__,
        "model": str(model),
        "target": network.target,
        "features": network.names,
        "width": network.width,
        "units": [
            {"output_weight": v, "weights": w[:-1], "bias": w[-1]}
            for v, w in zip(network.v.tolist(), network.W.tolist(), strict=True)
        ],
        "pieces": pieces,
        "plot": None if plot is None else str(plot),
        "warnings": WARNINGS,
    }
    if json:
        emit(fields)
    else:
        show(_rows(network, pieces, data))


def _intervals(network: ShallowReLU, X: np.ndarray | None) -> list[dict[str, Any]]:
    import numpy as np

    where = None if X is None else np.bincount(np.searchsorted(network.breakpoints, X[:, 0]), minlength=1)
    return [
        {
            "slopes": [piece.slope],
            "intercept": piece.intercept,
            "left": piece.left,
            "right": piece.right,
            "rows": None if where is None else int(where[k]) if k < len(where) else 0,
        }
        for k, piece in enumerate(network.pieces)
    ]


def _of_rows(network: ShallowReLU, X: np.ndarray | None) -> list[dict[str, Any]]:
    import numpy as np

    if X is None:
        return []
    patterns, first, rows = np.unique(network.patterns(X).T, axis=0, return_index=True, return_counts=True)
    slopes, intercepts = network.affine_at(X[first])
    return [
        {"slopes": slopes[k].tolist(), "intercept": float(intercepts[k]), "left": None, "right": None,
         "rows": int(rows[k])}
        for k in np.argsort(-rows, kind="stable")[: len(patterns)]
    ]  # fmt: skip


def _rows(network: ShallowReLU, pieces: list[dict[str, Any]], data: Path | None) -> list[tuple[str, str]]:
    name = network.target or "f(x)"
    rows = [("network", f"{name} from {plural(network.n_features, 'feature')}, {plural(network.width, 'unit')}")]
    if network.classes is not None:
        rows.append(("classes", f"{network.classes[1]} where {name} > 0, else {network.classes[0]}"))
    if network.width <= UNITS_ON_SCREEN and network.n_features <= FEATURES_ON_SCREEN:
        rows += rows_of(formula(network), "formula")
    if not pieces:
        rows.append(("pieces", "pass --data FILE to see those that the rows of a table lie on"))
        return rows
    lines = [_line(network, piece) for piece in pieces[:PIECES_ON_SCREEN]]
    if len(pieces) > PIECES_ON_SCREEN:
        lines.append(f"and {len(pieces) - PIECES_ON_SCREEN} more; --json has all of them")
    return rows + rows_of(lines, "pieces")


def _line(network: ShallowReLU, piece: dict[str, Any]) -> str:
    pairs = list(zip(piece["slopes"], network.names, strict=True))
    largest = sorted(pairs, key=lambda pair: -abs(pair[0]))[:FEATURES_ON_SCREEN]
    terms = " ".join(f"{x:+.4g} {name}" for x, name in largest if x)
    more = " ..." if len(pairs) > FEATURES_ON_SCREEN else ""
    count = "" if piece["rows"] is None else f"{plural(piece['rows'], 'row')}: "
    where = (
        "" if piece["left"] is None else f"  for {network.names[0]} from {piece['left']:.4g} to {piece['right']:.4g}"
    )
    return f"{count}{piece['intercept']:.4g} {terms}{more}{where}"
