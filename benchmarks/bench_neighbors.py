"""All neighbours of one vertex, and one logistic vertex program, beside the paper's stack in one run.

    python benchmarks/bench_neighbors.py [--quick]

A step of GLS (Alg 2) asks for the best neighbour. Ours finds the walls, excludes what the dual values exclude and
solves the rest from where the vertex was solved; "cold" solves every neighbour from nothing; the paper's stack is timed
on some neighbours and multiplied. Times count from the solved vertex. Bars: 300 times faster at (8, 8, 16), 10 s at
(16, 16, 64).

Logistic programs have Gaussian patterns for two overlapping classes; with ``--tasks FOLDER`` (arrays X and y in .npz
files), those tasks instead. Bars: 50 times faster than cvxpy+ECOS, 1.5 s for the larger.
"""

from __future__ import annotations

import argparse

import table  # isort: skip
import statistics
from pathlib import Path

import numpy as np

from bench_vertex import instance
from data import classes
from peers import CvxpyEcos, installed, loss_of
from zonofit.programs import Problem


def bench_neighbors(quick: bool, peers) -> None:
    """One step of GLS."""
    table.head("""d, m_gen, m  N  neighbours  not excluded  ours, ms  all cold, ms
        cvxpy+ECOS, all, s  ratio  same best""")
    instance_of = [(4, 4, 8), (8, 8, 16)] if quick else [(4, 4, 8), (8, 8, 16), (16, 16, 64)]
    for size in instance_of:
        ours, cold, stack, counts, same = [], [], [], [], True
        for seed in range(1 if size[2] == 64 else 5):
            problem, patterns = instance(*size, seed)
            solution = problem.solve(patterns)
            problem.neighbors(solution).best()
            milliseconds, (near, best) = table.clock(_step, problem, solution)
            ours.append(milliseconds)
            counts.append((len(near), near.promising.sum()))
            if size[2] < 64:
                milliseconds, least = table.clock(_cold, problem, near)
                cold.append(milliseconds)
                same = same and abs(least - best.solution.loss) <= 1e-7 * solution.certificate.scale
            for peer in peers if seed < (1 if size[2] == 64 else 3) else []:
                for k in np.linspace(0, len(near) - 1, 1 if size[2] == 64 else 4).astype(int):
                    stack.append(len(near) * table.clock(_solve, peer, problem, near.patterns(k))[0] / 1e3)
        a, b = statistics.median(ours), statistics.median(cold or [float("nan")])
        e = statistics.median(stack or [float("nan")])
        total, left = np.median(counts, axis=0)
        table.row(
            f"{size[0]}, {size[1]}, {size[2]}", (size[0] + 1) * size[1], f"{total:.0f}", f"{left:.0f}", f"{a:.1f}",
            f"{b:.1f}", f"{e:.1f}", f"{1e3 * e / a:.0f}", same if cold else "not asked",
        )  # fmt: skip


def _solve(peer, problem, patterns):
    return peer(problem, patterns).solve()


def _step(problem, solution):
    near = problem.neighbors(solution)
    return near, near.best()


def _cold(problem, near):
    return min(problem.solve(near.patterns(k), check=False).loss for k in range(len(near)))


def bench_logistic(quick: bool, peers, folder: str | None) -> None:
    """Logistic vertex programs."""
    print()
    table.head("data  d, N, m  steps  ours, ms  cvxpy+ECOS, ms  ratio  gap  loss: theirs - ours")
    for d, N, m in [(8, 350, 16)] if quick else [(8, 350, 16), (16, 700, 64)]:
        if folder:
            files = sorted(Path(folder).glob("*.npz"))
            tasks = [(file.stem, np.load(file)["X"][:N, :d], np.load(file)["y"][:N]) for file in files]
        else:
            tasks = [(f"classes, seed {seed}", *classes(N, d, np.random.default_rng(seed))) for seed in range(3)]
        for name, X, y in tasks:
            problem = Problem(X, y, m, loss="logistic")
            patterns = problem.patterns(np.random.default_rng(0).standard_normal((m, d + 1)))
            problem.solve(patterns, limit=1)
            repeats = [table.clock(problem.solve, patterns) for _ in range(3)]
            ours, solution = statistics.median(a for a, _ in repeats), repeats[0][1]
            e, difference = float("nan"), float("nan")
            for peer in peers if (m == 16 or name == tasks[0][0]) else []:
                e, theta = table.clock(_solve, peer, problem, patterns)
                difference = loss_of(problem, patterns, theta)[0] - solution.loss
            gap = solution.certificate.relative_gap
            table.row(
                name, f"{d}, {N}, {m}", solution.steps, f"{ours:.1f}", f"{e:.0f}", f"{e / ours:.0f}", f"{gap:.0e}",
                f"{difference:.0e}",
            )  # fmt: skip


def main() -> None:
    """Both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--tasks", help="folder of .npz files with arrays X and y")
    arguments = parser.parse_args()
    peers = installed([CvxpyEcos])
    bench_neighbors(arguments.quick, peers)
    bench_logistic(arguments.quick, peers, arguments.tasks)


if __name__ == "__main__":
    main()
