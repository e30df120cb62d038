"""``zonofit fit``: a network from a table."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zonofit import __version__
from zonofit.cli.models import Classify, as_class, formula, numbers, plural, read_learnable, rows_of
from zonofit.cli.options import Columns, File, Json, Target, check_output, read_duration
from zonofit.cli.output import WARNINGS, elapsed, emit, show
from zonofit.cli.progress import Progress
from zonofit.search.methods import METHODS

if TYPE_CHECKING:
    from zonofit.cli.options import Labelled
    from zonofit.network import ShallowReLU

UNITS_ON_SCREEN, FEATURES_ON_SCREEN = 8, 4


def fit(
    file: File,
    target: Target,
    width: Annotated[
        str, typer.Option("--width", metavar="M,...", help="Units; from several the best on held-back rows is taken.")
    ] = "8",
    out: Annotated[Path, typer.Option("-o", "--out", metavar="NAME.json", help="Where to write the network.")] = Path(
        "model.json"
    ),
    classify: Classify = False,
    alpha: Annotated[
        str | None,
        typer.Option("--alpha", metavar="A,...", help="Ridge, on standardised features; by default it is chosen."),
    ] = None,
    loss: Annotated[
        str | None,
        typer.Option("--loss", metavar="NAME", help="squared or huber; with --classify logistic or squared."),
    ] = None,
    budget: Annotated[
        str | None, typer.Option("--budget", metavar="TIME", help="Search for 10s, 5m; by default about a second.")
    ] = None,
    method: Annotated[
        str, typer.Option("--method", metavar="NAME", help=f"How to search: {', '.join(METHODS)}.")
    ] = "hopping",
    early_stopping: Annotated[
        bool, typer.Option("--early-stopping", help="Keep the network that predicts held-back rows best.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same network.")] = 0,
    columns: Columns = None,
    json: Json = False,
) -> None:
    """Train a small network on a table and write it as JSON.

    The column --target holds the labels, every other one (or those of --columns) is a feature. zonofit predict, explain
    and export read what is written.

    \b
    JSON: command, version, file, target: str; features: list of str; n_examples: int;
      width: int; alpha: float, as chosen;
      loss_function: str; loss: float, the mean loss of the rows;
      score: float, the share of the labels' variance that is explained, or of rows whose class is right;
      optimal_for_patterns: bool or null, whether a certificate proves that no weights with the same activation
      patterns are better; null where it was not asked for;
      stop_reason: str; seconds: float; out: str, the file;
      warnings: list of str.
    """  # noqa: D301
    check_output(out, "--out")
    widths = numbers(width, "--width", int)
    alphas = "auto" if alpha is None else numbers(alpha, "--alpha", float)
    seconds = None if budget is None else read_duration(budget, "--budget")
    labelled = read_learnable(file, target, columns, classify)
    start = time.perf_counter()
    with Progress("fitting; after an installation kernels are compiled first"):
        model = _estimator(classify)(
            widths, search=method, alpha=alphas, loss=loss or ("logistic" if classify else "squared"),
            time_budget=seconds, early_stopping=early_stopping, random_state=seed,
        )  # fmt: skip
        model.fit(labelled.X, labelled.y)
    network = _named(model.network_, labelled)
    from zonofit.export.json import save

    save(network, out)
    certificate = model.certificate_
    fields = {
        "command": "fit",
        "version": __version__,
        "file": str(file),
        "target": labelled.target,
        "features": labelled.features,
        "n_examples": len(labelled.y),
        "width": model.width_,
        "alpha": model.alpha_,
        "loss_function": model.loss,
        "loss": model.loss_,
        "score": float(model.score(labelled.X, labelled.y)),
        "optimal_for_patterns": None if certificate is None else bool(certificate.holds()),
        "stop_reason": model.trace_.stop_reason,
        "seconds": time.perf_counter() - start,
        "out": str(out),
        "warnings": WARNINGS,
    }
    if json:
        emit(fields)
        return
    score = f"{100 * fields['score']:.1f} % {'of the rows right' if classify else 'of the variance explained'}"
    rows = [
        ("task", f"{labelled.target} from {plural(len(labelled.features), 'feature')}, "
                 f"{plural(len(labelled.y), 'example')}"),
        ("network", f"{plural(network.width, 'unit')}, ridge {model.alpha_:g}"),
        ("loss", f"{model.loss_:.6g} {model.loss}; on these rows {score}"),
    ]  # fmt: skip
    if network.width <= UNITS_ON_SCREEN and network.n_features <= FEATURES_ON_SCREEN:
        rows += rows_of(formula(network), "formula")
    if fields["optimal_for_patterns"]:
        rows.append(("certificate", "no weights with these activation patterns are better"))
    show([*rows, ("written", f"{out}, in {elapsed(fields['seconds'])}")])


def _estimator(classify: bool) -> Any:
    from zonofit.estimators import ReLUClassifier, ReLURegressor

    return ReLUClassifier if classify else ReLURegressor


def _named(network: ShallowReLU, labelled: Labelled) -> ShallowReLU:
    classes = None if network.classes is None else (as_class(network.classes[0]), as_class(network.classes[1]))
    return replace(network, features=labelled.features, target=labelled.target, classes=classes)
