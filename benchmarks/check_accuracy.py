"""2,000 random vertex programs over all losses, shapes and degeneracies: certificates, and objectives beside
Clarabel's.

    python benchmarks/check_accuracy.py [--programs 2000] [--judge 2000]

The instances are those of the tests. The gap, relative to the objective of the best constant network, comes from the
weights and dual values alone (`zonofit.programs.certificate`). Clarabel, through cvxpy with tolerances of 1e-11, is
given the program in whitened coordinates with labels of size 1, without which it fails on the badly scaled ones.
"Worse" counts programs where our objective is higher than its by more than 1e-7 of the constant's; where Clarabel's is
higher, ours has the certificate.
"""

from __future__ import annotations

import argparse

import table  # isort: skip
import sys
import warnings
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from tests.programs.instances import LOSSES, random_program


def by_clarabel(problem, patterns) -> float:
    """The least objective in the units of the problem, or NaN where Clarabel gives up."""
    import cvxpy as cp

    X, y, p, v = problem.design.X, problem.scaled_labels, problem.weights, problem.output_weights
    m, r = len(patterns), X.shape[1]
    W = [cp.Variable(r) for _ in range(m)]
    c = cp.Variable() if problem.output_bias is None else problem.start_bias
    u = sum(v[j] * cp.multiply(patterns[j].astype(float), X @ W[j]) for j in range(m)) + c
    name = type(problem.loss).__name__
    if name == "Squared":
        mean = cp.sum_squares(cp.multiply(np.sqrt(p), u - y))
    elif name == "Logistic":
        mean = p @ (cp.logistic(u) - cp.multiply(y, u))
    elif name == "Huber":
        mean = p @ cp.huber(u - y, problem.scaled_loss.delta)
    else:
        mean = p @ cp.abs(u - y)
    ridge = problem.ridge / 2 * sum(cp.sum_squares(w) for w in W) if problem.ridge else 0.0
    walls = [cp.multiply(np.where(patterns[j], 1.0, -1.0) / problem.design.size, X @ W[j]) >= 0 for j in range(m)]
    program = cp.Problem(cp.Minimize(mean + ridge), walls)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program.solve(solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-11, tol_feas=1e-11, max_iter=300)
    except cp.SolverError:
        return float("nan")
    if program.status not in ("optimal", "optimal_inaccurate"):
        return float("nan")
    return problem.loss_factor * float(program.value)


def main() -> None:
    """One row a loss."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=2000)
    parser.add_argument("--judge", type=int, default=2000, help="how many of them Clarabel solves too")
    arguments = parser.parse_args()
    gaps, primal, stationary, status, off = (defaultdict(list) for _ in range(5))
    for seed in range(arguments.programs):
        problem, patterns, loss, shape = random_program(seed)
        solution = problem.solve(patterns)
        proof = solution.certificate
        gaps[loss].append(proof.relative_gap)
        primal[loss].append(proof.primal_residual)
        stationary[loss].append(max(proof.stationarity, proof.dual_residual))
        status[loss].append(solution.status)
        if not solution.is_optimal(1e-9):
            print(f"seed {seed}, {loss}, {shape}: {solution.status}, {proof}")
        if seed < arguments.judge:
            off[loss].append((solution.objective - by_clarabel(problem, patterns)) / proof.scale)
            if off[loss][-1] > 1e-7:
                print(f"seed {seed}, {loss}, {shape}: {off[loss][-1]:.1e} above Clarabel")
    table.head("""loss  programs  worst gap  above 1e-9  worst primal  worst stationarity  by Clarabel  worse
        better by > 1e-7  median difference  statuses""")
    for loss in LOSSES:
        g, d = np.array(gaps[loss]), np.array(off[loss])
        d = d[np.isfinite(d)]
        names = ", ".join(f"{status[loss].count(name)} {name}" for name in sorted(set(status[loss])))
        table.row(
            loss, len(g), f"{g.max():.0e}", np.sum(g > 1e-9), f"{max(primal[loss]):.0e}",
            f"{max(stationary[loss]):.0e}", len(d), np.sum(d > 1e-7), np.sum(d < -1e-7),
            f"{np.median(np.abs(d)) if len(d) else np.nan:.0e}", names,
        )  # fmt: skip


if __name__ == "__main__":
    main()
