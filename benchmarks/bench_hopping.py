"""Hopping: seconds to an exact fit at the width that made the data, and losses beside L-BFGS where examples are many.

    python benchmarks/bench_hopping.py [--quick] [--wide] [--exact | --many | --settings SEED]

Exact fits: synthetic data of the paper, m = m_gen, fresh seeds from --first on; one thread, one walker, kernels
compiled before. Bars: MSE <= 1e-12 on 10 of 10 seeds within 1 s at (4,2,2), (4,4,4), (8,4,4), 2 s at (4,8,8), 10 s at
(8,8,8), 60 s at (16,8,8). With ``--wide`` also (8,16,16), 600 s.

Many examples: diabetes (442 × 10, from scikit-learn) and noisy networks, standardised; the same seconds of one thread
for hopping and for scipy's L-BFGS on all parameters from random starts, over and over. Each run has a noisy network of
its own, of 12 units and a quarter of noise, or what --units and --noise say. Bar: below L-BFGS in 90 % of the runs, and
never more than 1 % above.
"""

from __future__ import annotations

import argparse
import time

import table  # isort: skip
import numpy as np

from data import synthetic
from rivals import loose_lbfgs, restart
from zonofit.programs import Problem
from zonofit.search import Budget, Hopping, run

SIZES = {(4, 2, 2): 1, (4, 4, 4): 1, (8, 4, 4): 1, (4, 8, 8): 2, (8, 8, 8): 10, (16, 8, 8): 60, (8, 16, 16): 600}
MANY = [("diabetes", 8), ("diabetes", 16), *((f"{N} × 10", m) for N in (500, 2000, 5000) for m in (8, 16))]


def exact_fits(sizes, first: int, seeds: int) -> None:
    """Seconds to 1e-12."""
    table.head("d, m_gen, m  N  bar, s  fitted  median, s  mean, s  worst, s  hops, median  hops a second")
    for size in sizes:
        d, m_gen, m = size
        traces = []
        for seed in range(first, first + seeds):
            problem = Problem(*synthetic(d, m_gen, np.random.default_rng(seed)), m)
            traces.append(run(Hopping(), problem, budget=Budget(seconds=SIZES[size], target=1e-12), seed=seed))
        seconds = np.array([trace.seconds for trace in traces])
        hops = np.array([trace.counts["moves"] for trace in traces])
        fitted = sum(trace.loss <= 1e-12 for trace in traces)
        table.row(
            f"{d}, {m_gen}, {m}", (d + 1) * m_gen, SIZES[size], f"{fitted} of {seeds}", f"{np.median(seconds):.2f}",
            f"{seconds.mean():.2f}", f"{seconds.max():.2f}", f"{np.median(hops):.0f}",
            f"{hops.sum() / seconds.sum():.0f}",
        )  # fmt: skip


def many_examples(name: str, seed: int = 0, units: int = 12, noise: float = 0.25) -> tuple[np.ndarray, np.ndarray]:
    """Standardised examples and labels; the seed, the units and the noise are those of the noisy network."""
    if name == "diabetes":
        from sklearn.datasets import load_diabetes

        X, y = load_diabetes(return_X_y=True)
    else:
        N = int(name.split()[0])
        rng = np.random.default_rng(N + seed)
        X = rng.standard_normal((N, 10))
        y = np.maximum(np.c_[X, np.ones(N)] @ rng.standard_normal((11, units)), 0) @ rng.standard_normal(units)
        y = y / y.std() + noise * rng.standard_normal(N)
    return (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()


SETTINGS: list[dict] = [
    {}, {"near": 3.0}, {"best": 40}, {"worse": 0.25}, {"worse": 1.0}, {"patience": 15},
    {"patience": 75}, {"blind": 0.0}, {"blind": 0.5},
]  # fmt: skip
TRIED = {(4, 8, 8): (10, 40), (8, 8, 8): (20, 40), (16, 8, 8): (25, 20), (8, 16, 16): (40, 20)}


def settings(first: int) -> None:
    """Other settings than those that are landed: processor time until an exact fit, failures counted in."""
    table.head("d, m_gen, m  setting  fitted  seconds a fit  hops a fit  hops a second")
    for (d, m_gen, m), (seconds, seeds) in TRIED.items():
        for changes in SETTINGS:
            search, rows = Hopping(**changes), []
            for seed in range(first, first + seeds):
                problem = Problem(*synthetic(d, m_gen, np.random.default_rng(seed)), m)
                begin = time.process_time()
                trace = run(search, problem, budget=Budget(seconds=seconds, target=1e-12), seed=seed)
                rows.append((time.process_time() - begin, trace.counts["moves"], trace.loss <= 1e-12))
            spent, hops, fitted = np.sum(rows, axis=0)
            table.row(
                f"{d}, {m_gen}, {m}", ", ".join(f"{name} {value}" for name, value in changes.items()) or "as landed",
                f"{fitted:.0f} of {seeds}", f"{spent / max(fitted, 1):.2f}", f"{hops / max(fitted, 1):.0f}",
                f"{hops / spent:.0f}",
            )  # fmt: skip


def beside_lbfgs(seconds: float, seeds: range, units: int, noise: float) -> None:
    """Losses after the same time."""
    print()
    table.head(
        "data  m  ours, median  L-BFGS, median  ours below  ours above by more than 1 %  median ratio  worst ratio"
        "  hops, median"
    )
    for name, m in MANY:
        ours, theirs, hops = [], [], []
        for seed in seeds:
            X, y = many_examples(name, seed, units, noise)
            problem = Problem(X, y, m)
            run(Hopping(), problem, budget=Budget(moves=3))
            trace = run(Hopping(), problem, budget=Budget(seconds=seconds), seed=seed)
            ours.append(trace.loss)
            hops.append(trace.counts["moves"])
            theirs.append(restart(loose_lbfgs, X, y, m, seconds, seed)[1][-1])
        ratio = np.array(ours) / np.array(theirs)
        table.row(
            name, m, f"{np.median(ours):.5f}", f"{np.median(theirs):.5f}", f"{np.sum(ratio < 1)} of {len(seeds)}",
            np.sum(ratio > 1.01), f"{np.median(ratio):.4f}", f"{ratio.max():.5f}", f"{np.median(hops):.0f}",
        )  # fmt: skip


def main() -> None:
    """The tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, three seeds, two seconds")
    parser.add_argument("--wide", action="store_true", help="also (8, 16, 16)")
    parser.add_argument("--first", type=int, default=100, help="first seed of the exact fits")
    parser.add_argument(
        "--settings", type=int, metavar="SEED", help="instead: other settings, on data from this seed on"
    )
    parser.add_argument("--seeds", type=int, default=5, help="runs of each row beside L-BFGS")
    parser.add_argument("--from", type=int, default=0, dest="start", help="first seed of these")
    parser.add_argument("--units", type=int, default=12, help="of the noisy networks")
    parser.add_argument("--noise", type=float, default=0.25, help="in standard deviations of their labels")
    parser.add_argument("--many", action="store_true", help="only the rows beside L-BFGS")
    parser.add_argument("--exact", action="store_true", help="only the exact fits")
    arguments = parser.parse_args()
    warm = Problem(*synthetic(4, 4, np.random.default_rng(0)), 4)
    run(Hopping(), warm, budget=Budget(moves=50))
    if arguments.settings is not None:
        settings(arguments.settings)
        return
    if not arguments.many:
        sizes = [size for size in SIZES if (size[2] < 16 or arguments.wide) and (size[2] <= 4 or not arguments.quick)]
        exact_fits(sizes, arguments.first, 3 if arguments.quick else 10)
    if arguments.exact:
        return
    seeds = range(arguments.start, arguments.start + (1 if arguments.quick else arguments.seeds))
    beside_lbfgs(2.0 if arguments.quick else 10.0, seeds, arguments.units, arguments.noise)


if __name__ == "__main__":
    main()
