"""What the benchmarks share: one thread, a clock, Markdown tables. Imported before NumPy, which reads the first."""

from __future__ import annotations

import os
import time

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")


def clock(function, *arguments, **options):
    """Milliseconds and result."""
    begin = time.perf_counter()
    result = function(*arguments, **options)
    return 1e3 * (time.perf_counter() - begin), result


def row(*cells) -> None:
    """Print one row."""
    print("|", " | ".join(map(str, cells)), "|", flush=True)


def head(names: str) -> None:
    """Print the names of the columns, which are separated by two spaces or a line break."""
    cells = [name.strip() for line in names.split("\n") for name in line.split("  ") if name.strip()]
    row(*cells)
    print("|" + "---|" * len(cells))
