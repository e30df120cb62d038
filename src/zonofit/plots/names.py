"""How sets of examples are written in pictures."""

from __future__ import annotations

import numpy as np


def active_set(pattern: np.ndarray, first: int = 1) -> str:
    """The active examples of a pattern: ``1,3``; from seven examples on three and more in a row are a range.

    Parameters
    ----------
    pattern : ndarray (N,) of bool
        Which examples are active.
    first : int
        Number given to row 0; the paper counts from 1.
    """
    return ",".join(runs(np.flatnonzero(pattern) + first, 3 if len(pattern) >= 7 else len(pattern) + 1)) or "∅"


def runs(numbers, least: int = 3) -> list[str]:
    """Numbers in increasing order, `least` and more in a row as a range with an en dash."""
    parts: list[str] = []
    numbers = [int(k) for k in numbers]
    start = 0
    for stop in range(1, len(numbers) + 1):
        if stop < len(numbers) and numbers[stop] == numbers[stop - 1] + 1:
            continue
        run = numbers[start:stop]
        parts += [f"{run[0]}–{run[-1]}"] if len(run) >= least else [str(k) for k in run]
        start = stop
    return parts


def wrap(text: str, lines: int) -> str | None:
    """A list broken after commas into `lines` lines of nearly equal length; None when it has fewer parts."""
    parts = text.split(",")
    if len(parts) < lines:
        return None
    rows: list[str] = []
    total = len(text)
    for k in range(lines):
        row: list[str] = []
        while parts and (len(parts) > lines - k - 1):
            if row and len(",".join([*rows, *row])) + len(parts[0]) / 2 > total * (k + 1) / lines:
                break
            row.append(parts.pop(0))
        rows.append(",".join(row))
    rows[-1] = ",".join(filter(None, [rows[-1], *parts]))
    return ",\n".join(rows)
