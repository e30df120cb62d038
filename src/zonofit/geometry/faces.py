r"""The polyhedral complex R of an arrangement and its meet-semilattice (the paper's appendix A).

For a ∈ {-1, 0, +1}^N let R^a be the set of w with sign(gᵢ·w) ∈ {aᵢ, 0} for every i. These cones, faces of each other,
are the members of R. Many a give the same cone, but only one of them is the sign vector of a point of its relative
interior: the covector that names the `Face` here. Then

- F is a face of G exactly when F's sign vector is G's with some entries put to zero;
- the meet of F and G in the face semilattice is F ∩ G, whose sign vector may have more zeros than the entries on which
  F and G agree (see `region`);
- F of codimension k is dual to the k-face {Σ_{Fᵢ=+} gᵢ + Σ_{Fᵢ=0} λᵢ gᵢ : 0 ≤ λᵢ ≤ 1} of the zonotope.

A zero generator has sign 0 everywhere, and the bottom of the semilattice is the all-zero sign vector: the paper's null
face {0} when the generators have rank n, otherwise the subspace on which they all vanish.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from zonofit.errors import BudgetError, InputError
from zonofit.geometry.arrangement import Arrangement
from zonofit.geometry.covectors import as_signs, expand_signs, relative_interior, simple_signs
from zonofit.geometry.flats import flats, rank_of, restriction, span_of
from zonofit.geometry.packing import unpack


@dataclass(frozen=True)
class Face:
    """A member of R, named by the signs of the generators on its relative interior.

    Made by `region`, `face_of`, `meet`, `composition` and `faces`; the constructor does not check that `signs` is a
    covector (`is_covector` does). Faces are equal when their signs are.

    Attributes
    ----------
    signs : tuple of int
        Signs in {-1, 0, +1}, one per generator.
    arrangement : Arrangement
        Where the face lives.
    """

    signs: tuple[int, ...]
    arrangement: Arrangement = field(compare=False, repr=False)

    @property
    def sign_vector(self) -> np.ndarray:
        """Signs as an int8 array (N,)."""
        return np.array(self.signs, np.int8)

    @property
    def zeros(self) -> np.ndarray:
        """The flat of generators that vanish on the face."""
        return np.flatnonzero(self.sign_vector == 0)

    @cached_property
    def codimension(self) -> int:
        """Rank of the generators that vanish on the face = dimension of the dual face of the zonotope."""
        return rank_of(self.arrangement, self.zeros)

    @property
    def dimension(self) -> int:
        """Dimension of the closed cone, n - codimension."""
        return self.arrangement.dimension - self.codimension

    @property
    def is_chamber(self) -> bool:
        """Whether the cone is full-dimensional, so that the face stands for an activation pattern."""
        return self.codimension == 0

    @property
    def pattern(self) -> np.ndarray:
        """Bits of the generators that are positive on the face."""
        return self.sign_vector > 0

    def __le__(self, other: Face) -> bool:
        """Whether this is a face of `other`."""
        _same_arrangement(self, other)
        return all(s in (0, t) for s, t in zip(self.signs, other.signs, strict=True))

    def __lt__(self, other: Face) -> bool:
        """Whether this is a proper face of `other`."""
        return self <= other and self.signs != other.signs

    def __ge__(self, other: Face) -> bool:
        """Whether `other` is a face of this."""
        return other <= self

    def __gt__(self, other: Face) -> bool:
        """Whether `other` is a proper face of this."""
        return other < self

    def __neg__(self) -> Face:
        """Return the opposite cone."""
        return Face(tuple(-s for s in self.signs), self.arrangement)

    def witness(self) -> np.ndarray:
        """Find a point w (n,) of the relative interior."""
        signs, u = relative_interior(self.arrangement, simple_signs(self.arrangement, self.sign_vector))
        if expand_signs(self.arrangement, signs) != self.signs:
            raise InputError("signs: not the sign vector of any point; make faces with `region` instead of by hand.")
        return self.arrangement.reduction.lift @ u


def region(arrangement: Arrangement, signs) -> Face:
    r"""Name the member R^a of the complex, for any a ∈ {-1, 0, +1}^N, by the signs of its relative interior.

    The generators that are not identically zero on R^a are those with tᵢ = 1 at the maximum of Σ tᵢ over
    aᵢ gᵢ·w ≥ tᵢ, 0 ≤ tᵢ ≤ 1 (aᵢ ≠ 0) and gᵢ·w = 0 (aᵢ = 0): one linear program.
    """
    signs, _ = relative_interior(arrangement, simple_signs(arrangement, as_signs(arrangement, signs)))
    return Face(expand_signs(arrangement, signs), arrangement)


def is_covector(arrangement: Arrangement, signs) -> bool:
    """Whether some w has exactly these signs on the generators."""
    signs = as_signs(arrangement, signs)
    return region(arrangement, signs).signs == tuple(signs.tolist())


def face_of(arrangement: Arrangement, w) -> Face:
    """Find the face with w (n,) in its relative interior; w within rounding of a flat counts as on it."""
    w = np.asarray(w, float)
    if w.ndim != 1:
        raise InputError(f"w: expected one vector of weights, got shape {w.shape}; call `face_of` once per vector.")
    reduction = arrangement.reduction
    signs = arrangement.sign_vector(w)
    zero_rows = np.unique(reduction.member[(signs == 0) & (reduction.orientation != 0)])
    spanned, _ = span_of(arrangement, zero_rows)
    signs[np.r_[spanned, True][reduction.member]] = 0
    return Face(tuple(signs.tolist()), arrangement)


def null_face(arrangement: Arrangement) -> Face:
    """Return the bottom of the semilattice: all signs 0."""
    return Face((0,) * arrangement.n_generators, arrangement)


def meet(F: Face, G: Face) -> Face:
    """F ∩ G, the greatest common face.

    Notes
    -----
    The paper says of two chambers whose meet M is not null that they differ by at least n - dim M flips, with equality
    in general position. The equality is right. Out of general position the bound fails from n = 4 on: with the
    generators (1,0,0,0), (0,1,0,0), (0,0,1,0), (1,1,1,0), (0,0,0,1) the chambers -+-++ and +--++ meet in the
    ray (0,0,0,1) alone and differ by 2 < 3 flips. What always holds is rank(flipped generators) ≤ n - dim M.
    """
    _same_arrangement(F, G)
    a, b = F.sign_vector, G.sign_vector
    return region(F.arrangement, np.where(a == b, a, 0))


def composition(F: Face, G: Face) -> Face:
    """F∘G: the face entered by a short step from the relative interior of F towards that of G."""
    _same_arrangement(F, G)
    return Face(tuple(s or t for s, t in zip(F.signs, G.signs, strict=True)), F.arrangement)


def separation(F: Face, G: Face) -> np.ndarray:
    """List the generators that are positive on one face and negative on the other."""
    _same_arrangement(F, G)
    return np.flatnonzero(F.sign_vector * G.sign_vector < 0)


def faces(arrangement: Arrangement, codimension: int, *, budget: int = 1_000_000) -> list[Face]:
    """All faces of a codimension, those of one flat together, flats and then signs in lexicographic order.

    Raises
    ------
    BudgetError
        When there are more than `budget`.
    """
    blocks = iter_face_signs(arrangement, codimension, budget=budget)
    return [Face(tuple(row), arrangement) for signs in blocks for row in signs.tolist()]


def iter_face_signs(arrangement: Arrangement, codimension: int, *, budget: int = 1_000_000) -> Iterator[np.ndarray]:
    """Sign vectors (F, N) of the faces of a codimension, one int8 array per flat: the chambers of its restriction."""
    N = arrangement.n_generators
    total = 0
    for flat in flats(arrangement, codimension, budget=budget):
        if codimension == arrangement.rank:
            yield np.zeros((1, N), np.int8)
            continue
        blocks = []
        for block in restriction(arrangement, flat).arrangement.chambers():
            blocks.append(block)
            total += len(block)
            if total > budget:
                raise BudgetError(
                    f"faces: more than {budget} faces of codimension {codimension}; "
                    "raise `budget` or use fewer generators."
                )
        live = np.setdiff1d(np.arange(N), flat)
        words = np.vstack(blocks)
        signs = np.zeros((len(words), N), np.int8)
        signs[:, live] = 2 * unpack(words, N)[:, live].astype(np.int8) - 1
        yield signs[np.lexsort(signs.T[::-1])]


def _same_arrangement(F: Face, G: Face) -> None:
    a, b = F.arrangement, G.arrangement
    if a is not b and not np.array_equal(a.generators, b.generators):
        raise InputError("faces: they belong to different arrangements; make both from the same generators.")
