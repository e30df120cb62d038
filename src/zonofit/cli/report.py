"""``zonofit report``: one page of the rows that there are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zonofit import __version__
from zonofit.cli.options import Json, check_output
from zonofit.cli.output import WARNINGS, emit, say
from zonofit.cli.progress import Progress
from zonofit.errors import InputError


def report(
    rows: Annotated[Path, typer.Argument(metavar="FILE", help="Rows that zonofit reproduce has written.")] = Path(
        "zonofit-results/rows.sqlite"
    ),
    scale: Annotated[
        str, typer.Option("--scale", metavar="NAME", help="smoke or paper: which plan is shown.")
    ] = "smoke",
    out: Annotated[Path, typer.Option("--out", metavar="NAME.html", help="The page.")] = Path("report.html"),
    json: Json = False,
) -> None:
    """Make one page of the paper's tables and figures: sortable, self-contained, without a network.

    It shows what rows there are, beside the paper's numbers, lists what is missing and the time that it would take, and
    says of every row from which version, commit and machine it is.

    \b
    JSON: command, version, scale, rows, out: str; n_rows: int;
      warnings: list of str.
    """  # noqa: D301
    from zonofit.experiments.report import make_report
    from zonofit.experiments.store import Store
    from zonofit.search.trace import write_whole

    if not rows.is_file():
        raise InputError(f"FILE: there is no file {rows}; make it with zonofit reproduce.")
    check_output(out, "--out")
    found = Store(rows).rows()
    with Progress("drawing"):
        page = make_report(found, scale)
    write_whole(out, page)
    if json:
        emit({
            "command": "report", "version": __version__, "scale": scale, "rows": str(rows), "out": str(out),
            "n_rows": len(found), "warnings": WARNINGS,
        })  # fmt: skip
        return
    print(out)
    say(f"{len(found):,} rows.")
