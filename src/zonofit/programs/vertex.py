"""One vertex: the answer, and how to get it for each kind of loss."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from zonofit.programs._program_kernel import EXACT, OPTIMAL, STALLED, STEPS, solve_quadratic
from zonofit.programs._witness_kernel import project_unit
from zonofit.programs.certificate import Certificate, certify

if TYPE_CHECKING:
    from zonofit.programs.problem import Problem

STATUS = {
    OPTIMAL: "optimal",
    EXACT: "exact",
    STALLED: "rounding",
    STEPS: "steps",
}
_NEWTON = 200
_FLOOR = 1e-6  # curvature that a model has at least, in units of the slope: nothing is trusted further than 1e6
_RANGE = 1e-12  # curvatures span at most this much, beyond which normal equations lose all digits
_SETTLED = 1e-12  # a Newton step that changes no derivative by more than this part of the largest is the last
_GAP = 1e-12  # so is one with a gap below this part of the objective
_FLAT = 1e-13  # a step whose slope is less than this part of the objective is below what values can show
SEPARABLE = 1e-8  # mean logistic loss below which data count as separated


class VertexSolution:
    """Least loss with given patterns, its weights, its dual values and what proves it.

    Attributes
    ----------
    problem : Problem
    patterns : ndarray (m, N) of bool
    status : str
        "optimal": no wall can be left with profit. "exact": every label is met up to rounding. "rounding": the same as
        "optimal" as far as floats can tell; the certificate says how far. "separable": logistic loss below 1e-8, with no
        minimiser; larger weights would only go on. "steps": the limit on steps came first.
    steps : int
        Newton steps taken.
    """

    def __init__(self, problem: Problem, patterns, status: str, steps: int, reduced) -> None:
        self.problem = problem
        self.patterns = patterns
        self.status = status
        self.steps = steps
        self._u, self._c, self._walls, self._n_walls, self._lam, self._nu, self._value = reduced

    def __repr__(self) -> str:
        return f"VertexSolution(loss={self.loss:.6g}, width={len(self.patterns)}, status={self.status!r})"

    @cached_property
    def W(self) -> np.ndarray:
        """Weights (m, n); the last column multiplies the 1 of x̄ = (x, 1)."""
        return self.problem.unit * (self._u @ self.problem.design.lift.T)

    @property
    def c(self) -> float:
        """Output bias."""
        return self.problem.centre + self.problem.unit * float(self._c)

    @cached_property
    def objective(self) -> float:
        """Mean loss plus ridge, recomputed from the preactivations of the solution."""
        return self.loss + self.problem.alpha / 2.0 * float(np.sum(self.W**2))

    @cached_property
    def loss(self) -> float:
        """Mean loss, weighted with the sample weights."""
        problem = self.problem
        return problem.mean_loss(self.predictions)

    @cached_property
    def predictions(self) -> np.ndarray:
        """Predictions ŷ (N,) of the examples."""
        problem = self.problem
        Z = np.where(self.patterns, self._u @ problem.design.XT, 0.0)
        return problem.centre + problem.unit * (problem.output_weights @ Z + self._c)

    @cached_property
    def nu(self) -> np.ndarray:
        """Derivatives ν (N,) of the mean loss in the predictions."""
        return self.problem.loss_factor / self.problem.unit * self._nu

    @cached_property
    def tight(self) -> np.ndarray:
        """Walls (m, N) of bool that the solution lies on: the independent ones that hold each unit."""
        tight = np.zeros(self.patterns.shape, bool)
        for j, k in enumerate(self._n_walls):
            tight[j, self._walls[j, :k]] = True
        return tight

    @cached_property
    def multipliers(self) -> np.ndarray:
        """Multipliers λ (m, N) >= 0 of the walls; 0 off `tight`."""
        multipliers = np.zeros(self.patterns.shape)
        factor = self.problem.loss_factor / self.problem.unit
        for j, k in enumerate(self._n_walls):
            multipliers[j, self._walls[j, :k]] = factor * self._lam[j, :k]
        return multipliers

    @cached_property
    def certificate(self) -> Certificate:
        """Residuals and gap, recomputed from the weights."""
        return certify(self.problem, self.patterns, self.W, self.c, self.nu, self.multipliers)

    def is_optimal(self, tolerance: float = 1e-9) -> bool:
        """Whether the certificate holds to `tolerance`."""
        return self.certificate.holds(tolerance)


class Start:
    """Where a solve begins and what it overwrites: reduced weights, bias, walls."""

    __slots__ = ("K", "W", "c", "lam", "nk", "nu")

    def __init__(self, m: int, r: int, N: int, c: float = 0.0):
        self.W = np.zeros((m, r))
        self.c = np.array([c])
        self.K = np.zeros((m, r), np.int64)
        self.nk = np.zeros(m, np.int64)
        self.lam = np.zeros((m, r))
        self.nu = np.zeros(N)

    @classmethod
    def of(cls, solution: VertexSolution) -> Start:
        """A copy of where a solution ended."""
        self = cls.__new__(cls)
        self.W, self.c = solution._u.copy(), np.array([float(solution._c)])
        self.K, self.nk = solution._walls.copy(), solution._n_walls.copy()
        self.lam, self.nu = solution._lam.copy(), solution._nu.copy()
        return self

    def move(self, problem: Problem, patterns: np.ndarray, units) -> None:
        """Bring these units to the nearest points of their new chambers."""
        design = problem.design
        for j in units:
            self.nk[j] = project_unit(design.X, design.XT, design.size, patterns[j], self.W[j], self.K[j])


def solve_vertex(problem: Problem, patterns: np.ndarray, start: Start, limit: int) -> VertexSolution:
    """Solve from a feasible start, which is overwritten; `patterns` are known to be feasible."""
    count = np.zeros(3, np.int64)
    if problem.loss.quadratic:
        status = STATUS[_quadratic(problem, patterns, problem.curvature, problem.scaled_labels, start, np.inf, limit, count)]
        nu = start.nu
    else:
        status, nu = _newton(problem, patterns, start, limit, count)
    reduced = (start.W, start.c[0], start.K, start.nk, start.lam, nu, 0.0)
    return VertexSolution(problem, patterns, status, int(count[0]), reduced)


def _quadratic(problem, patterns, h, t, start, scale, limit, count):
    design = problem.design
    return solve_quadratic(
        design.X, design.XT, design.size, patterns, problem.output_weights, h, t, problem.ridge,
        problem.output_bias is None, start.W, start.c, start.K, start.nk, start.lam, start.nu, scale, limit, count,
    )  # fmt: skip


def _newton(problem: Problem, patterns, start: Start, limit: int, count) -> tuple[str, np.ndarray]:
    """Newton's method: the quadratic model at the last point, solved within the walls, then an exact line search.

    The segment between two feasible points is feasible, and predictions are linear along it, so the search costs O(N).
    """
    loss, y, p, v, ridge = problem.scaled_loss, problem.scaled_labels, problem.weights, problem.output_weights, problem.ridge
    XT = problem.design.XT
    status = "steps"
    u = v @ np.where(patterns, start.W @ XT, 0.0) + start.c[0]
    value = p @ loss.value(u, y) + 0.5 * ridge * np.sum(start.W**2)
    nu = p * loss.slope(u, y)
    used = p > 0
    fixed = start.c[0] if problem.output_bias is not None else 0.0
    flats = 0
    for _ in range(_NEWTON):
        h = np.maximum(p * loss.curvature(u, y), _FLOOR * np.abs(nu))
        h = np.maximum(h, _RANGE * np.max(h))
        with np.errstate(invalid="ignore", divide="ignore"):
            t = np.where(used, u - nu / h, 0.0)
        W, c = start.W.copy(), start.c[0]
        _quadratic(problem, patterns, h, t, start, value, limit, count)
        dW, dc = start.W - W, start.c[0] - c
        du = v @ np.where(patterns, dW @ XT, 0.0) + dc
        slope = nu @ du + ridge * np.sum(W * dW)
        curve = ridge * np.sum(dW * dW)
        flat = abs(slope) <= _FLAT * value
        step = 1.0 if flat else _line(loss, y, p, u, du, ridge * np.sum(W * dW), curve)
        if step != 1.0:
            start.W[:] = W + step * dW
            start.c[0] = c + step * dc
        change = np.max(h * np.abs(du)) / (np.max(np.abs(nu)) or 1.0)
        u = v @ np.where(patterns, start.W @ XT, 0.0) + start.c[0]
        nu = p * loss.slope(u, y)
        value = p @ loss.value(u, y) + 0.5 * ridge * np.sum(start.W**2)
        # at p ℓ'(u) = ν Fenchel's inequality is an equality, so that this is objective minus dual value
        gap = abs(nu @ (u - fixed) + ridge * np.sum(start.W**2))
        if step == 1.0 and change <= _SETTLED and gap <= _GAP * value:
            status = "optimal"
            break
        flats = flats + 1 if flat else 0
        if flats == 20:
            status = "rounding"
            break
        if problem.separable_below > value:
            status = "separable"
            break
        if count[0] >= limit:
            break
    return status, nu


def _line(loss, y, p, u, du, linear: float, curve: float) -> float:
    """Where in [0, 1] the convex objective along a segment is least: bisection and secants on its slope."""

    def slope(s):
        return p @ (loss.slope(u + s * du, y) * du) + linear + s * curve

    high = slope(1.0)
    if high <= 0.0:
        return 1.0
    a, b, fa, fb = 0.0, 1.0, slope(0.0), high
    if fa >= 0.0:
        return 0.0
    for _ in range(60):
        s = b - fb * (b - a) / (fb - fa)
        if not a + 0.05 * (b - a) <= s <= b - 0.05 * (b - a):
            s = 0.5 * (a + b)
        f = slope(s)
        if f < 0.0:
            a, fa = s, f
        else:
            b, fb = s, f
        if abs(f) <= 1e-6 * abs(high) or b - a < 1e-12:
            break
    return s
