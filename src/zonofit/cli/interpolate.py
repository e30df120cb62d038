"""``zonofit interpolate``: a network through all examples (Theorem 3)."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zonofit import __version__
from zonofit.cli.options import Columns, File, Json, Labelled, check_output, read_labelled
from zonofit.cli.output import WARNINGS, count, elapsed, emit, show
from zonofit.cli.progress import Progress
from zonofit.errors import InputError

if TYPE_CHECKING:
    from zonofit.theory.interpolation import Interpolation

FEATURES_ON_SCREEN = 6


def interpolate(
    file: File,
    target: Annotated[
        str, typer.Option("--target", metavar="COLUMN", help="The labels: a column by name or position; the last one.")
    ] = "-1",
    out: Annotated[Path, typer.Option("--out", metavar="NAME.json", help="Where to write the network.")] = Path(
        "network.json"
    ),
    direction: Annotated[
        str | None,
        typer.Option(
            "--direction", metavar="A,B,...", help="Sort along it, one number a feature; by default the best."
        ),
    ] = None,
    printed: Annotated[
        bool, typer.Option("--printed", help="The construction as the paper prints it, whose weights are far larger.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the random directions that are tried.")] = 0,
    columns: Columns = None,
    json: Json = False,
) -> None:
    """Write a network that fits every example exactly.

    In general position it has 2 ceil(N / (d + 1)) units, twice as many as parameters need (Theorem 3), and takes
    seconds: examples are sorted along a direction and cut into chunks of d + 1, and two units fit each chunk. The
    network is f(x) = c + sum over units j of output_weights[j] max(0, W[j] . (x, 1)).

    zonofit predict, explain and export read NAME.json; zonofit.export.schema() says what is in it.

    \b
    JSON: command, version, file, target: str; features: list of str;
      n_examples, n_features, width: int; theorem_width: int, 2 ceil(N / (d + 1));
      construction: str, vertex program or printed; direction: list of float; chunks: int;
      residual: float, the largest error, in units of the largest label;
      condition: float, the largest sum of absolute products in a prediction, in the same units;
      largest_weight, norm: float, of W;
      out: str, the file; seconds: float;
      warnings: list of str.
    """  # noqa: D301
    from zonofit.theory import interpolation
    from zonofit.tolerances import DEFAULT_TOLERANCES

    check_output(out, "--out")
    labelled = read_labelled(file, target, columns)
    along = None if direction is None else _numbers(direction, len(labelled.features))
    start = time.perf_counter()
    with Progress("fitting chunk after chunk"):
        if printed:
            found = interpolation.printed(labelled.X, labelled.y, direction=along)
        else:
            found = interpolation.interpolate(labelled.X, labelled.y, direction=along, rng=seed)
    seconds = time.perf_counter() - start
    if found.residual > DEFAULT_TOLERANCES.fit:
        import warnings

        warnings.warn(
            f"rounding leaves an error of {found.residual:.2g} of the largest label: examples with different labels "
            "are nearly equal, or features are far from 0; merge the examples, or centre the features.",
            stacklevel=1,
        )
    _write(out, found, labelled)
    N, d = labelled.X.shape
    fields = {
        "command": "interpolate",
        "version": __version__,
        "file": str(file),
        "target": labelled.target,
        "features": labelled.features,
        "n_examples": N,
        "n_features": d,
        "width": len(found.W),
        "theorem_width": interpolation.theorem_width(N, d),
        "construction": "printed" if printed else "vertex program",
        "direction": found.direction,
        "chunks": len(found.chunks),
        "residual": found.residual,
        "condition": found.condition,
        "largest_weight": found.largest_weight,
        "norm": found.norm,
        "out": str(out),
        "seconds": seconds,
        "warnings": WARNINGS,
    }
    if json:
        emit(fields)
    else:
        show(_rows(fields))


def _numbers(direction: str, d: int) -> list[float]:
    try:
        numbers = [float(part) for part in direction.split(",")]
    except ValueError:
        raise InputError(
            f"--direction: {direction!r} is not a list of numbers; write {d} of them, with commas."
        ) from None
    if len(numbers) != d:
        raise InputError(f"--direction: {len(numbers)} numbers for {d} features; write one a feature.")
    return numbers


def _write(path: Path, found: Interpolation, labelled: Labelled) -> None:
    from zonofit.export.json import save
    from zonofit.network import ShallowReLU

    save(ShallowReLU(found.W, found.output_weights, found.c, labelled.features, labelled.target), path)


def _rows(fields: dict) -> list[tuple[str, str]]:
    examples = f"{count(fields['n_examples'])} example{'' if fields['n_examples'] == 1 else 's'}"
    features = f"{fields['n_features']} feature{'' if fields['n_features'] == 1 else 's'}"
    width, wanted = fields["width"], fields["theorem_width"]
    if width == wanted:
        why = "as Theorem 3 has it"
    elif width < wanted:
        why = f"Theorem 3 allows {count(wanted)}"
    else:
        why = f"more than Theorem 3's {count(wanted)}, because the examples are not in general position"
    rows = [
        ("task", f"{fields['target']} from {features}, {examples}"),
        ("network", f"{count(width)} units, {why}"),
        ("error", f"{fields['residual']:.2g} of the largest label"),
        (
            "condition",
            f"{fields['condition']:.3g}; largest weight {fields['largest_weight']:.3g}, norm {fields['norm']:.3g}",
        ),
    ]
    if fields["n_features"] <= FEATURES_ON_SCREEN:
        rows.append(("sorted along", ", ".join(f"{x:.4g}" for x in fields["direction"])))
    return [
        *rows,
        ("construction", f"{fields['construction']}, in {elapsed(fields['seconds'])}"),
        ("written", fields["out"]),
    ]
