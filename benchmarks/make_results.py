"""Write `results/global`: small tables with certified global optima, and the page that lists them.

    python benchmarks/make_results.py

Ground truth for other people's optimisers. Numbers are rounded to three decimals, so that a table is what it says.
"""

from __future__ import annotations

import table  # isort: skip
from pathlib import Path

import numpy as np

from zonofit.programs import Problem
from zonofit.search import Branch, run
from zonofit.search.proof import certify_global, save_certificate
from zonofit.theory.checker import check_certificate

FOLDER = Path(__file__).resolve().parents[1] / "results" / "global"
GAP = 1e-6
INSTANCES = [  # kind, N, d, m
    ("noise", 12, 1, 2), ("noise", 20, 1, 2), ("noise", 12, 2, 2), ("noise", 15, 2, 1), ("noise", 14, 3, 1),
    ("teacher", 16, 1, 2), ("teacher", 14, 2, 2), ("teacher", 14, 1, 3), ("binary", 14, 3, 2), ("grid", 13, 1, 3),
]  # fmt: skip
TEXT = """# Certified global optima

Ten small regression tables and, for each, the least mean squared error of any network with m ReLU units, output weights
and biases free, to 1e-6 of that of the best constant. Each has a certificate that `zonofit verify` checks in exact
arithmetic. Use them as ground truth for your optimiser: if it finds less than the bound, one of us has a bug, and the
certificate says who.

    python benchmarks/make_results.py                       # writes this folder again
    zonofit verify results/global/NAME.cert results/global/NAME.csv

| table | examples | features | units | least error is at least | a network has | leaves | certificate |
|---|---|---|---|---|---|---|---|
"""


def instance(kind: str, N: int, d: int, m: int, rng: np.random.Generator) -> np.ndarray:
    X = rng.standard_normal((N, d))
    if kind == "binary":
        X = rng.integers(0, 2, (N, d)).astype(float)
    if kind == "grid":
        X = np.linspace(-3, 3, N)[:, None]
    y = rng.standard_normal(N)
    if kind == "teacher":
        y = np.maximum(np.c_[X, np.ones(N)] @ rng.standard_normal((d + 1, m)), 0) @ rng.choice([-1, 1], m) + 0.2 * y
    if kind == "grid":
        y = np.sin(2 * X[:, 0])
    return np.round(np.c_[X, y], 3)


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    lines = []
    table.head("table  seconds to find  to certify  to verify")
    for seed, (kind, N, d, m) in enumerate(INSTANCES):
        name, values = f"{kind}-{N}-{d}-{m}", instance(kind, N, d, m, np.random.default_rng(seed))
        header = ",".join([*(f"x{k + 1}" for k in range(d)), "y"])
        data, proof = FOLDER / f"{name}.csv", FOLDER / f"{name}.cert"
        np.savetxt(data, values, delimiter=",", header=header, comments="", fmt="%.3f")
        problem = Problem(values[:, :-1], values[:, -1], m)
        found_in, found = table.clock(run, Branch(gap=GAP / 2), problem)
        certified_in, certificate = table.clock(certify_global, problem, found, gap=GAP)
        save_certificate(certificate, proof)
        verified_in, verdict = table.clock(check_certificate, proof, data)
        bound = verdict.sentence.split(" below ")[1].split(" on ")[0]  # rounded down
        cells = f"`{name}`", N, d, m, bound, f"{float(verdict.objective):.9g}"
        size = f"{proof.stat().st_size / 1e3:.0f} kB"
        lines.append("| " + " | ".join(map(str, (*cells, verdict.leaves, size))) + " |")
        table.row(name, *(f"{x / 1e3:.2f}" for x in (found_in, certified_in, verified_in)))
    (FOLDER.parent / "README.md").write_text(TEXT + "\n".join(lines) + "\n", "utf8")


if __name__ == "__main__":
    main()
