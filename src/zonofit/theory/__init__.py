r"""Theorems 1 to 3 of the paper and section 4.2, running: each number that they predict is computed and compared.

* `discontinuity`, `continuity`: Theorem 1 and appendix D, how the optimum moves with the data, and when it jumps.
* `set_cover`, `covers`: Theorem 2 and appendix E, a set cover by training one ReLU.
* `interpolation`: Theorem 3, an exact fit with 2⌈N/(d+1)⌉ units in polynomial time.
* `overparameterisation`: how many random units make independent features.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zonofit.theory.covers import SetCover
    from zonofit.theory.interpolation import Interpolation, interpolate
    from zonofit.theory.set_cover import Reduction, reduce_to_relu, train_cover

_HOMES = {
    "Interpolation": "interpolation",
    "Reduction": "set_cover",
    "SetCover": "covers",
    "interpolate": "interpolation",
    "reduce_to_relu": "set_cover",
    "train_cover": "set_cover",
}

__all__ = ["Interpolation", "Reduction", "SetCover", "interpolate", "reduce_to_relu", "train_cover"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
