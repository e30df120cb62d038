"""Arguments that commands share."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zonofit.errors import InputError

if TYPE_CHECKING:
    import numpy as np

    from zonofit.geometry.arrangement import Arrangement

File = Annotated[
    Path, typer.Argument(metavar="FILE", help="Table of numbers, one example a row: .csv, .parquet, .npy.")
]
Target = Annotated[
    str, typer.Option("--target", metavar="COLUMN", help="The labels: a column by name or position (from 0).")
]
Generators = Annotated[
    bool, typer.Option("--generators", help="Rows are generators already: do not append the 1 of the bias.")
]
Columns = Annotated[
    str | None, typer.Option("--columns", metavar="A,B,...", help="Columns to use, by name or position (from 0).")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object, and nothing else, on standard output.")]


@dataclass(frozen=True)
class Labelled:
    """Examples X (N, d) with labels y (N,), and the names of their columns."""

    X: np.ndarray
    y: np.ndarray
    features: tuple[str, ...]
    target: str


def read_arrangement(file: Path, generators: bool, columns: str | None) -> Arrangement:
    """The arrangement of a file's rows."""
    from zonofit.data.tables import read_table
    from zonofit.geometry.arrangement import Arrangement

    values = read_table(file, columns=None if columns is None else _chosen(columns)).values
    return Arrangement(values) if generators else Arrangement.from_examples(values)


def read_labelled(file: Path, target: str, columns: str | None) -> Labelled:
    """Examples and labels from the columns of a file.

    `target` and the chosen `columns` are names or positions (from 0; a negative one counts from the end). By default
    every column but the target is a feature.
    """
    import numpy as np

    from zonofit.data.table import positions
    from zonofit.data.tables import read_table

    label = _column(target.strip())
    if columns is None:
        table = read_table(file)
        k = positions(file, table.names, [label])[0]
    else:
        table = read_table(file, columns=[*_chosen(columns), label])
        k = len(table.names) - 1
        if table.names[k] in table.names[:k]:
            raise InputError(f"--columns: the target {table.names[k]} is among the features; leave it out.")
    features = tuple(name for j, name in enumerate(table.names) if j != k)
    if not features:
        raise InputError(f"{file}: has no column but the target {table.names[k]}; add at least one feature.")
    return Labelled(np.delete(table.values, k, axis=1), table.values[:, k].copy(), features, table.names[k])


def check_output(path: Path, option: str) -> Path:
    """`path` if a file can be written there, as far as one can tell before the work."""
    if path.is_dir():
        raise InputError(f"{option}: {path} is a folder; pass the name of a file.")
    if not path.parent.is_dir():
        raise InputError(f"{option}: there is no folder {path.parent}; make it first.")
    return path


def read_duration(text: str, option: str) -> float:
    """Seconds from 60, 60s, 1.5m or 2h."""
    match = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+) ?([smh]?)", text.strip().lower())
    seconds = float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]] if match else 0.0
    if not 0 < seconds < float("inf"):
        raise InputError(f"{option}: {text!r} is not a length of time; write 60, 60s, 1.5m or 2h.")
    return seconds


def _chosen(columns: str) -> list[str | int]:
    parts = [part.strip() for part in columns.split(",")]
    return [_column(part) for part in parts if part]


def _column(text: str) -> str | int:
    return int(text) if text.removeprefix("-").isdecimal() else text
