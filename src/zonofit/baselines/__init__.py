"""What the searches are compared with: batch gradient descent as the paper describes it (appendix H)."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zonofit.baselines.gradient_batched import descend_together
    from zonofit.baselines.gradient_descent import GradientDescent, Trained, descend

_HOMES = {
    "GradientDescent": "gradient_descent",
    "Trained": "gradient_descent",
    "descend": "gradient_descent",
    "descend_together": "gradient_batched",
}

__all__ = ["GradientDescent", "Trained", "descend", "descend_together"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
