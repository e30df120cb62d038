"""The careful half of the chamber kernel: what `_chamber_kernel` does when something vanishes or ties.

Three things happen only out of general position, or within rounding of it. Eliminating a generator p can make
another one, i, vanish from the rest of the tableau: then i depends on p and the ones before (`retire`). A generator
can vanish at the leaf, and several can have the same ratio u there, that is, be parallel in the last plane
(`leaf_sorted`). In each case the dominance rule of `zonofit.geometry.bijection` gives the sign, or the subset holds
a broken circuit.
"""

from __future__ import annotations

import numpy as np
from numba import njit

ONE = np.uint64(1)
KERNEL = {"cache": True, "nogil": True, "error_model": "numpy", "fastmath": {"contract"}}


@njit(**KERNEL)
def retire(
    T, t, p, k, rows, row_last, M, Mp, sel, dead, n_dead, fixed, same, opposite, growth, tol, bound, score, extremes
):
    """Settle generators that eliminating p made vanish; False when one of them makes p part of a broken circuit."""
    new = (t + 1) * (k + 2) * Mp
    last_bound = tol * growth[t + 1, 3]
    for i in range(M):
        if score[i] > 1e4 * bound:
            continue
        skip = dead[t, i] or i == p
        for q in range(t):
            skip = skip or sel[q] == i
        if skip:
            continue
        if score[i] > bound:
            extremes[1] = min(extremes[1], score[i] / bound)
            continue
        extremes[0] = max(extremes[0], score[i] / bound)
        value = T[new + row_last * Mp + i]
        bit = ONE << np.uint64(i & 63)
        if abs(value) > last_bound:
            extremes[1] = min(extremes[1], abs(value) / last_bound)
            if value > 0.0:
                fixed[t + 1, i >> 6] |= bit
        else:
            extremes[0] = max(extremes[0], abs(value) / last_bound)
            if i > p:
                return False
            if T[new + (2 + t) * Mp + i] > 0.0:
                same[t, i >> 6] |= bit
            else:
                opposite[t, i >> 6] |= bit
        dead[t + 1, i] = True
        n_dead[t + 1] += 1
        for a in range(rows):
            if a < 2 or a > 2 + t:
                T[new + a * Mp + i] = 0.0
    return True


@njit(**KERNEL)
def leaf_sorted(
    T,
    top,
    t,
    p,
    k,
    level,
    M,
    Mp,
    low,
    high,
    sel,
    dead,
    fixed,
    same,
    opposite,
    growth,
    tol,
    inverse,
    fa,
    fb,
    bound_a,
    bound_b,
    clean,
    band,
    U,
    B,
    st,
    order,
    scratch,
    out,
    o,
    extremes,
):
    """The same by sorting u, with ties, dead generators and generators that vanish on the way resolved."""
    W = out.shape[1]
    ra = T[top : top + Mp]
    rc = T[top + k * Mp : top + (k + 1) * Mp]
    rn = ra if level == 0 else T[top + (k + 1) * Mp : top + (k + 2) * Mp]
    fn = fa if level == 0 else (rn[p] * inverse if p >= 0 else 0.0)
    bound_n = tol * (growth[t, 3] + abs(fn) * growth[t, 2])
    for w in range(W):
        st[w] = fixed[t, w]
        if p >= 0:
            same[k - 2, w] = 0
            opposite[k - 2, w] = 0
    for q in range(k - 1):
        U[sel[q]] = 2.0
    plain = clean
    count = 0
    for i in range(M):
        if U[i] == 2.0:
            continue
        if dead[t, i]:
            plain = False
            continue
        if not clean:
            ratio = abs(B[i]) / bound_b
            if level > 0:
                ratio = max(ratio, abs(ra[i] - fa * rc[i]) / bound_a)
            if ratio <= 1.0:
                extremes[0] = max(extremes[0], ratio)
                bit = ONE << np.uint64(i & 63)
                value = rn[i] - fn * rc[i]
                ratio = abs(value) / bound_n
                if ratio > 1.0:
                    extremes[1] = min(extremes[1], ratio)
                    if value > 0.0:
                        st[i >> 6] |= bit
                    continue
                extremes[0] = max(extremes[0], ratio)
                if i > p:
                    return o
                if rc[i] * inverse > 0.0:
                    same[k - 2, i >> 6] |= bit
                else:
                    opposite[k - 2, i >> 6] |= bit
                continue
            extremes[1] = min(extremes[1], ratio)
        st[i >> 6] |= np.uint64(B[i] > 0.0) << np.uint64(i & 63)
        order[count] = i
        count += 1
    ties = _sort_by(U, order, count, scratch, band)
    if plain and not ties:
        for z in range(count):
            j = order[z]
            st[j >> 6] ^= ONE << np.uint64(j & 63)
            if j < low or j >= high:
                continue
            for w in range(W):
                out[o, w] = st[w]
            for q in range(k - 1):
                v = rc[j] * inverse
                if q < k - 2:
                    row = top + (2 + q) * Mp
                    v = T[row + j] - T[row + p] * inverse * rc[j]
                out[o, sel[q] >> 6] |= np.uint64(v * B[j] > 0.0) << np.uint64(sel[q] & 63)
            o += 1
        return o

    g = 0
    while g < count:
        end = g + 1
        while end < count:
            i = order[end - 1]
            j = order[end]
            if clean and U[j] - U[i] > band:
                break
            di = abs(ra[i] - fa * rc[i]) + abs(B[i])
            dj = abs(ra[j] - fa * rc[j]) + abs(B[j])
            ratio = (U[j] - U[i]) / ((bound_a + bound_b) * (1.0 / di + 1.0 / dj))
            if ratio > 1.0:
                extremes[1] = min(extremes[1], ratio)
                break
            extremes[0] = max(extremes[0], ratio)
            end += 1
        for z in range(g, end):
            i = order[z]
            st[i >> 6] ^= ONE << np.uint64(i & 63)
        for z in range(g, end):
            j = order[z]
            if j < low or j >= high:
                continue
            for w in range(W):
                out[o, w] = st[w]
            valid = True
            for y in range(g, end):
                i = order[y]
                if i == j:
                    continue
                if level > 0:
                    aj = ra[j] - fa * rc[j]
                    if abs(B[j]) > abs(aj):
                        rho = B[i] / B[j]
                    else:
                        rho = (ra[i] - fa * rc[i]) / aj
                    value = (rn[i] - fn * rc[i]) - rho * (rn[j] - fn * rc[j])
                    ratio = abs(value) / (bound_n * (1.0 + abs(rho)))
                    if ratio > 1.0:
                        extremes[1] = min(extremes[1], ratio)
                        bit = ONE << np.uint64(i & 63)
                        if value > 0.0:
                            out[o, i >> 6] |= bit
                        else:
                            out[o, i >> 6] &= ~bit
                        continue
                    extremes[0] = max(extremes[0], ratio)
                if i > j:
                    valid = False
                    break
            if not valid:
                continue
            for q in range(k - 1):
                v = rc[j] * inverse
                if q < k - 2:
                    row = top + (2 + q) * Mp
                    v = T[row + j] - T[row + p] * inverse * rc[j]
                s = sel[q]
                active = v * B[j] > 0.0
                if active:
                    out[o, s >> 6] |= ONE << np.uint64(s & 63)
                if plain:
                    continue
                for w in range(W):
                    out[o, w] |= same[q, w] if active else opposite[q, w]
            o += 1
        g = end
    return o


@njit(**KERNEL)
def _sort_by(keys, order, count, scratch, band):
    """Sort order[:count] by keys[order] in (-1, 1): one pass into equal bins, then insertion.

    Returns whether two neighbours in that order are within `band`.
    """
    position = scratch[: count + 1]
    moved = scratch[count + 1 : 2 * count + 1]
    bins = scratch[2 * count + 1 : 3 * count + 1]
    for z in range(count + 1):
        position[z] = 0
    half = 0.5 * count
    for z in range(count):
        b = min(count - 1, int((keys[order[z]] + 1.0) * half))
        bins[z] = b
        position[b + 1] += 1
    for z in range(count):
        position[z + 1] += position[z]
    for z in range(count):
        b = bins[z]
        moved[position[b]] = order[z]
        position[b] += 1
    for z in range(count):
        i = moved[z]
        u = keys[i]
        y = z
        while y > 0 and keys[order[y - 1]] > u:
            order[y] = order[y - 1]
            y -= 1
        order[y] = i
    ties = False
    for z in range(1, count):
        ties = ties | (keys[order[z]] - keys[order[z - 1]] <= band)
    return ties
