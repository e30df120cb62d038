"""Walls of one chamber: milliseconds, the peer in the same run, and the floor of checking the answer.

    python benchmarks/bench_walls.py [--quick]

Gaussian chambers, as in the paper: examples and w standard normal, a 1 appended to each example. Ours is the whole call
`walls(arrangement, w)`; with witnesses adds a point inside every neighbour. The peer is HiGHS on one warm model: for
each row, minimise it over the others in a box, by three ways of which the best on each instance counts. One thread;
medians over chambers, ours and the peer's interleaved; compilation, and what belongs to the arrangement and
not to the chamber, are kept out on both sides.

The floor is the number of multiply-adds that checking the answer takes: one point a wall, tested on all rows
(M n each), and n multipliers a redundant row (n² each), at the rate of a matrix product of the same size.
"""

from __future__ import annotations

import argparse
import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import platform  # noqa: E402
import statistics  # noqa: E402
import time  # noqa: E402

import numpy as np  # noqa: E402

from zonofit.geometry.arrangement import Arrangement  # noqa: E402
from zonofit.geometry.facets import Walls, walls  # noqa: E402

SIZES = [(144, 9), (272, 17), (700, 17)]
BARS = {(144, 9): 0.15, (272, 17): 2.0, (700, 17): 4.0}
WAYS = ("dual", "primal", "primal, dropping")


class Peer:
    """N linear programs on one HiGHS model that stays warm."""

    def __init__(self, rows: np.ndarray, way: str):
        import highspy

        self.rows, self.drop = rows, way.endswith("dropping")
        self.infinity = highspy.kHighsInf
        N, n = rows.shape
        self.model = highspy.Highs()
        for option, value in (("output_flag", False), ("presolve", "off"), ("solver", "simplex"), ("threads", 1)):
            self.model.setOptionValue(option, value)
        self.model.setOptionValue("simplex_strategy", 1 if way == "dual" else 4)
        program = highspy.HighsLp()
        program.num_col_, program.num_row_ = n, N
        program.col_cost_ = np.zeros(n)
        program.col_lower_, program.col_upper_ = np.full(n, -1.0), np.full(n, 1.0)
        program.row_lower_, program.row_upper_ = np.zeros(N), np.full(N, self.infinity)
        program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        program.a_matrix_.start_ = np.arange(0, N * n + 1, n)
        program.a_matrix_.index_ = np.tile(np.arange(n), N)
        program.a_matrix_.value_ = rows.ravel()
        self.model.passModel(program)
        self.columns = np.arange(n, dtype=np.int32)

    def walls(self) -> np.ndarray:
        """Rows that can be violated alone."""
        found = []
        for i, row in enumerate(self.rows):
            self.model.changeRowBounds(i, -1.0, self.infinity)
            self.model.changeColsCost(len(row), self.columns, row)
            self.model.run()
            wall = self.model.getInfo().objective_function_value < -1e-8
            if wall:
                found.append(i)
            if wall or not self.drop:
                self.model.changeRowBounds(i, 0.0, self.infinity)
            else:
                self.model.changeRowBounds(i, -self.infinity, self.infinity)
        return np.array(found)


def instance(N: int, n: int, seed: int) -> tuple[Arrangement, np.ndarray]:
    """Gaussian examples and weights; one chamber was looked at, so that the arrangement's own work is done."""
    rng = np.random.default_rng(seed)
    arrangement = Arrangement.from_examples(rng.standard_normal((N, n - 1)))
    walls(arrangement, rng.standard_normal(n))
    return arrangement, rng.standard_normal(n)


def clock(function, *arguments):
    """Milliseconds and result."""
    begin = time.perf_counter()
    result = function(*arguments)
    return 1e3 * (time.perf_counter() - begin), result


def floor(found: Walls, N: int, n: int) -> float:
    """Milliseconds to multiply as much as checking all proofs takes."""
    points, rows = np.ones((len(found), n)), np.ones((n, N))
    product = min(clock(np.matmul, points, rows)[0] for _ in range(5))
    return product * (1 + (N - len(found)) * n * n / (len(found) * N * n))


def bench_cold(chambers: int, by_peer: int) -> None:
    """Time for one chamber, beside HiGHS."""
    print("| N, n | walls | ours, ms | bar | with witnesses | HiGHS, ms | ratio | programs | steps | times the floor |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for N, n in SIZES:
        ours, both, peer, least, counts, work = [], [], [], [], [], []
        for seed in range(chambers):
            arrangement, w = instance(N, n, seed)
            milliseconds, found = clock(walls, arrangement, w)
            ours.append(milliseconds)
            both.append(milliseconds + clock(found.neighbor_witnesses)[0])
            least.append(floor(found, N, n))
            counts.append(len(found))
            work.append([found.work["programs"], found.work["steps"]])
            if seed < by_peer:
                rows = arrangement.generators * np.where(found.pattern, 1.0, -1.0)[:, None]
                rows /= np.linalg.norm(rows, axis=1)[:, None]
                times = []
                for way in WAYS:
                    milliseconds, answer = clock(Peer(rows, way).walls)
                    assert np.array_equal(answer, found.indices), way
                    times.append(milliseconds)
                peer.append(min(times))
        a, b, h, f = map(statistics.median, (ours, both, peer, least))
        programs, steps = np.mean(work, axis=0)
        print(
            f"| {N}, {n} | {np.mean(counts):.0f} | {a:.3f} | {BARS[N, n]} | {b:.3f} | {h:.1f} | {h / a:.0f} "
            f"| {programs:.0f} | {steps:.0f} | {a / f:.1f} |",
            flush=True,
        )


def bench_warm(chambers: int) -> None:
    """Time for a neighbour of a chamber whose walls are known, cold and warm."""
    print("\n| N, n | neighbour, cold, ms | warm, ms | ratio | steps, cold | steps, warm |\n|---|---|---|---|---|---|")
    for N, n in SIZES:
        cold, warm, steps = [], [], []
        for seed in range(chambers):
            arrangement, w = instance(N, n, seed)
            known = walls(arrangement, w)
            w = known.neighbor_witnesses()[seed % len(known)]
            milliseconds, fresh = clock(walls, arrangement, w)
            cold.append(milliseconds)
            milliseconds, found = clock(lambda a, x, k: walls(a, x, warm=k), arrangement, w, known)
            warm.append(milliseconds)
            assert np.array_equal(fresh.indices, found.indices)
            steps.append([fresh.work["steps"], found.work["steps"]])
        a, b = statistics.median(cold), statistics.median(warm)
        before, after = np.mean(steps, axis=0)
        print(f"| {N}, {n} | {a:.3f} | {b:.3f} | {a / b:.2f} | {before:.0f} | {after:.0f} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer chambers")
    quick = parser.parse_args().quick
    print(f"Python {platform.python_version()}, {platform.processor() or platform.machine()}, one thread\n")
    bench_cold(20 if quick else 200, 3 if quick else 7)
    bench_warm(20 if quick else 200)
