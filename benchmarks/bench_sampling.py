"""Random chambers: time of each, and how many walls they have.

    python benchmarks/bench_sampling.py

A uniformly chosen chamber has 2 N c(N-1, n-1) / c(N, n) walls on average, c being Cover's count: each hyperplane
carries c(N-1, n-1) walls, and each wall belongs to two chambers. The last column is that number, so the one before
it checks the sampler.
"""

from __future__ import annotations

import statistics
import time

import numpy as np

from zonofit.geometry.arrangement import Arrangement
from zonofit.geometry.chambers import chamber_bound


def timed(arrangement: Arrangement, how: str, size: int, repeats: int = 5) -> tuple[float, float]:
    """Milliseconds a chamber, and mean number of walls over 100 of them."""
    arrangement.sample(1, 0, how=how)
    seconds = []
    for seed in range(repeats):
        begin = time.perf_counter()
        draw = arrangement.sample(size, seed, how=how)
        seconds.append((time.perf_counter() - begin) / size)
    walls = [len(arrangement.walls(w)) for w in draw.witnesses[:100]]
    return 1e3 * statistics.median(seconds), statistics.mean(walls)


if __name__ == "__main__":
    print("| N, n | Gaussian, ms | uniform, ms | walls, Gaussian | walls, uniform | in theory |")
    print("|---|---|---|---|---|---|")
    for N, n in [(20, 5), (72, 9), (144, 9), (272, 17), (700, 17)]:
        arrangement = Arrangement.from_examples(np.random.default_rng(N).standard_normal((N, n - 1)))
        a, walls_a = timed(arrangement, "gaussian", 200)
        b, walls_b = timed(arrangement, "uniform", 200)
        theory = 2 * N * chamber_bound(N - 1, n - 1) / chamber_bound(N, n)
        print(f"| {N}, {n} | {a:.4f} | {b:.3f} | {walls_a:.1f} | {walls_b:.1f} | {theory:.1f} |", flush=True)
