"""``zonofit predict``: what a network says about a table."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from zonofit import __version__
from zonofit.cli.models import Model, read_features
from zonofit.cli.options import File, Json, check_output
from zonofit.cli.output import WARNINGS, emit, say


def predict(
    model: Model,
    file: File,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="NAME.csv", help="Write there; by default it is printed.")
    ] = None,
    json: Json = False,
) -> None:
    """Predict each row of a table with a network that zonofit fit wrote.

    The features are looked up by name; other columns are not looked at. The result is a column with the name of the
    target; for two classes there is a second one, which is positive for the second class.

    \b
    JSON: command, version, model, file: str; target: str or null;
      predictions: list of float or of labels, one a row;
      decision: list of float or null, for two classes the output of the network;
      out: str or null, the file; warnings: list of str.
    """  # noqa: D301
    from zonofit.export.json import load

    if out is not None:
        check_output(out, "--out")
    network = load(model)
    output = network.predict(read_features(file, network))
    target = network.target or "prediction"
    if network.classes is None:
        predictions, decision = output.tolist(), None
        lines = [target, *(repr(u) for u in predictions)]
    else:
        decision = output.tolist()
        predictions = [network.classes[u > 0] for u in decision]
        pairs = zip(predictions, decision, strict=True)
        lines = [f"{target},decision", *(f"{k},{u!r}" for k, u in pairs)]
    text = "\n".join(lines) + "\n"
    if out is not None:
        from zonofit.export.model import write_text

        write_text(out, text)
    if json:
        emit(
            {
                "command": "predict",
                "version": __version__,
                "model": str(model),
                "file": str(file),
                "target": network.target,
                "predictions": predictions,
                "decision": decision,
                "out": None if out is None else str(out),
                "warnings": WARNINGS,
            }
        )
    elif out is None:
        sys.stdout.write(text)
    else:
        say(f"{len(predictions):,} predictions written to {out}.")
