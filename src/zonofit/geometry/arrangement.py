"""The oriented hyperplane arrangement of a set of generators (the paper's section 3 and appendix A)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from zonofit.errors import BudgetError, InputError
from zonofit.geometry.chambers import Progress, chamber_bound, iter_chambers
from zonofit.geometry.packing import unpack
from zonofit.geometry.reduction import Reduction, balance, centred, reduce_generators
from zonofit.tolerances import DEFAULT_TOLERANCES, Tolerances

if TYPE_CHECKING:
    from zonofit.geometry.facets import Walls
    from zonofit.geometry.membership import Membership
    from zonofit.geometry.position import PositionReport
    from zonofit.geometry.sampling import Sample


class Arrangement:
    r"""The hyperplanes {w : gᵢ·w = 0} of N generators in R^n, with their orientation.

    Their complement falls into open cones, the chambers; the chamber of w is named by its pattern
    a = I{gᵢ·w > 0} ∈ {0,1}^N (the paper's equation 2 for one unit).

    Parameters
    ----------
    generators : array_like (N, n)
        One generator a row. For a network with biases these are the homogeneous examples (xᵢ, 1): use
        `Arrangement.from_examples`.
    tolerances : Tolerances, optional
        What counts as zero.

    Notes
    -----
    Every method works in any position: zero and parallel generators, dependent ones, N ≤ n.
    """

    def __init__(self, generators, *, tolerances: Tolerances = DEFAULT_TOLERANCES):
        self._generators = as_points(generators, "generators")
        self._generators.setflags(write=False)
        self.tolerances = tolerances

    @classmethod
    def from_examples(cls, X, *, tolerances: Tolerances = DEFAULT_TOLERANCES) -> Arrangement:
        """Arrangement of the homogeneous examples x̄ᵢ = (xᵢ, 1) of X (N, d)."""
        X = as_points(X, "X")
        return cls(np.c_[X, np.ones(len(X))], tolerances=tolerances)

    def __repr__(self) -> str:
        return f"Arrangement(n_generators={self.n_generators}, dimension={self.dimension}, rank={self.rank})"

    @property
    def generators(self) -> np.ndarray:
        """The generators (N, n), read-only."""
        return self._generators

    @property
    def n_generators(self) -> int:
        """Number of generators N."""
        return self._generators.shape[0]

    @property
    def dimension(self) -> int:
        """Dimension n of the space; d + 1 for examples in R^d."""
        return self._generators.shape[1]

    @property
    def rank(self) -> int:
        """Rank of the generators."""
        return self.reduction.rank

    @cached_property
    def reduction(self) -> Reduction:
        """The generators without zeros, parallels and null space."""
        return reduce_generators(self._generators, self.tolerances)

    def sign_vector(self, w) -> np.ndarray:
        """Signs in {-1, 0, +1} of gᵢ·w, shape (..., N), for weights of shape (..., n).

        A product counts as zero up to ``tolerances.sign`` times the norms of both factors, measured in rows and columns
        scaled to equal size, so that neither the units of a feature nor the length of a generator matter.
        """
        rows, column = self._equilibrated
        u = self._weights(w) * column
        largest = np.max(np.abs(u), axis=-1, keepdims=True)
        u = u / np.where(largest > 0, largest, 1.0)
        values = u @ rows.T
        scale = np.linalg.norm(u, axis=-1)[..., None] * np.linalg.norm(rows, axis=1)
        signs = np.sign(values).astype(np.int8)
        signs[np.abs(values) <= self.tolerances.sign * scale] = 0
        return signs

    @cached_property
    def _equilibrated(self) -> tuple[np.ndarray, np.ndarray]:
        """Generators whose entries of ordinary size are 1, and the sizes of the columns up to a common factor."""
        row, column = balance(self._generators)
        return np.ldexp(self._generators, -row[:, None] - column), np.ldexp(1.0, centred(column, self._generators))

    def pattern(self, w) -> np.ndarray:
        """Activation pattern I{gᵢ·w > 0} as booleans, shape (..., N)."""
        return self.sign_vector(w) > 0

    def chambers(
        self, *, block_size: int | None = None, half: bool = False, n_jobs: int = 1, progress: Progress | None = None
    ) -> Iterator[np.ndarray]:
        """All chambers, each once, as blocks of bit-packed patterns; see `zonofit.geometry.chambers`."""
        return iter_chambers(
            self.reduction,
            block_size=block_size,
            half=half,
            n_jobs=n_jobs,
            progress=progress,
            tolerances=self.tolerances,
        )

    def chamber_bound(self) -> int:
        """Number of chambers if the generators that are no multiples of others are in general position, else more."""
        return chamber_bound(len(self.reduction.simple), self.rank)

    def n_chambers(self, *, assume_generic: bool = False, n_jobs: int = 1, progress: Progress | None = None) -> int:
        """Number of chambers.

        Parameters
        ----------
        assume_generic : bool
            Trust that the generators are in general position (such as continuous random data) and return Cover's
            number 2 Σ_{k<n} C(N-1, k) at once. Otherwise the chambers are enumerated, which costs less than
            checking general position would; rank 2 and independent generators need neither.
        n_jobs, progress
            As for `chambers`.
        """
        M = len(self.reduction.simple)
        if assume_generic or self.rank <= 2 or self.rank == M:
            return self.chamber_bound()
        return 2 * sum(len(block) for block in self.chambers(half=True, n_jobs=n_jobs, progress=progress))

    def patterns(self, *, budget: int = 10_000_000) -> np.ndarray:
        """All patterns as booleans (V, N); refused when there may be more than `budget` of them."""
        if (bound := self.chamber_bound()) > budget:
            raise BudgetError(
                f"patterns: there may be {bound} chambers, more than the budget of {budget}; "
                "iterate over chambers(), which takes bounded memory, or raise budget."
            )
        return np.concatenate([unpack(block, self.n_generators) for block in self.chambers()])

    def sample(self, size: int, rng=None, *, how: str = "gaussian") -> Sample:
        """Random chambers, "gaussian" or "uniform"; see `zonofit.geometry.sampling`."""
        from zonofit.geometry.sampling import sample

        return sample(self, size, rng, how=how)

    def walls(self, chamber, **options) -> Walls:
        """Walls and neighbours of one chamber; see `zonofit.geometry.facets`."""
        from zonofit.geometry.facets import walls

        return walls(self, chamber, **options)

    def position(self, **options) -> PositionReport:
        """How far the generators are from general position; see `zonofit.geometry.position`."""
        from zonofit.geometry.position import position_report

        return position_report(self, **options)

    def membership(self, pattern, **options) -> Membership:
        """Whether `pattern` is a chamber, with a proof either way; see `zonofit.geometry.membership`."""
        from zonofit.geometry.membership import membership

        return membership(self, pattern, **options)

    def _weights(self, w) -> np.ndarray:
        w = np.asarray(w, float)
        if w.ndim == 0 or w.shape[-1] != self.dimension or not np.all(np.isfinite(w)):
            raise InputError(
                f"w: expected finite weights whose last axis has {self.dimension} entries, got shape {w.shape}; "
                "remember the bias as last entry when the arrangement was made from examples."
            )
        return w


def as_points(points, name: str) -> np.ndarray:
    """A fresh finite float64 array (N, n), N ≥ 1, n ≥ 1, or an `InputError` that names `name`."""
    try:
        array = np.array(points, dtype=float, order="C")
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{name}: not a table of numbers ({error}); pass rows of equal length, numbers only."
        ) from None
    if array.ndim != 2:
        raise InputError(
            f"{name}: expected a table with one row an example, got shape {array.shape}; reshape it to (N, n)."
        )
    if array.shape[0] == 0 or array.shape[1] == 0:
        raise InputError(f"{name}: the table of shape {array.shape} is empty; pass at least one row and one column.")
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        i, j = bad[0]
        raise InputError(
            f"{name}: {array[i, j]} at row {i}, column {j} ({len(bad)} such entries in all); "
            "drop or fill missing and infinite values first."
        )
    return array
