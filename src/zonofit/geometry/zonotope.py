r"""The zonotope Z = {Σ λᵢ gᵢ : 0 ≤ λᵢ ≤ 1} dual to an arrangement (the paper's section 3 and appendix A.3).

Its vertices are the activation patterns of one unit: vertex Σ aᵢ gᵢ has barcode a. Its k-faces are the faces of the
arrangement of codimension k, so its edges flip one generator together with those parallel to it, and the f-vector in
general position is f_k = 2 C(N, k) Σ_{j<n-k} C(N-1-k, j).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from zonofit.errors import BudgetError, InputError
from zonofit.geometry.arrangement import Arrangement, as_points
from zonofit.geometry.chambers import chamber_bound
from zonofit.geometry.containment import Containment, containment
from zonofit.geometry.faces import Face, face_of, is_covector
from zonofit.geometry.lookup import PatternSet
from zonofit.geometry.packing import pack, unpack
from zonofit.tolerances import DEFAULT_TOLERANCES, Tolerances

if TYPE_CHECKING:
    import networkx as nx

    from zonofit.geometry.power import ZonotopePower
    from zonofit.geometry.zonotope_faces import Edges, ZonotopeFace


# vertices whose points are computed at a time
_BLOCK = 16384


class Support(NamedTuple):
    """Maximum of w·z over the zonotope: its value, a maximiser z, and the face whose dual holds all maximisers."""

    value: float
    point: np.ndarray
    face: Face


class Zonotope:
    """Minkowski sum of the segments [0, gᵢ].

    Parameters
    ----------
    generators : array_like (N, n) or Arrangement
        One generator a row; use `Zonotope.from_examples` to have the 1 of the bias appended.
    tolerances : Tolerances, optional
        What counts as zero.
    budget : int
        Most vertices that are enumerated and kept; beyond it a `BudgetError` is raised.

    Notes
    -----
    Vertices are enumerated when first needed and are then kept bit-packed; `support`, `contains`, `vertex`,
    `neighbors`, `distance` and `volume` never need them. Any position works: zero and parallel generators, dependent
    ones, N ≤ n. Vertex numbers are places in the lexicographic order of barcodes.
    """

    def __init__(self, generators, *, tolerances: Tolerances = DEFAULT_TOLERANCES, budget: int = 20_000_000):
        if isinstance(generators, Arrangement):
            self.arrangement = generators
        else:
            self.arrangement = Arrangement(generators, tolerances=tolerances)
        self.budget = budget

    @classmethod
    def from_examples(cls, X, *, tolerances: Tolerances = DEFAULT_TOLERANCES, budget: int = 20_000_000) -> Zonotope:
        """Zonotope of the homogeneous examples x̄ᵢ = (xᵢ, 1) of X (N, d)."""
        return cls(Arrangement.from_examples(X, tolerances=tolerances), budget=budget)

    def __repr__(self) -> str:
        """Name the sizes, without enumerating anything."""
        N, n = self.generators.shape
        return f"Zonotope(n_generators={N}, ambient_dimension={n}, dimension={self.dimension})"

    def __pow__(self, m: int) -> ZonotopePower:
        """Z^m, whose vertices are the activation patterns of m units."""
        from zonofit.geometry.power import ZonotopePower

        return ZonotopePower(self, m)

    @property
    def generators(self) -> np.ndarray:
        """The generators (N, n), read-only."""
        return self.arrangement.generators

    @property
    def ambient_dimension(self) -> int:
        """Dimension n of the space around it."""
        return self.arrangement.dimension

    @property
    def dimension(self) -> int:
        """Dimension of the polytope, the rank r of its generators."""
        return self.arrangement.rank

    @property
    def center(self) -> np.ndarray:
        """½ Σ gᵢ; z ↦ 2 center - z maps the zonotope onto itself and complements barcodes (of non-zero generators)."""
        return self.generators.sum(axis=0) / 2

    @cached_property
    def classes(self) -> tuple[np.ndarray, ...]:
        """Parallel classes of non-zero generators as row numbers; an edge flips exactly one class."""
        reduction = self.arrangement.reduction
        return tuple(np.flatnonzero(reduction.member == j) for j in range(len(reduction.simple)))

    @cached_property
    def pattern_set(self) -> PatternSet:
        """The barcodes of all vertices, bit-packed and sorted."""
        blocks, count = [], 0
        for block in self.arrangement.chambers():
            blocks.append(block)
            count += len(block)
            if count > self.budget:
                bound = chamber_bound(len(self.classes), self.dimension)
                raise BudgetError(
                    f"zonotope: more than {self.budget} vertices ({bound} in general position); raise `budget` or "
                    "stream them with `arrangement.chambers()`."
                )
        return PatternSet(np.vstack(blocks))

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return len(self.pattern_set)

    def barcodes(self) -> np.ndarray:
        """Barcodes of all vertices as booleans (V, N), in lexicographic order."""
        return unpack(self.pattern_set.words, len(self.generators))

    def vertices(self) -> tuple[np.ndarray, np.ndarray]:
        """Points (V, n) and barcodes (V, N) of all vertices, in lexicographic order of barcodes."""
        barcodes = self.barcodes()
        points = np.empty((len(barcodes), self.ambient_dimension))
        # in blocks, because the product converts bits to floats
        for start in range(0, len(barcodes), _BLOCK):
            points[start : start + _BLOCK] = barcodes[start : start + _BLOCK] @ self.generators
        return points, barcodes

    def vertex(self, barcode) -> np.ndarray:
        """Return the point Σ aᵢ gᵢ of the vertex with this barcode; an `InputError` if there is none."""
        barcode = self._barcode(barcode)
        if not is_covector(self.arrangement, self._signs(barcode)):
            raise InputError("barcode: not a vertex, since no weights produce this activation pattern.")
        return barcode @ self.generators

    def index(self, barcode) -> int:
        """Vertex number of a barcode; an `InputError` if it is not a vertex."""
        place = int(self.pattern_set.find(pack(self._barcode(barcode))))
        if place < 0:
            raise InputError("barcode: not a vertex, since no weights produce this activation pattern.")
        return place

    @cached_property
    def _edges(self) -> Edges:
        from zonofit.geometry.zonotope_faces import zonotope_edges

        return zonotope_edges(self)

    def edges(self) -> Edges:
        """All edges: two vertices are joined exactly when their barcodes differ on one parallel class."""
        return self._edges

    def faces(self, k: int) -> list[ZonotopeFace]:
        """All k-faces with their vertices; see `zonofit.geometry.zonotope_faces`."""
        from zonofit.geometry.zonotope_faces import zonotope_faces

        return zonotope_faces(self, k)

    def f_vector(self) -> tuple[int, ...]:
        """Numbers (f₀, ..., f_r) of faces; f_r = 1 is the zonotope itself."""
        from zonofit.geometry.zonotope_faces import f_vector

        return f_vector(self)

    def volume(self, *, budget: int | None = None) -> float:
        """r-dimensional volume Σ |det(g_S)| over the r-subsets S of the generators, r their rank.

        Parameters
        ----------
        budget : int, optional
            Most subsets that are summed over; see `zonofit.geometry.minors`.
        """
        from zonofit.geometry.minors import DEFAULT_BUDGET, volume_of_parallelepipeds

        limit = DEFAULT_BUDGET if budget is None else budget
        return volume_of_parallelepipeds(self.generators, budget=limit, tolerances=self.arrangement.tolerances)

    def support(self, w) -> Support:
        """Maximum Σ max(0, gᵢ·w) of w·z over the zonotope, and where it is reached."""
        face = face_of(self.arrangement, w)
        values = self.generators @ np.asarray(w, float)
        return Support(float(np.maximum(values, 0.0).sum()), face.pattern @ self.generators, face)

    def contains(self, point) -> Containment:
        """Whether a point (n,) is in the zonotope, with coefficients or a separating direction as proof."""
        point = as_points(np.atleast_2d(point), "point")
        if point.shape != (1, self.ambient_dimension):
            raise InputError(f"point: expected {self.ambient_dimension} coordinates, got shape {point.shape[1:]}.")
        return containment(self.generators, point[0], self.arrangement.tolerances)

    def neighbors(self, barcode) -> np.ndarray:
        """Barcodes (K, N) of the vertices joined to a vertex by an edge; the rest of the zonotope is not looked at."""
        from zonofit.geometry.facets import walls

        return walls(self.arrangement, self._barcode(barcode)).neighbors()

    def distance(self, a, b) -> int:
        """Edges on a shortest path between the vertices with barcodes `a` and `b`.

        It is the number of parallel classes on which they differ: every edge flips one class, and a segment between
        general points of the two chambers crosses the hyperplanes that separate them one at a time, each once.
        """
        differ = self._barcode(a) ^ self._barcode(b)
        return int(sum(differ[members[0]] for members in self.classes))

    def skeleton(self) -> nx.Graph:
        """Build the 1-skeleton: nodes are barcodes like "0110" with ``point``, edges have ``flips``, a class number."""
        import networkx as nx

        points, barcodes = self.vertices()
        labels = [label(barcode) for barcode in barcodes]
        graph = nx.Graph()
        graph.add_nodes_from((name, {"point": tuple(p)}) for name, p in zip(labels, points.tolist(), strict=True))
        ends, flips = self.edges()
        graph.add_edges_from(
            (labels[i], labels[j], {"flips": k}) for (i, j), k in zip(ends.tolist(), flips.tolist(), strict=True)
        )
        return graph

    def __iter__(self) -> Iterator[np.ndarray]:
        """Barcodes of the vertices, one at a time."""
        N = len(self.generators)
        return (unpack(row, N) for row in self.pattern_set.words)

    def _signs(self, barcode: np.ndarray) -> np.ndarray:
        return (2 * barcode.astype(np.int8) - 1) * (self.arrangement.reduction.orientation != 0)

    def _barcode(self, barcode) -> np.ndarray:
        array = np.asarray([int(bit) for bit in barcode] if isinstance(barcode, str) else barcode)
        N = len(self.generators)
        if array.shape != (N,) or not np.all((array == 0) | (array == 1)):
            raise InputError(f"barcode: expected {N} bits, one per generator, got an array of shape {array.shape}.")
        array = array.astype(bool)
        reduction = self.arrangement.reduction
        if np.any(array[reduction.orientation == 0]):
            raise InputError("barcode: a zero generator is never active; set its bit to 0.")
        turned = array ^ (reduction.orientation < 0)
        for members in self.classes:
            if np.any(turned[members] != turned[members[0]]):
                raise InputError(
                    f"barcode: generators {members.tolist()} are parallel, and these bits contradict each other."
                )
        return array


def label(barcode) -> str:
    """Bits as a string, example 0 first."""
    return "".join("1" if bit else "0" for bit in barcode)
