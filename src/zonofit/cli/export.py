"""``zonofit export``: a network for another program."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zonofit import __version__
from zonofit.cli.models import Model, plural, read_features
from zonofit.cli.options import Json, check_output
from zonofit.cli.output import WARNINGS, emit, show
from zonofit.errors import InputError

KINDS = {".c": "C99", ".onnx": "ONNX", ".json": "JSON"}


def export(
    model: Model,
    out: Annotated[Path, typer.Option("-o", "--out", metavar="NAME", help="model.c, model.onnx or model.json.")],
    single: Annotated[bool, typer.Option("--float", help="Single precision, where double is the default.")] = False,
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="Of the function in C.")] = "network",
    simplify: Annotated[
        bool, typer.Option("--simplify", help="First write the same function with as few units as it takes.")
    ] = False,
    within: Annotated[
        Path | None,
        typer.Option(
            "--within", metavar="FILE", help="With --simplify: the same only within the ranges of this table."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Write a network as C99, as ONNX or as JSON; the suffix of --out decides.

    C99 is one function without allocation that includes nothing. ONNX needs pip install "zonofit[export]". From Python
    there are also PyTorch, scikit-learn's MLPs and a mixed-integer program (zonofit.export).

    \b
    JSON: command, version, model, format, out: str; width: int, units that are written; bytes: int;
      warnings: list of str.
    """  # noqa: D301
    from zonofit.export import json as files

    kind = KINDS.get(out.suffix.lower())
    if kind is None:
        raise InputError(f"--out: {out} ends in none of {', '.join(KINDS)}; choose one of these.")
    if within is not None and not simplify:
        raise InputError("--within: says where --simplify may change nothing; add --simplify, or leave it out.")
    if single and kind == "JSON":
        raise InputError("--float: JSON keeps every digit; leave it out.")
    check_output(out, "--out")
    network = files.load(model)
    if simplify:
        box = None if within is None else read_features(within, network)
        network = network.simplify() if box is None else network.simplify(box.min(axis=0), box.max(axis=0))
    if kind == "C99":
        from zonofit.export.c import to_c

        to_c(network, out, name=name, dtype="float" if single else "double")
    elif kind == "ONNX":
        from zonofit.export.onnx import to_onnx

        to_onnx(network, out, dtype="float32" if single else "float64")
    else:
        files.save(network, out)
    fields = {
        "command": "export",
        "version": __version__,
        "model": str(model),
        "format": kind,
        "width": network.width,
        "bytes": out.stat().st_size,
        "out": str(out),
        "warnings": WARNINGS,
    }
    if json:
        emit(fields)
    else:
        show([("network", plural(network.width, "unit")), ("written", f"{out}, {fields['bytes']:,} bytes of {kind}")])
