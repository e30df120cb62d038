"""Newton's method for the program of one vertex: losses that are smooth and not quadratic.

Each step solves the quadratic model at the last point within the walls, then searches the segment between the two
exactly: it is feasible, because the walls are convex, and predictions are linear along it, so the search costs O(N).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zonofit.programs._witness_kernel import project_unit

if TYPE_CHECKING:
    from zonofit.programs.problem import Problem
    from zonofit.programs.vertex import Start

INDEPENDENT = 1e-7  # a direction enters whose column has this part outside the span of those in use
_FINE = 1e-9  # the same where that has not led to an end: directions that only examples far on their side see
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
_NOTHING = 1e-24  # labels are met where the loss is below this part of the constant's: that is rounding in predictions
_OUTSIDE = 1e-11  # a unit this far outside, in units of |x||w|, is brought back
_REST = 1e-10  # stationarity, as the certificate measures it, at which a model that was not solved to the end will do
_EPS = np.finfo(float).eps


def newton(problem: Problem, patterns: np.ndarray, start: Start, model, count: np.ndarray, limit: int):
    """Minimise from a feasible start, which is overwritten; the status and ν.

    ``model(h, t, scale, independent)`` minimises ``½ Σ h (u - t)²`` plus ridge from `start` and the ν there, in place,
    until steps promise nothing beside `scale`. It says whether it got to the end, whether it ran out of steps, and how
    far weights and bias went; ``count[0]`` are its steps.
    """
    loss, y, p = problem.scaled_loss, problem.scaled_labels, problem.weights
    v, ridge = problem.output_weights, problem.ridge
    XT = problem.design.XT
    used, longest = p > 0, np.max(problem.design.size)

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
    nothing = _NOTHING * (p @ loss.value(constant, y)) if loss.translates and ridge == 0.0 else -1.0
    best = _Duals(problem, patterns, start)
    kept, expected = start.copy(), nu
    flats = failures = tier = 0
    tiers, lowest = (INDEPENDENT, _FINE), value
    reach, span, scale, status = _REACH, _RANGE, value, "steps"
    for _ in range(_STEPS):
        h = np.maximum(p * loss.curvature(u, y), reach * np.abs(nu))
        h = np.where(used, np.maximum(h, span * np.max(h)), 0.0)
        t = np.where(used, u - nu / np.where(h > 0, h, 1.0), 0.0)
        start.nu[:] = nu
        solved, endless, dW, dc = model(h, t, scale, tiers[tier])
        if endless and count[0] < limit:
            tier = len(tiers) - 1
        du = predict(dW, dc)
        W, c = kept[0], kept[1][0]
        linear = ridge * np.sum(W * dW)
        slope = nu @ du + linear
        # what values cannot show: their own rounding, and that of predictions from weights that cancel
        noise = _FLAT * value + _EPS * np.max(np.abs(v) * np.linalg.norm(W, axis=1)) * (
            np.abs(nu) @ problem.design.size
        )
        flat = abs(slope) <= noise
        step = 1.0 if flat else _least(loss, y, p, u, du, linear, ridge * np.sum(dW * dW))
        if step < 1.0:
            start.W[:] = W + step * dW
            start.c[0] = c + step * dc
        ahead = predict(start.W, start.c[0])
        next_value, next_nu = evaluate(ahead)
        blur = _EPS * longest * np.max(np.abs(v) * np.linalg.norm(start.W, axis=1))
        believed = blur <= _BLUR * max(1.0, np.max(np.abs(ahead)))
        if (
            step == 0.0
            or not next_value <= value + noise
            or not believed
            or (flat and not solved and best.unrest(next_nu) > _REST)
        ):
            # the model was solved badly, or along directions that nothing but rounding sees: go on from here with one
            # that is trusted less far, and with no walls given
            start.W[:], start.c[:] = kept[0], kept[1]
            best.consider(value, nu)
            start.put(kept)
            failures += 1
            if failures == _FAILURES:
                if best.holds(value):
                    status = "optimal"
                    break
                tier += 1
                if tier == len(tiers):
                    status = "rounding"
                    break
                failures, reach, span = 0, _REACH, _RANGE
            start.nk[:] = 0
            reach, span = min(reach * _WORSE, 1.0), min(span * _WORSE, _REACH)
            continue
        expected = _inside(problem, nu + p * loss.curvature(u, y) * du, next_nu)
        kept = start.copy()
        change = np.max(h * np.abs(du)) / (np.max(np.abs(nu)) or 1.0)
        u, value, nu = ahead, next_value, next_nu
        if value <= nothing:
            start.lam[:] = 0.0
            _bring_back(problem, patterns, start)
            return "exact", nu
        reach, span = max(reach / _WORSE, _REACH), max(span / _WORSE, _RANGE)
        settled = step == 1.0 and change <= _SETTLED
        flats = flats + 1 if flat or not value < lowest * (1.0 - _FLAT) else 0
        lowest = min(value, lowest)
        if step == 1.0 and (settled or flat or change == 0.0):
            best.consider(value, nu, expected)
            if settled and best.holds(value):
                status = "optimal"
                break
        if flats == _FLATS or change == 0.0:
            if best.holds(value):
                status = "optimal"
                break
            flats, tier = 0, tier + 1
            if tier == len(tiers):
                status = "rounding"
                break
        # decreases square from step to step, so the next model is asked for as much as this one gave
        scale = min(value, abs(slope))
        if problem.separable_below > value:
            return "separable", nu
        if count[0] >= limit:
            break
    if status != "optimal":
        start.put(kept)
        best.consider(value, nu, expected)
    nu = best.restore()
    _bring_back(problem, patterns, start)
    return status, nu


class _Duals:
    """The best ν and multipliers seen, and the weights that they were seen at.

    A model expects ν₀ + p ℓ'' du, which is stationary up to its own rounding, where ν = p ℓ'(u) has that of predictions
    from large weights that cancel. The certificate asks for a dual feasible ν and no more.
    """

    def __init__(self, problem: Problem, patterns: np.ndarray, start: Start):
        self.problem, self.patterns, self.start = problem, patterns, start
        self.nu: np.ndarray | None = None
        self.rest = self.gap = np.inf
        self._kept: tuple = ()

    def consider(self, value: float, *nu: np.ndarray) -> None:
        """Keep the start with one of these ν, if it proves more than what is kept."""
        start = self.start
        for candidate in nu:
            rest, gap = self.unrest(candidate), self.between(value, candidate)
            if self.nu is None or max(rest, gap / value) < max(self.rest, self.gap / value):
                self.nu, self.rest, self.gap = candidate.copy(), rest, gap
                self._kept = start.copy()

    def holds(self, value: float) -> bool:
        """Whether what is kept proves the value."""
        return self.gap <= _GAP * value and self.rest <= _REST

    def restore(self) -> np.ndarray:
        """Put the start back to where ν was seen, and return that."""
        assert self.nu is not None  # a point has been considered
        self.start.put(self._kept)
        return self.nu

    def _flow(self, nu: np.ndarray) -> np.ndarray:
        start, v = self.start, self.problem.output_weights
        flow = np.where(self.patterns, nu, 0.0) * v[:, None]
        for j, k in enumerate(start.nk):
            walls = start.K[j, :k]
            flow[j, walls] -= np.where(self.patterns[j, walls], start.lam[j, :k], -start.lam[j, :k])
        return flow @ self.problem.design.X

    def unrest(self, nu: np.ndarray) -> float:
        """How far from stationary the start is with this ν and its multipliers."""
        problem, W = self.problem, self.start.W
        rest = np.linalg.norm(self._flow(nu) + problem.ridge * W, axis=1)
        unit = np.abs(problem.output_weights) * (np.abs(nu) @ problem.design.size)
        unit += problem.ridge * np.linalg.norm(W, axis=1)
        worst = float(np.max(rest / np.where(unit > 0, unit, 1.0)))
        if problem.output_bias is None:
            worst = max(worst, abs(float(np.sum(nu))) / (float(np.sum(np.abs(nu))) or 1.0))
        return worst

    def between(self, value: float, nu: np.ndarray) -> float:
        """Distance of the value from that of the dual; infinite where ν is none."""
        problem = self.problem
        used = problem.weights > 0
        p = problem.weights[used]
        bound = -float(p @ problem.scaled_loss.conjugate(nu[used] / p, problem.scaled_labels[used]))
        if problem.output_bias is not None:
            bound += self.start.c[0] * float(np.sum(nu))
        if problem.ridge > 0:
            bound -= float(np.sum(self._flow(nu) ** 2)) / (2.0 * problem.ridge)
        return abs(value - bound)


def _inside(problem: Problem, nu: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Those ν that have a conjugate, also after a few roundings; the others where they have none."""
    p = problem.weights
    slope = np.divide(nu, p, out=np.zeros_like(nu), where=p > 0)
    finite = np.isfinite(problem.scaled_loss.conjugate(slope * (1.0 + 8.0 * _EPS), problem.scaled_labels))
    return np.where(finite, nu, other)


def _bring_back(problem: Problem, patterns: np.ndarray, start: Start) -> None:
    """Units that are small beside those that they came from may be outside by rounding: back to their chambers."""
    design = problem.design
    for j, w in enumerate(start.W):
        for _ in range(2):
            z = design.XT.T @ w
            outside = np.min(np.where(patterns[j], z, -z) / design.size)
            if not outside < -_OUTSIDE * np.linalg.norm(w):
                break
            project_unit(design.X, design.XT, design.size, patterns[j], w, np.empty(len(w), np.int64))


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
