"""Points inside chambers, and points of closed chambers nearest to given ones: kernels of `zonofit.programs.feasibility`.

Both are projections onto a cone, which `descent_cone` finds in a few pivots. A witness comes from the cone of all (w, t)
with ``s_i x_i·w / |x_i| >= t``: the point of it nearest to (0, 1) has t > 0 exactly when the chamber is open.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from zonofit.programs._frame_kernel import KERNEL, descent_cone, frame_start


@njit(**KERNEL)
def find_witnesses(X, size, A, small, witness, depth):
    """A point inside each chamber, into ``witness``; ``depth`` is how deep it is, at most `small` where none was found."""
    m, N = A.shape
    r = X.shape[1]
    Y, YT = np.empty((N, r + 1)), np.empty((r + 1, N))
    length, bits, z = np.full(N, np.sqrt(2.0)), np.ones(N, np.bool_), np.zeros(N)
    B, L = np.empty((r + 1, r + 1)), np.empty((r + 1, r + 1))
    K, on = np.empty(r + 1, np.int64), np.zeros(N, np.int8)
    mu, lam, d, g = np.empty(r + 1), np.empty(r + 1), np.empty(r + 1), np.zeros(r + 1)
    scratch, line = np.empty((2, r + 2)), np.empty(N)
    g[r] = -1.0
    for i in range(N):
        Y[i, r] = YT[r, i] = -1.0
    for j in range(m):
        for i in range(N):
            side = (1.0 if A[j, i] else -1.0) / size[i]
            for b in range(r):
                Y[i, b] = YT[b, i] = side * X[i, b]
            on[i] = 0
        frame_start(B)
        _, depth[j] = descent_cone(g, small, np.inf, Y, YT, length, bits, z, B, L, K, 0, on, mu, lam, d, scratch, line)
        for b in range(r):
            witness[j, b] = d[b]


@njit(**KERNEL)
def project_unit(X, XT, size, bits, w, walls):
    """Replace w by the nearest point of the closed chamber; the number of independent walls it is on, in ``walls``."""
    N, r = X.shape
    B, L, scratch = np.empty((r, r)), np.empty((r, r)), np.empty((2, r + 1))
    on, z, line = np.zeros(N, np.int8), np.zeros(N), np.empty(N)
    mu, lam, d, g = np.empty(r), np.empty(r), np.empty(r), np.empty(r)
    for b in range(r):
        g[b] = -w[b]
    frame_start(B)
    k, _ = descent_cone(g, 0.0, np.inf, X, XT, size, bits, z, B, L, walls, 0, on, mu, lam, d, scratch, line)
    for b in range(r):
        w[b] = d[b] if k < r else 0.0
    return k
