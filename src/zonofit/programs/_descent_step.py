"""Newton directions on one piece of the loss: kernels of `zonofit.programs.descent`.

On a piece the residual is linear in the parameters: e + P δ. With more parameters than examples the step solves the N×N
system ``(P Pᵀ + (alpha + rho)/h) μ = e - θ P w``, ``δ = -θ w - Pᵀ μ``, otherwise the q×q normal equations. P is never
built: ``P Pᵀ = (AᵀV²A) ∘ (X Xᵀ)`` less what the walls forbid, and the normal matrix has one block ``Σ h_i x_i x_iᵀ`` a
pair of units. ``rho`` is a tiny multiple of the trace, so that dependent columns, dead units and examples that no unit
sees do no harm.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from zonofit.programs._frame_kernel import CORE, KERNEL, dot, dots, sum_of

RHO = 1e-13  # in units of the mean diagonal element
RHO_NARROW = 1e-12
_GATHERED = 256  # examples at a time in the normal matrix: with 16 features they fill a cache of 32 kB


@njit(**KERNEL)
def cholesky(G, n, P):
    """Upper triangular factor RᵀR of a symmetric matrix, over its upper triangle; a pivot that vanishes is fixed at 0.

    Four rows at a time, through the copy P (4, n) of them. Columns are unsigned: of a signed index that starts above 0
    numba must ask at every access whether it counts from the end, and then nothing is vectorised.
    """
    top = 0.0
    for a in range(n):
        top = max(top, G[a, a])
    small = 1e-16 * top
    end = np.uint64(n)
    start = 0
    while start < n:
        stop = min(start + 4, n)
        for p in range(start, stop):
            low = np.uint64(p)
            for s in range(p - start):
                y = P[s, p]
                for k in range(low, end):
                    G[p, k] -= y * P[s, k]
            pivot = G[p, p]
            if pivot > small:
                y = 1.0 / np.sqrt(pivot)
                for k in range(low, end):
                    G[p, k] *= y
                    P[p - start, k] = G[p, k]
            else:
                for k in range(low, end):
                    G[p, k] = P[p - start, k] = 0.0
                G[p, p] = 1e100
        i = stop
        while i + 3 < n:
            a0, a1, a2, a3 = P[0, i], P[1, i], P[2, i], P[3, i]
            b0, b1, b2, b3 = P[0, i + 1], P[1, i + 1], P[2, i + 1], P[3, i + 1]
            c0, c1, c2, c3 = P[0, i + 2], P[1, i + 2], P[2, i + 2], P[3, i + 2]
            d0, d1, d2, d3 = P[0, i + 3], P[1, i + 3], P[2, i + 3], P[3, i + 3]
            for k in range(np.uint64(i), end):
                g0, g1, g2, g3 = P[0, k], P[1, k], P[2, k], P[3, k]
                G[i, k] -= a0 * g0 + a1 * g1 + a2 * g2 + a3 * g3
                G[i + 1, k] -= b0 * g0 + b1 * g1 + b2 * g2 + b3 * g3
                G[i + 2, k] -= c0 * g0 + c1 * g1 + c2 * g2 + c3 * g3
                G[i + 3, k] -= d0 * g0 + d1 * g1 + d2 * g2 + d3 * g3
            i += 4
        while i < n:
            a0, a1, a2, a3 = P[0, i], P[1, i], P[2, i], P[3, i]
            for k in range(np.uint64(i), end):
                G[i, k] -= a0 * P[0, k] + a1 * P[1, k] + a2 * P[2, k] + a3 * P[3, k]
            i += 1
        start = stop


@njit(**CORE)
def solve(R, n, x):
    """``(RᵀR)^-1 x`` in place."""
    end = np.uint64(n)
    for k in range(n):
        s = x[k] / R[k, k]
        x[k] = s
        for c in range(np.uint64(k + 1), end):
            x[c] -= s * R[k, c]
    for k in range(n - 1, -1, -1):
        x[k] = (x[k] - dot(R[k, k + 1 : n], x[k + 1 : n])) / R[k, k]


@njit(**KERNEL)
def common_units(v, act, bits, plain, i, low, names, tally, row):
    """``row[k] = Σ v_j²`` over the units active on both i and k, for k >= i; by counting if all |v_j| are 1."""
    m, N = act.shape
    end = np.uint64(N)
    count = 0
    for j in range(m):
        if bits[j, i] != 0:
            names[count] = j
            count += 1
    a = 0
    if plain:
        for k in range(low, end):
            tally[k] = 0
        while a + 3 < count:
            j0, j1, j2, j3 = names[a], names[a + 1], names[a + 2], names[a + 3]
            for k in range(low, end):
                tally[k] += bits[j0, k] + bits[j1, k] + bits[j2, k] + bits[j3, k]
            a += 4
        while a < count:
            j0 = names[a]
            for k in range(low, end):
                tally[k] += bits[j0, k]
            a += 1
        for k in range(low, end):
            row[k] = tally[k]
    else:
        for k in range(low, end):
            row[k] = 0.0
        while a < count:
            j0 = names[a]
            y = v[j0] * v[j0]
            for k in range(low, end):
                row[k] += y * bits[j0, k]
            a += 1


@njit(**KERNEL)
def products(XT, wanted):
    """Upper triangle of the examples' products ``X Xᵀ``, nothing if they are not wanted.

    A library's matrix product would start its own threads for it, which wait for each other where several descents run.
    """
    r, N = XT.shape
    size = N if wanted else 0
    XX = np.empty((size, size))
    for i in range(size):
        for k in range(np.uint64(i), np.uint64(N)):
            XX[i, k] = XT[0, i] * XT[0, k]
        for b in range(1, r):
            y = XT[b, i]
            for k in range(np.uint64(i), np.uint64(N)):
                XX[i, k] += y * XT[b, k]
    return XX


@njit(**KERNEL)
def gram(XT, XX, v, plain, act, bits, B, nk, bias, h, alpha, level, G, line, names, tally):
    """Upper triangle of the N×N matrix of the step; the rho that went into it."""
    m, N = act.shape
    r = XT.shape[0]
    end = np.uint64(N)
    for j in range(m):
        near = 2 * nk[j] <= r  # else the few directions that the walls leave are added below
        for i in range(N):
            bits[j, i] = np.uint8(1) if (act[j, i] != 0.0) & near else np.uint8(0)
    for i in range(N):
        low = np.uint64(i)
        common_units(v, act, bits, plain, i, low, names, tally, line)
        for k in range(low, end):
            G[i, k] = line[k] * XX[i, k] + bias
    for j in range(m):
        k0 = nk[j]
        if k0 == 0 or k0 == r:
            continue
        many = 2 * k0 > r
        for b in range(k0 if many else 0, r if many else k0):
            for i in range(N):
                line[i] = 0.0
            for e in range(r):
                y = v[j] * B[j, b, e]
                for i in range(N):
                    line[i] += y * XT[e, i]
            for i in range(N):
                line[i] *= act[j, i]
            for i in range(N):
                y = line[i] if many else -line[i]
                if y != 0.0:
                    for k in range(np.uint64(i), end):
                        G[i, k] += y * line[k]
    trace = 0.0
    for i in range(N):
        trace += G[i, i]
    trace /= N
    total = 0.0
    for i in range(N):
        total += h[i]
    for i in range(N):
        G[i, i] += alpha / h[i] + level * trace * total / (N * h[i])
    return level * trace * total / N


@njit(**CORE)
def gradient(XT, v, act, y, scale, W, g, line):
    """``g_j = v_j Σ_i act_ji y_i x_i + scale w_j``."""
    m, N = act.shape
    r = XT.shape[0]
    for j in range(m):
        for i in range(N):
            line[i] = act[j, i] * y[i]
        for b in range(r):
            g[j, b] = v[j] * dot(line, XT[b]) + scale * W[j, b]


@njit(**KERNEL)
def project(D, B, nk):
    """Take away from each unit's direction what would leave its walls."""
    m, r = D.shape
    for j in range(m):
        if nk[j] == 0:
            continue
        if nk[j] == r:
            for e in range(r):
                D[j, e] = 0.0
            continue
        for _ in range(2):
            for b in range(nk[j]):
                s = 0.0
                for e in range(r):
                    s += B[j, b, e] * D[j, e]
                for e in range(r):
                    D[j, e] -= s * B[j, b, e]


@njit(**KERNEL)
def gram_direction(XT, v, act, B, nk, bias, alpha, rho, W, e, G, mu, one, line, D):
    """Direction from the factor of the Gram form; the rate of the output bias."""
    m, N = act.shape
    theta = alpha / (alpha + rho)
    for i in range(N):
        mu[i] = e[i]
    if theta > 0.0:
        for i in range(N):
            mu[i] -= theta * (one[i])
    solve(G, N, mu)
    dc = 0.0
    if bias > 0.0:
        if alpha > 0.0:  # the bias carries no ridge: its multiplier makes the sum of mu vanish
            for i in range(N):
                one[i] = 1.0
            solve(G, N, one)
            s, total = 0.0, 0.0
            for i in range(N):
                s += mu[i]
                total += one[i]
            dc = -s / total
            for i in range(N):
                mu[i] += dc * one[i]
        else:
            for i in range(N):
                dc -= bias * mu[i]
    gradient(XT, v, act, mu, theta, W, D, line)
    for j in range(m):
        for b in range(XT.shape[0]):
            D[j, b] = -D[j, b]
    project(D, B, nk)
    return dc


@njit(**KERNEL)
def normal(XT, v, act, h, H, line):
    """Upper block triangle of the q×q normal matrix of all parameters, walls not yet taken into account.

    A block sums over the examples on which both of its units are active, a quarter of all or so. These are gathered,
    as many at a time as stay in the cache nearest to the processor.
    """
    m, N = act.shape
    r = XT.shape[0]
    q = m * r
    names = np.empty(_GATHERED, np.int64)
    seen = np.empty((r, _GATHERED))
    for j in range(m):
        for a in range(j * r, j * r + r):
            for k in range(np.uint64(j * r), np.uint64(q + 1)):
                H[a, k] = 0.0
        for o in range(j, m):
            i = 0
            while i < N:
                count = 0
                while i < N and count < _GATHERED:
                    names[count] = i
                    count += (act[j, i] != 0.0) & (act[o, i] != 0.0)
                    i += 1
                for b in range(r):
                    for k in range(count):
                        seen[b, k] = XT[b, names[k]]
                part = line[:count]
                for a in range(r):
                    for k in range(count):
                        part[k] = h[names[k]] * v[j] * seen[a, k]
                    row = j * r + a
                    if o == j:
                        H[row, q] += sum_of(part)
                    b = a if o == j else 0
                    while b + 3 < r:
                        s0, s1, s2, s3 = dots(
                            part, seen[b, :count], seen[b + 1, :count], seen[b + 2, :count], seen[b + 3, :count]
                        )
                        H[row, o * r + b] += v[o] * s0
                        H[row, o * r + b + 1] += v[o] * s1
                        H[row, o * r + b + 2] += v[o] * s2
                        H[row, o * r + b + 3] += v[o] * s3
                        b += 4
                    while b < r:
                        H[row, o * r + b] += v[o] * dot(part, seen[b, :count])
                        b += 1
        for a in range(j * r, j * r + r):
            for b in range(j * r, a):
                H[a, b] = H[b, a]
    H[q, q] = sum_of(h)


@njit(**KERNEL)
def flip_normal(X, v, act, h, j, i, sign, H):
    """Example i enters (sign 1) or leaves (-1) the blocks of unit j; ``act[j, i]`` must be 1 during the call."""
    m = act.shape[0]
    r = X.shape[1]
    q = m * r
    for o in range(m):
        if act[o, i] == 0.0:
            continue
        y = sign * h[i] * v[j] * v[o]
        low, high = min(j, o), max(j, o)
        for a in range(r):
            s = y * X[i, a]
            for b in range(r):
                H[low * r + a, high * r + b] += s * X[i, b]
    y = sign * h[i] * v[j]
    for a in range(r):
        H[j * r + a, q] += y * X[i, a]


@njit(**KERNEL)
def normal_direction(v, B, nk, bias, alpha, level, H, g, gc, T, P, half, x, D):
    """Direction from the normal equations in the free directions of all units; the rate of the output bias."""
    m, r = D.shape
    q = m * r
    # T = rows reduced, in place of a copy: for unit pairs j <= o the block B_j H_jo B_oᵀ
    p = 0
    for j in range(m):
        fj = r - nk[j]
        for a in range(fj):
            row = p + a
            for k in range(np.uint64(j * r), np.uint64(q + 1)):
                half[k] = 0.0
            if nk[j] == 0:
                for o in range(j, m):
                    for b in range(r):
                        half[o * r + b] = H[j * r + a, o * r + b]
                half[q] = H[j * r + a, q]
                x[row] = -g[j, a]
            else:
                s = 0.0
                for e in range(r):
                    y = B[j, nk[j] + a, e]
                    s -= y * g[j, e]
                    for k in range(np.uint64(j * r), np.uint64(q + 1)):
                        half[k] += y * H[j * r + e, k]
                x[row] = s
            col = p
            for o in range(j, m):
                if nk[o] == 0:
                    for b in range(r):
                        T[row, col + b] = half[o * r + b]
                    col += r
                else:
                    for b in range(r - nk[o]):
                        s = 0.0
                        for e in range(r):
                            s += half[o * r + e] * B[o, nk[o] + b, e]
                        T[row, col + b] = s
                    col += r - nk[o]
            T[row, col] = half[q]
        p += fj
    size = p
    if bias > 0.0:
        T[p, p] = H[q, q]
        x[p] = -gc
        size = p + 1
    trace = 0.0
    for a in range(size):
        trace += T[a, a]
    rho = level * trace / max(size, 1) + 1e-300
    for a in range(size):
        T[a, a] += rho + (alpha if a < p else 0.0)
    cholesky(T, size, P)
    solve(T, size, x)
    p = 0
    for j in range(m):
        for e in range(r):
            D[j, e] = 0.0
        for a in range(r - nk[j]):
            if nk[j] == 0:
                D[j, a] = x[p + a]
            else:
                for e in range(r):
                    D[j, e] += x[p + a] * B[j, nk[j] + a, e]
        p += r - nk[j]
    return x[p] if bias > 0.0 else 0.0
