r"""One chamber per set without broken circuits: a bijection that needs no linear program.

Fix the last generator x_N as first axis h₀ of an orthonormal frame (h₀, h₁, ..., h_{n-1}) whose other axes are
random. In the half space x_N·w > 0, a subset S of the first N-1 generators, k = |S| < n, names at most one chamber:

1. Drop the first l = n-1-k axes (points at infinity of the chart x_N·w = 1). The ray r with h_l(r) = 1 and
   x_j·r = 0 on S is the highest point in h_{l+1} of exactly the chambers that have it as a vertex with all their
   multipliers of one sign.
2. A generator i with x_i·r ≠ 0 has sign(x_i·r).
3. With h_{l+1} = μ₀h_l + Σ_{j∈S} μ_j x_j, generator j ∈ S has sign -sign(μ_j).
4. Any other generator lies in the span of S and x_N; let q be the *largest* index with a non-zero coefficient α_q
   when it is written in S ∪ {N}. It has sign(α_q)·s_q, with s_N = +1.

Point 4 goes beyond the generic rule. It is consistent exactly when no generator i outside S is the largest of
a circuit inside S ∪ {i}, that is, when S ∪ {N} has no broken circuit; then the chamber is real (put |x_q·w| = M^q with
M large), and S is the unique optimal basis of the linear program min Σ -M^i λ_i over Σ λ_i s_i x_i = -h₁, λ ≥ 0, so two
sets never share a chamber. Whitney's theorem counts the sets and Zaslavsky's the chambers, and the numbers agree: the
map is a bijection in every position. In general position every subset qualifies and 2 Σ_{k<n} C(N-1, k) follows.
"""

from __future__ import annotations

import numpy as np


def frame_coordinates(simple: np.ndarray, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Unit generators in an orthonormal frame whose first axis is the last generator.

    Returns
    -------
    coordinates : ndarray (M, r)
        ``simple @ axes``.
    axes : ndarray (r, r)
        Columns h₀, h₁, ...; all but the first are random, drawn from `seed`.
    """
    r = simple.shape[1]
    draw = np.random.default_rng(seed).standard_normal((r, r - 1))
    axes, _ = np.linalg.qr(np.c_[simple[-1], draw])
    axes[:, 0] = simple[-1]
    return simple @ axes, axes


def chamber_of_subset(coordinates: np.ndarray, subset, tolerance: float) -> np.ndarray | None:
    """Signs (M,) of the chamber that `subset` names, or None when it holds a broken circuit.

    Parameters
    ----------
    coordinates : ndarray (M, n)
        Rows in the frame of `frame_coordinates`.
    subset : sequence of int
        Increasing row numbers below M - 1, fewer than n of them.
    tolerance : float
        Residuals and coefficients at most this large count as zero.
    """
    M, n = coordinates.shape
    S = np.asarray(subset, int)
    k = len(S)
    level = n - 1 - k
    signs = np.zeros(M)
    signs[-1] = 1.0

    basis = np.vstack([coordinates[S], coordinates[-1:]])
    if np.linalg.svd(basis, compute_uv=False)[-1] <= tolerance:
        return None
    alpha = np.linalg.lstsq(basis.T, coordinates.T, rcond=None)[0]
    spanned = np.linalg.norm(coordinates - alpha.T @ basis, axis=1) <= tolerance

    chart = np.vstack([np.eye(1, k + 1), coordinates[S, level:]])
    ray = np.linalg.solve(chart, np.eye(k + 1)[0])
    signs[:-1] = np.sign(coordinates[:-1, level:] @ ray)
    if k:
        multipliers = np.linalg.solve(chart.T, np.eye(k + 1)[1])
        signs[S] = -np.sign(multipliers[1:])
    for i in np.setdiff1d(np.flatnonzero(spanned[:-1]), S):
        support = np.flatnonzero(np.abs(alpha[:, i]) > tolerance)
        q = support[-1]
        if q == k:
            signs[i] = np.sign(alpha[k, i])
        elif i > S[q]:
            return None
        else:
            signs[i] = np.sign(alpha[q, i]) * signs[S[q]]
    return signs.astype(np.int8)
