"""Newton's method for the program of one vertex: losses that are smooth and not quadratic.

Each step solves the quadratic model at the last point within the walls, then searches the segment between the two
exactly: it is feasible, because the walls are convex, and predictions are linear along it, so the search costs O(N).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from zonofit.programs.problem import Problem
    from zonofit.programs.vertex import Start

_STEPS = 200
_REACH = 1e-6  # curvature that a model has at least, in units of the slope: nothing is trusted further than 1e6
_WORSE = 100.0  # factor on that after a step that failed, which the next ones give back
_FAILURES = 6
_RANGE = 1e-14  # curvatures span at most this much, beyond which normal equations lose all digits
_SETTLED = 1e-12  # a step that changes no derivative by more than this part of the largest is the last
_GAP = 1e-12  # if the gap is below this part of the objective
_FLAT = 1e-13  # a step whose slope is less than this part of the objective is below what values can show
_FLATS = 20
_BLUR = 1e-8  # rounding in predictions, in units of the largest, beyond which their values are not believed
_REST = 1e-10  # stationarity, as the certificate measures it, at which a model that was not solved to the end will do
_EPS = np.finfo(float).eps


def newton(problem: Problem, patterns: np.ndarray, start: Start, model, count: np.ndarray, limit: int):
    """Minimise from a feasible start, which is overwritten; the status and ν.

    ``model(h, t, scale)`` minimises ``½ Σ h (u - t)²`` plus ridge from `start`, in place, until steps promise nothing
    beside `scale`, and says whether it got to the end; ``count[0]`` are its steps.
    """
    loss, y, p = problem.scaled_loss, problem.scaled_labels, problem.weights
    v, ridge = problem.output_weights, problem.ridge
    XT = problem.design.XT
    used, longest = p > 0, np.max(problem.design.size)
    fixed = start.c[0] if problem.output_bias is not None else 0.0

    def predict(W, c):
        return v @ np.where(patterns, W @ XT, 0.0) + c

    def evaluate(u):
        return p @ loss.value(u, y) + 0.5 * ridge * np.sum(start.W**2), p * loss.slope(u, y)

    u = predict(start.W, start.c[0])
    # a start from elsewhere may sit where curvatures are nothing: take the best point between it and the constant
    constant = np.full(len(u), problem.start_bias)
    share = _least(loss, y, p, constant, u - constant, 0.0, ridge * np.sum(start.W**2))
    if share < 1.0:
        start.W *= share
        start.c[0] = problem.start_bias + share * (start.c[0] - problem.start_bias)
        u = predict(start.W, start.c[0])
    value, nu = evaluate(u)
    flats = failures = 0
    reach, span, scale = _REACH, _RANGE, value
    for _ in range(_STEPS):
        h = np.maximum(p * loss.curvature(u, y), reach * np.abs(nu))
        h = np.where(used, np.maximum(h, span * np.max(h)), 0.0)
        t = np.where(used, u - nu / np.where(h > 0, h, 1.0), 0.0)
        W, c = start.W.copy(), start.c[0]
        solved = model(h, t, scale)
        dW, dc = start.W - W, start.c[0] - c
        du = predict(dW, dc)
        linear = ridge * np.sum(W * dW)
        slope = nu @ du + linear
        flat = abs(slope) <= _FLAT * value
        step = 1.0 if flat else _least(loss, y, p, u, du, linear, ridge * np.sum(dW * dW))
        start.W[:] = W + step * dW
        start.c[0] = c + step * dc
        ahead = predict(start.W, start.c[0])
        next_value, next_nu = evaluate(ahead)
        blur = _EPS * longest * np.max(np.abs(v) * np.linalg.norm(start.W, axis=1))
        believed = blur <= _BLUR * max(1.0, np.max(np.abs(ahead)))
        if (
            step == 0.0
            or not next_value <= value * (1.0 + _FLAT)
            or not believed
            or (flat and not solved and _unrest(problem, patterns, start, next_nu) > _REST)
        ):
            # the model was solved badly, or along directions that nothing but rounding sees: go on from here with one
            # that is trusted less far, and with no walls given
            start.W[:], start.c[0] = W, c
            failures += 1
            if failures == _FAILURES:
                return "rounding", nu
            start.nk[:] = 0
            reach, span = min(reach * _WORSE, 1.0), min(span * _WORSE, _REACH)
            continue
        change = np.max(h * np.abs(du)) / (np.max(np.abs(nu)) or 1.0)
        u, value, nu = ahead, next_value, next_nu
        reach, span = max(reach / _WORSE, _REACH), max(span / _WORSE, _RANGE)
        # at ν = p ℓ'(u) Fenchel's inequality is an equality, so that this is the objective minus the dual value
        gap = abs(nu @ (u - fixed) + ridge * np.sum(start.W**2))
        if step == 1.0 and change <= _SETTLED and gap <= _GAP * value:
            return "optimal", nu
        flats = flats + 1 if flat else 0
        if flats == _FLATS or change == 0.0:
            return ("optimal" if gap <= _GAP * value else "rounding"), nu
        # decreases square from step to step, so the next model is asked for as much as this one gave
        scale = min(value, abs(slope))
        if problem.separable_below > value:
            return "separable", nu
        if count[0] >= limit:
            break
    return "steps", nu


def _unrest(problem: Problem, patterns: np.ndarray, start: Start, nu: np.ndarray) -> float:
    """How far from stationary a point is with the multipliers that the last model left."""
    design, v = problem.design, problem.output_weights
    flow = np.where(patterns, nu, 0.0) * v[:, None]
    for j, k in enumerate(start.nk):
        walls = start.K[j, :k]
        flow[j, walls] -= np.where(patterns[j, walls], start.lam[j, :k], -start.lam[j, :k])
    rest = np.linalg.norm(flow @ design.X + problem.ridge * start.W, axis=1)
    unit = np.abs(v) * (np.abs(nu) @ design.size) + problem.ridge * np.linalg.norm(start.W, axis=1)
    return float(np.max(rest / np.where(unit > 0, unit, 1.0)))


def _least(loss, y, p, u, du, linear: float, curve: float) -> float:
    """Where in [0, 1] the convex objective along a segment is least: secants, kept inside by bisection."""

    def slope(s):
        return p @ (loss.slope(u + s * du, y) * du) + linear + s * curve

    high = slope(1.0)
    if high <= 0.0:
        return 1.0
    a, b, at_a, at_b = 0.0, 1.0, slope(0.0), high
    if at_a >= 0.0:
        return 0.0
    for _ in range(60):
        s = b - at_b * (b - a) / (at_b - at_a)
        if not a + 0.05 * (b - a) <= s <= b - 0.05 * (b - a):
            s = 0.5 * (a + b)
        now = slope(s)
        if now < 0.0:
            a, at_a = s, now
        else:
            b, at_b = s, now
        if abs(now) <= 1e-6 * high or b - a < 1e-12:
            break
    return s
