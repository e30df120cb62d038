"""A table of a second, for tests that kill what runs it; as a script: ``python -m ... FILE JOBS RUNS``."""

from __future__ import annotations

import sys

from zonofit.experiments.runner import run_tables
from zonofit.experiments.spec import Cell, Method, Table


def miniature(runs: int = 3) -> Table:
    cells = [Cell("synthetic", 2, m, 2, 6) for m in (2, 3, 4)]
    methods = (
        Method("gradient-descent", (("steps", 3000), ("scale", "sum")), runs=runs),
        Method("random-vertex", (("starts", 1),), runs=runs),
        Method("hopping", (), (("moves", 10.0), ("target", 1e-24)), runs=runs),
    )
    return Table("table-a1", "smoke", tuple((cell, methods) for cell in cells))


if __name__ == "__main__":
    run_tables([miniature(int(sys.argv[3]))], sys.argv[1], jobs=int(sys.argv[2]))
