"""The paper's searches beside the paper's tables: random vertex and GLS on Table A1's data, mGLS on Table A3's.

    python benchmarks/bench_searches.py [--quick] [--tasks FOLDER]

Medians over runs, each on data of its own for Table A1 (the paper does not say whether its runs share them). "Same
data" has all runs on the data of one seed, as the least and the greatest of ten such medians.
The table's headings for random vertices and for GLS seem to be exchanged (docs/notes.md), so both columns are shown.
FOLDER holds arrays X and y in .npz files, named after the tasks: mnist_59.npz, fashion_24.npz.
"""

from __future__ import annotations

import argparse

import table  # isort: skip
import statistics
from pathlib import Path

import numpy as np

from data import synthetic
from zonofit.programs import Problem
from zonofit.search import GLS, MGLS, Budget, RandomVertex, run

# d, m_gen, m: the columns headed Random Vertex and GLS Heuristic of Table A1
TABLE_A1 = {
    (4, 2, 2): (1.25e-1, 8.27e-1),
    (4, 2, 4): (4.10e-8, 1.58e-1),
    (4, 2, 8): (8.81e-9, 8.29e-13),
    (4, 4, 4): (1.98e-3, 8.11e-1),
    (4, 4, 8): (4.70e-5, 8.47e-9),
    (4, 4, 16): (5.08e-7, 1.68e-12),
    (4, 8, 8): (8.47e-3, 4.68e-1),
    (8, 4, 8): (6.96e-8, 4.94e-1),
    (8, 8, 8): (2.45e-2, 3.67e0),
}
# task, m: mGLS of Table A3, loss and accuracy; d = 8, N = 350
TABLE_A3 = {
    ("mnist", 4): (1.09e-1, 95.6),
    ("mnist", 8): (1.95e-3, 100.0),
    ("mnist", 16): (8.24e-4, 100.0),
    ("mnist", 32): (3.73e-2, 99.0),
    ("fashion", 4): (2.88e-1, 88.3),
    ("fashion", 8): (1.72e-1, 93.7),
    ("fashion", 16): (2.91e-3, 100.0),
}
SEARCHES = [
    (RandomVertex(starts=1, alternate=True), 16),
    (RandomVertex(starts=1, alternate=True, output_first=True), 16),
    (GLS(), 8),
]
DATA_SETS = 10


def medians(search, size, runs: int, *, same: int | None = None):
    """Median loss, seconds and programs of runs on synthetic data; all runs on the same data, or each on its own."""
    traces, (d, m_gen, m) = [], size
    for k in range(runs):
        rng = np.random.default_rng(k if same is None else 1000 + same)
        traces.append(run(search, Problem(*synthetic(d, m_gen, rng), m), seed=k))
    return [statistics.median(values) for values in _columns(traces)]


def _columns(traces):
    rows = [(t.loss, t.seconds, t.counts["programs"], t.counts["moves"]) for t in traces]
    return zip(*rows, strict=True)


def bench_synthetic(quick: bool) -> None:
    """Rows of Table A1."""
    table.head("""d, m_gen, m  search  ours, median  same data: least, greatest  the paper's
        in its other column  ms a run  programs  moves""")
    sizes = [(4, 2, 2), (4, 2, 4), (4, 4, 4), (4, 4, 8)] if quick else list(TABLE_A1)
    for size in sizes:
        for place, (search, runs) in enumerate(SEARCHES):
            medians(search, size, 1)
            name = search.name + (", v first" if getattr(search, "output_first", False) else "")
            loss, seconds, programs, moves = medians(search, size, runs)
            same = [medians(search, size, runs, same=seed)[0] for seed in range(DATA_SETS)]
            table.row(
                ", ".join(map(str, size)), name, f"{loss:.1e}", f"{min(same):.1e}, {max(same):.1e}",
                f"{TABLE_A1[size][place // 2]:.1e}", f"{TABLE_A1[size][1 - place // 2]:.1e}", f"{1e3 * seconds:.1f}",
                f"{programs:.0f}", f"{moves:.0f}",
            )  # fmt: skip


def bench_tasks(quick: bool, folder: Path) -> None:
    """Rows of Table A3."""
    print()
    table.head("task  m  loss  the paper's  accuracy, %  the paper's  s a run  programs  moves  ended")
    for file in sorted(folder.glob("*.npz")):
        data = np.load(file)
        X, y = data["X"][:350, :8], data["y"][:350]
        for m in (4, 8) if quick else (4, 8, 16, 32):
            problem, rows, reasons = Problem(X, y, m, loss="logistic"), [], []
            for seed in range(2 if quick else 8):
                trace = run(MGLS(), problem, seed=seed, budget=Budget(seconds=120))
                right = np.mean((problem.predict(trace.W, trace.c) > 0) == (problem.labels > 0.5))
                counts = trace.counts
                rows.append((trace.loss, 100 * right, trace.seconds, counts["programs"], counts["moves"]))
                reasons.append(trace.stop_reason)
            loss, right, seconds, programs, moves = (statistics.median(column) for column in zip(*rows, strict=True))
            paper = TABLE_A3.get((file.stem.split("_")[0], m), (float("nan"),) * 2)
            ended = ", ".join(f"{reasons.count(reason)} {reason}" for reason in dict.fromkeys(reasons))
            table.row(
                file.stem, m, f"{loss:.2e}", f"{paper[0]:.2e}", f"{right:.1f}", paper[1], f"{seconds:.1f}",
                f"{programs:.0f}", f"{moves:.0f}", ended,
            )  # fmt: skip


def main() -> None:
    """Both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--tasks", help="folder of .npz files with arrays X and y", type=Path)
    arguments = parser.parse_args()
    bench_synthetic(arguments.quick)
    if arguments.tasks:
        bench_tasks(arguments.quick, arguments.tasks)


if __name__ == "__main__":
    main()
