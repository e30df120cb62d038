"""Tables of examples from files: CSV, Parquet, .npy and .npz, checked cell by cell.

A table that cannot be used is refused with one sentence that names the file, the row and the column, because the
person who reads it has the file open in another window.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from zonofit.data.binary import read_array, read_parquet
from zonofit.data.delimited import read_delimited
from zonofit.data.table import Table
from zonofit.errors import InputError

__all__ = ["SUFFIXES", "Table", "read_table"]

SUFFIXES = (".csv", ".tsv", ".txt", ".parquet", ".npy", ".npz")


def read_table(path, *, columns: Sequence[str | int] | None = None) -> Table:
    """Read a table of numbers, one example a row.

    Parameters
    ----------
    path : str or Path
        ``.csv``, ``.tsv`` or ``.txt`` (comma, semicolon or tab; a header is found by itself; lines that begin with #
        and empty lines are skipped), ``.parquet`` (needs pyarrow), ``.npy``, or ``.npz`` with one array.
    columns : sequence of str or int, optional
        Names or positions (from 0) of the columns to keep, in this order; the others are not looked at.

    Returns
    -------
    Table
        Names and finite float64 values (N, d).

    Raises
    ------
    InputError
        When the file is missing, empty, of another kind, or holds anything but finite numbers.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(
            f"{path}: cannot read a file ending in {suffix!r}; "
            "pass .csv, .tsv, .txt, .parquet, .npy, or .npz with one array."
        )
    if path.is_dir():
        raise InputError(f"{path}: is a folder; pass a file.")
    try:
        if suffix == ".parquet":
            return read_parquet(path, columns)
        if suffix in (".npy", ".npz"):
            return read_array(path, columns)
        return read_delimited(path, columns)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; check the name and the folder.") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error}); check the file.") from None
