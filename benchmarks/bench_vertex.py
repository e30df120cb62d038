"""One cold vertex program, squared loss: milliseconds beside the paper's stack and direct solvers, in one run.

    python benchmarks/bench_vertex.py [--quick]

Synthetic data of the paper, Gaussian patterns, half of the output weights 1 and half -1. Ours is the whole call
`problem.solve(patterns)`, which starts from nothing and also refuses what is no chamber; "unchecked" has
``check=False``, since no peer asks. The peers get all m N constraints; "call" is their solver on matrices that are
ready, "all" includes making the matrices from the patterns, which ours does not need. One thread; medians over
instances, interleaved. The bar: 30 times faster than cvxpy+ECOS, 3 times faster than the best of the direct solvers.
"""

from __future__ import annotations

import argparse

import table  # isort: skip


import statistics

import numpy as np

from data import synthetic
from peers import DIRECT, CvxpyEcos, installed, loss_of
from zonofit.programs import Problem

SIZES = [(4, 2, 4), (4, 4, 8), (8, 8, 8), (8, 8, 16), (16, 8, 16), (16, 16, 64)]
PATIENCE = 3.0  # seconds: a peer that took longer once is not asked again
LARGE = 5_000_000  # entries of the constraint matrix beyond which dense active-set solvers take many minutes
DENSE = ("daqp", "quadprog")


def instance(d, m_gen, m, seed):
    """Problem and patterns."""
    rng = np.random.default_rng(seed)
    problem = Problem(*synthetic(d, m_gen, rng), m)
    return problem, problem.patterns(rng.standard_normal((m, d + 1)))


def measure(size, seeds, peers):
    """Milliseconds of ours, unchecked and each peer; the worst gap and difference of losses."""
    d, m_gen, m = size
    checked, unchecked, gaps, steps = [], [], [], []
    call = {peer.name: [] for peer in peers}
    whole = {peer.name: [] for peer in peers}
    worse = {peer.name: [] for peer in peers}
    for seed in range(seeds):
        problem, patterns = instance(*size, seed)
        repeats = [
            (table.clock(problem.solve, patterns), table.clock(problem.solve, patterns, check=False)) for _ in range(3)
        ]
        checked.append(statistics.median(a[0] for a, _ in repeats))
        unchecked.append(statistics.median(b[0] for _, b in repeats))
        ours = repeats[0][0][1]
        gaps.append(ours.certificate.relative_gap)
        steps.append(ours.steps)
        for peer in peers:
            times = call[peer.name]
            if (times and times[-1] > 1e3 * PATIENCE) or (m * m * (d + 1) ** 2 * m_gen > LARGE and peer.name in DENSE):
                continue
            try:
                making, program = table.clock(peer, problem, patterns)
                milliseconds, theta = table.clock(program.solve)
                theirs, outside = loss_of(problem, patterns, theta)
            except Exception as error:
                print(f"  {peer.name} failed on seed {seed}: {type(error).__name__}: {error}"[:150])
                continue
            times.append(milliseconds)
            whole[peer.name].append(making + milliseconds)
            worse[peer.name].append((abs(theirs - ours.loss) / ours.certificate.scale, outside))
    return checked, unchecked, gaps, steps, call, whole, worse


def main() -> None:
    """Print one table, and what every peer was worth."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="three instances a size, none of the largest")
    quick = parser.parse_args().quick
    direct, stack = installed(DIRECT), installed([CvxpyEcos])
    for size in SIZES[:2]:
        problem, patterns = instance(*size, 99)
        problem.solve(patterns)
        for peer in direct + stack:
            peer(problem, patterns).solve()
    table.head("""d, m_gen, m  N  steps  ours, ms  unchecked  cvxpy+ECOS, all  ratio  best direct, call  ratio
        best direct, all  ratio  worst gap""")
    notes = []
    for size in SIZES[:4] if quick else SIZES:
        found = measure(size, 3 if quick else (15 if size[2] < 64 else 2), direct + stack)
        checked, unchecked, gaps, steps, call, whole, worse = found
        a, b = statistics.median(checked), statistics.median(unchecked)
        names = [peer.name for peer in direct if call[peer.name]]
        fast = min(names, key=lambda name: statistics.median(call[name]))
        full = min(names, key=lambda name: statistics.median(whole[name]))
        c, w = statistics.median(call[fast]), statistics.median(whole[full])
        e = statistics.median(whole["cvxpy+ECOS"]) if whole.get("cvxpy+ECOS") else float("nan")
        table.row(
            f"{size[0]}, {size[1]}, {size[2]}", (size[0] + 1) * size[1], f"{statistics.median(steps):.0f}", f"{a:.3f}",
            f"{b:.3f}", f"{e:.1f}", f"{e / a:.0f}", f"{c:.3f} ({fast})", f"{c / b:.1f}", f"{w:.3f} ({full})",
            f"{w / b:.1f}", f"{max(gaps):.0e}",
        )  # fmt: skip
        for name, times in call.items():
            if times:
                off, outside = np.max(worse[name], axis=0)
                took, all_of_it = statistics.median(times), statistics.median(whole[name])
                name_of_size = f"{size[0]}, {size[1]}, {size[2]}"
                notes.append(
                    (name_of_size, name, f"{took:.3f}", f"{all_of_it:.3f}", f"{off:.0e}", f"{outside:.0e}", len(times))
                )
    print()
    table.head("d, m_gen, m  peer  call, ms  all, ms  loss off by, of the constant's  outside  instances")
    for note in notes:
        table.row(*note)


if __name__ == "__main__":
    main()
