"""Section 4.2: independence of random units, and the paper's Figure 2.

    python benchmarks/bench_overparameterisation.py [--tasks FOLDER] [--out FILE.svg] [--quick]

Independence: 24 standard normal examples, 400 draws; the fewest units with which half of the draws, and all of them,
have independent activations, W frozen and W free within its chambers.

Figure 2: medians of 16 runs. Left, synthetic data with d = 8 and m_gen = 8, a fresh data set for each run, random
vertices with W and output weights trained in turn, beside Table A1. Right, accuracies on fashion_24.npz of FOLDER,
which holds arrays X (700, 16) and y: pullovers and coats, beside Table A2.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import table  # isort: skip
import numpy as np

from data import synthetic
from zonofit import Arrangement
from zonofit.theory.overparameterisation import (
    TABLE_A1,
    TABLE_A2,
    accuracy_of_random_vertices,
    independence,
    loss_of_random_vertices,
)

N = 24


def units(draws: int) -> None:
    """Thresholds of independence."""
    table.head("d  ⌈N/n⌉  free: half  all  N  frozen: half  all")
    widths = [*range(1, 4 * N), *range(4 * N, 60 * N, N // 2)]
    for d in (1, 2, 4, 8, 16):
        arrangement = Arrangement.from_examples(np.random.default_rng(0).standard_normal((N, d)))
        most = len(widths) if d == 1 else 4 * N
        found = independence(arrangement, widths[:most], draws=draws, rng=1)
        cells = []
        for share in (found.free, found.frozen):
            cells += [found.widths[np.argmax(share >= part)] if share[-1] >= part else "–" for part in (0.5, 1.0)]
        table.row(d, found.least_free, *cells[:2], N, *cells[2:])


def synthetic_losses(runs: int) -> dict[str, np.ndarray]:
    """Medians on fresh data sets."""
    print()
    table.head("m  random vertex, signs drawn  output weights first  paper: gradient descent  “Random Vertex”  “GLS”")
    found: dict[str, list] = {"random vertex, signs drawn": [], "output weights first": []}
    for seed in range(runs):
        X, y = synthetic(8, 8, np.random.default_rng(seed))
        for name, first in zip(found, (False, True), strict=True):
            losses = loss_of_random_vertices(X, y, list(TABLE_A1), runs=1, seed=seed, output_first=first)
            found[name].append(losses[0])
    medians = {name: np.median(losses, axis=0) for name, losses in found.items()}
    for k, (m, paper) in enumerate(TABLE_A1.items()):
        ours = [f"{losses[k]:.1e}" for losses in medians.values()]
        table.row(m, *ours, *("–" if x is None else f"{x:.1e}" for x in paper))
    return medians


def accuracies(file: Path, runs: int) -> np.ndarray:
    """Medians on pullovers and coats."""
    print()
    table.head("m  random vertex, %  paper: gradient descent, %  paper: random vertex, %")
    with np.load(file, allow_pickle=False) as arrays:
        X, y = arrays["X"], arrays["y"].astype(float)
    shares = 100 * np.median(accuracy_of_random_vertices(X, y, list(TABLE_A2), runs=runs), axis=0)
    for (m, paper), share in zip(TABLE_A2.items(), shares, strict=True):
        table.row(m, f"{share:.1f}", *paper)
    return shares


def main() -> None:
    """All tables and, if asked for, the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", help="folder with fashion_24.npz", type=Path)
    parser.add_argument("--out")
    parser.add_argument("--quick", action="store_true", help="few draws and runs")
    arguments = parser.parse_args()
    runs = 3 if arguments.quick else 16
    units(20 if arguments.quick else 400)
    losses = synthetic_losses(runs)
    if not arguments.tasks:
        return
    shares = accuracies(arguments.tasks / "fashion_24.npz", runs)
    if arguments.out:
        from zonofit.plots.theorems import figure_two

        heads = ("paper: gradient descent", "paper: “Random Vertex”", "paper: “GLS”")
        printed = {
            head: [np.nan if row[k] is None else row[k] for row in TABLE_A1.values()] for k, head in enumerate(heads)
        }
        right = {"random vertex": shares}
        right |= {head: [row[k] for row in TABLE_A2.values()] for k, head in enumerate(heads[:2])}
        figure_two(list(TABLE_A1), losses | printed, list(TABLE_A2), right, path=arguments.out)


if __name__ == "__main__":
    main()
