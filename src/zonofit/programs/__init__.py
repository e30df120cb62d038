r"""Equation 3 of the paper: the convex problem of one vertex of Z^m, with a certificate on every answer.

With patterns A ∈ {0,1}^{m×N} fixed, training is convex:

    minimise  Σᵢ pᵢ ℓ(ŷᵢ, yᵢ) + (alpha/2) ‖W‖²   with   ŷᵢ = Σⱼ vⱼ Aⱼᵢ x̄ᵢ·wⱼ + c
    subject to  sⱼᵢ x̄ᵢ·wⱼ >= 0,   s = 2A - 1,

pᵢ the sample weights divided by their sum. A `Problem` holds everything but the patterns; `Problem.solve` answers with
a `VertexSolution`, `Problem.neighbors` with the `Neighborhood` of one, and `Problem.descend` walks through the walls.

This layer knows no search.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zonofit.programs.certificate import Certificate
    from zonofit.programs.descent import Descent
    from zonofit.programs.losses import Absolute, Huber, Logistic, Loss, Squared
    from zonofit.programs.neighbors import Neighborhood
    from zonofit.programs.problem import Problem
    from zonofit.programs.vertex import VertexSolution

_HOMES = {
    "Absolute": "losses",
    "Certificate": "certificate",
    "Descent": "descent",
    "Huber": "losses",
    "Logistic": "losses",
    "Loss": "losses",
    "Neighborhood": "neighbors",
    "Problem": "problem",
    "Squared": "losses",
    "VertexSolution": "vertex",
}

__all__ = [
    "Absolute",
    "Certificate",
    "Descent",
    "Huber",
    "Logistic",
    "Loss",
    "Neighborhood",
    "Problem",
    "Squared",
    "VertexSolution",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
