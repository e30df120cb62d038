"""``zonofit search``: train a network on a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zonofit import __version__
from zonofit.cli.options import (
    Columns,
    File,
    Json,
    Labelled,
    Target,
    check_output,
    read_duration,
    read_labelled,
)
from zonofit.cli.output import WARNINGS, count, elapsed, emit, rate, say, show
from zonofit.cli.progress import Progress
from zonofit.cli.search_progress import SearchProgress
from zonofit.cli.signals import sigterm_interrupts
from zonofit.errors import BudgetError, InputError
from zonofit.search.methods import METHODS, find_method

if TYPE_CHECKING:
    from zonofit.programs.problem import Problem
    from zonofit.search.trace import Trace
    from zonofit.search.walk import Search

DEFAULT_BUDGET = 60.0
UNITS_ON_SCREEN, FEATURES_ON_SCREEN = 8, 4
FAILED = 1
ONE = {"programs": "program", "vertices": "vertex", "moves": "move", "steps": "step", "flips": "flip"}


def search(
    file: File,
    target: Target,
    width: Annotated[int, typer.Option("--width", min=1, metavar="M", help="Number of units.")],
    method: Annotated[
        str, typer.Option("--method", metavar="NAME", help=f"How to search: {', '.join(METHODS)}.")
    ] = "hopping",
    loss: Annotated[
        str, typer.Option("--loss", metavar="NAME", help="What to minimise: squared, logistic, huber, absolute.")
    ] = "squared",
    alpha: Annotated[float, typer.Option("--alpha", metavar="A", help="Ridge: add A/2 times the squared weights.")] = 0,
    budget: Annotated[
        str | None,
        typer.Option(
            "--budget",
            metavar="TIME",
            help="Stop after 60, 60s, 5m or 2h; by default 60s unless --moves or --programs is given.",
        ),
    ] = None,
    target_loss: Annotated[
        float | None, typer.Option("--target-loss", metavar="L", help="Stop at a loss of L or less.")
    ] = None,
    moves: Annotated[
        int | None, typer.Option("--moves", min=0, metavar="K", help="Stop each walker after K moves.")
    ] = None,
    programs: Annotated[
        int | None, typer.Option("--programs", min=0, metavar="K", help="Stop each walker after K convex programs.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same search.")] = 0,
    walkers: Annotated[
        int | None,
        typer.Option("--walkers", min=1, metavar="K", help="Searches side by side; by default as many as --jobs."),
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", min=1, metavar="K", help="Number of worker processes.")] = 1,
    columns: Columns = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option("--checkpoint", metavar="NAME.json", help="Written every few seconds; if there, go on from it."),
    ] = None,
    trace: Annotated[
        Path | None, typer.Option("--trace", metavar="NAME.json", help="Write the history of the search.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="NAME.svg", help="Draw best loss against time (.svg, .png, .pdf).")
    ] = None,
    json: Json = False,
) -> None:
    """Train a network with one hidden layer of ReLU units.

    The column --target of FILE holds the labels, every other one (or those of --columns) is a feature. The network is
    f(x) = c + sum over units j of output_weights[j] max(0, W[j] . (x, 1)). Which examples each unit is active on is
    searched; all else is convex. Ctrl-C ends the search with the best network so far, and exits with status 130; with
    --checkpoint the same command goes on from there. zonofit.search.Trace.from_json reads what --trace writes.

    \b
    JSON: command, version, file, target: str; features: list of str;
      n_examples, n_features, width: int;
      method, loss_function: str; alpha: float; seed, walkers: int;
      settings: str, the search with its settings;
      loss: float, the least mean loss found, ridge included; stop_reason: str, one of target, seconds, programs, moves,
      local minimum, complete, interrupted;
      seconds: float, those before a checkpoint included;
      programs, vertices, moves, steps, flips: int, convex programs solved, vertices visited, moves of the search,
      Newton steps and bits flipped, summed over walkers;
      W: list of width lists of n_features + 1 float, the bias last; c: float; output_weights: list of float;
      checkpoint, trace, plot: str or null, the files;
      warnings: list of str.
    """  # noqa: D301
    from zonofit.search import Budget, run

    chosen = find_method(method)()
    limits = _limits(budget, target_loss, moves, programs)
    for path, option in ((checkpoint, "--checkpoint"), (trace, "--trace")):
        if path is not None:
            check_output(path, option)
    if plot is not None:
        from zonofit.plots.canvas import check_path

        check_path(plot)
    labelled = read_labelled(file, target, columns)
    problem = make_problem(file, labelled, width, loss, alpha)
    limit = Budget(**limits)
    with sigterm_interrupts() as stopped:
        with Progress("loading kernels; after an installation they are compiled"):
            warm_up(chosen, loss)
        with SearchProgress("searching", limit) as progress:
            result = run(
                chosen, problem, budget=limit, seed=seed, walkers=walkers or jobs, n_jobs=jobs, progress=progress,
                checkpoint=checkpoint,
            )  # fmt: skip
    files = {
        "checkpoint": None if checkpoint is None else str(checkpoint),
        "trace": _saved(trace, "--trace", result.save),
        "plot": _saved(plot, "--plot", lambda path: _draw(result, path)),
    }
    fields = {
        "command": "search",
        "version": __version__,
        "file": str(file),
        "target": labelled.target,
        "features": labelled.features,
        "n_examples": problem.n_examples,
        "n_features": len(labelled.features),
        "width": width,
        "method": method,
        "loss_function": loss,
        "alpha": alpha,
        "seed": seed,
        "walkers": result.walkers,
        "settings": result.search,
        "loss": result.loss,
        "stop_reason": result.stop_reason,
        "seconds": result.seconds,
        **result.counts,
        "W": result.W,
        "c": result.c,
        "output_weights": result.output_weights,
        **files,
        "warnings": WARNINGS,
    }
    if json:
        emit(fields)
    else:
        _report(result, fields)
    if result.stop_reason == "interrupted":
        again = " The same command goes on from there." if checkpoint is not None else ""
        say(f"zonofit: interrupted after {elapsed(result.seconds)}; this is the best network so far.{again}")
        raise typer.Exit(stopped.status)
    if (files["trace"], files["plot"]).count(None) > (trace, plot).count(None):
        raise typer.Exit(FAILED)


def _limits(budget: str | None, target_loss: float | None, moves: int | None, programs: int | None) -> dict:
    """What `Budget` takes; without a limit that is sure to be reached a search lasts a minute."""
    limits: dict[str, float] = {}
    if budget is not None:
        limits["seconds"] = read_duration(budget, "--budget")
    elif moves is None and programs is None:
        limits["seconds"] = DEFAULT_BUDGET
    named = {"target": target_loss, "moves": moves, "programs": programs}
    return limits | {name: value for name, value in named.items() if value is not None}


def make_problem(file: Path, labelled: Labelled, width: int, loss: str, alpha: float) -> Problem:
    """The problem of a table, or an `InputError` where the loss has nothing to tell apart."""
    import numpy as np

    from zonofit.programs.problem import Problem

    problem = Problem(labelled.X, labelled.y, width, loss=loss, alpha=alpha)
    if loss == "logistic" and len(np.unique(labelled.y)) == 1:
        raise InputError(
            f"{file}: column {labelled.target!r} is {labelled.y[0]:g} in every row; "
            "the logistic loss needs examples of both classes."
        )
    return problem


def warm_up(chosen: Search, loss: str) -> None:
    """Search on six examples, so that compiling kernels, half a minute the first time, is not taken off the budget."""
    from zonofit.programs.problem import Problem
    from zonofit.search import Budget, run

    small = Problem([[-3.0], [-2.0], [-0.5], [1.0], [2.5], [4.0]], [0.0, 1.0, 0.0, 1.0, 1.0, 0.0], 2, loss=loss)
    with suppress(InputError, BudgetError):  # the search proper says it better
        run(chosen, small, budget=Budget(programs=3, moves=2))


def _draw(result: Trace, path: Path) -> None:
    from zonofit.plots.trace import trace_figure

    trace_figure(result, path=path)


def _saved(path: Path | None, option: str, write: Callable[[Path], None]) -> str | None:
    """The name of the file that was written, if one was; a search of hours is not lost to a full disk."""
    if path is None:
        return None
    try:
        write(path)
    except (OSError, InputError) as error:
        reason = getattr(error, "strerror", None) or str(error).rstrip(".")
        sentence = f"{option}: {path} was not written ({reason}); the rest of the result is not affected."
        WARNINGS.append(sentence)
        say(f"zonofit: {sentence}")
        return None
    return str(path)


def _report(result: Trace, fields: dict) -> None:
    from zonofit.search.trace import STOP_REASONS

    examples = "1 example" if fields["n_examples"] == 1 else f"{count(fields['n_examples'])} examples"
    features = "1 feature" if fields["n_features"] == 1 else f"{fields['n_features']} features"
    units = "1 unit" if fields["width"] == 1 else f"{fields['width']} units"
    rows = [
        ("task", f"{fields['target']} from {features}, {examples}, {fields['loss_function']} loss"),
        ("loss", f"{result.loss:.6g}"),
        ("stopped", f"{STOP_REASONS[result.stop_reason]}, after {elapsed(result.seconds)}"),
        ("network", f"{units}, {int((result.output_weights > 0).sum())} with a positive output weight"),
    ]
    if fields["width"] <= UNITS_ON_SCREEN and fields["n_features"] <= FEATURES_ON_SCREEN:
        rows += [("", line) for line in formula(result, fields["features"])]
    walked = f", {result.walkers} walkers" if result.walkers > 1 else ""
    rows.append(("search", f"{result.search}, seed {result.seed}{walked}"))
    counts = [f"{count(number)} {name if number != 1 else ONE[name]}" for name, number in result.counts.items()]
    pace = rate(result.counts["programs"], result.seconds)
    rows.append(("work", f"{', '.join(counts)}; programs at {pace}"))
    rows += [(name, fields[name]) for name in ("checkpoint", "trace", "plot") if fields[name]]
    show(rows)


def formula(result: Trace, features: Sequence[str]) -> list[str]:
    """The network as one would write it down, a unit a line."""
    lines = [f"{result.c:.4g}"]
    for v, w in zip(result.output_weights.tolist(), result.W.tolist(), strict=True):
        terms = " ".join(f"{x:+.4g} {name}" for x, name in zip(w, features, strict=False))
        factor = "" if abs(v) == 1 else f"{abs(v):.4g} "
        lines.append(f"{'-' if v < 0 else '+'} {factor}max(0, {terms} {w[-1]:+.4g})")
    return lines
