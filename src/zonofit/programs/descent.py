r"""Facet descent: minimise the loss of a network straight through the walls, ``walls open``.

The mean loss ``F(W, c) = Σ p_i ℓ(u_i, y_i) + alpha/2 ‖W‖²``, ``u = Σ_j v_j max(0, X w_j) + c``, is continuous, and
convex on each piece where no preactivation changes its sign. So vertices need not be solved one by one:

1. A Newton step for the current piece, in the directions that keep every unit on the walls it sits on.
2. Along it, an exact line search over the *breakpoints* where a preactivation passes zero. Walls are passed while
   the slope stays negative; a wall where it turns positive joins (while there are fewer parameters than examples only
   once a step gains little: far from a minimum such walls come and go).
3. Where a piece has no more to give, multipliers ``Σ μ_i x_i = v_j Σ_i ν_i a_ji x_i + alpha w_j`` over the walls of a
   unit say which to let go: to the inactive side if μ_i > 0, to the active side if μ_i + v_j ν_i < 0, the worst wall
   of each unit that is nearly as bad as the worst of all. If there is none, no direction is a descent to first order:
   a directional local minimum. Where walls depend on each other, and at w = 0, multipliers do not say it all, and
   directions are tried.
4. Such a minimum is often a whole valley: parameters are left over, and some example with residual is seen by no unit
   that could help. Then the network moves within the valley, its predictions unchanged, to a wall with v_j ν_i < 0;
   behind it the value falls. The answer is a local minimum only after the nearest such walls could not be reached.

Values never rise, and each release from a minimised piece starts below the last or is counted; so it cannot cycle.

Squared loss is one compiled call. Other smooth losses are expanded to second order at each step, and the line search
asks the loss itself; that too is one compiled call for the losses of this library. A logistic loss that no weights but
infinite ones minimise ends as 'exact' once it is 1e-16, or as 'local minimum' once steps gain less than 1e-10 of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from zonofit.errors import InputError
from zonofit.programs._damped_kernel import descend_damped
from zonofit.programs._descent_kernel import descend_squared, unit_signs
from zonofit.programs.losses import Loss, Squared

if TYPE_CHECKING:
    from zonofit.programs.problem import Problem

STATUSES = ("local minimum", "target", "steps", "stalled", "exact")


@dataclass(frozen=True, eq=False)
class Descent:
    """Where facet descent ended, in the units of the problem.

    Attributes
    ----------
    problem : Problem
    W : ndarray (m, n)
        Weights; the last column multiplies the 1 of x̄ = (x, 1).
    c : float
        Output bias.
    patterns : ndarray (m, N) of bool
        Examples on which each unit is active; those on its walls are not.
    on_walls : ndarray (m, N) of bool
        Examples whose hyperplane the unit sits on.
    nu : ndarray (N,)
        Derivatives ν of the mean loss in the predictions.
    status : str
        One of `STATUSES`, as in `OpenResult`.
    steps, releases, flips : int
        Newton steps; walls let go; signs of preactivations that changed on the way.
    damped : float
        Objective after the damped steps, infinite without them.
    """

    problem: Problem
    W: np.ndarray
    c: float
    patterns: np.ndarray
    on_walls: np.ndarray
    nu: np.ndarray
    status: str
    steps: int
    releases: int
    flips: int
    damped: float

    @cached_property
    def loss(self) -> float:
        """Mean loss, weighted with the sample weights, recomputed from the weights."""
        return self.problem.mean_loss(self.problem.predict(self.W, self.c))

    @cached_property
    def objective(self) -> float:
        """Mean loss plus ridge, recomputed from the weights."""
        return self.loss + self.problem.alpha / 2.0 * float(np.sum(self.W**2))


def descend(
    problem: Problem, W, c: float | None, *, max_steps: int, target: float, valleys: int, damped: int, worth: float
) -> Descent:
    """`Problem.descend`: `descend_open` in the coordinates of the problem's design."""
    n = problem.generators.shape[1]
    W = np.asarray(W, float)
    if W.shape != (problem.width, n) or not np.isfinite(W).all():
        raise InputError(f"W: want finite numbers of shape ({problem.width}, {n}), one row a unit, got {W.shape}.")
    if problem.output_bias is not None and c is not None and c != problem.output_bias:
        raise InputError(f"c: the output bias is fixed at {problem.output_bias:g}; leave c out.")
    if not problem.loss.smooth:
        raise InputError(
            f"loss: {type(problem.loss).__name__} has kinks of its own; descend with Huber(delta) instead."
        )
    start = problem.start_bias if c is None else (float(c) - problem.centre) / problem.unit
    found = _descend(
        problem.design.X, problem.scaled_labels, problem.weights, problem.output_weights,
        np.ascontiguousarray(W @ problem.design.drop.T / problem.unit), start, problem.scaled_loss, problem.ridge,
        problem.output_bias is None, max_steps, target / problem.loss_factor, valleys, damped,
        worth / problem.loss_factor,
    )  # fmt: skip
    return Descent(
        problem,
        problem.unit * (found.W @ problem.design.lift.T),
        problem.centre + problem.unit * found.c,
        found.patterns,
        found.on_walls,
        problem.loss_factor / problem.unit * found.nu,
        found.status,
        found.steps,
        found.releases,
        found.flips,
        problem.loss_factor * found.damped,
    )


@dataclass(frozen=True, eq=False)
class OpenResult:
    """Where a descent ended.

    Attributes
    ----------
    W : ndarray (m, r)
        Weights of the units.
    c : float
        Output bias.
    patterns : ndarray (m, N) of bool
        Examples on which each unit is active; those on its walls are not.
    on_walls : ndarray (m, N) of bool
        Examples whose hyperplane the unit sits on.
    loss : float
        F(W, c), computed from W and c alone.
    nu : ndarray (N,)
        Derivative of the mean loss in each prediction.
    steps, releases, flips : int
        Newton steps; walls let go; signs of preactivations that changed on the way.
    status : str
        'local minimum' (no direction is a descent to first order), 'target', 'steps' (budget spent), 'stalled'
        (rounding allows no more), or 'exact' (the loss is as small as rounding in the predictions can make it, or, if
        it does not depend on u - y alone, below 1e-16).
    """

    W: np.ndarray
    c: float
    patterns: np.ndarray
    on_walls: np.ndarray
    loss: float
    nu: np.ndarray
    steps: int
    releases: int
    flips: int
    status: str
    damped: float = np.inf


def descend_open(
    X: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray,
    v: np.ndarray,
    W: np.ndarray,
    c: float,
    *,
    loss: Loss,
    alpha: float = 0.0,
    bias_free: bool = True,
    max_steps: int = 10_000,
    target: float = 0.0,
    valleys: int = 6,
) -> OpenResult:
    """Descend from (W, c) through the walls to a directional local minimum.

    Parameters
    ----------
    X : ndarray (N, r)
        Examples in well-conditioned coordinates of full rank, the 1 of the bias included.
    y : ndarray (N,)
        Labels, of size about 1.
    weights : ndarray (N,)
        Weight of each example, 0 or more, with sum 1.
    v : ndarray (m,)
        Output weights, fixed.
    W, c : ndarray (m, r), float
        Start; not written. Units at w = 0 are allowed.
    loss : Loss
        A smooth loss. Those of this library run compiled from start to end.
    alpha : float
        Ridge on W.
    bias_free : bool
        Whether c may move.
    max_steps : int
        Most Newton steps.
    target : float
        Stop once F is at most this.
    valleys : int
        Walls that are tried, the nearest first, when a local minimum leaves parameters over; 0 stops at once. Only
        for the squared loss without ridge.

    Returns
    -------
    OpenResult

    Notes
    -----
    A step costs O(N m r + N² m + N³) or O(N m r + q³) with q = m r + 1 parameters, whichever is less, plus O(1) a flip.
    """
    X, y, p, v, W = (np.ascontiguousarray(a, dtype=np.float64) for a in (X, y, weights, v, W))
    _check(X, y, p, v, W, c, loss, alpha)
    return _descend(X, y, p, v, W, float(c), loss, float(alpha), bias_free, max_steps, float(target), valleys)


def _descend(X, y, p, v, W, c, loss, alpha, bias_free, limit, target, valleys, damped=0, worth=np.inf) -> OpenResult:
    used = p > 0
    if not used.all():  # weightless examples do not pull, so they need no walls either
        part = _descend(
            np.ascontiguousarray(X[used]), y[used], p[used], v, W, c, loss, alpha, bias_free, limit, target, valleys,
            damped, worth,
        )  # fmt: skip
        patterns, on_walls, nu = part.W @ X.T > 0, np.zeros((len(v), len(y)), bool), np.zeros(len(y))
        patterns[:, used], on_walls[:, used], nu[used] = part.patterns, part.on_walls, part.nu
        counts = part.steps, part.releases, part.flips
        return OpenResult(part.W, part.c, patterns, on_walls, part.loss, nu, *counts, part.status, part.damped)
    scale = np.abs(v)
    rescale = alpha == 0 and not (scale == 1.0).all()
    if rescale:  # v φ(w·x) = sign(v) φ(|v| w·x), and the kernel is fastest for signs
        scale[scale == 0] = 1.0
        v, W = v / scale, W * scale[:, None]
    else:
        W = W.copy()
    bias = 1.0 if bias_free else 0.0
    solved, after = 0, np.inf
    if damped > 0:
        after, c, solved = _descend_damped(X, y, p, v, W, c, loss, alpha, bias, damped, target, worth)
        limit = limit if after < worth else 0
    if damped > 0 and limit == 0:  # nothing to set up for
        Z = W @ X.T
        nu, act, kind, value = p * loss.slope(np.maximum(Z, 0.0).T @ v + c, y), Z, np.zeros(Z.shape), after
        code, count = STATUSES.index("target" if after <= target else "steps"), (0, 0, 0)
    elif isinstance(loss, Squared):
        code, value, c, act, kind, nu, count = descend_squared(
            X, y, 2.0 * p, v, W, c, alpha, bias, limit, target, valleys
        )
    else:
        from zonofit.programs._descent_smooth import descend_smooth

        code, c, act, kind, nu, count = descend_smooth(X, y, p, v, W, c, loss, alpha, bias, limit, target)
        value = float(p @ loss.value(np.maximum(X @ W.T, 0.0) @ v + c, y)) + 0.5 * alpha * float(np.vdot(W, W))
    if not np.isfinite(value):
        raise FloatingPointError("descend_open left the finite numbers; please report the data.")
    if rescale:
        W /= scale[:, None]
    steps, flips, releases = int(count[0]) + solved, int(count[1]), int(count[2])
    return OpenResult(W, c, act > 0, kind > 0, value, nu, steps, releases, flips, STATUSES[code], after)


def _descend_damped(X, y, p, v, W, c, loss, alpha, bias, limit, target, worth):
    if isinstance(loss, Squared):
        return descend_damped(X, y, 2.0 * p, v, unit_signs(v), W, c, alpha, bias, limit, target, worth)
    from zonofit.programs._damped_smooth import descend_damped_smooth

    return descend_damped_smooth(X, y, p, v, W, c, loss, alpha, bias, limit, target, worth)


def _check(X, y, p, v, W, c, loss, alpha) -> None:
    if X.ndim != 2 or y.shape != X.shape[:1] or p.shape != y.shape or len(y) == 0:
        raise InputError(
            f"X, y, weights: want (N, r), (N,), (N,) with N > 0, not {X.shape}, {y.shape}, {p.shape}; "
            "pass one row an example."
        )
    if v.ndim != 1 or W.shape != (len(v), X.shape[1]) or len(v) == 0:
        raise InputError(f"v, W: want (m,) and (m, {X.shape[1]}), not {v.shape} and {W.shape}; pass one row a unit.")
    for name, a in (("X", X), ("y", y), ("weights", p), ("v", v), ("W", W)):
        if not np.isfinite(a).all():
            raise InputError(f"{name}: holds NaN or infinity; remove or fill in these entries.")
    if not (p.min() >= 0 and p.max() > 0):
        raise InputError(
            "weights: want numbers of 0 or more that are not all 0; drop examples instead of negative weights."
        )
    if not (np.isfinite(c) and np.isfinite(alpha) and alpha >= 0):
        raise InputError(f"c, alpha: want finite numbers, alpha not below 0, not {c!r} and {alpha!r}; try 0.")
    if not loss.smooth:
        raise InputError(f"loss: {type(loss).__name__} has kinks of its own; descend with Huber(delta) instead.")
