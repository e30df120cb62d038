"""The shortest vector in a polyhedron: least distance programming (Lawson and Hanson), on nonnegative least squares."""

from __future__ import annotations

import numpy as np

__all__ = ["nearest", "shortest"]

_MISSED = 1e-9  # an inequality, in units of the largest of them and of the answer


def nearest(C: np.ndarray, h: np.ndarray, point: np.ndarray | None = None) -> np.ndarray | None:
    """The point of {w : C w >= h} that is nearest to `point` (the origin), or None if rounding hides that there is one.

    Lawson and Hanson's reduction: with r the residual of min |Eᵀ u - f|, u >= 0, E = [C h], f = (0, ..., 0, 1), the
    answer is -r / r_{n+1} in the first n places.
    """
    from scipy.optimize import nnls

    C, h = np.asarray(C, float), np.asarray(h, float)
    n = C.shape[1]
    if point is not None:
        moved = nearest(C, h - C @ point)
        return None if moved is None else moved + point
    if len(C) == 0 or np.all(h <= 0):
        return np.zeros(n)
    size = np.linalg.norm(C, axis=1)
    size[size == 0] = 1.0
    C, h = C / size[:, None], h / size
    far = float(np.max(np.abs(h)))
    E = np.vstack([C.T, h / far])
    f = np.zeros(n + 1)
    f[n] = 1.0
    try:
        u, _ = nnls(E, f, maxiter=max(50, 10 * len(C)))
    except RuntimeError:
        return None
    r = E @ u - f
    if not r[n] < 0.0:
        return None
    # on the walls that bind, the answer is a least-norm solution, which is more accurate than the residual
    binding = u > 0
    w = far * np.linalg.lstsq(C[binding], h[binding] / far, rcond=None)[0]
    rough = -far * r[:n] / r[n]
    missed, w = min(((float(np.max(h - C @ one)), k, one) for k, one in enumerate((w, rough))), key=lambda it: it[:2])[
        ::2
    ]
    return w if missed <= _MISSED * max(far, float(np.linalg.norm(w))) else None


def shortest(A: np.ndarray, b: np.ndarray, C: np.ndarray, h: np.ndarray) -> np.ndarray | None:
    """The shortest w with A w = b and C w >= h; None if there is none within rounding."""
    n = C.shape[1]
    if len(A) == 0:
        return nearest(C, h)
    base = np.linalg.lstsq(A, b, rcond=None)[0]
    _, singular, right = np.linalg.svd(A, full_matrices=True)
    free = right[int(np.sum(singular > max(A.shape) * np.finfo(float).eps * singular[0])) :].T
    if free.shape[1] == 0:
        return base
    found = nearest(C @ free, h - C @ base)
    return None if found is None else (base + free @ found).reshape(n)
