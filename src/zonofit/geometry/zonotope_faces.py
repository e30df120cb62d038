r"""Edges, k-faces and f-vector of a zonotope (the paper's appendix A.3).

A flat of rank k that is free, and a fixed bit for every other generator, give a k-face whenever *every* chamber of the
flat's own generators extends those bits to a vertex. So the faces of a flat are the largest groups of vertices with
equal bits outside it: no group can hold more, and one that misses a chamber is cut by no subspace of the flat. In
general position a k-face is a parallelepiped with 2^k vertices; a flat of more than k parallel classes gives
zonotopes that are unions of parallelepipeds.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from math import comb
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from zonofit.errors import InputError
from zonofit.geometry.chambers import chamber_bound
from zonofit.geometry.faces import Face
from zonofit.geometry.flats import flats, iter_flats, n_covers, restriction
from zonofit.geometry.lookup import pattern_keys
from zonofit.geometry.packing import WORD, pack, unpack

if TYPE_CHECKING:
    from zonofit.geometry.zonotope import Zonotope


class Edges(NamedTuple):
    """Edges of the 1-skeleton.

    Attributes
    ----------
    ends : ndarray of int (E, 2)
        Vertex numbers; along the edge from ``ends[e, 0]`` to ``ends[e, 1]`` the first generator of its class turns on.
    flips : ndarray of int (E,)
        Number of the parallel class in `Zonotope.classes` that flips.
    """

    ends: np.ndarray
    flips: np.ndarray


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


def zonotope_edges(zonotope: Zonotope) -> Edges:
    """All edges, sorted by their ends; from ``zonotope.edges()``."""
    vertices, words = zonotope.pattern_set, zonotope.pattern_set.words
    ends, flips = [np.zeros((0, 2), int)], [np.zeros(0, int)]
    for j, members in enumerate(zonotope.classes):
        flip = np.zeros(len(zonotope.generators), bool)
        flip[members] = True
        word, bit = divmod(int(members[0]), WORD)
        lower = np.flatnonzero((words[:, word] >> np.uint64(bit)) & np.uint64(1) == 0)
        upper = vertices.find(words[lower] ^ pack(flip))
        ends.append(np.c_[lower, upper][upper >= 0])
        flips.append(np.full(len(ends[-1]), j))
    both, which = np.concatenate(ends), np.concatenate(flips)
    order = np.lexsort((both[:, 1], both[:, 0]))
    return Edges(both[order], which[order])


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
        moving = flat[reduction.orientation[flat] != 0]
        plain = len(np.unique(reduction.member[moving])) == k
        start = (np.cumsum(size) - size)[size == size.max()]
        vertices = np.argsort(group, kind="stable")[start[:, None] + np.arange(size.max())]
        bits = unpack(words[vertices[:, 0]], N)
        signs = np.where(outside, 2 * bits.astype(int) - 1, 0).tolist()
        for row, members in zip(signs, vertices, strict=True):
            found.append(ZonotopeFace(Face(tuple(row), zonotope.arrangement), moving, members, k, plain))
    return found


def f_vector(zonotope: Zonotope) -> tuple[int, ...]:
    """Numbers of faces; by formula in general position, else summed over flats; from ``zonotope.f_vector()``."""
    M, r = len(zonotope.classes), zonotope.dimension
    if zonotope.n_vertices == chamber_bound(M, r):
        # the bound is reached only when every r of the non-parallel generators are independent
        return (*(2 * comb(M, k) * sum(comb(M - 1 - k, j) for j in range(r - k)) for k in range(r)), 1)
    arrangement = zonotope.arrangement
    counts = [zonotope.n_vertices, len(zonotope.edges().ends)]
    for k, level in enumerate(islice(iter_flats(arrangement), r)):
        if k == r - 1:
            counts.append(2 * len(level))
        elif k == r - 2 > 1:
            counts.append(sum(2 * n_covers(arrangement, flat) for flat in level))
        elif k > 1:
            counts.append(sum(_chambers_on(zonotope, flat) for flat in level))
    return (*counts, 1)


def _chambers_on(zonotope: Zonotope, flat: np.ndarray) -> int:
    return 2 * sum(map(len, restriction(zonotope.arrangement, flat).arrangement.chambers(half=True)))
