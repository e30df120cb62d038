"""What the commands on models share: tables with labels that can be learned, and the columns that a model reads."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zonofit.cli.options import Labelled, read_labelled
from zonofit.errors import InputError

if TYPE_CHECKING:
    import numpy as np

    from zonofit.network import ShallowReLU

Model = Annotated[Path, typer.Argument(metavar="MODEL.json", help="A network that zonofit fit or interpolate wrote.")]
Classify = Annotated[bool, typer.Option("--classify", help="The target holds two classes, written as two numbers.")]
_NAMED = 5  # columns that a sentence lists


def read_learnable(file: Path, target: str, columns: str | None, classify: bool) -> Labelled:
    """Examples and labels; labels that say nothing are refused, and features that say nothing are named."""
    import numpy as np

    labelled = read_labelled(file, target, columns)
    found = np.unique(labelled.y)
    if len(found) == 1:
        what = "two classes are needed" if classify else "there is nothing to learn"
        raise InputError(f"{file}: column {labelled.target} is {found[0]:g} in every row; {what}.")
    if classify and len(found) > 2:
        raise InputError(
            f"{file}: column {labelled.target} has {len(found)} different values, and --classify tells two classes "
            "apart; make it two, or leave --classify out."
        )
    flat = [name for name, x in zip(labelled.features, labelled.X.T, strict=True) if np.all(x == x[0])]
    if len(flat) == len(labelled.features):
        raise InputError(f"{file}: every feature is constant, so that there is nothing to learn from.")
    if flat:
        listed = ", ".join(flat[:_NAMED]) + (f" and {len(flat) - _NAMED} more" if len(flat) > _NAMED else "")
        warnings.warn(f"{file}: constant in every row, and of no use to the network: {listed}.", stacklevel=1)
    return labelled


def read_features(file: Path, network: ShallowReLU) -> np.ndarray:
    """The columns of a file that a network reads, by name; other columns are not looked at."""
    from zonofit.data.tables import read_table

    return read_table(file, columns=list(network.names)).values


def numbers(text: str, option: str, kind: type) -> list[Any]:
    """Numbers with commas between them."""
    try:
        found = [kind(part) for part in text.split(",")]
    except ValueError:
        found = []
    if not found:
        what = "whole numbers" if kind is int else "numbers"
        raise InputError(f"{option}: {text!r} is not a list of {what}; write for example {option} 4,8.")
    return found


def as_class(label: float) -> int | float:
    """A class as the table writes it: 1 rather than 1.0."""
    return int(label) if float(label).is_integer() else float(label)


def formula(network: ShallowReLU) -> list[str]:
    """The network as one would write it down, a unit a line."""
    lines = [f"{network.c:.4g}"]
    for v, w in zip(network.v.tolist(), network.W.tolist(), strict=True):
        terms = " ".join(f"{x:+.4g} {name}" for x, name in zip(w, network.names, strict=False) if x)
        factor = "" if abs(v) == 1 else f"{abs(v):.4g} "
        lines.append(f"{'-' if v < 0 else '+'} {factor}max(0, {terms} {w[-1]:+.4g})")
    return lines


def plural(number: int, name: str) -> str:
    """A number of things."""
    return f"{number:,} {name}{'' if number == 1 else 's'}"


def picture(path: Path | None, option: str) -> Path | None:
    """The path of a picture, checked before the work."""
    if path is not None:
        from zonofit.plots.canvas import check_path

        try:
            check_path(path)
        except InputError as error:
            raise InputError(f"{option}: {error}") from None
    return path


def rows_of(lines: Sequence[str], title: str) -> list[tuple[str, str]]:
    """Lines under one name."""
    return [(title if k == 0 else "", line) for k, line in enumerate(lines)]
