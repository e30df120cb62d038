"""Facet descent from one random start, twice the units that generated the data: loss, steps and time.

    python benchmarks/bench_descent.py [--seeds 20] [--prototype FILE]

Synthetic data of the paper; Gaussian start, output weights ±1 at random. Beside it, in the same run: 400,000 steps of
batch gradient descent in numba (20,000 are run and multiplied), and, with ``--prototype``, a module whose ``descend(Xb,
y, v, W, c, steps, tol, target)`` is timed from the same starts. One thread, medians over seeds. Bars: median MSE <=
1e-24 everywhere and all seeds at the last three sizes; 3 times faster than the prototype; 500 times faster than 400,000
gradient steps.
"""

from __future__ import annotations

import argparse

import table  # isort: skip
import importlib
import sys
from pathlib import Path

import numpy as np

import gradient
from data import synthetic
from zonofit.programs import Problem

SIZES = [(4, 4, 8), (8, 4, 8), (8, 8, 16), (16, 8, 16), (16, 16, 32)]
SHORT, LONG = 20_000, 400_000


def load(path: str):
    """The prototype's function, from its file."""
    sys.path.insert(0, str(Path(path).parent))
    return importlib.import_module(Path(path).stem).descend


def flops(problem, steps: int) -> float:
    """Multiply-adds of that many Newton steps: a Gram or normal matrix, its factor, and products with X."""
    N, n = problem.generators.shape
    m = problem.width
    q = m * n + 1
    form = m * N * N / 2 if q > N else m * m * n * n * N / 4
    return steps * (form + min(N, q) ** 3 / 6 + 4 * m * N * n)


def main() -> None:
    """One row a size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--prototype")
    arguments = parser.parse_args()
    prototype = load(arguments.prototype) if arguments.prototype else None
    table.head("""d, m_gen, m  N  MSE, median  worst  <= 1e-24  steps, median  most  ms  Gflop/s  prototype, ms  ratio
        its MSE  gradient, s  ratio  its MSE after 20,000""")
    for d, m_gen, m in SIZES:
        losses, steps, ours, theirs, their_losses, gradients, reached, rates = ([] for _ in range(8))
        for seed in range(-1, arguments.seeds):
            rng = np.random.default_rng(seed + 1)
            X, y = synthetic(d, m_gen, rng)
            v, W = np.where(rng.random(m) < 0.5, -1.0, 1.0), rng.standard_normal((m, d + 1))
            problem = Problem(X, y, v)
            repeats = [table.clock(problem.descend, W) for _ in range(5)]
            milliseconds, found = np.median([a for a, _ in repeats]), repeats[0][1]
            Xb = problem.generators
            if prototype:
                other, answer = table.clock(prototype, Xb, y, v, W.copy(), 0.0, 5000, 1e-9, 1e-26)
            if seed < 3:
                U, u = gradient.glorot(m, d + 1, rng)
                slow, last = table.clock(gradient.descend, Xb, np.ascontiguousarray(Xb.T), y, U, u, 0.0, 1e-3, SHORT)
            if seed < 0:  # compiles
                continue
            losses.append(found.loss)
            steps.append(found.steps)
            ours.append(milliseconds)
            rates.append(flops(problem, found.steps) / milliseconds / 1e6)
            if prototype:
                theirs.append(other)
                their_losses.append(answer[0])
            if seed < 3:
                gradients.append(slow * LONG / SHORT)
                reached.append(last)
        a, g = np.median(ours), np.median(gradients)
        p = np.median(theirs) if theirs else np.nan
        table.row(
            f"{d}, {m_gen}, {m}", len(y), f"{np.median(losses):.0e}", f"{max(losses):.0e}",
            f"{np.sum(np.array(losses) <= 1e-24)} of {len(losses)}", f"{np.median(steps):.0f}", max(steps), f"{a:.3f}",
            f"{np.median(rates):.1f}", f"{p:.2f}", f"{p / a:.0f}",
            f"{np.median(their_losses) if theirs else np.nan:.0e}", f"{g / 1e3:.1f}", f"{g / a:.0f}",
            f"{np.median(reached):.0e}",
        )  # fmt: skip


if __name__ == "__main__":
    main()
