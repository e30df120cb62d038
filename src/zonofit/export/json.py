"""Networks as JSON, with a published schema; floats come back to the last bit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from zonofit.errors import InputError
from zonofit.export.model import as_network, write_text
from zonofit.network import ShallowReLU


def save(model, path) -> Path:
    """Write a network as JSON, whole or not at all.

    Parameters
    ----------
    model : ShallowReLU or fitted estimator
    path : str or Path

    Returns
    -------
    Path
    """
    try:
        text = json.dumps(as_network(model).to_dict(), ensure_ascii=False, allow_nan=False)
    except TypeError:
        raise InputError("classes: JSON knows strings, numbers, true and false; name the classes with these.") from None
    return write_text(path, text + "\n")


def load(path) -> ShallowReLU:
    """The network in a file that `save` wrote; reading it runs no code.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    ShallowReLU

    Raises
    ------
    InputError
        When the file is not there, or holds something else.
    """
    path = Path(path)
    try:
        fields = json.loads(path.read_text("utf8"))
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror or error}); check the name and the folder."
        ) from None
    except ValueError:
        raise InputError(f"{path}: is not JSON; pass a file that zonofit fit, or zonofit.export.save, wrote.") from None
    try:
        return ShallowReLU.from_dict(fields)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def schema() -> dict[str, Any]:
    """The JSON schema of the files, which is also ``zonofit/export/network.schema.json``."""
    from importlib.resources import files

    return json.loads((files("zonofit.export") / "network.schema.json").read_text("utf8"))
