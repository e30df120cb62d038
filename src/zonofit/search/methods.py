"""The searches by name, as the command line and tables of results call them; each is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from zonofit.errors import InputError

if TYPE_CHECKING:
    from zonofit.search.walk import Search

METHODS: dict[str, tuple[str, str]] = {  # name: module and class
    "hopping": ("zonofit.search.hopping", "Hopping"),
    "facet-descent": ("zonofit.search.facet_descent", "FacetDescent"),
    "gls": ("zonofit.search.gls", "GLS"),
    "mgls": ("zonofit.search.mgls", "MGLS"),
    "random-vertex": ("zonofit.search.random_vertex", "RandomVertex"),
    "exact": ("zonofit.search.exact", "Exact"),
    "branch": ("zonofit.search.branch", "Branch"),
}


def find_method(name: str) -> type[Search]:
    """The class of the search with this name.

    Parameters
    ----------
    name : str
        One of `METHODS`; underscores and spaces stand for hyphens.

    Returns
    -------
    type
        A subclass of `Search`; its settings have defaults.

    Raises
    ------
    InputError
        When there is no such search, or not in this installation.
    """
    key = name.strip().lower().replace("_", "-").replace(" ", "-")
    if key not in METHODS:
        raise InputError(f"method: {name!r} is not a search; choose one of {', '.join(METHODS)}.")
    module, attribute = METHODS[key]
    if find_spec(module) is None:
        there = ", ".join(other for other, (home, _) in METHODS.items() if find_spec(home) is not None)
        instead = f"choose one of {there}" if there else "install a later one"
        raise InputError(f"method: {key} is not in this version of zonofit; {instead}.")
    return getattr(import_module(module), attribute)
