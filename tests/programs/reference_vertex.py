"""Slow twins of the vertex program, which see a chamber from the other side: as the cone of its extreme rays.

With the rays of unit j as columns of Rⱼ, its weights are Rⱼ k with k >= 0, so that no wall is left but the sign of k:
the squared loss is one non-negative least squares problem, other smooth losses a sequence of them, the absolute loss a
linear program. Only for few features: the rays are found among all subsets of the examples.
"""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
from scipy.optimize import linprog, minimize_scalar

_FINE = 1e-9


def rays(G, pattern):
    """Extreme rays (n, R) of the closed chamber in the span of the generators, and preactivations (N, R) on them."""
    _, singular, right = np.linalg.svd(G, full_matrices=False)
    basis = right[singular > _FINE * singular[0]].T
    side = np.where(pattern, 1.0, -1.0)
    rows = (side / np.linalg.norm(G, axis=1))[:, None] * (G @ basis)
    r = rows.shape[1]
    few = np.unique(np.round(rows, 12), axis=0)
    subsets = np.array(list(combinations(range(len(few)), r - 1)), dtype=int)
    _, singular, right = np.linalg.svd(few[subsets.reshape(len(subsets), r - 1)], full_matrices=True)
    lines = right[:, -1][np.min(singular, axis=1, initial=1.0) > _FINE]
    lines = np.r_[lines, -lines]
    inner = lines @ rows.T
    inner[np.abs(inner) < _FINE] = 0.0
    kept = np.min(inner, axis=1) >= 0
    return basis @ lines[kept].T, (side * np.linalg.norm(G, axis=1))[:, None] * inner[kept].T


def cost(problem):
    """How many subsets `rays` looks at."""
    N, n = problem.generators.shape
    return comb(N, min(n - 1, N))


class Cone:
    """Networks with the given patterns as non-negative coefficients: predictions ``M k``, weights ``lift k``."""

    def __init__(self, problem, patterns):
        G = problem.generators
        column = np.max(np.abs(G), axis=0) if problem.alpha == 0 else np.ones(G.shape[1])
        column = np.where(column > 0, column, 1.0)
        m, n = len(patterns), G.shape[1]
        blocks, lifts = [], []
        for j, (v, a) in enumerate(zip(problem.output_weights, patterns, strict=True)):
            R, Z = rays(G / column, a)
            blocks.append(v * a[:, None] * Z)
            lifts.append(np.zeros((m, n, R.shape[1])))
            lifts[-1][j] = R / column[:, None]
        self.lift = np.concatenate(lifts, axis=2).reshape(m * n, -1)
        self.M = np.concatenate(blocks, axis=1)
        # a free bias takes up any constant, so labels lose theirs first, and digits with it
        self.labels, self.offset = problem.labels, problem.output_bias or 0.0
        if problem.loss.translates and problem.output_bias is None:
            self.labels = self.labels - np.median(self.labels)
        if problem.output_bias is None:
            one = np.ones((len(G), 1))
            self.M = np.concatenate([self.M, one, -one], axis=1)
            self.lift = np.concatenate([self.lift, np.zeros((m * n, 2))], axis=1)
        size = np.linalg.norm(self.M, axis=0)
        self.size = np.where(size > 1e-300, size, 1.0)
        self.M, self.lift = self.M / self.size, self.lift / self.size
        self.problem = problem

    def objective(self, k):
        problem = self.problem
        value = problem.loss.value(self.M @ k + self.offset, self.labels)
        return float(problem.weights @ value + problem.alpha / 2 * np.sum((self.lift @ k) ** 2))


def least_objective(problem, patterns):
    """The optimum of the vertex program of a `Problem`, whatever its loss."""
    cone = Cone(problem, patterns)
    return linear(cone) if not problem.loss.smooth else smooth(cone)


def quadratic(cone, h, t):
    """k >= 0 with least ``Σ h (u - t)² + alpha ‖W‖²``."""
    root = np.sqrt(h)
    rows, target = root[:, None] * cone.M, root * (t - cone.offset)
    if cone.problem.alpha > 0:
        ridge = np.sqrt(cone.problem.alpha) * cone.lift
        rows, target = np.r_[rows, ridge], np.r_[target, np.zeros(len(ridge))]
    return non_negative(rows, target)


def non_negative(rows, target):
    """Lawson and Hanson's method for k >= 0 with least ``‖rows k - target‖``.

    Columns of opposite units cancel, so scipy's `nnls`, which lets in dependent columns, returns coefficients of 1e13
    that are no solution. Here a column enters only if its gradient is clear of rounding, and of solutions the shortest
    is taken.
    """
    size = np.linalg.norm(rows, axis=0)
    rows = rows / np.where(size > 0, size, 1.0)
    tolerance = _FINE * np.linalg.norm(target)
    k, inside, refused = np.zeros(rows.shape[1]), np.zeros(rows.shape[1], bool), np.zeros(rows.shape[1], bool)
    for _ in range(10 * rows.shape[1]):
        pull = rows.T @ (target - rows @ k)
        pull[inside | refused] = 0.0
        enters = np.argmax(pull)
        if pull[enters] <= tolerance:
            return k / np.where(size > 0, size, 1.0)
        inside[enters] = True
        first = True
        while True:
            best = np.zeros(len(k))
            best[inside] = np.linalg.lstsq(rows[:, inside], target, rcond=_FINE)[0]
            if first and best[enters] <= 0:  # dependent on those inside, up to rounding
                inside[enters], refused[enters] = False, True
                break
            first = False
            out = inside & (best <= 0)
            if not out.any():
                k = best
                refused[:] = False
                break
            ratio = np.where(out, k / np.where(out, k - best, 1.0), 1.0)
            k = k + ratio[out].min() * (best - k)
            k[out & (ratio <= ratio[out].min())] = 0.0
            inside &= k > 0
    raise RuntimeError("the twin goes round in circles")


def smooth(cone, steps=200):
    """Newton's method: least squares problems, and the best point between the last two."""
    problem = cone.problem
    p, y, loss = problem.weights, cone.labels, problem.loss
    k, best = np.zeros(cone.M.shape[1]), np.inf
    for _ in range(steps):
        u = cone.M @ k + cone.offset
        slope = loss.slope(u, y)
        h = np.maximum(loss.curvature(u, y), 1e-6 * np.abs(slope))
        h = np.maximum(h, 1e-12 * h.max())
        step = quadratic(cone, p * h, u - slope / h) - k
        s, value = along(cone, k, step)
        if value >= best * (1 - 1e-14):
            break
        k, best = k + s * step, value
    return best


def along(cone, k, step):
    """The best of the points k + s step, 0 < s <= 1, and its value."""

    def value(s):
        return cone.objective(k + s * step)

    found = minimize_scalar(value, bounds=(0, 1), method="bounded", options={"xatol": 1e-10})
    return min((found.x, found.fun), (1.0, value(1.0)), key=lambda pair: pair[1])


def linear(cone):
    """The absolute loss: minimise Σ p (e⁺ + e⁻) with M k + e⁺ - e⁻ = y."""
    problem = cone.problem
    N = len(cone.labels)
    unit = np.max(np.abs(cone.labels - cone.offset)) or 1.0
    A = np.concatenate([cone.M, np.eye(N), -np.eye(N)], axis=1)
    prices = np.r_[np.zeros(cone.M.shape[1]), problem.weights, problem.weights]
    found = linprog(prices, A_eq=A, b_eq=(cone.labels - cone.offset) / unit, method="highs")
    return unit * found.fun
