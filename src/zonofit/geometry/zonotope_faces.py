r"""The k-faces of a zonotope with their vertices (the paper's appendix A.3).

A flat of rank k that is free, and a fixed bit for every other generator, give a k-face whenever *every* chamber of the
flat's own generators extends those bits to a vertex. So the faces of a flat are the largest groups of vertices with
equal bits outside it: no group can hold more, and one that misses a chamber is cut by no subspace of the flat. In
general position a k-face is a parallelepiped with 2^k vertices; a flat of more than k parallel classes gives
zonotopes that are unions of parallelepipeds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from zonofit.errors import InputError
from zonofit.geometry.faces import Face
from zonofit.geometry.flats import flats
from zonofit.geometry.lookup import pattern_keys
from zonofit.geometry.packing import pack, unpack

if TYPE_CHECKING:
    from zonofit.geometry.zonotope import Zonotope


@dataclass(frozen=True, eq=False)
class ZonotopeFace:
    """A face of a zonotope.

    Attributes
    ----------
    face : Face
        The member of the complex R dual to it: 0 on its own generators, ±1 on the fixed ones.
    generators : ndarray of int
        The generators whose segments it is the sum of (up to translation), without zero generators.
    vertices : ndarray of int
        Numbers of its vertices in the zonotope, increasing.
    dimension : int
        k.
    is_parallelepiped : bool
        Whether its generators fall into only k parallel classes.
    """

    face: Face
    generators: np.ndarray
    vertices: np.ndarray
    dimension: int
    is_parallelepiped: bool


def zonotope_faces(zonotope: Zonotope, k: int) -> list[ZonotopeFace]:
    """All k-faces, those of one flat together; from ``zonotope.faces(k)``."""
    if not 0 <= k <= zonotope.dimension:
        raise InputError(f"k: the faces of this zonotope have dimension 0 to {zonotope.dimension}, got {k}.")
    words, N = zonotope.pattern_set.words, len(zonotope.generators)
    reduction = zonotope.arrangement.reduction
    found: list[ZonotopeFace] = []
    for flat in flats(zonotope.arrangement, k, budget=zonotope.budget):
        outside = np.ones(N, bool)
        outside[flat] = False
        _, group, size = np.unique(pattern_keys(words & pack(outside)), return_inverse=True, return_counts=True)
        members = np.split(np.argsort(group, kind="stable"), np.cumsum(size)[:-1])
        moving = flat[reduction.orientation[flat] != 0]
        plain = len(np.unique(reduction.member[moving])) == k
        whole = np.flatnonzero(size == size.max())
        bits = unpack(words[[members[g][0] for g in whole]], N)
        signs = np.where(outside, 2 * bits.astype(int) - 1, 0).tolist()
        for g, row in zip(whole, signs, strict=True):
            found.append(ZonotopeFace(Face(tuple(row), zonotope.arrangement), moving, members[g], k, plain))
    return found
