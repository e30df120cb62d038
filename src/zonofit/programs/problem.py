"""The contract that every search uses: everything about training except the patterns."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property

import numpy as np

from zonofit.errors import InputError
from zonofit.geometry.arrangement import Arrangement, as_points
from zonofit.programs._damped_kernel import MANY
from zonofit.programs.absolute import solve_absolute
from zonofit.programs.descent import Descent, descend
from zonofit.programs.design import Design
from zonofit.programs.feasibility import find_inside
from zonofit.programs.losses import Loss, as_loss, spread
from zonofit.programs.neighbors import Neighborhood
from zonofit.programs.vertex import SEPARABLE, Start, VertexSolution, solve_vertex
from zonofit.tolerances import DEFAULT_TOLERANCES, Tolerances


class Problem:
    r"""Training a one-hidden-layer ReLU network on given examples.

    minimise  Σᵢ pᵢ ℓ(ŷᵢ, yᵢ) + (alpha/2) ‖W‖²  with  ŷᵢ = Σⱼ vⱼ max(0, x̄ᵢ·wⱼ) + c

    Parameters
    ----------
    X : array_like (N, d)
        Examples; the generators are x̄ᵢ = (xᵢ, 1), or with ``bias=False`` the rows of X themselves.
    y : array_like (N,)
        Labels.
    output_weights : int or array_like (m,)
        v, any real numbers; a number m stands for m units of which the first ⌈m/2⌉ have weight 1 and the others -1,
        which is what the paper fixes.
    loss : {"squared", "logistic", "huber", "absolute"} or Loss
    alpha : float
        Ridge on all of W, its last column included.
    sample_weight : array_like (N,), optional
        Non-negative; only their ratios matter. An example of weight 0 still cuts the space of weights into chambers.
    output_bias : float, optional
        c, when it is fixed; by default it is free.
    bias : bool
        Whether units have a bias. Those of appendices D.2 and E of the paper have none.
    tolerances : Tolerances, optional

    Attributes
    ----------
    generators : ndarray (N, n)
    labels, weights : ndarray (N,)
        Labels as the loss wants them; sample weights divided by their sum.
    output_weights : ndarray (m,)
    constant : float
        Output bias of the best constant network, or the fixed one.
    null : ndarray (N,)
        ν of that network, which says how large a ν is here.
    null_objective : float
        Its objective.
    """

    def __init__(
        self,
        X,
        y,
        output_weights,
        *,
        loss: str | Loss = "squared",
        alpha: float = 0.0,
        sample_weight=None,
        output_bias: float | None = None,
        bias: bool = True,
        tolerances: Tolerances = DEFAULT_TOLERANCES,
    ):
        X = as_points(X, "X")
        self.generators = np.c_[X, np.ones(len(X))] if bias else X
        zero = np.flatnonzero(~np.any(self.generators != 0.0, axis=1))
        if len(zero):
            raise InputError(
                f"X: row {zero[0]} is zero, and no unit without a bias is ever active on it; "
                "leave such rows out, or pass bias=True."
            )
        self.generators.setflags(write=False)
        self.loss = as_loss(loss)
        self.labels = self.loss.labels(_column(y, "y", len(X)))
        self.weights = _weights(sample_weight, len(X))
        self.output_weights = _output_weights(output_weights)
        self.alpha = _number(alpha, "alpha", least=0.0)
        self.output_bias = None if output_bias is None else _number(output_bias, "output_bias")
        self.tolerances = tolerances
        if self.alpha > 0 and not self.loss.smooth:
            raise InputError(
                "alpha: a loss with corners is solved as a linear program, which has no ridge; "
                "use alpha=0, or loss=Huber(delta) with a small delta."
            )
        self._scale()

    def _scale(self) -> None:
        bias = self.output_bias
        self.constant = self.loss.best_constant(self.labels, self.weights) if bias is None else bias
        flat = np.full(len(self.labels), self.constant)
        self.null, self.null_objective = self.weights * self.loss.slope(flat, self.labels), self.mean_loss(flat)
        self.centre = self.constant if self.loss.translates else 0.0
        unit = spread(self.labels, self.weights, self.centre) if self.loss.translates else 1.0
        self.unit = unit or 1.0
        self.loss_factor = self.unit**self.loss.label_power
        self.scaled_labels = (self.labels - self.centre) / self.unit if unit > 0 else np.zeros(len(self.labels))
        self.scaled_loss = self.loss.measured_in(self.unit)
        self.start_bias = (self.constant - self.centre) / self.unit
        self.curvature = self.weights * self.scaled_loss.curvature(self.scaled_labels, self.scaled_labels)
        self.start_nu = self.curvature * (self.start_bias - self.scaled_labels)
        self.design = Design.of(self.generators, self.alpha, self.tolerances)
        self.ridge = self.design.ridge * self.unit**2 / self.loss_factor
        used = self.labels[self.weights > 0]
        bounded = self.alpha > 0 and (bias is not None or np.ptp(used) > 0)  # no ridge holds a free bias
        attained = self.loss.attained or bounded
        self.separable_below = -1.0 if attained else SEPARABLE * self.null_objective

    def __repr__(self) -> str:
        N, n = self.generators.shape
        return (
            f"Problem(n_examples={N}, n_features={n - 1}, width={self.width}, loss={self.loss!r}, alpha={self.alpha:g})"
        )

    @property
    def width(self) -> int:
        """Number of units m."""
        return len(self.output_weights)

    @property
    def n_examples(self) -> int:
        """Number of examples N."""
        return len(self.generators)

    @property
    def many_examples(self) -> bool:
        """Whether there are at least two examples for each parameter in W and c, so that minima differ little."""
        return int(np.count_nonzero(self.weights)) >= MANY * (self.width * self.design.X.shape[1] + 1)

    @cached_property
    def arrangement(self) -> Arrangement:
        """The arrangement of the generators."""
        return Arrangement(self.generators, tolerances=self.tolerances)

    def with_output_weights(self, output_weights) -> Problem:
        """The same problem with other output weights; what was computed from the examples is shared."""
        other = object.__new__(Problem)
        other.__dict__.update(self.__dict__)
        other.output_weights = _output_weights(output_weights)
        return other

    def patterns(self, W) -> np.ndarray:
        """Patterns (m, N) of weights W (m, n)."""
        return self.arrangement.pattern(np.asarray(W, float))

    def predict(self, W, c: float) -> np.ndarray:
        """Predictions (N,) of the network with weights W (m, n) and output bias c."""
        return np.maximum(self.generators @ np.asarray(W, float).T, 0.0) @ self.output_weights + c

    def mean_loss(self, predictions) -> float:
        """Mean loss of predictions (N,), weighted with the sample weights."""
        return float(self.weights @ self.loss.value(np.asarray(predictions, float), self.labels))

    def solve(
        self, patterns, *, start: VertexSolution | None = None, check: bool = True, limit: int | None = None
    ) -> VertexSolution:
        """Least objective with given patterns: the vertex program.

        Parameters
        ----------
        patterns : array_like (m, N) of bool
        start : VertexSolution, optional
            A solution whose patterns differ in few bits; a warm start.
        check : bool
            Refuse patterns that are no chambers. Switch it off for patterns known to be ones, such as those of
            `Problem.patterns` at points off all hyperplanes.
        limit : int, optional
            Newton steps to take at most; the default is far beyond what any program has needed.

        Returns
        -------
        VertexSolution

        Raises
        ------
        InfeasiblePatternError
            With the proof that no weights have one of the rows.
        """
        A = self._patterns(patterns)
        if not self.loss.smooth:
            solution = solve_absolute(self, A)
        else:
            begin = self._cold() if start is None else self._warm(start, A)
            solution = solve_vertex(self, A, begin, limit or 1000 + 100 * (A.size + self.n_examples))
        if check and not (start is not None and np.array_equal(A, start.patterns)):
            find_inside(self, A, solution)  # a closed cone has an optimum even where no chamber is: ask afterwards
        return solution

    def solve_many(self, batch: Iterable, *, check: bool = True, n_jobs: int = 1) -> list[VertexSolution]:
        """`solve` for each of several patterns (m, N), on `n_jobs` threads; the order is kept."""
        if n_jobs == 1:
            return [self.solve(patterns, check=check) for patterns in batch]
        with ThreadPoolExecutor(n_jobs) as pool:
            return list(pool.map(lambda patterns: self.solve(patterns, check=check), batch))

    def neighbors(self, solution: VertexSolution) -> Neighborhood:
        """The vertices of Z^m next to a solved one, which of them can be better, and their solutions on demand."""
        return Neighborhood(self, solution)

    def descend(
        self,
        W,
        c: float | None = None,
        *,
        max_steps: int = 10_000,
        target: float = 0.0,
        valleys: int = 6,
        damped: int = 0,
        worth: float = np.inf,
    ) -> Descent:
        """Facet descent from weights W (m, n): through the walls, to a local minimum in all patterns at once.

        Parameters
        ----------
        W : array_like (m, n)
            Where to start; the last column multiplies the 1 of x̄ = (x, 1). Units at w = 0 are allowed.
        c : float, optional
            Output bias to start from; by default the best constant prediction, or the fixed output bias.
        max_steps : int
            Newton steps to take at most.
        target : float
            Stop once the objective is at most this.
        valleys : int
            Walls to try where a local minimum leaves parameters over; see `zonofit.programs.descent`.
        damped : int
            Damped steps to take at most before any wall is looked at. They are far faster far from a minimum, and
            nearly as good.
        worth : float
            Go on after the damped steps only if the objective is below this; otherwise the status is "steps". With
            many examples (`many_examples`) the damped steps end, too, once they will not come below it.

        Returns
        -------
        Descent
        """
        return descend(self, W, c, max_steps=max_steps, target=target, valleys=valleys, damped=damped, worth=worth)

    def _cold(self) -> Start:
        return Start(self.width, self.design.X.shape[1], self.n_examples, self.start_bias)

    def _warm(self, start: VertexSolution, A: np.ndarray) -> Start:
        if start.problem.design is not self.design or start.patterns.shape != A.shape:
            raise InputError(
                "start: this solution belongs to another problem; solve without it, or pass one of this one."
            )
        begin = Start.of(start)
        begin.move(self, A, np.flatnonzero(np.any(A != start.patterns, axis=1)))
        return begin

    def _patterns(self, patterns) -> np.ndarray:
        A = np.asarray(patterns)
        if A.dtype != bool:
            if not np.isin(A, (0, 1)).all():
                raise InputError("patterns: found entries other than 0 and 1; pass one row of bits a unit.")
            A = A.astype(bool)
        if A.shape != (self.width, self.n_examples):
            raise InputError(
                f"patterns: expected one row for each of {self.width} units and one column for each of "
                f"{self.n_examples} examples, got shape {A.shape}."
            )
        return np.ascontiguousarray(A)


def _number(value, name: str, least: float = -np.inf) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InputError(f"{name}: {value!r} is not a number.") from None
    if not (np.isfinite(number) and number >= least):
        wanted = "a finite number" if least == -np.inf else f"a finite number that is at least {least:g}"
        raise InputError(f"{name}: {value!r} will not do; pass {wanted}.")
    return number


def _column(values, name: str, N: int | None) -> np.ndarray:
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: not a list of numbers ({error}); pass one number an example.") from None
    if array.ndim != 1 or (N is not None and len(array) != N):
        wanted = "a list of numbers" if N is None else f"{N} numbers, one an example"
        raise InputError(f"{name}: expected {wanted}, got shape {array.shape}.")
    bad = np.flatnonzero(~np.isfinite(array))
    if len(bad):
        raise InputError(
            f"{name}: {array[bad[0]]} at place {bad[0]} ({len(bad)} such in all); drop these examples first."
        )
    return array


def _weights(sample_weight, N: int) -> np.ndarray:
    if sample_weight is None:
        return np.full(N, 1.0 / N)
    weights = _column(sample_weight, "sample_weight", N)
    if np.any(weights < 0) or not np.any(weights > 0):
        raise InputError("sample_weight: weights must not be negative and not all 0; give excluded examples weight 0.")
    weights = weights / weights.max()
    return weights / weights.sum()


def _output_weights(output_weights) -> np.ndarray:
    if isinstance(output_weights, (int, np.integer)) and not isinstance(output_weights, bool):
        if output_weights < 1:
            raise InputError(f"output_weights: {output_weights} units will not do; pass at least 1.")
        m = int(output_weights)
        return np.where(np.arange(m) < (m + 1) // 2, 1.0, -1.0)
    v = _column(output_weights, "output_weights", None)
    if len(v) == 0:
        raise InputError("output_weights: an empty list; pass one number a unit, or the number of units.")
    return v
