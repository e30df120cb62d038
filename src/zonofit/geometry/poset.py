"""The face poset of small arrangements as a networkx graph (the paper's appendix A.2)."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

import numpy as np

from zonofit.errors import BudgetError
from zonofit.geometry.arrangement import Arrangement
from zonofit.geometry.faces import Face, iter_face_signs

if TYPE_CHECKING:
    import networkx as nx


def face_poset(arrangement: Arrangement, *, budget: int = 20_000) -> nx.DiGraph:
    """Hasse diagram of R: an edge F → G when F is a face of G of one dimension less.

    Nodes are `Face`s with the attribute ``codimension``; the source is the null face, the sinks are the chambers.

    Raises
    ------
    BudgetError
        When the arrangement has more than `budget` faces.
    """
    import networkx as nx

    graph = nx.DiGraph()
    below: list[Face] = []
    for codimension in range(arrangement.rank, -1, -1):
        level: list[Face] = []
        for signs in iter_face_signs(arrangement, codimension, budget=budget):
            level += [Face(tuple(row), arrangement) for row in signs.tolist()]
            if graph.number_of_nodes() + len(level) > budget:
                raise BudgetError(
                    f"face_poset: more than {budget} faces (in general position there would be "
                    f"{_generic_faces(arrangement)}); raise `budget` or use fewer generators."
                )
        graph.add_nodes_from(level, codimension=codimension)
        if below:
            graph.add_edges_from((below[i], level[j]) for i, j in _face_pairs(below, level))
        below = level
    return graph


def _face_pairs(lower: list[Face], upper: list[Face]) -> list[tuple[int, int]]:
    """Pairs with ``lower[i] <= upper[j]``: F ≤ G exactly when Σ FᵢGᵢ = Σ |Fᵢ|."""
    F = np.array([face.signs for face in lower], np.float32)
    G = np.array([face.signs for face in upper], np.float32)
    size = np.abs(F).sum(axis=1)
    step = max(1, 10_000_000 // len(G))
    pairs: list[tuple[int, int]] = []
    for start in range(0, len(F), step):
        rows, columns = np.nonzero(F[start : start + step] @ G.T == size[start : start + step, None])
        pairs += zip((rows + start).tolist(), columns.tolist(), strict=True)
    return pairs


def _generic_faces(arrangement: Arrangement) -> int:
    M, r = arrangement.reduction.simple.shape
    return 1 + sum(2 * comb(M, k) * sum(comb(M - 1 - k, j) for j in range(r - k)) for k in range(r))
