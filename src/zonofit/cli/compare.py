"""``zonofit compare``: ours beside scikit-learn's MLPs, on the user's table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zonofit import __version__
from zonofit.cli.models import Classify, picture, plural, read_learnable
from zonofit.cli.options import Columns, File, Json, Target, read_duration
from zonofit.cli.output import WARNINGS, elapsed, emit, show
from zonofit.cli.progress import Progress


def compare(
    file: File,
    target: Target,
    width: Annotated[int, typer.Option("--width", min=1, metavar="M", help="Units of every network.")] = 8,
    budget: Annotated[str, typer.Option("--budget", metavar="TIME", help="For each network: 5, 5s, 1m.")] = "5s",
    classify: Classify = False,
    alpha: Annotated[
        float | None, typer.Option("--alpha", min=0, metavar="A", help="Ridge of ours; by default it is chosen.")
    ] = None,
    held_out: Annotated[
        float, typer.Option("--held-out", min=0.01, max=0.99, metavar="P", help="Share of the rows to judge by.")
    ] = 0.25,
    ceiling: Annotated[
        bool, typer.Option("--ceiling", help="Also gradient boosting, which is no small network.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="NAME.svg", help="Draw both losses of each (.svg, .png, .pdf).")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the split and of every network.")] = 0,
    columns: Columns = None,
    json: Json = False,
) -> None:
    """Train ours and scikit-learn's MLPs, at the same width and in the same time, and judge them on unseen rows.

    An MLP that ends early begins anew until its time is up; its best network counts. Losses are shares of the variance
    of the labels, or mean logistic losses.

    \b
    JSON: command, version, file, target: str; n_examples, width: int; seconds: float, for each; held_out: float;
      methods: list of {name: str, training, held_out, seconds: float, fits: int}, ours first;
      plot: str or null, the file; warnings: list of str.
    """  # noqa: D301
    seconds = read_duration(budget, "--budget")
    picture(plot, "--plot")
    labelled = read_learnable(file, target, columns, classify)
    y = (labelled.y == labelled.y.max()).astype(float) if classify else labelled.y
    from zonofit.estimators import comparison

    with Progress("training; after an installation kernels are compiled first"):
        found = comparison.compare(
            labelled.X, y, width=width, seconds=seconds, classes=classify, alpha=alpha, held_out=held_out, seed=seed,
            ceiling=ceiling,
        )  # fmt: skip
    loss = "logistic loss" if classify else "share of the variance left"
    if plot is not None:
        from zonofit.plots.rivals import rivals_figure

        rivals_figure(found, loss, title=f"{labelled.target}, {plural(width, 'unit')}, {elapsed(seconds)}", path=plot)
    fields = {
        "command": "compare",
        "version": __version__,
        "file": str(file),
        "target": labelled.target,
        "n_examples": len(y),
        "width": width,
        "seconds": seconds,
        "held_out": held_out,
        "methods": [vars(rival) for rival in found],
        "plot": None if plot is None else str(plot),
        "warnings": WARNINGS,
    }
    if json:
        emit(fields)
        return
    rows = [
        (rival.name, f"training {rival.training:.4g}, held out {rival.held_out:.4g}, "
                     f"{plural(rival.fits, 'start')} in {elapsed(rival.seconds)}")
        for rival in found
    ]  # fmt: skip
    show(rows, f"{labelled.target} from {plural(labelled.X.shape[1], 'feature')}, {plural(width, 'unit')}: {loss}")
    if plot is not None:
        print(f"Picture: {plot}")
