"""Arguments that commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from zonofit.geometry.arrangement import Arrangement

File = Annotated[
    Path, typer.Argument(metavar="FILE", help="Table of numbers, one example a row: .csv, .parquet, .npy.")
]
Generators = Annotated[
    bool, typer.Option("--generators", help="Rows are generators already: do not append the 1 of the bias.")
]
Columns = Annotated[
    str | None, typer.Option("--columns", metavar="A,B,...", help="Columns to use, by name or position (from 0).")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object, and nothing else, on standard output.")]


def read_arrangement(file: Path, generators: bool, columns: str | None) -> Arrangement:
    """The arrangement of a file's rows."""
    from zonofit.data.tables import read_table
    from zonofit.geometry.arrangement import Arrangement

    values = read_table(file, columns=None if columns is None else _chosen(columns)).values
    return Arrangement(values) if generators else Arrangement.from_examples(values)


def _chosen(columns: str) -> list[str | int]:
    parts = [part.strip() for part in columns.split(",")]
    return [int(part) if part.isdecimal() else part for part in parts if part]
