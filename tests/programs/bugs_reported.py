"""Vertex programs that the kernels do not solve yet: ``python -m tests.programs.bugs_reported`` shows which are left.

pytest does not collect this file. Whoever mends one moves its program into `test_vertex`, and takes it off `REPORTED`.

Kernels that were compiled in this process and kernels loaded from numba's cache round differently, so that 4698 and
4890 are certified in the first run after a change and not in the second, and 11110 the other way round.
"""

from __future__ import annotations

import numpy as np

from tests.programs.instances import random_program
from zonofit.programs.vertex import OPTIMAL, Start, solve_quadratic

# seed, loss and shape of `random_program`; each is the first quadratic model of a Huber loss, from W = 0: targets at
# 1e6, curvatures that differ by 1e6 and more
MODELS = [
    # after 114 walls one release at each Newton step; no wall is met again, the value falls by 1e-13 of itself a step
    (9782, None, None),
    # one wall met for one wall released, for ever; the value falls from 272700 to 267800 within 20,000 steps
    (1005, "huber", "duplicates"),
]
PROGRAMS = [
    # steps without walls or releases to the limit: the model starts from weights of 500, curvatures from 1e-16 to 1e-2
    (
        3109,
        "the 200 models of Newton's method take 22,000 steps in the last of them, none of which is a wall or a release",
    ),
    # gaps and stationarity above 1e-9, after the last models stalled, or went up by rounding
    (4698, "stationarity 2e-8, gap 3e-8: output weights from 1e-4 to 1"),
    (4890, "stationarity 2e-8, gap 3e-8: models at h from 3e-8 to 0.1 end 'optimal' above where they began, by 1e-14"),
    (3021, "gap 3e-9: a logistic loss that weights without bound only approach, with stationarity 3e-13"),
    (11233, "gap 2e-9: the same"),
    (11110, "primal residual 2e-5 in an exact fit, with kernels compiled in this process only"),
]


def first_model(problem, patterns, limit):
    """Status, steps, walls met, releases and value of the first model of Newton's method, from a cold start."""
    p, y, loss, design = problem.weights, problem.scaled_labels, problem.scaled_loss, problem.design
    start = Start(problem.width, design.X.shape[1], problem.n_examples, problem.start_bias)
    u = np.full(problem.n_examples, problem.start_bias)
    nu = p * loss.slope(u, y)
    h = np.maximum(p * loss.curvature(u, y), 1e-6 * np.abs(nu))
    h = np.where(p > 0, np.maximum(h, 1e-14 * h.max()), 0.0)
    t = np.where(p > 0, u - nu / np.where(h > 0, h, 1.0), 0.0)
    count = np.zeros(3, np.int64)
    status = solve_quadratic(
        design.X, design.XT, design.size, patterns, problem.output_weights, h, t, problem.ridge,
        problem.output_bias is None, start.W, start.c, start.K, start.nk, start.lam, start.nu, np.inf, limit, count,
    )  # fmt: skip
    u = problem.output_weights @ np.where(patterns, start.W @ design.XT, 0.0) + start.c[0]
    return status, count, 0.5 * h @ (u - t) ** 2


def main() -> None:
    """Try them all."""
    for seed, loss, shape in MODELS:
        problem, patterns, loss, shape = random_program(seed, loss=loss, shape=shape)
        for limit in (200, 2000, 20_000):
            status, count, value = first_model(problem, patterns, limit)
            said = "optimal" if status == OPTIMAL else f"status {status}"
            steps, walls, releases = count
            print(f"{seed} {loss}, {shape}: {said}, {steps} steps, {walls} walls, {releases} releases: {value:.12g}")
    for seed, what in PROGRAMS:
        problem, patterns, loss, shape = random_program(seed)
        solution = problem.solve(patterns)
        c = solution.certificate
        verdict = "mended" if solution.is_optimal() and solution.status != "steps" else "left"
        print(
            f"{seed} {loss}, {shape}: {verdict}; {solution.status} after {solution.steps} steps, "
            f"stationarity {c.stationarity:.1e}, gap {c.relative_gap:.1e}"
        )
        print(f"     was: {what}")


if __name__ == "__main__":
    main()
