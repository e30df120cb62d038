"""``zonofit setcover``: a set cover by training one ReLU (Theorem 2)."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zonofit import __version__
from zonofit.cli.options import Json, read_duration
from zonofit.cli.output import WARNINGS, count, elapsed, emit, say, show
from zonofit.cli.progress import Progress
from zonofit.cli.signals import sigterm_interrupts
from zonofit.errors import BudgetError, InputError

if TYPE_CHECKING:
    from zonofit.theory.covers import SetCover
    from zonofit.theory.set_cover import CoverResult, Reduction

METHODS = ("exact", "facet-descent")
DEFAULT_BUDGET = "10s"
NAMES_ON_SCREEN = 12


def setcover(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help='The sets: {"sets": {"A": ["x", "y"], "B": ["y"]}}, as .json.')
    ],
    size: Annotated[
        int | None, typer.Option("--size", min=0, metavar="T", help="Ask whether T sets can cover all elements.")
    ] = None,
    original: Annotated[
        bool, typer.Option("--original", help="Data of Goel et al., which are not in general position.")
    ] = False,
    method: Annotated[
        str,
        typer.Option("--method", metavar="NAME", help="exact looks at every pattern; facet-descent proves nothing."),
    ] = "exact",
    budget: Annotated[
        str, typer.Option("--budget", metavar="TIME", help="How long facet-descent tries: 60, 60s, 5m.")
    ] = DEFAULT_BUDGET,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the noise in the data and of facet-descent.")] = 0,
    json: Json = False,
) -> None:
    """Solve a set cover instance by training one ReLU.

    Training a ReLU is as hard as set cover: the instance in FILE becomes a data set on which the least mean squared
    error of max(0, w . x) is t gamma^2 / N exactly when the smallest cover has t sets, which the sets T with w_gamma +
    w_T <= 0 are. The ReLU is trained on all activation patterns, and the cover is read off its weights. Ctrl-C ends the
    training with the best weights so far, which prove nothing, and exits with
    status 130.

    \b
    JSON: command, version, file: str;
      elements, sets: int; examples, dimension: int, of the data set; general: bool; noise: list of 2 float or null;
      gamma: float; method: str; programs: int; seconds: float;
      loss: float; level: float, loss times N / gamma^2; w: list of float, one a set, then gamma and 1;
      cover: list of str or null, names of the sets; cover_size: int or null;
      optimal: bool, whether no smaller cover exists; size: int or null; answer: bool or null, whether that many do;
      warnings: list of str.
    """  # noqa: D301
    from zonofit.theory.set_cover import reduce_to_relu

    if method not in METHODS:
        raise InputError(f"--method: {method!r} is none of {', '.join(METHODS)}; choose one of these.")
    seconds = read_duration(budget, "--budget")
    instance = _read(file)
    reduction = reduce_to_relu(instance, general=not original, rng=seed)
    start = time.perf_counter()
    with sigterm_interrupts() as stopped:
        result = _train(reduction, method, seconds, seed)
    spent = time.perf_counter() - start
    cover = None if result.cover is None else [instance.names[k] for k in result.cover]
    fields = {
        "command": "setcover",
        "version": __version__,
        "file": str(file),
        "elements": len(instance.elements),
        "sets": len(instance.sets),
        "examples": len(reduction.y),
        "dimension": reduction.X.shape[1],
        "general": not original,
        "noise": reduction.noise,
        "gamma": reduction.gamma,
        "method": method,
        "programs": result.trace.counts["programs"],
        "seconds": spent,
        "loss": result.trace.loss,
        "level": result.level,
        "w": result.trace.W[0],
        "cover": cover,
        "cover_size": None if cover is None else len(cover),
        "optimal": result.optimal,
        "size": size,
        "answer": None if size is None else result.allows(size),
        "warnings": WARNINGS,
    }
    if json:
        emit(fields)
    else:
        _report(result, fields)
    if result.trace.stop_reason == "interrupted":
        say(f"zonofit: interrupted after {elapsed(spent)}; this is the best so far.")
        raise typer.Exit(stopped.status)


def _read(file: Path) -> SetCover:
    from zonofit.theory.covers import SetCover

    try:
        text = file.read_text("utf8")
    except FileNotFoundError:
        raise InputError(f"{file}: no such file; check the name and the folder.") from None
    except IsADirectoryError:
        raise InputError(f"{file}: is a folder; pass a file.") from None
    except UnicodeDecodeError:
        raise InputError(f"{file}: this is not UTF-8 text; save the instance as JSON.") from None
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror or error}); check the file.") from None
    try:
        return SetCover.from_json(text)
    except InputError as error:
        raise InputError(f"{file}: {error}") from None


def _train(reduction: Reduction, method: str, seconds: float, seed: int) -> CoverResult:
    from zonofit.search.budget import Budget
    from zonofit.search.facet_descent import FacetDescent
    from zonofit.theory.set_cover import train_cover

    with Progress("training one ReLU"):
        if method == "facet-descent":
            return train_cover(reduction, FacetDescent(), budget=Budget(seconds=seconds), seed=seed)
        try:
            return train_cover(reduction)
        except BudgetError as error:
            raise BudgetError(
                f"{str(error).partition('; ')[0]}; pass --method facet-descent, which finds covers without proof that "
                "they are the smallest, or a smaller instance."
            ) from None


def _report(result: CoverResult, fields: dict) -> None:
    reduction, size = result.reduction, fields["size"]
    where = "not in general position"
    if reduction.noise is not None:
        where = "general position, noise {:.3g} to {:.3g}".format(*reduction.noise)
    how = f"{'every pattern' if result.optimal else 'some patterns'}, {count(fields['programs'])} convex programs"
    if fields["method"] != "exact":
        how = f"{count(result.trace.counts['moves'])} facet descents"
    rows = [
        ("instance", f"{_plural(fields['elements'], 'element')}, {_plural(fields['sets'], 'set')}"),
        ("data", f"{fields['examples']} examples in dimension {fields['dimension']}, {where}"),
        ("trained", f"one ReLU on {how}, in {elapsed(fields['seconds'])}"),
        ("loss", f"{fields['loss']:.6g} = {fields['level']:.6g} γ²/N, γ = {fields['gamma']:.3g}"),
    ]
    if fields["cover"] is None:
        rows.append(("cover", "none found: the loss is too large for its weights to be one"))
    else:
        names = ", ".join(fields["cover"][:NAMES_ON_SCREEN])
        more = len(fields["cover"]) - NAMES_ON_SCREEN
        rows.append(("cover", names + (f" and {more} more" if more > 0 else "")))
        proof = "no cover is smaller" if result.optimal else "a smaller one is not excluded"
        rows.append(("", f"{_plural(fields['cover_size'], 'set')}, read off the weights; {proof}"))
    if size is not None:
        rows.append((f"{_plural(size, 'set')}?", _answer(fields["answer"])))
    show(rows)


def _answer(answer: bool | None) -> str:
    if answer is None:
        return "not known: only --method exact can say no"
    return "yes, they can cover all elements" if answer else "no, they cannot: the least loss is larger"


def _plural(number: int, noun: str) -> str:
    return f"{count(number)} {noun}{'' if number == 1 else 's'}"
