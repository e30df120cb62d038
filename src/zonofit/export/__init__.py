"""Networks that leave Python: JSON, C99, ONNX, PyTorch, scikit-learn's MLPs and a mixed-integer program.

Every function takes a `ShallowReLU` or a fitted estimator, and writes down what ``network.predict`` computes, up to the
precision of the format. Nothing that is written runs code when it is read.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zonofit.export.c import to_c
    from zonofit.export.json import load, save, schema
    from zonofit.export.mip import MIP, to_mip
    from zonofit.export.mlp import to_sklearn
    from zonofit.export.onnx import to_onnx
    from zonofit.export.torch import to_torch

_HOMES = {
    "MIP": "mip",
    "load": "json",
    "save": "json",
    "schema": "json",
    "to_c": "c",
    "to_mip": "mip",
    "to_onnx": "onnx",
    "to_sklearn": "mlp",
    "to_torch": "torch",
}

__all__ = ["MIP", "load", "save", "schema", "to_c", "to_mip", "to_onnx", "to_sklearn", "to_torch"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
