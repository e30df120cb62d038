"""Points inside chambers, and points of closed chambers nearest to given ones: kernels.

Both are projections onto a cone, which `descent_cone` finds in a few pivots. A witness comes from the cone of all (w,
t) with ``s_i x_i·w / |x_i| >= t``: the point of it nearest to (0, 1) has t > 0 exactly when the chamber is open.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from zonofit.programs._frame_kernel import CORE, KERNEL, apply, descent_cone, frame_add, frame_start, length_of


@njit(**KERNEL)
def find_witnesses(X, size, A, small, witness, depth):
    """A point inside each chamber, into ``witness``; ``depth`` is how deep it is, at most `small` where none was found.

    Units whose depth is above `small` already are left alone.
    """
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
        if depth[j] > small:
            continue
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
def witnesses_near(X, XT, size, A, W, K, nk, witness, depth):
    """A point inside each chamber, from a point W of the closed one and the independent walls K that it lies on.

    Along ``d`` with ``s_i x_i·d = |x_i|`` on these walls, it leaves all of them; half way to the next one is a witness.
    As deep as the walls allow, in unit rows; 0 where W is 0 or on other walls too.
    """
    m, N = A.shape
    r = X.shape[1]
    B, L, mirror = np.empty((r, r)), np.empty((r, r)), np.empty(r + 1)
    d, along, q, z = np.empty(r), np.empty(r), np.empty(N), np.empty(N)
    for j in range(m):
        depth[j] = _leave(X, XT, size, A[j], W[j], K[j], nk[j], witness[j], B, L, mirror, d, along, q, z)


@njit(**CORE)
def _leave(X, XT, size, bits, w, K, k, witness, B, L, mirror, d, along, q, z):
    N, r = X.shape
    square = length_of(w) ** 2
    for b in range(r):
        d[b] = 0.0
    if k == r or square == 0.0:
        return 0.0
    frame_start(B)
    for a in range(k):
        i = K[a]
        if not frame_add(X[i], size[i], B, L, a, mirror):
            return 0.0
        s = size[i] if bits[i] else -size[i]
        for b in range(a):
            s -= L[a, b] * along[b]
        along[a] = s / L[a, a]
    for a in range(k):
        for b in range(r):
            d[b] += along[a] * B[a, b]
    apply(XT, w, z)
    apply(XT, d, q)
    for a in range(k):
        z[K[a]] = 0.0
    length = 0.0
    for b in range(r):
        length += d[b] * d[b]
    step = np.sqrt(square / length) if length > 0.0 else 0.0
    for i in range(N):
        s = 1.0 if bits[i] else -1.0
        if s * q[i] < 0.0:
            step = min(step, 0.5 * max(s * z[i], 0.0) / (-s * q[i]))
    depth = np.inf
    for i in range(N):
        s = 1.0 if bits[i] else -1.0
        depth = min(depth, s * (z[i] + step * q[i]) / size[i])
    for b in range(r):
        witness[b] = w[b] + step * d[b]
    return max(depth, 0.0) / length_of(witness)


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
