"""zonofit: train one-hidden-layer ReLU networks by searching activation patterns."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zonofit.estimators import ReLUClassifier, ReLURegressor
    from zonofit.geometry import Arrangement, Zonotope
    from zonofit.network import ShallowReLU

__version__ = "0.1.0"

_HOMES = {
    "Arrangement": "geometry",
    "ReLUClassifier": "estimators",
    "ReLURegressor": "estimators",
    "ShallowReLU": "network",
    "Zonotope": "geometry",
}

__all__ = ["Arrangement", "ReLUClassifier", "ReLURegressor", "ShallowReLU", "Zonotope", "__version__"]


def __getattr__(name: str) -> Any:
    # numpy, numba and scikit-learn load on first use, so that `zonofit --help` and `import zonofit` stay instant
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
