"""Enumeration of chambers: rate, threads, bytes, and memory, against the floor of writing the patterns.

    python benchmarks/bench_chambers.py [--quick]

Every rate counts chambers delivered in blocks to a consumer that only looks at their length; opposite chambers are
written out, not counted twice. The floor is the time to fill an array of the same bytes, in blocks of the same
size, with a constant. Medians of interleaved repetitions in one process; compilation is kept out.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import subprocess
import sys
import time
from itertools import product

import numpy as np

from zonofit.geometry.arrangement import Arrangement

GENERIC = [(40, 5), (60, 5), (30, 8), (24, 9), (100, 4), (500, 3)]


def gaussian(N: int, n: int, seed: int) -> Arrangement:
    """N standard normal examples in R^(n-1)."""
    return Arrangement.from_examples(np.random.default_rng(seed).standard_normal((N, n - 1)))


def cube(d: int) -> Arrangement:
    """Vertices of {0,1}^d with bias."""
    return Arrangement.from_examples(np.array(list(product([0, 1], repeat=d)), float))


def resonance(n: int) -> Arrangement:
    """Non-zero 0/1 vectors of length n."""
    return Arrangement(np.array([x for x in product([0, 1], repeat=n) if any(x)], float))


def stream(arrangement: Arrangement, n_jobs: int) -> tuple[int, float]:
    """Chambers delivered and seconds."""
    arrangement.reduction  # noqa: B018  (computed once, outside the clock)
    begin = time.perf_counter()
    count = sum(len(block) for block in arrangement.chambers(n_jobs=n_jobs))
    return count, time.perf_counter() - begin


def write_floor(count: int, words: int) -> float:
    """Seconds to fill as many words, block by block."""
    block = np.empty(65536 * words, np.uint64)
    left = count * words
    begin = time.perf_counter()
    while left > 0:
        block[: min(left, len(block))] = left
        left -= len(block)
    return time.perf_counter() - begin


def bench_generic(repeats: int) -> None:
    """Rates in general position, one and two threads."""
    stream(gaussian(12, 4, 0), 1)
    print("| N, n | chambers | M/s, 1 thread | M/s, 2 threads | ratio | ns a chamber | bytes | times the write floor |")
    print("|---|---|---|---|---|---|---|---|")
    for N, n in GENERIC:
        one, two, floor = [], [], []
        for repeat in range(repeats):
            arrangement = gaussian(N, n, repeat)
            count, seconds = stream(arrangement, 1)
            one.append(seconds)
            two.append(stream(arrangement, 2)[1])
            floor.append(write_floor(count, -(-N // 64)))
        a, b, f = map(statistics.median, (one, two, floor))
        print(
            f"| {N}, {n} | {count:,} | {count / a / 1e6:.1f} | {count / b / 1e6:.1f} | {a / b:.2f} "
            f"| {a / count * 1e9:.1f} | {8 * -(-N // 64)} | {a / f:.1f} |",
            flush=True,
        )


def bench_any_position(repeats: int, quick: bool) -> None:
    """Rates on degenerate arrangements, against published counts."""
    cases = [("cube {0,1}^5 with bias", cube(5), 94_572), ("resonance n = 5", resonance(5), 11_292)]
    if not quick:
        cases.append(("resonance n = 6", resonance(6), 1_066_044))
    print("\n| arrangement | chambers | as published | M/s, 1 thread |\n|---|---|---|---|")
    for name, arrangement, published in cases:
        runs = [stream(arrangement, 1) for _ in range(repeats)]
        count = runs[0][0]
        seconds = statistics.median(s for _, s in runs)
        print(
            f"| {name} | {count:,} | {'yes' if count == published else 'NO'} | {count / seconds / 1e6:.2f} |",
            flush=True,
        )


def bench_memory() -> None:
    """Peak memory and rate while streaming the cube {0,1}^6 with bias, in a process of its own."""
    code = (
        "import json, resource, sys; sys.path[:0] = sys.argv[1:]; from benchmarks.bench_chambers import cube, stream\n"
        "count, seconds = stream(cube(6), 1)\n"
        "peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3\n"
        "print(json.dumps([count, seconds, peak]))"
    )
    out = subprocess.run([sys.executable, "-c", code, *sys.path], capture_output=True, text=True, check=True).stdout
    count, seconds, peak = json.loads(out)
    rate = count / seconds / 1e6
    print(f"\ncube {{0,1}}^6 with bias: {count:,} chambers, {rate:.2f} M/s, peak resident memory {peak:.0f} MB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer repetitions, no large instances")
    quick = parser.parse_args().quick
    print(f"Python {platform.python_version()}, {platform.processor() or platform.machine()}\n")
    bench_generic(3 if quick else 9)
    bench_any_position(3 if quick else 5, quick)
    if not quick:
        bench_memory()
