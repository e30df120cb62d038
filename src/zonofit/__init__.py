"""zonofit: train one-hidden-layer ReLU networks by searching activation patterns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zonofit.geometry import Arrangement, Zonotope

__version__ = "0.1.0"

__all__ = ["Arrangement", "Zonotope", "__version__"]


def __getattr__(name: str) -> Any:
    # numpy and numba load on first use, so that `zonofit --help` and `import zonofit` stay instant
    if name in __all__:
        from zonofit import geometry

        return getattr(geometry, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
