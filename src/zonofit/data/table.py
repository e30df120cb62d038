"""A table of finite numbers, and the ways one is refused."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from zonofit.errors import InputError

SHOWN = 24


@dataclass(frozen=True)
class Table:
    """Columns of finite numbers.

    Attributes
    ----------
    names : tuple of str
        Column names: the file's header, or ``x1, x2, ...`` where it has none.
    values : ndarray (N, d)
        float64, C-contiguous, finite.
    has_header : bool
        Whether the names came from the file.
    """

    names: tuple[str, ...]
    values: np.ndarray
    has_header: bool


def show(text: str) -> str:
    """A cell as a message quotes it: short."""
    return repr(text if len(text) <= SHOWN else text[: SHOWN - 3] + "...")


def default_names(d: int) -> tuple[str, ...]:
    """Names of d columns that have none."""
    return tuple(f"x{j + 1}" for j in range(d))


def positions(path: Path, names: tuple[str, ...], columns) -> list[int]:
    """Where the chosen columns are."""
    if columns is None:
        return list(range(len(names)))
    if isinstance(columns, str):
        columns = [columns]
    keep = []
    for column in columns:
        if isinstance(column, (int, np.integer)) and -len(names) <= column < len(names):
            keep.append(int(column) % len(names))
        elif isinstance(column, str) and names.count(column) == 1:
            keep.append(names.index(column))
        elif isinstance(column, str) and column in names:
            raise InputError(f"{path}: column {column!r} occurs {names.count(column)} times; choose it by position.")
        else:
            listed = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
            raise InputError(f"{path}: has no column {column!r}; its {len(names)} columns are {listed}.")
    if not keep:
        raise InputError(f"{path}: columns is empty; choose at least one column.")
    return keep


def refuse_non_finite(path: Path, values: np.ndarray, names: tuple[str, ...], keep: list[int]) -> None:
    """Raise an `InputError` at the first entry that is NaN or infinite."""
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        i, j = bad[0]
        raise InputError(
            f"{path}: row {i + 1}, column {keep[j] + 1} ({names[j]}): {values[i, j]} is not finite "
            f"({len(bad)} such in all); drop the row or fill it."
        )
