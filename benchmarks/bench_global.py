"""Global optima: branch and bound beside Alg 1 and beside SCIP's big-M model, one unit, and how far it reaches.

    python benchmarks/bench_global.py [scip] [one-unit] [reach] [--size N,d,m] [--seeds 5] [--seconds 600]

Standard normal examples and labels; output weights 1 and -1 in turn, fixed, except where "all" is written. SCIP
(pyscipopt, which is not among our dependencies) has weights in a box half as large again as the largest weight of our
optimum, a relative gap of 1e-6 and the same one thread; ours has no box and a gap of 1e-6 of the best constant's loss.
"""

from __future__ import annotations

import argparse

import table  # isort: skip
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

from zonofit.programs import Problem
from zonofit.search import Branch, Budget, Exact, run
from zonofit.search.proof import certify_global, save_certificate
from zonofit.theory.checker import check_certificate

SIZES = ((12, 2, 2), (16, 2, 2), (20, 2, 2), (24, 2, 2), (20, 1, 3), (15, 3, 2))
REACH = ((1, 2), (1, 4), (2, 2), (2, 3), (3, 2))
STEP, FIRST = 1.35, 12  # how N grows along the reach, and where it begins
ONE_UNIT = ((50, 2), (100, 2), (200, 2), (300, 2), (30, 3), (50, 3), (80, 3))
SCIP_SECONDS = 120.0


def gaussian(N: int, d: int, m: int, seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((N, d)), rng.standard_normal(N)
    return Problem(X, y, np.where(np.arange(m) % 2 == 0, 1.0, -1.0))


def scip(problem: Problem, box: float) -> tuple[float, float, int]:
    """Objective, seconds and nodes of the big-M model."""
    from pyscipopt import Model, quicksum

    X, y, v = problem.generators, problem.labels, problem.output_weights
    (N, n), m = X.shape, problem.width
    model = Model()
    model.hideOutput()
    model.setParam("limits/gap", 1e-6)
    model.setParam("limits/time", SCIP_SECONDS)
    w = [[model.addVar(lb=-box, ub=box) for _ in range(n)] for _ in range(m)]
    c, t = model.addVar(lb=None), model.addVar(lb=0.0)
    rest = [model.addVar(lb=None) for _ in range(N)]
    for i in range(N):
        large, terms = box * float(np.abs(X[i]).sum()), []
        for j in range(m):
            h, active = model.addVar(lb=0.0, ub=large), model.addVar(vtype="B")
            z = quicksum(float(X[i, k]) * w[j][k] for k in range(n))
            model.addCons(h >= z)
            model.addCons(h <= z + large * (1 - active))
            model.addCons(h <= large * active)
            terms.append(float(v[j]) * h)
        model.addCons(rest[i] == quicksum(terms) + c - float(y[i]))
    model.addCons(quicksum(r * r for r in rest) <= t)
    model.setObjective(t, "minimize")
    begin = time.perf_counter()
    model.optimize()
    return model.getObjVal() / N, time.perf_counter() - begin, model.getNTotalNodes()


def against_scip(sizes, seeds: int) -> None:
    table.head("N, d, m  programs of Alg 1  ours: programs  ours: s  SCIP: s  SCIP: nodes  SCIP / ours  same optimum")
    run(Branch(), gaussian(8, 2, 2, 0))  # compile
    for N, d, m in sizes:
        rows = []
        for seed in range(seeds):
            problem = gaussian(N, d, m, seed)
            own, found = table.clock(run, Branch(signs="problem"), problem)
            theirs, seconds, nodes = scip(problem, 1.5 * float(np.max(np.abs(found.W))))
            count = Exact(signs="problem", most_programs=1e15).n_programs(problem)
            rows.append((count, found.counts["programs"], own / 1e3, seconds, nodes, abs(theirs - found.loss) < 2e-6))
        exact, ours, own_s, scip_s, nodes, same = zip(*rows, strict=True)
        ratio = statistics.median(b / a for a, b in zip(own_s, scip_s, strict=True))
        middle = [statistics.median(x) for x in (exact, ours, own_s, scip_s, nodes)]
        table.row(
            (N, d, m), f"{middle[0]:,.0f}", f"{middle[1]:,.0f}", f"{middle[2]:.3f}", f"{middle[3]:.2f}",
            f"{middle[4]:,.0f}", f"{ratio:.0f}", f"{sum(same)} of {seeds}",
        )  # fmt: skip


def one_unit(seconds: float) -> None:
    table.head("N, d  nodes  s  gap")
    for N, d in ONE_UNIT:
        found = run(Branch(), gaussian(N, d, 1, 0), budget=Budget(seconds=seconds))
        table.row((N, d), f"{found.details['nodes']:,}", f"{found.seconds:.2f}", f"{found.details['gap']:.2g}")


def reach(seconds: float) -> None:
    """The largest N that ends within the time, with all output weights, and what a certificate of it takes."""
    table.head("d, m  N  nodes  s  gap  certificate: s, MB  verified: s")
    for d, m in REACH:
        N, spent = FIRST, 0.0
        while spent < seconds / 2:
            problem = gaussian(N, d, m, 0)
            found = run(Branch(gap=5e-7), problem, budget=Budget(seconds=seconds))
            spent, proof, verified = found.seconds, "-", "-"
            if found.stop_reason == "complete" and spent < seconds / 600:
                proof, verified = certified(problem, found)
            table.row(
                (d, m), N, f"{found.details['nodes']:,}", f"{spent:.2f}", f"{found.details['gap']:.1g}", proof, verified
            )
            N = int(STEP * N)


def certified(problem: Problem, found) -> tuple[str, str]:
    wall, certificate = table.clock(certify_global, problem, found)
    with tempfile.TemporaryDirectory() as folder:
        data, proof = Path(folder) / "data.csv", Path(folder) / "proof.cert"
        np.savetxt(data, np.c_[problem.generators[:, :-1], problem.labels], delimiter=",", fmt="%.17g")
        save_certificate(certificate, proof)
        checked, _ = table.clock(check_certificate, proof, data)
        return f"{wall / 1e3:.2f}, {proof.stat().st_size / 1e6:.2f}", f"{checked / 1e3:.2f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", default=["scip", "one-unit", "reach"])
    parser.add_argument("--size", action="append", default=[], metavar="N,d,m", help="beside SCIP; may be repeated")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=600.0)
    options = parser.parse_args()
    if "scip" in options.parts:
        sizes = [tuple(map(int, size.split(","))) for size in options.size]
        against_scip(sizes or SIZES, options.seeds)
    if "one-unit" in options.parts:
        one_unit(min(options.seconds, 60.0))
    if "reach" in options.parts:
        reach(options.seconds)
