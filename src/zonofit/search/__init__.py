r"""Sections 4.2 and 4.3 and appendix G of the paper, and beyond: which patterns to solve the convex problem for.

A search is a small class with its settings; `run` makes it walk:

    trace = run(Hopping(), problem, budget=Budget(seconds=60, target=1e-12), seed=0)

Contract: a search changes a `Walk` and nothing else, draws only from ``walk.rng``, and never touches X or y itself,
only its `Problem`. So the same seed gives the same path on any number of workers, and a walk can be written to a file
and taken up again. What came of it is a `Trace`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zonofit.search.branch import Branch
    from zonofit.search.budget import Budget
    from zonofit.search.exact import Exact
    from zonofit.search.facet_descent import FacetDescent
    from zonofit.search.gls import GLS
    from zonofit.search.hopping import Hopping
    from zonofit.search.mgls import MGLS
    from zonofit.search.random_vertex import RandomVertex
    from zonofit.search.runner import run
    from zonofit.search.trace import Trace
    from zonofit.search.walk import Search, Walk

_HOMES = {
    "GLS": "gls",
    "MGLS": "mgls",
    "Branch": "branch",
    "Budget": "budget",
    "Exact": "exact",
    "FacetDescent": "facet_descent",
    "Hopping": "hopping",
    "RandomVertex": "random_vertex",
    "Search": "walk",
    "Trace": "trace",
    "Walk": "walk",
    "run": "runner",
}

__all__ = [
    "GLS",
    "MGLS",
    "Branch",
    "Budget",
    "Exact",
    "FacetDescent",
    "Hopping",
    "RandomVertex",
    "Search",
    "Trace",
    "Walk",
    "run",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
