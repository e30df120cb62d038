"""Theorem 3: residual, condition and weights of the printed construction, of its vertex program, and of fewer units.

    python benchmarks/bench_interpolation.py [--out FILE.svg] [--bars] [--quick]

Standard normal examples and labels, one thread, medians over 3 seeds. Bar: the largest error at most 1e-8 of the
largest label at (N, d) = (100, 2), (500, 10), (2000, 20) and (2000, 4), with 2⌈N/(d+1)⌉ units.

The second table is what --out draws, at d = 4: beside the two, hopping with ⌈N/(d+1)⌉ units, the least number that has
as many parameters as there are labels, 20 s for each of the seeds.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import table  # isort: skip
import numpy as np

from zonofit.programs import Problem
from zonofit.search import Budget, Hopping, run
from zonofit.theory.interpolation import Interpolation, interpolate, printed, theorem_width

BARS = [(100, 2), (500, 10), (2000, 20), (2000, 4)]
SWEEP_D, SWEEP = 4, [10, 20, 40, 80, 160, 320, 640, 1280, 2560]
HOPPED = 320
SOLVED = 500


def gaussian(N, d, seed):
    """Examples and labels."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((N, d)), rng.standard_normal(N)


def solved(X, y) -> Interpolation:
    """The vertex program of the same pattern, solved as any other is: z is not known, and nothing is the shortest."""
    found = interpolate(X, y)
    problem = Problem(X, y, found.output_weights)
    solution = problem.solve(found.patterns, check=False)
    G, size = np.c_[X, np.ones(len(X))], np.max(np.abs(y))
    reach = np.sum(np.where(G @ solution.W.T > 0, np.abs(G) @ np.abs(solution.W).T, 0.0), axis=1) + abs(solution.c)
    residual = np.max(np.abs(problem.predict(solution.W, solution.c) - y)) / size
    return replace(found, W=solution.W, c=solution.c, residual=residual, condition=np.max(reach) / size)


def bars(seeds: int) -> None:
    """Residuals at the four sizes."""
    table.head("N, d  units  construction  largest error  worst  condition  largest weight  ‖W‖  s")
    last = ("vertex program, last coordinate", lambda X, y: interpolate(X, y, direction=np.eye(X.shape[1])[-1]))
    kinds = [
        ("printed", printed),
        last,
        ("vertex program, best direction", interpolate),
        ("the same by Problem.solve", solved),
    ]
    for N, d in BARS:
        for name, construct in kinds:
            if construct is solved and N > SOLVED:
                continue
            timed = [table.clock(construct, *gaussian(N, d, seed)) for seed in range(seeds)]
            found = [one for _, one in timed]
            assert {len(one.W) for one in found} == {theorem_width(N, d)}
            table.row(
                f"{N}, {d}", theorem_width(N, d), name, f"{np.median([f.residual for f in found]):.1e}",
                f"{max(f.residual for f in found):.1e}", f"{np.median([f.condition for f in found]):.1e}",
                f"{np.median([f.largest_weight for f in found]):.1e}", f"{np.median([f.norm for f in found]):.1e}",
                f"{np.median([t for t, _ in timed]) / 1e3:.2f}",
            )  # fmt: skip


def sweep(sizes, seeds: int, seconds: float) -> list[dict]:
    """Residual and norm against N."""
    rows = []
    print()
    table.head("N  construction  units  largest error, median  ‖W‖, median  at most 1e-8")
    for N in sizes:
        for name in ("printed", "vertex program", "hopping, half the units"):
            if name.startswith("hopping") and N > HOPPED:
                continue
            found = []
            for seed in range(seeds):
                X, y = gaussian(N, SWEEP_D, seed)
                if name.startswith("hopping"):
                    problem = Problem(X, y, -(-N // (SWEEP_D + 1)))
                    trace = run(Hopping(), problem, budget=Budget(seconds=seconds, target=1e-24), seed=seed)
                    predictions = problem.with_output_weights(trace.output_weights).predict(trace.W, trace.c)
                    error, W = np.max(np.abs(predictions - y)) / np.max(np.abs(y)), trace.W
                else:
                    one = (printed if name == "printed" else interpolate)(X, y)
                    error, W = one.residual, one.W
                found.append({"name": name, "N": N, "residual": error, "norm": np.linalg.norm(W), "units": len(W)})
            rows += found
            good = sum(row["residual"] <= 1e-8 for row in found)
            table.row(
                N, name, found[0]["units"], f"{np.median([row['residual'] for row in found]):.1e}",
                f"{np.median([row['norm'] for row in found]):.1e}", f"{good} of {seeds}",
            )  # fmt: skip
    return rows


def main() -> None:
    """Both tables and, if asked for, the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out")
    parser.add_argument("--bars", action="store_true", help="the first table only")
    parser.add_argument("--quick", action="store_true", help="one seed, few sizes, two seconds")
    arguments = parser.parse_args()
    interpolate(*gaussian(20, 2, 0))
    run(Hopping(), Problem(*gaussian(10, 4, 0), 2), budget=Budget(moves=3))
    seeds = 1 if arguments.quick else 3
    bars(seeds)
    if arguments.bars:
        return
    rows = sweep(SWEEP[:4] if arguments.quick else SWEEP, seeds, 2.0 if arguments.quick else 20.0)
    if arguments.out:
        from zonofit.plots.theorems import interpolation_figure

        interpolation_figure(rows, title=f"d = {SWEEP_D}", path=arguments.out)


if __name__ == "__main__":
    main()
