"""Small networks on real tables: ours beside scikit-learn's MLPs at equal width and time, training and held-out loss.

    python benchmarks/bench_tabular.py [--seconds 1] [--tables NAME ...] [--quick]

Twelve tables that come inside scikit-learn and statsmodels, widths 2, 4, 8, 16, three quarters of the examples to
train on, one thread. An MLP that ends early begins anew until its time is up. Losses are shares of the labels'
variance, or mean logistic losses. First nobody has a ridge, and the training loss counts; logistic losses below 1e-6
are level, because the classes are separated. Then everybody has the default: ours a ridge chosen by validation within
the same seconds, the MLPs alpha=1e-4, and the held-out loss counts. Gradient boosting, which is no small network, is
the ceiling. The last column is the longer of our two times: a descent is not interrupted. Bars: the training loss below
both solvers' in 90 % of the cells, the held-out loss not above either's in 60 %.
"""

from __future__ import annotations

import argparse

import table  # isort: skip

from tabular import TABLES, load  # isort: skip
from zonofit.estimators.comparison import compare

WIDTHS = (2, 4, 8, 16)
SOLVED = 1e-6  # logistic losses below this are all the same: the classes are separated


def main() -> None:
    """The table, and how many cells were won."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=1.0, help="for each network")
    parser.add_argument("--tables", nargs="*", default=list(TABLES))
    parser.add_argument("--quick", action="store_true", help="two tables, two widths")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    names = arguments.tables[:2] if arguments.quick else arguments.tables
    won, cells = [0, 0], 0
    table.head("table  N × d  units  training: ours  adam  lbfgs  held out: ours  adam  lbfgs  boosting  ours, s")
    for name in names:
        X, y, classes = load(name)
        for width in WIDTHS[::2] if arguments.quick else WIDTHS:
            common = {"width": width, "seconds": arguments.seconds, "classes": classes, "seed": arguments.seed}
            bare, default = compare(X, y, alpha=0.0, rival_alpha=0.0, **common), compare(X, y, ceiling=True, **common)
            fitted, unseen = [r.training for r in bare], [r.held_out for r in default]
            least = SOLVED if classes else 0.0
            cells += 1
            won[0] += max(fitted[0], least) <= max(min(fitted[1:3]), least)
            won[1] += unseen[0] <= min(unseen[1:3])
            table.row(
                name, f"{len(X)} × {X.shape[1]}", width, *(f"{x:.4f}" if x > 1e-4 else f"{x:.0e}" for x in fitted),
                *(f"{x:.4f}" for x in unseen), f"{max(bare[0].seconds, default[0].seconds):.1f}",
            )  # fmt: skip
    print(f"\nOurs is best, or level: training {won[0]} of {cells}, held out {won[1]} of {cells}.")


if __name__ == "__main__":
    main()
