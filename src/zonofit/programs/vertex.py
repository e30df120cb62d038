"""One vertex: the answer, and how to get it for each kind of loss."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from zonofit.programs._program_kernel import EXACT, OPTIMAL, STALLED, STEPS, solve_quadratic
from zonofit.programs._witness_kernel import project_unit
from zonofit.programs.certificate import Certificate, certify
from zonofit.programs.newton import INDEPENDENT, newton

if TYPE_CHECKING:
    from zonofit.programs.problem import Problem

STATUS = {
    OPTIMAL: "optimal",
    EXACT: "exact",
    STALLED: "rounding",
    STEPS: "steps",
}
_RETRIES = 3
_MODEL_STEPS = 2  # for each weight, and 50 more: what a model of a loss that is not quadratic may take at most
_NOTHING = 1e-20  # a model value below this part of the labels' is an exact fit
_EQUAL = 1e-10  # a preactivation below this part of |w| |x̄| is one on the wall
SEPARABLE = 1e-10  # data count as separated when the loss is below this part of the best constant's


class VertexSolution:
    """Least loss with given patterns, its weights, its dual values and what proves it.

    Attributes
    ----------
    problem : Problem
    patterns : ndarray (m, N) of bool
    status : str
        "optimal": no wall can be left with profit. "exact": every label is met up to rounding. "rounding": the same as
        "optimal" as far as floats can tell; the certificate says how far. "separable": logistic loss below 1e-10 of
        that of the best constant, with no minimiser; larger weights would only go on. "steps": the limit on steps came
        first.
    steps : int
        Newton steps taken.
    reduced : tuple
        Weights, output bias, walls, their numbers, multipliers and ν in the coordinates of the problem's `Design`, for
        the rest of this layer.
    """

    def __init__(self, problem: Problem, patterns, status: str, steps: int, reduced) -> None:
        self.problem = problem
        self.patterns = patterns
        self.status = status
        self.steps = steps
        self.reduced = reduced
        self._u, self._c, self._walls, self._n_walls, self._lam, self._nu = reduced

    def __repr__(self) -> str:
        return f"VertexSolution(loss={self.loss:.6g}, width={len(self.patterns)}, status={self.status!r})"

    def parts(self) -> dict:
        """Everything but the problem, as arrays, numbers and strings, from which `of_parts` makes it again."""
        u, c, walls, n_walls, lam, nu = self.reduced
        return {
            "patterns": self.patterns, "status": self.status, "steps": self.steps, "u": u, "c": float(c),
            "walls": walls, "n_walls": n_walls, "lam": lam, "nu": nu,
        }  # fmt: skip

    @classmethod
    def of_parts(cls, problem: Problem, parts: dict) -> VertexSolution:
        """The solution that `parts` took apart, to the last bit."""
        reduced = tuple(parts[name] for name in ("u", "c", "walls", "n_walls", "lam", "nu"))
        return cls(problem, parts["patterns"], parts["status"], int(parts["steps"]), reduced)

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
    def on_walls(self) -> np.ndarray:
        """Inequalities (m, N) of bool that are equalities here: `tight`, and any others; all of a unit at w = 0."""
        design = self.problem.design
        reach = np.linalg.norm(self._u, axis=1)[:, None] * design.size
        return self.tight | (np.abs(self._u @ design.XT) <= _EQUAL * reach)

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
        nu, multipliers = self.nu, self.multipliers
        if self.status == "separable":  # nothing is attained, and ν = 0 alone is dual feasible: it proves the infimum
            nu, multipliers = np.zeros_like(nu), np.zeros_like(multipliers)
        return certify(self.problem, self.patterns, self.W, self.c, nu, multipliers)

    def is_optimal(self, tolerance: float = 1e-9) -> bool:
        """Whether the certificate holds to `tolerance`."""
        return self.certificate.holds(tolerance)


class Start:
    """Where a solve begins and what it overwrites: reduced weights, bias, walls."""

    __slots__ = ("K", "W", "c", "cold", "lam", "nk", "nu")

    def __init__(self, m: int, r: int, N: int, c: float = 0.0):
        self.cold = True
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
        self.cold = False
        self.W, self.c = solution._u.copy(), np.array([float(solution._c)])
        self.K, self.nk = solution._walls.copy(), solution._n_walls.copy()
        self.lam, self.nu = solution._lam.copy(), solution._nu.copy()
        return self

    def copy(self) -> tuple[np.ndarray, ...]:
        """Copies of weights, bias, walls, their numbers and multipliers."""
        return self.W.copy(), self.c.copy(), self.K.copy(), self.nk.copy(), self.lam.copy()

    def put(self, kept: tuple[np.ndarray, ...]) -> None:
        """Go back to such copies."""
        self.W[:], self.c[:], self.K[:], self.nk[:], self.lam[:] = kept

    def move(self, problem: Problem, patterns: np.ndarray, units) -> None:
        """Bring these units to the nearest points of their new chambers."""
        design = problem.design
        for j in units:
            self.nk[j] = project_unit(design.X, design.XT, design.size, patterns[j], self.W[j], self.K[j])


def solve_vertex(problem: Problem, patterns: np.ndarray, start: Start, limit: int) -> VertexSolution:
    """Solve from a feasible start, which is overwritten; `patterns` are known to be feasible."""
    count = np.zeros(3, np.int64)
    if problem.loss.quadratic:
        h, t = problem.curvature, problem.scaled_labels
        if start.cold:
            start.nu[:] = problem.start_nu
        else:
            u = problem.output_weights @ np.where(patterns, start.W @ problem.design.XT, 0.0) + start.c[0]
            np.multiply(h, u - t, out=start.nu)
        status = STATUS[_quadratic(problem, patterns, h, t, start, np.inf, INDEPENDENT, limit, count)[0]]
        nu = start.nu
    else:
        most = _MODEL_STEPS * (50 + start.W.size)

        def model(h, t, value, independent):
            end = min(limit, count[0] + most)
            status, dW, dc = _quadratic(problem, patterns, h, t, start, value, independent, end, count)
            return status in (OPTIMAL, EXACT), count[0] >= end, dW, dc

        status, nu = newton(problem, patterns, start, model, count, limit)
    return VertexSolution(
        problem, patterns, status, int(count[0]), (start.W, start.c[0], start.K, start.nk, start.lam, nu)
    )


def _quadratic(problem, patterns, h, t, start, scale, independent, limit, count):
    """Run the kernel from a start and the ν there, and once more where rounding stopped it short of an optimum.

    The status, and the changes of weights and output bias.
    """
    design = problem.design
    dW, dc = np.zeros(start.W.shape), np.zeros(1)
    for _ in range(_RETRIES):
        status = solve_quadratic(
            design.X, design.XT, design.size, patterns, problem.output_weights, h, t, problem.ridge,
            problem.output_bias is None, start.W, start.c, dW, dc, start.K, start.nk, start.lam, start.nu, scale,
            independent, limit, count,
        )  # fmt: skip
        if status != STALLED or start.nu @ (start.nu / np.where(h > 0, h, 1.0)) <= _NOTHING * (h @ (t * t)):
            break
    return status, dW, dc[0]
