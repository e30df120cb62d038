"""Delimited text: CSV and its relatives.

Nothing is guessed that could lose an example: a first line that mixes names and numbers is an error, not a header.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np

from zonofit.data.table import Table, default_names, positions, show
from zonofit.errors import InputError

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "-", "#n/a"})


def read_delimited(path: Path, columns) -> Table:
    """The table in a text file."""
    raw = path.read_bytes()
    if not raw.strip():
        raise InputError(f"{path}: the file is empty; write one example a line.")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: byte {error.start} is not UTF-8 text; save the table as UTF-8 CSV.") from None
    if "\0" in text:
        raise InputError(f"{path}: holds binary data, not text; save the table as UTF-8 CSV.")
    lines, rows = _split(path, text)
    if not rows:
        raise InputError(f"{path}: holds comments only; write one example a line.")

    has_header = _is_header(path, lines[0], rows[0])
    names = tuple(cell.strip() for cell in rows[0]) if has_header else default_names(len(rows[0]))
    if has_header:
        del lines[0], rows[0]
    if not rows:
        raise InputError(f"{path}: has a header and no examples; write one example a line below it.")
    for line, row in zip(lines, rows, strict=True):
        if len(row) != len(names):
            raise InputError(
                f"{path}: line {line} has {len(row)} columns where the first has {len(names)}; "
                "make every row equally long."
            )
    keep = positions(path, names, columns)
    for j in keep:
        if not names[j]:
            raise InputError(
                f"{path}: column {j + 1} has no name, as when pandas writes its index; "
                "leave it out (index=False) or name it."
            )
    if keep != list(range(len(names))):
        rows = [[row[j] for j in keep] for row in rows]
    values = _numbers(rows)
    if values is None or not np.isfinite(values).all():
        raise _first_bad_cell(path, lines, rows, names, keep)
    return Table(tuple(names[j] for j in keep), values, has_header)


def _split(path: Path, text: str) -> tuple[list[int], list[list[str]]]:
    """Line numbers and cells of the lines with content."""
    content = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if not content:
        return [], []
    # a tab or a semicolon is never part of a number, a comma may be (1,5)
    unquoted = "".join(content[0].split('"')[::2])
    delimiter = next((mark for mark in "\t;," if mark in unquoted), None)
    if delimiter is None and len(content[-1].split()) > 1 and '"' not in text:
        pairs = [(k, line.split()) for k, line in enumerate(text.splitlines(), 1)]
        pairs = [(k, row) for k, row in pairs if row and not row[0].startswith("#")]
        return [k for k, _ in pairs], [row for _, row in pairs]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter or ",", skipinitialspace=True, strict=True)
    lines, rows = [], []
    try:
        for row in reader:
            if not row or (len(row) == 1 and not row[0].strip()) or row[0].lstrip().startswith("#"):
                continue
            lines.append(reader.line_num)
            rows.append(row)
    except csv.Error as error:
        raise InputError(f"{path}: line {reader.line_num} is not CSV ({error}); check its quotes.") from None
    return lines, rows


def _is_header(path: Path, line: int, row: list[str]) -> bool:
    numeric = [_number(cell) is not None for cell in row]
    missing = [cell.strip().lower() in MISSING for cell in row]
    if not any(numeric):
        return not all(missing)
    if all(n or m for n, m in zip(numeric, missing, strict=True)):
        return False
    name = row[numeric.index(False)].strip()
    raise InputError(
        f"{path}: line {line} mixes numbers with names such as {show(name)}; "
        "name every column in the first line, or none."
    )


def _numbers(rows: list[list[str]]) -> np.ndarray | None:
    if any("_" in cell for row in rows for cell in row):
        return None
    try:
        return np.array(rows, dtype=float)
    except ValueError:
        return None


def _first_bad_cell(
    path: Path, lines: list[int], rows: list[list[str]], names: tuple[str, ...], keep: list[int]
) -> InputError:
    for line, row in zip(lines, rows, strict=True):
        for j, cell in zip(keep, row, strict=True):
            value = _number(cell)
            if value is not None and np.isfinite(value):
                continue
            where = f"{path}: line {line}, column {j + 1} ({names[j]})"
            bare = cell.strip()
            if bare.lower() in MISSING:
                what = f"{show(bare)} is a missing value" if bare else "a value is missing"
                return InputError(f"{where}: {what}; drop the row or fill it.")
            if value is not None:
                return InputError(f"{where}: {bare} is not finite; drop the row or replace it.")
            if _number(bare.replace(",", ".")) is not None:
                return InputError(f"{where}: {show(bare)} has a decimal comma; write it with a point.")
            return InputError(f"{where}: {show(bare)} is not a number; encode the column as numbers or leave it out.")
    raise AssertionError("every cell is a finite number")


def _number(cell: str) -> float | None:
    try:
        return None if "_" in cell else float(cell)  # Python reads 1_000 as a number; a table's author did not mean it
    except ValueError:
        return None
