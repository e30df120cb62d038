"""The other half of the paper's alternation (App. H.1): output weights and bias for given hidden units.

With W fixed the predictions H v + c, H = max(0, X̄ Wᵀ), are linear in (v, c): squared loss is linear regression, other
smooth losses take a few Newton steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zonofit.errors import InputError

if TYPE_CHECKING:
    from zonofit.programs.problem import Problem

_STEPS = 50
_SETTLED = 1e-14  # a step that promises less than this part of the loss is the last
_FLAT = 1e-10  # curvature that a model has at least, in units of the largest
_RANK = 1e-13  # a direction of the features counts as one above this part of the strongest
_HALVINGS = 40


def solve_output(problem: Problem, W: np.ndarray, v: np.ndarray, c: float) -> tuple[np.ndarray, float, int]:
    """Output weights (m,) and bias with the least mean loss for hidden weights W (m, n), from (v, c); Newton steps.

    A fixed output bias stays. Where the minimiser is not unique, the step from (v, c) is the least.
    """
    if not problem.loss.smooth:
        raise InputError("loss: output weights are fitted for smooth losses; use Huber(delta) with a small delta.")
    free = problem.output_bias is None
    H = np.maximum(problem.generators @ W.T, 0.0)
    features = np.c_[H, np.ones(len(H))] if free else H
    scale = np.max(np.abs(features), axis=0)
    features = features / np.where(scale > 0, scale, 1.0)
    m, y, p, loss = len(v), problem.labels, problem.weights, problem.loss
    theta = np.append(v, c) if free else v.copy()
    u = H @ v + c
    value = float(p @ loss.value(u, y))
    count = 0
    while count < _STEPS:
        count += 1
        slope = loss.slope(u, y)
        h = loss.curvature(u, y)
        h = np.maximum(h, _FLAT * np.max(h, initial=0.0))
        h = np.where(h > 0, h, 1.0)
        root = np.sqrt(p * h)
        step = np.linalg.lstsq(root[:, None] * features, -root * slope / h, rcond=_RANK)[0]
        du = features @ step
        fall = -float(p @ (slope * du))
        factor, ahead = 1.0, value
        for _ in range(_HALVINGS):
            ahead = float(p @ loss.value(u + factor * du, y))
            if ahead <= value - 1e-4 * factor * fall:
                break
            factor /= 2.0
        if not ahead < value:
            break
        theta = theta + factor * step / np.where(scale > 0, scale, 1.0)
        u = u + factor * du
        value = ahead
        if loss.quadratic or fall <= _SETTLED * value:
            break
    return theta[:m], float(theta[m]) if free else c, count
