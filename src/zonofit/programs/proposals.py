r"""Where a search may look next: random networks, and single units that would explain what a network misses.

At predictions u the loss is, to second order, ``Σ νᵢ δᵢ + ½ Σ hᵢ δᵢ²`` in a change δ. One more unit that predicts
``δ = t φ + b`` with the best t and b lowers it by ``(Σ ν̃ φ)² / (2 Σ h φ̃²)``, where a tilde takes the h-weighted mean
away (if the output bias is fixed, b = 0 and nothing is taken away). So many random units can be rated at one
pass over the examples each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zonofit.programs._rate_kernel import rate

if TYPE_CHECKING:
    from zonofit.programs.problem import Problem

_FLAT = 1e-3  # curvatures count as at least this part of the largest
_REACH = 10.0  # and are raised until no example wants to move by more, in units of the labels, as in facet descent
_NOTHING = 1e-12  # a unit's predictions are constant below this part of the largest spread


def random_weights(problem: Problem, rng: np.random.Generator, number: int) -> np.ndarray:
    """Weights (number, n) with standard normal directions in the whitened examples, whatever the features' units."""
    rank = problem.design.X.shape[1]
    return problem.unit * (rng.standard_normal((number, rank)) @ problem.design.lift.T)


def rate_units(
    problem: Problem, predictions: np.ndarray, rng: np.random.Generator, number: int, examples: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Random units to add to a network with these predictions, best first.

    Parameters
    ----------
    problem : Problem
    predictions : ndarray (N,)
    rng : numpy.random.Generator
    number : int
    examples : int, optional
        Rate on so many random examples if there are more.

    Returns
    -------
    units : ndarray (number, n)
        Weights, scaled so that an output weight of ±1 lowers the loss most.
    signs : ndarray (number,)
        That output weight.
    """
    X, p, y = problem.design.X, problem.weights, problem.labels
    if examples is not None and examples < len(y):
        some = rng.choice(np.flatnonzero(p), examples)
        X, p, y, predictions = X[some], p[some], y[some], predictions[some]
    slope = problem.loss.slope(predictions, y)
    curvature = problem.loss.curvature(predictions, y)
    if not problem.loss.quadratic:  # else one example far from its label asks for a unit without bound
        curvature = np.maximum(curvature, np.abs(slope) / (_REACH * problem.unit))
    largest = float(np.max(curvature))
    h = p * np.maximum(curvature, _FLAT * largest) if largest > 0 else p
    nu = p * slope
    if problem.output_bias is None:
        nu = nu - h * (nu.sum() / h.sum())
    U = rng.standard_normal((number, X.shape[1]))
    pull, spread = np.empty(number), np.empty(number)
    rate(np.ascontiguousarray(X.T), U, h, nu, problem.output_bias is None, pull, spread)
    spread = np.where(spread > _NOTHING * np.max(spread), spread, np.inf)
    order = np.argsort(-(pull * pull) / spread, kind="stable")
    t = -pull[order] / spread[order]
    units = U[order] * np.abs(t)[:, None] @ problem.design.lift.T
    return units, np.where(t < 0, -1.0, 1.0)
