r"""Appendix D: data out of general position whose optimum jumps; and a data set in general position that does so too.

Both have one unit with output weight 1, no output bias, and the mean absolute loss.

* D.1: five examples on a line, labels 1, 2, 2.5, 4, 5. The optimum 1/10 has all examples active. With x₃ lifted by ε
  the labels are fitted by w = (1, -1/(2ε)), b = 0, on the same vertex: its convex problem is what jumps.
* D.2: four examples in a plane of R³, no bias. The optimum 5/4 has x₂ and x₃ active. With x₂ lifted by ε it is 5/8 at
  w = (-3/2, 1/2, 11/(2ε)) with all active, a vertex that the flat data do not have.

Everything is computed in rational arithmetic (`zonofit.theory.exact_losses`), for ε as small as one likes.

With two units general position is not enough. The predictions of a vertex are the image of the matrix with the blocks
vⱼ diag(aⱼ) X̄, which can lose rank while no n×n minor of X̄ vanishes. In `concurrent_lines` six examples lie in pairs on
three lines through one point; with the patterns {1, 2, 5, 6} and {3, 4, 5, 6} and output weights 1 and -1 the 6×6
determinant is 0 just because the lines meet, and the weights may go to infinity along its kernel without leaving the
chambers. Moving one example by any ε > 0 makes an exact fit possible, `concurrent_fit`, with weights of length about
13.5 / ε. So Theorem 1 is one about a single unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from zonofit.errors import InputError
from zonofit.theory.exact_losses import ExactTable, ExactVertex, solve_all_exactly

__all__ = ["EXAMPLES", "Example", "Jump", "appendix_d1", "appendix_d2", "concurrent_fit", "concurrent_lines"]


@dataclass(frozen=True)
class Jump:
    """One of the examples, flat and lifted.

    Attributes
    ----------
    example : Example
    epsilon : Fraction
    flat, lifted : ExactTable
    """

    example: Example
    epsilon: Fraction
    flat: ExactTable
    lifted: ExactTable

    @property
    def new(self) -> tuple[ExactVertex, ...]:
        """Vertices that only the lifted data have."""
        return self.lifted.missing_from(self.flat)

    @property
    def is_new(self) -> bool:
        """Whether the best vertex is among them."""
        return self.lifted.best in self.new

    def verify(self) -> bool:
        """Check every vertex of both, and that the optima are those of the paper."""
        whole = self.flat.verify() and self.lifted.verify()
        return whole and (self.flat.best.loss, self.lifted.best.loss) == (self.example.before, self.example.after)


@dataclass(frozen=True)
class Example:
    """One of the two data sets, and what the paper says about it.

    Attributes
    ----------
    name : str
    points : tuple of tuple of int
        Examples, flat: their last feature is 0.
    labels : tuple of Fraction
    bias : bool
        Whether the unit has one.
    lifted : int
        The example whose last feature becomes ε.
    before, after : Fraction
        Optima.
    same_vertex : bool
        Whether the new optimum is on a vertex of the flat data.
    """

    name: str
    points: tuple[tuple[int, ...], ...]
    labels: tuple[Fraction, ...]
    bias: bool
    lifted: int
    before: Fraction
    after: Fraction
    same_vertex: bool

    def generators(self, epsilon=0) -> list[list[Fraction]]:
        """Generators, with example `lifted` at height ε."""
        rows = [[Fraction(x) for x in point] for point in self.points]
        rows[self.lifted][-1] = Fraction(epsilon)
        return [[*row, Fraction(1)] for row in rows] if self.bias else rows

    def weights(self, epsilon) -> tuple[Fraction, ...]:
        """The weights of the paper at which the lifted data have the optimum."""
        ε = Fraction(epsilon)
        if self.bias:
            return Fraction(1), -1 / (2 * ε), Fraction(0)
        return Fraction(-3, 2), Fraction(1, 2), Fraction(11, 2) / ε

    def jump(self, epsilon) -> Jump:
        """Solve every vertex of the flat and of the lifted data.

        Parameters
        ----------
        epsilon : Fraction, int, float or str
            Not 0; ``"1e-8"`` is the decimal, 1e-8 the float next to it.
        """
        try:
            ε = Fraction(epsilon)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"epsilon: {epsilon!r} is not a number; pass a fraction, or a text like '1e-8'.") from None
        if ε == 0:
            raise InputError("epsilon: 0 leaves the data flat; pass another number.")
        tables = [solve_all_exactly(self.generators(height), self.labels) for height in (0, ε)]
        return Jump(self, ε, *tables)


EXAMPLES: dict[str, Example] = {
    "D.1": Example(
        "D.1", ((1, 0), (2, 0), (3, 0), (4, 0), (5, 0)),
        (Fraction(1), Fraction(2), Fraction(5, 2), Fraction(4), Fraction(5)), True,
        2, Fraction(1, 10), Fraction(0), True,
    ),
    "D.2": Example(
        "D.2", ((-1, 0, 0), (2, 1, 0), (-1, 1, 0), (-1, -1, 0)), (Fraction(4), Fraction(3), Fraction(2), Fraction(1)),
        False, 1, Fraction(5, 4), Fraction(5, 8), False,
    ),
}  # fmt: skip


def appendix_d1(epsilon="1e-8") -> Jump:
    """Appendix D.1: the convex problem of a vertex jumps from 1/10 to 0."""
    return EXAMPLES["D.1"].jump(epsilon)


def appendix_d2(epsilon="1e-8") -> Jump:
    """Appendix D.2: a new vertex takes the optimum from 5/4 to 5/8."""
    return EXAMPLES["D.2"].jump(epsilon)


def concurrent_lines(epsilon=0) -> tuple[list[list[Fraction]], list[Fraction]]:
    """Six examples in general position with labels, of which two units with output weights 1 and -1 fit all if ε > 0.

    Without output bias the least mean squared error is 2/3 at ε = 0, and 0 for 0 < ε < 6/7.

    Returns
    -------
    points : list of list of Fraction
        Examples 1 and 2, 3 and 4, 5 and 6 are each on a line through the origin when ε = 0.
    labels : list of Fraction
    """
    across = [Fraction(x) for x in (-2, -4, 0, epsilon, 2, 4)]
    points = [[x, Fraction(y)] for x, y in zip(across, (-1, -2, 1, 2, -1, -2), strict=True)]
    return points, [Fraction(y) for y in (4, 4, -3, -3, -3, 2)]


def concurrent_fit(epsilon) -> list[list[Fraction]]:
    """Weights of two units that meet all labels of `concurrent_lines`, 0 < ε < 6/7."""
    ε = Fraction(epsilon)
    if not 0 < ε < Fraction(6, 7):
        raise InputError(f"epsilon: {epsilon!r} will not do; pass a number between 0 and 6/7.")
    return [[(9 / ε + 7) / 2, -(9 / ε + 7), Fraction(4)], [9 / ε, Fraction(-9), Fraction(12)]]
