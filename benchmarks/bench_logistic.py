"""Hopping on the paper's image tasks (Table A3): logistic loss, d = 8, N = 350, beside gradient descent and mGLS.

    python benchmarks/bench_logistic.py --tasks FOLDER [--quick] [--seconds 60]

FOLDER holds arrays X and y in .npz files, named after the tasks, as for bench_searches.py. Bar: the median of 8 runs of
one thread is below both columns of the paper. Data that a network separates have the infimum 0: a run ends at 1e-12.
"""

from __future__ import annotations

import argparse
import statistics

import table  # isort: skip
from pathlib import Path

import numpy as np

from data import TABLE_A3
from zonofit.programs import Problem
from zonofit.search import Budget, Hopping, run

SEPARATED = 1e-12


def main() -> None:
    """One row a task and width."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two runs of a second")
    parser.add_argument("--tasks", help="folder of .npz files with arrays X and y", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=60.0, help="budget of a run")
    parser.add_argument("--first", type=int, default=0, help="first seed")
    arguments = parser.parse_args()
    runs, seconds = (2, 1.0) if arguments.quick else (8, arguments.seconds)
    table.head("""task  m  loss, median  worst of the runs  paper: gradient descent  paper: mGLS  accuracy, %  s a run
        hops  below""")
    for file in sorted(arguments.tasks.glob("*.npz")):
        data = np.load(file)
        X, y = data["X"][:350, :8], data["y"][:350]
        for m in (4, 8, 16, 32):
            problem = Problem(X, y, m, loss="logistic")
            run(Hopping(), problem, budget=Budget(moves=2))
            traces = [
                run(Hopping(), problem, budget=Budget(seconds=seconds, target=SEPARATED), seed=arguments.first + seed)
                for seed in range(runs)
            ]
            loss = statistics.median(trace.loss for trace in traces)
            right = [_accuracy(problem, trace) for trace in traces]
            paper = [TABLE_A3[file.stem, m, method].loss for method in ("gradient-descent", "mgls")]
            table.row(
                file.stem, m, f"{loss:.2e}", f"{max(trace.loss for trace in traces):.2e}", f"{paper[0]:.2e}",
                f"{paper[1]:.2e}", f"{statistics.median(right):.1f}",
                f"{statistics.median(trace.seconds for trace in traces):.2f}",
                f"{statistics.median(trace.counts['moves'] for trace in traces):.0f}",
                "yes" if loss < min(paper) else "no",
            )  # fmt: skip


def _accuracy(problem: Problem, trace) -> float:
    predictions = problem.with_output_weights(trace.output_weights).predict(trace.W, trace.c)
    return 100.0 * float(np.mean((predictions > 0) == (problem.labels > 0.5)))


if __name__ == "__main__":
    main()
