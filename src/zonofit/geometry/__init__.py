r"""Section 3 and appendix A of the paper: activation patterns as the vertices of a zonotope.

Each homogeneous example x̄ᵢ = (xᵢ, 1) splits the weights w of one ReLU unit into those on which it is active
(x̄ᵢ·w > 0) and those on which it is not. The hyperplanes x̄ᵢ·w = 0 of all N examples are an *arrangement*; the open
cones that they cut out are its *chambers*, one for each activation pattern a ∈ {0,1}^N that some w has. The
zonotope Z = Σ [0, x̄ᵢ] has one vertex Σ aᵢ x̄ᵢ for each chamber, and two of its vertices are joined by an edge
exactly when the chambers share a *wall*. m units search the vertices of the Cartesian power Z^m.

**Theorem** (appendix A.3). Faces of Z of dimension k and members of the polyhedral complex of codimension k
correspond one to one, with inclusions reversed.

This layer knows generators only, never labels.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zonofit.geometry.arrangement import Arrangement
    from zonofit.geometry.faces import Face, meet
    from zonofit.geometry.poset import face_poset
    from zonofit.geometry.power import ZonotopePower
    from zonofit.geometry.zonotope import Zonotope

_HOMES = {
    "Arrangement": "arrangement",
    "Face": "faces",
    "Zonotope": "zonotope",
    "ZonotopePower": "power",
    "face_poset": "poset",
    "meet": "faces",
}

__all__ = ["Arrangement", "Face", "Zonotope", "ZonotopePower", "face_poset", "meet"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
