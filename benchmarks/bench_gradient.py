"""Which reading of the paper's gradient descent gives its numbers: scale of the loss, optimiser, first output weights.

    python benchmarks/bench_gradient.py [--quick] [--runs K] [--image-runs K]

Synthetic data: medians after 400,000 steps of rate 1e-3, all parameters trained, each run on data of its own. Image
tasks: 1,000,000 steps with output weights half 1 and half -1, fixed. "Single" is single precision.
"""

from __future__ import annotations

import argparse
import statistics

import table  # isort: skip

from zonofit.baselines import GradientDescent, descend
from zonofit.data import load_images, synthetic

SIZES = {
    (4, 2, 2): 3.82e-10, (4, 4, 4): 8.30e-3, (8, 8, 8): 7.47e-3, (4, 2, 4): 6.01e-12, (4, 4, 6): 5.04e-12,
    (4, 4, 8): 6.54e-12, (4, 8, 16): 2.21e-11, (8, 4, 8): 7.69e-12, (8, 8, 12): 7.30e-12, (8, 8, 16): 5.83e-13,
}  # fmt: skip
READINGS = {
    "mean": {},
    "mean, v normal": {"output": "normal"},
    "mean, v ±1": {"output": "signs"},
    "sum": {"scale": "sum"},
    "sum, single": {"scale": "sum", "precision": "single"},
    "Adam": {"optimiser": "adam"},
    "Adam, single": {"optimiser": "adam", "precision": "single"},
}
IMAGES = {
    ("mnist_49", 4): 1.16e-1, ("mnist_49", 8): 5.37e-2, ("mnist_49", 16): 2.09e-2,
    ("mnist_59", 4): 1.16e-1, ("mnist_59", 8): 5.37e-2, ("fashion_24", 4): 2.98e-1, ("fashion_24", 8): 2.24e-1,
}  # fmt: skip
IMAGE_READINGS = {"mean": {}, "sum": {"scale": "sum"}, "Adam": {"optimiser": "adam"}}


def main() -> None:
    """Both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a hundredth of the steps, two runs")
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--image-runs", type=int, default=2)
    arguments = parser.parse_args()
    part = 100 if arguments.quick else 1
    runs, more = (2, 2) if arguments.quick else (arguments.runs, arguments.image_runs)
    table.head("d, m_gen, m  the paper's  " + "  ".join(READINGS))
    for (d, m_gen, m), paper in SIZES.items():
        cells = []
        for reading in READINGS.values():
            method = GradientDescent(steps=400_000 // part, **reading)
            losses = [descend(*synthetic(d, m_gen, seed), m, method, seed=seed).loss for seed in range(runs)]
            cells.append(f"{statistics.median(losses):.1e}")
        table.row(f"{d}, {m_gen}, {m}", f"{paper:.1e}", *cells)
    print()
    table.head("task  m  the paper's  " + "  ".join(IMAGE_READINGS))
    for (task, m), paper in IMAGES.items():
        X, y = load_images(task, 8, 350)
        cells = []
        for reading in IMAGE_READINGS.values():
            method = GradientDescent(steps=1_000_000 // part, output="signs", train_output=False, **reading)
            losses = [descend(X, y, m, method, loss="logistic", seed=seed).loss for seed in range(more)]
            cells.append(f"{statistics.median(losses):.1e}")
        table.row(task, m, f"{paper:.1e}", *cells)


if __name__ == "__main__":
    main()
