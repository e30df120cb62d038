"""Slow twins of the vertex program, which see a chamber from the other side: as the cone of its extreme rays.

With the rays of unit j as columns of Rⱼ, its weights are Rⱼ k with k >= 0, so that no wall is left but the sign of k: the
squared loss is one non-negative least squares problem, other smooth losses a sequence of them, the absolute
loss a linear program. Only for few features: the rays are found among all subsets of the examples.
"""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
from scipy.optimize import linprog, minimize_scalar, nnls

_FINE = 1e-9


def rays(G, pattern):
    """Extreme rays (n, R) of the closed chamber within the span of the generators, and the preactivations (N, R) on them."""
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
        self.offset = 0.0 if problem.output_bias is None else problem.output_bias
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
        value = problem.loss.value(self.M @ k + self.offset, problem.labels)
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
    return nnls(rows, target, maxiter=100 * rows.shape[1])[0]


def smooth(cone, steps=200):
    """Newton's method: least squares problems, and the best point between the last two."""
    problem = cone.problem
    p, y, loss = problem.weights, problem.labels, problem.loss
    k, best = np.zeros(cone.M.shape[1]), np.inf
    for _ in range(steps):
        u = cone.M @ k + cone.offset
        slope = loss.slope(u, y)
        h = np.maximum(loss.curvature(u, y), 1e-6 * np.abs(slope))
        h = np.maximum(h, 1e-12 * h.max())
        step = quadratic(cone, p * h, u - slope / h) - k
        s = minimize_scalar(lambda s: cone.objective(k + s * step), bounds=(0, 1), method="bounded", options={"xatol": 1e-10})
        values = {1.0: cone.objective(k + step), s.x: s.fun}
        s = min(values, key=values.get)
        if values[s] >= best * (1 - 1e-14):
            break
        k, best = k + s * step, values[s]
    return best


def linear(cone):
    """The absolute loss: minimise Σ p (e⁺ + e⁻) with M k + e⁺ - e⁻ = y."""
    problem = cone.problem
    N = len(problem.labels)
    unit = np.max(np.abs(problem.labels - np.median(problem.labels))) or 1.0
    A = np.concatenate([cone.M, np.eye(N), -np.eye(N)], axis=1)
    prices = np.r_[np.zeros(cone.M.shape[1]), problem.weights, problem.weights]
    found = linprog(prices, A_eq=A, b_eq=(problem.labels - cone.offset) / unit, method="highs")
    return unit * found.fun
