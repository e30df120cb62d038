"""What can be exported, and how files of text are written."""

from __future__ import annotations

from pathlib import Path

from zonofit.errors import InputError
from zonofit.network import ShallowReLU
from zonofit.search.trace import write_whole


def as_network(model) -> ShallowReLU:
    """The network of a fitted estimator, or the network itself."""
    network = getattr(model, "network_", model)
    if not isinstance(network, ShallowReLU):
        raise InputError(
            f"model: {type(model).__name__} holds no network; pass a ShallowReLU or an estimator that has been fitted."
        )
    return network


def write_text(path, text: str) -> Path:
    """Write a file whole or not at all."""
    path = Path(path)
    try:
        write_whole(path, text)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror or error}); pass another name.") from None
    return path
