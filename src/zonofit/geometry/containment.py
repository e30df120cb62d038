r"""Is a point in the zonotope? Coefficients if it is, a separating direction if not.

One linear program answers both: minimise ‖D(Σ λᵢ gᵢ - p)‖₁ over 0 ≤ λ ≤ 1, whose dual maximises w·p - h(w) over
|wⱼ| ≤ Dⱼ with the support function h(w) = Σ max(0, gᵢ·w). D measures each coordinate by the zonotope's width.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zonofit.tolerances import DEFAULT_TOLERANCES, Tolerances

# the tightest feasibility that HiGHS accepts
_SOLVER = 1e-10


@dataclass(frozen=True, eq=False)
class Containment:
    """Answer and proof; truth value is the answer.

    Attributes
    ----------
    inside : bool
        Whether the point is in the zonotope.
    coefficients : ndarray (N,)
        λ ∈ [0, 1]^N; Σ λᵢ gᵢ is the point when inside, otherwise a point of the zonotope near it.
    residual : float
        Largest |Σ λᵢ gᵢ - p| over the coordinates, each divided by the zonotope's width along it.
    direction : ndarray (n,) or None
        When outside, w with w·p > max of w·z over the zonotope.
    margin : float
        w·p - h(w) for that direction, positive; 0 when inside.
    """

    inside: bool
    coefficients: np.ndarray
    residual: float
    direction: np.ndarray | None
    margin: float

    def __bool__(self) -> bool:
        """Return the answer."""
        return self.inside


def containment(generators: np.ndarray, point: np.ndarray, tolerances: Tolerances = DEFAULT_TOLERANCES) -> Containment:
    """Decide whether `point` (n,) is in the zonotope of `generators` (N, n)."""
    from scipy.optimize import linprog

    G, p = generators, point
    N, n = G.shape
    width = np.abs(G).sum(axis=0)
    width = np.where(width > 0, width, 1.0)
    rows, target = G / width, p / width
    # variables are λᵢ times the generator's size, because the solver drops small coefficients but not small bounds
    size = np.max(np.abs(rows), axis=1)
    size = np.where(size > 0, size, 1.0)
    answer = linprog(
        np.r_[np.zeros(N), np.ones(2 * n)],
        A_eq=np.c_[(rows / size[:, None]).T, np.eye(n), -np.eye(n)],
        b_eq=target,
        bounds=[(0, s) for s in size] + [(0, None)] * (2 * n),
        method="highs",
        options={"primal_feasibility_tolerance": _SOLVER, "dual_feasibility_tolerance": _SOLVER},
    )
    if answer.x is None:
        raise ArithmeticError(f"the linear program of containment failed: {answer.message}")
    coefficients = _polished(rows, target, np.clip(answer.x[:N] / size, 0.0, 1.0))
    residual = float(np.max(np.abs(rows.T @ coefficients - target)))
    if residual <= tolerances.inside:
        return Containment(True, coefficients, residual, None, 0.0)
    w = answer.eqlin.marginals / width
    margin = float(w @ p - np.maximum(G @ w, 0.0).sum())
    if margin <= 0:
        raise ArithmeticError(f"containment is undecided: residual {residual:.3g}, margin {margin:.3g}.")
    return Containment(False, coefficients, residual, w, margin)


def _polished(rows: np.ndarray, target: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """Solve for the coefficients that are at no bound, to undo the solver's feasibility tolerance."""
    free = (coefficients > 1e-7) & (coefficients < 1 - 1e-7)
    if not free.any():
        return coefficients
    better = coefficients.copy()
    better[free] += np.linalg.lstsq(rows[free].T, target - rows.T @ coefficients, rcond=None)[0]
    better = np.clip(better, 0.0, 1.0)
    old, new = (np.abs(rows.T @ c - target).max() for c in (coefficients, better))
    return better if new < old else coefficients
