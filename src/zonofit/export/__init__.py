"""Networks that leave Python, as JSON with a published schema.

Every function takes a `ShallowReLU` or a fitted estimator. Nothing that is written runs code when it is read.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zonofit.export.json import load, save, schema

_HOMES = {
    "load": "json",
    "save": "json",
    "schema": "json",
}

__all__ = ["load", "save", "schema"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
