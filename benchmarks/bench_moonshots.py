"""The two largest rows of Table A1 with as many units as made the data: how the least loss falls, on all cores.

    python benchmarks/bench_moonshots.py [--size 8 16 16] [--seeds K] [--seconds S] [--target T] [--jobs J] [--out FILE]

One walker a job, each on a core of its own; all stop when one is at the target. Bars: (8, 16, 16) below 1e-12 on 10 of
10 seeds within 600 s on two cores; (16, 16, 16) below 1e-6 within 1800 s.
"""

from __future__ import annotations

import argparse

import table  # isort: skip

import numpy as np

from data import synthetic
from zonofit.programs import Problem
from zonofit.search import Budget, Hopping, run


def draw(traces, size, path) -> None:
    """Least loss of all walkers so far against seconds, one line a seed."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    axis = figure.subplots()
    for seed, trace in traces.items():
        order = np.argsort(trace.history["seconds"], kind="stable")
        times, losses = trace.history["seconds"][order], np.minimum.accumulate(trace.history["loss"][order])
        axis.loglog(np.maximum(times, 1e-2), losses, drawstyle="steps-post", label=f"seed {seed}", linewidth=1.2)
    axis.set_xlabel("seconds")
    axis.set_ylabel("least mean squared error")
    axis.set_title(f"d = {size[0]}, m_gen = {size[1]}, m = {size[2]}", fontsize=10)
    axis.grid(alpha=0.2)
    axis.legend(frameon=False, fontsize=7, ncols=2, loc="lower left")
    figure.savefig(path)


def main() -> None:
    """Table and, if asked for, picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, nargs=3, default=(8, 16, 16), help="d, m_gen and m")
    parser.add_argument("--first", type=int, default=100, help="first seed")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--target", type=float, default=1e-12)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", help="picture")
    arguments = parser.parse_args()
    d, m_gen, m = size = tuple(arguments.size)
    jobs = {"walkers": arguments.jobs, "n_jobs": arguments.jobs}
    run(Hopping(), Problem(*synthetic(d, m_gen, np.random.default_rng(0)), m), budget=Budget(moves=40), **jobs)
    traces = {}
    table.head("d, m_gen, m  seed  loss  seconds  hops  hops a second of all walkers")
    for seed in range(arguments.first, arguments.first + arguments.seeds):
        problem = Problem(*synthetic(d, m_gen, np.random.default_rng(seed)), m)
        budget = Budget(seconds=arguments.seconds, target=arguments.target)
        trace = traces[seed] = run(Hopping(), problem, budget=budget, seed=seed, **jobs)
        moves = trace.counts["moves"]
        table.row(
            ", ".join(map(str, size)), seed, f"{trace.loss:.1e}", f"{trace.seconds:.1f}", moves,
            f"{moves / trace.seconds:.0f}",
        )  # fmt: skip
    seconds = np.array([trace.seconds for trace in traces.values()])
    fitted = sum(trace.loss <= arguments.target for trace in traces.values())
    print(
        f"\n{fitted} of {len(traces)} at most {arguments.target:g}; "
        f"seconds: median {np.median(seconds):.1f}, worst {seconds.max():.1f}"
    )
    if arguments.out:
        draw(traces, size, arguments.out)


if __name__ == "__main__":
    main()
