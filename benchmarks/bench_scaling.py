"""Time of a vertex program and of facet descent against N, m and d: fitted exponents beside those of the operations.

    python benchmarks/bench_scaling.py [--out FILE.svg] [--quick]

One of N, m and d grows at a time, the others stay at 200, 16 and 8. Standard normal examples, labels of a random
network of 8 units plus noise of a tenth, Gaussian patterns and starts, output weights half 1 and half -1. Operations
are multiply-adds of the steps that were taken: for a vertex program with p free directions 2 p N + p² + m N n a step,
for facet descent those of `bench_descent.flops`. One thread, medians over 5 instances. Exponents are slopes of least
squares lines on log axes.
"""

from __future__ import annotations

import argparse

import table  # isort: skip


import numpy as np

from bench_descent import flops
from zonofit.programs import Problem

BASE = {"N": 200, "m": 16, "d": 8}
GRID = {"N": [50, 100, 200, 400, 800, 1600, 3200], "m": [2, 4, 8, 16, 32, 64], "d": [2, 4, 8, 16, 32]}


def instance(N, m, d, seed):
    """Problem and start."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, d))
    teacher = np.maximum(np.c_[X, np.ones(N)] @ rng.standard_normal((d + 1, 8)), 0) @ rng.choice([-1.0, 1.0], 8)
    y = teacher / teacher.std() + 0.1 * rng.standard_normal(N)
    return Problem(X, y, m), rng.standard_normal((m, d + 1))


def measure(sizes, seeds):
    """Milliseconds and multiply-adds: vertex program, facet descent."""
    rows = []
    for seed in range(seeds):
        problem, W = instance(**sizes, seed=seed)
        (N, n), m = problem.generators.shape, sizes["m"]
        patterns = problem.patterns(W)
        repeats = [table.clock(problem.solve, patterns, check=False) for _ in range(3)]
        vertex, solution = min(repeats, key=lambda pair: pair[0])
        free = int(np.sum(n - solution.tight.sum(axis=1)))
        repeats = [table.clock(problem.descend, W, max_steps=100) for _ in range(3)]
        descent, found = min(repeats, key=lambda pair: pair[0])
        work = solution.steps * (2 * free * N + free**2 + m * N * n)
        rows.append((vertex, work, descent, flops(problem, found.steps)))
    return np.median(rows, axis=0)


def slope(x, y):
    """Exponent of a power law."""
    return np.polyfit(np.log(x), np.log(y), 1)[0]


def main() -> None:
    """Table and, if asked for, picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out")
    parser.add_argument("--quick", action="store_true", help="one instance, the four smallest values")
    arguments = parser.parse_args()
    measure({"N": 50, "m": 4, "d": 2}, 1)
    results = {}
    table.head("grows  values  vertex program, ms  exponent  of operations  facet descent, ms  exponent  of operations")
    for name, values in GRID.items():
        values = values[:4] if arguments.quick else values
        found = np.array([measure({**BASE, name: value}, 1 if arguments.quick else 5) for value in values]).T
        results[name] = values, found
        exponents = [slope(values[-4:], row[-4:]) for row in found]
        a, b = (" ".join(f"{t:.2g}" for t in row) for row in (found[0], found[2]))
        table.row(
            name, " ".join(map(str, values)), a, f"{exponents[0]:.2f}", f"{exponents[1]:.2f}", b, f"{exponents[2]:.2f}",
            f"{exponents[3]:.2f}",
        )  # fmt: skip
    if arguments.out:
        draw(results, arguments.out)


def draw(results, path):
    """Three panels on log axes; operations are dashed, moved onto the last measured point."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 3.4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, 3, sharey=True)
    for axis, (name, (values, found)) in zip(axes, results.items(), strict=True):
        kinds = (("vertex program", "#0072B2", "o"), ("facet descent", "#D55E00", "s"))
        for k, (label, colour, mark) in enumerate(kinds):
            time, work = found[2 * k], found[2 * k + 1]
            exponent = slope(values[-4:], time[-4:])
            axis.loglog(values, time, mark + "-", color=colour, label=f"{label}: {exponent:.1f}")
            axis.loglog(values, work * time[-1] / work[-1], "--", color=colour, linewidth=1, alpha=0.6)
        axis.set_xlabel(name)
        axis.set_xticks(values, map(str, values))
        axis.minorticks_off()
        axis.legend(title="exponent of the last four", frameon=False, fontsize=8, title_fontsize=8)
        axis.grid(alpha=0.2)
    axes[0].set_ylabel("milliseconds")
    figure.savefig(path)


if __name__ == "__main__":
    main()
