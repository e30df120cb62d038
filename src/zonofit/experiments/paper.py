"""What the paper printed: Tables A1, A2 and A3, medians and standard deviations."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from zonofit.experiments.spec import Cell

__all__ = ["EXCHANGED", "Printed", "printed"]

EXCHANGED = {"random-vertex": "gls", "gls": "random-vertex"}
"""Two headings of Table A1 that seem to have changed places; docs/notes.md says why."""


@dataclass(frozen=True)
class Printed:
    """One entry of a table of the paper; accuracies in per cent."""

    loss: float
    loss_spread: float
    accuracy: float | None = None
    accuracy_spread: float | None = None


@cache
def printed(table: str) -> dict[tuple[Cell, str], Printed]:
    """Entries of "table-a1", "table-a2" or "table-a3", by cell and method, as they are headed there.

    The paper has one MNIST task, 5/9 in its text and 4/9 in its appendix; its numbers stand beside both.
    """
    lines = (files("zonofit.experiments") / f"paper_{table[-2:]}.csv").read_text("utf8").splitlines()
    found: dict[tuple[Cell, str], Printed] = {}
    for row in csv.DictReader(lines):
        d, m = int(row["d"]), int(row["m"])
        loss, spread = float(row["loss"]), float(row["loss_spread"])
        if "task" not in row:
            cell = Cell("synthetic", d, m, int(row["m_gen"]), (d + 1) * int(row["m_gen"]))
            found[cell, row["method"]] = Printed(loss, spread)
            continue
        entry = Printed(loss, spread, float(row["accuracy"]), float(row["accuracy_spread"]))
        for task in ("mnist_49", "mnist_59") if row["task"] == "mnist_49" else (row["task"],):
            found[Cell(task, d, m, 0, int(row["n_examples"])), row["method"]] = entry
    return found
