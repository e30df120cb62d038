"""Medians and spreads of rows, beside the paper's: what tables, pictures and the report are made from."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from zonofit.experiments.paper import EXCHANGED, Printed, printed
from zonofit.experiments.spec import Cell, Method, Table, size

__all__ = ["Entry", "Missing", "missing", "summarise"]

AGREES, DIFFERS, OTHER_HEADING = "", "≠", "⇄"
MARKS = {
    DIFFERS: "our median differs from the paper's by more than the paper's spread",
    OTHER_HEADING: "it does, and is within the spread of what the paper prints under the other of the two headings "
    "of Table A1 that seem to be exchanged",
}


@dataclass(frozen=True)
class Entry:
    """One method on one cell.

    Attributes
    ----------
    cell : Cell
    method : str
    paper : Printed or None
    runs, wanted : int
        Rows that are there, and that the plan has.
    loss, loss_spread : float or None
        Median and standard deviation.
    accuracy, accuracy_spread : float or None
        In per cent.
    seconds : float or None
        Median of a run.
    certificate : float or None
        The worst.
    mark : str
        One of the keys of `MARKS`, or "".
    stopped : dict
        How many runs ended for which reason.
    """

    cell: Cell
    method: str
    paper: Printed | None
    runs: int
    wanted: int
    loss: float | None
    loss_spread: float | None
    accuracy: float | None
    accuracy_spread: float | None
    seconds: float | None
    certificate: float | None
    mark: str
    stopped: dict[str, int]


@dataclass(frozen=True)
class Missing:
    """Runs of a plan that have no row.

    Attributes
    ----------
    cell : Cell
    method : str
    runs : int
    seconds : float or None
        That one of them would take; None where too few rows of the method are there to tell from.
    bound : bool
        Whether `seconds` is what the budget of a run allows, and not an extrapolation.
    """

    cell: Cell
    method: str
    runs: int
    seconds: float | None
    bound: bool


def summarise(table: Table, rows: Sequence[dict[str, Any]]) -> list[Entry]:
    """An entry for each cell and method of a table.

    Parameters
    ----------
    table : Table
    rows : sequence of dict
        As `zonofit.experiments.store.Store.rows` returns them; those of other tables do no harm.
    """
    there, paper = _by_job(rows), printed(table.name)
    return [
        _entry(cell, method, _rows_of(table, cell, method, there), paper)
        for cell, methods in table.plan
        for method in methods
    ]


def missing(table: Table, rows: Sequence[dict[str, Any]]) -> list[Missing]:
    """What has no row yet, and how long it would take, extrapolated from the rows that are there."""
    there = _by_job(rows)
    found = []
    for cell, methods in table.plan:
        for method in methods:
            lacking = method.runs - len(_rows_of(table, cell, method, there))
            if lacking:
                seconds, bound = _estimate(cell, method, rows)
                found.append(Missing(cell, method.name, lacking, seconds, bound))
    return found


def _by_job(rows) -> dict[tuple[str, int], dict[str, Any]]:
    return {(row["key"], row["seed"]): row for row in rows}


def _rows_of(table: Table, cell: Cell, method: Method, there) -> list[dict[str, Any]]:
    from zonofit.experiments.spec import Job

    keys = [(Job(cell, method, seed).key, seed) for seed in range(method.runs)]
    return [there[key] for key in keys if key in there]


def _entry(cell: Cell, method: Method, rows: list[dict[str, Any]], paper) -> Entry:
    beside = paper.get((cell, method.name))
    losses, shares = (
        [row["loss"] for row in rows],
        [100 * row["accuracy"] for row in rows if row["accuracy"] is not None],
    )
    certificates = [row["certificate"] for row in rows if row["certificate"] is not None]
    loss = statistics.median(losses) if losses else None
    return Entry(
        cell, method.name, beside, len(rows), method.runs, loss, _spread(losses),
        statistics.median(shares) if shares else None, _spread(shares),
        statistics.median(row["seconds"] for row in rows) if rows else None, max(certificates, default=None),
        _mark(loss, beside, paper.get((cell, EXCHANGED.get(method.name, "")))),
        dict(Counter(row["stop_reason"] for row in rows)),
    )  # fmt: skip


def _spread(values: list[float]) -> float | None:
    """Standard deviation; None for fewer than two values, or where one is infinite."""
    return statistics.stdev(values) if len(values) > 1 and all(map(math.isfinite, values)) else None


def _mark(loss: float | None, paper: Printed | None, other: Printed | None) -> str:
    def within(entry: Printed | None) -> bool:
        return entry is not None and loss is not None and abs(loss - entry.loss) <= entry.loss_spread

    if loss is None or paper is None or within(paper):
        return AGREES
    return OTHER_HEADING if paper.accuracy is None and within(other) else DIFFERS


def _estimate(cell: Cell, method: Method, rows) -> tuple[float | None, bool]:
    """Seconds of a run, as other seeds of the cell took, or by a power law through the rows of the same settings.

    The latter is cut at what the budget of a run allows.
    """
    limit = dict(method.budget).get("seconds")
    settings = [list(pair) for pair in method.settings]
    mine = [row for row in rows if row["method"]["name"] == method.name and row["method"]["settings"] == settings]
    here = [row["seconds"] for row in mine if Cell(**row["cell"]) == cell]
    if here:
        return statistics.median(here), False
    points = [(math.log(size(Cell(**row["cell"]))), math.log(max(row["seconds"], 1e-6))) for row in mine]
    if len({x for x, _ in points}) < 2:
        return (limit, True) if limit is not None else (None, False)
    x, y = zip(*points, strict=True)
    slope, height = statistics.linear_regression(x, y)
    seconds = math.exp(height + slope * math.log(size(cell)))
    return (limit, True) if limit is not None and seconds > limit else (seconds, False)
