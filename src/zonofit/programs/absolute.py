"""The vertex program of the absolute loss: a linear program, solved by HiGHS.

minimise Σ pᵢ eᵢ subject to -eᵢ <= ŷᵢ - yᵢ <= eᵢ and the walls. Constraints are sparse: one block of r columns a unit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import block_diag, csr_array, eye_array, hstack, vstack

from zonofit.programs._witness_kernel import project_unit
from zonofit.programs.vertex import VertexSolution

if TYPE_CHECKING:
    from zonofit.programs.problem import Problem

_STATUS = {0: "optimal", 1: "steps"}
_TIGHTEST = 1e-10  # the smallest feasibility tolerance that HiGHS takes
_LEAST = 1e-11  # a multiplier below this part of the largest is rounding


def solve_absolute(problem: Problem, patterns: np.ndarray) -> VertexSolution:
    """Solve the linear program of one vertex."""
    design, v, p, y = problem.design, problem.output_weights, problem.weights, problem.scaled_labels
    (m, N), r = patterns.shape, design.X.shape[1]
    side = np.where(patterns, 1.0, -1.0)
    prediction = np.concatenate([v[j] * patterns[j][:, None] * design.X for j in range(m)] + [np.ones((N, 1))], axis=1)
    walls = block_diag([csr_array(-side[j][:, None] * design.X / design.size[:, None]) for j in range(m)])
    nothing = csr_array((m * N, N + 1))
    identity = eye_array(N)
    dense = csr_array(prediction)
    A = vstack([hstack([dense, -identity]), hstack([-dense, -identity]), hstack([walls, nothing])]).tocsr()
    b = np.concatenate([y, -y, np.zeros(m * N)])
    cost = np.concatenate([np.zeros(m * r + 1), p])
    bias = (None, None) if problem.output_bias is None else (problem.start_bias, problem.start_bias)
    bounds = [(None, None)] * (m * r) + [bias] + [(0.0, None)] * N
    options = {"primal_feasibility_tolerance": _TIGHTEST, "dual_feasibility_tolerance": _TIGHTEST}
    result = linprog(cost, A_ub=A, b_ub=b, bounds=bounds, method="highs-ds", options=options)
    if result.x is None:
        raise RuntimeError(f"HiGHS gave no answer to a program that has one: {result.message}")
    W = result.x[: m * r].reshape(m, r).copy()
    price = -result.ineqlin.marginals
    nu = np.clip(price[:N] - price[N : 2 * N], -p, p)
    every = price[2 * N :].reshape(m, N) / design.size
    K, lam, n_walls = np.zeros((m, r), np.int64), np.zeros((m, r)), np.zeros(m, np.int64)
    for j in range(m):
        project_unit(design.X, design.XT, design.size, patterns[j], W[j], K[j])
        held = np.argsort(-every[j], kind="stable")[:r]
        held = held[every[j, held] > _LEAST * max(every.max(), 1e-300)]
        n_walls[j] = len(held)
        K[j, : len(held)], lam[j, : len(held)] = held, every[j, held]
    c = result.x[m * r]
    return VertexSolution(
        problem, patterns, _STATUS.get(result.status, "rounding"), int(result.nit), (W, c, K, n_walls, lam, nu)
    )
