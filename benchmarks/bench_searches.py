"""The paper's searches beside the paper's tables: random vertex and GLS on Table A1's data, mGLS on Table A3's.

    python benchmarks/bench_searches.py [--quick] [--same] [--tasks FOLDER]

Medians over runs, each on data of its own for Table A1 (the paper does not say whether its runs share them). With
--same also all runs on the data of one seed, as the least and the greatest of ten such medians. Rows of which 8 runs
take more than ten minutes of one core are listed with one run that was stopped.
The table's headings for random vertices and for GLS seem to be exchanged (docs/notes.md), so both columns are shown.
FOLDER holds arrays X and y in .npz files, named after the tasks: mnist_59.npz, fashion_24.npz.
"""

from __future__ import annotations

import argparse

import table  # isort: skip
import statistics
from pathlib import Path

import numpy as np

from data import TABLE_A1, TABLE_A3, synthetic
from zonofit.programs import Problem
from zonofit.search import GLS, MGLS, Budget, RandomVertex, Trace, run

SEARCHES = [
    (RandomVertex(starts=1, alternate=True), 16),
    (RandomVertex(starts=1, alternate=True, output_first=True), 16),
    (GLS(), 8),
]
DATA_SETS = 10
LONGEST = 75.0  # seconds of a run: eight of these take ten minutes of one core


def runs_of(search, size, runs: int, *, same: int | None = None) -> list[Trace]:
    """On synthetic data: all on the same, or each on its own; one alone where it does not fit into its time."""
    traces, (d, m_gen, m) = [], size
    for k in range(runs):
        rng = np.random.default_rng(k if same is None else 1000 + same)
        traces.append(run(search, Problem(*synthetic(d, m_gen, rng), m), seed=k, budget=Budget(seconds=LONGEST)))
        if traces[-1].stop_reason == "seconds":
            return traces[-1:]
    return traces


def medians(traces: list[Trace]) -> list[float]:
    """Of loss, seconds, programs and moves."""
    rows = [(t.loss, t.seconds, t.counts["programs"], t.counts["moves"]) for t in traces]
    return [statistics.median(column) for column in zip(*rows, strict=True)]


def bench_synthetic(quick: bool, same: bool) -> None:
    """Rows of Table A1."""
    columns = "same data: least, greatest  " if same else ""
    table.head(f"""d, m_gen, m  search  ours, median  {columns}the paper's  in its other column  s a run
        programs  moves  within""")
    for size in [(4, 2, 2), (4, 2, 4), (4, 4, 4), (4, 4, 8)] if quick else TABLE_A1:
        for place, (search, runs) in enumerate(SEARCHES):
            of_paper, other = TABLE_A1[size][1 + place // 2], TABLE_A1[size][2 - place // 2]
            if of_paper == float("inf"):
                continue
            runs_of(search, size, 1)
            traces = runs_of(search, size, runs)
            loss, seconds, programs, moves = medians(traces)
            name = search.name + (", v first" if getattr(search, "output_first", False) else "")
            row = [", ".join(map(str, size)), name, f"{loss:.1e}"]
            if same:
                medians_of = [medians(runs_of(search, size, runs, same=seed))[0] for seed in range(DATA_SETS)]
                row.append(f"{min(medians_of):.1e}, {max(medians_of):.1e}")
            fits = len(traces) == runs
            table.row(
                *row, f"{of_paper:.1e}", f"{other:.1e}", f"{seconds:.2f}", f"{programs:.0f}", f"{moves:.0f}",
                "yes" if fits else f"no: one run, {moves:.0f} moves",
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
            paper = TABLE_A3[file.stem, m, "mgls"]
            ended = ", ".join(f"{reasons.count(reason)} {reason}" for reason in dict.fromkeys(reasons))
            table.row(
                file.stem, m, f"{loss:.2e}", f"{paper.loss:.2e}", f"{right:.1f}", paper.accuracy, f"{seconds:.1f}",
                f"{programs:.0f}", f"{moves:.0f}", ended,
            )  # fmt: skip


def main() -> None:
    """Both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--same", action="store_true", help="also the spread over data sets that all runs share")
    parser.add_argument("--tasks", help="folder of .npz files with arrays X and y", type=Path)
    arguments = parser.parse_args()
    bench_synthetic(arguments.quick, arguments.same)
    if arguments.tasks:
        bench_tasks(arguments.quick, arguments.tasks)


if __name__ == "__main__":
    main()
