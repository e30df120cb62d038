"""Whether ν of a solved vertex stays dual feasible at its neighbours: kernel of `zonofit.programs.neighbors`."""

from __future__ import annotations

import numpy as np
from numba import njit

from zonofit.programs._frame_kernel import FREE, KERNEL, WALL, descent_cone, frame_add, frame_start

_EPS = 2.220446049250313e-16
_NOISE = 16.0


@njit(**KERNEL)
def screen(X, XT, size, A, v, nu, K, nk, units, start, members, which, length, bound):
    """Length of ``-v_j Σ a'_i ν_i x_i`` projected onto the chamber of neighbour k, for each k in ``which``.

    Neighbour k flips in unit ``units[k]`` the bits of ``members[start[k]:start[k + 1]]``; ``bound`` is what of the
    length may be rounding. The projection starts from the walls K of the solution.
    """
    N, r = X.shape
    B, L, scratch = np.empty((r, r)), np.empty((r, r)), np.empty((2, r + 1))
    on, z, line, bits = np.zeros(N, np.int8), np.zeros(N), np.empty(N), np.empty(N, np.bool_)
    walls = np.empty(r, np.int64)
    mu, lam, d, g = np.empty(r), np.empty(r), np.empty(r), np.empty(r)
    for e in range(which.size):
        k = which[e]
        j = units[k]
        for i in range(N):
            bits[i] = A[j, i]
            on[i] = FREE
        for e2 in range(start[k], start[k + 1]):
            bits[members[e2]] = not bits[members[e2]]
        blur = 0.0
        for i in range(N):
            line[i] = nu[i] if bits[i] else 0.0
        for i in range(N):
            blur += (size[i] * line[i]) ** 2
        for b in range(r):
            s = 0.0
            for i in range(N):
                s += line[i] * XT[b, i]
            g[b] = v[j] * s
        bound[e] = _NOISE * _EPS * abs(v[j]) * np.sqrt(blur * N)
        frame_start(B)
        count = 0
        for a in range(nk[j]):
            i = K[j, a]
            if frame_add(X[i], size[i], B, L, count, scratch[1]):
                walls[count] = i
                on[i] = WALL
                count += 1
        _, length[e] = descent_cone(
            g, bound[e], np.inf, X, XT, size, bits, z, B, L, walls, count, on, mu, lam, d, scratch, line
        )
