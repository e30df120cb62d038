"""The careful half of the chamber kernel: what it does with large leaves, or when something vanishes or ties.

Three things happen only out of general position, or within rounding of it. Eliminating a generator p can make
another one, i, vanish from the rest of the tableau: then i depends on p and the ones before (`retire`). A generator
can vanish at the leaf, and several can have the same ratio u there, that is, be parallel in the last plane
(`leaf_sorted`). In each case the dominance rule of `zonofit.geometry.bijection` gives the sign, or the subset holds
a broken circuit.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from zonofit.geometry._chamber_sort import KERNEL, ONE, sort_by
from zonofit.geometry._lanes import flipped_at, load_words, store_some_words


@njit(**KERNEL)
def retire(
    T, t, p, k, rows, row_last, M, Mp, sel, gone, n_dead, fixed, same, opposite, growth, tol, bound, score, extremes
):
    """Settle generators that eliminating p made vanish; False when one of them makes p part of a broken circuit."""
    new = (t + 1) * (k + 2) * Mp
    last_bound = tol * growth[t + 1, 3]
    for i in range(M):
        if score[i] > 1e4 * bound:
            continue
        if (gone[t + 1, i >> 6] >> np.uint64(i & 63)) & ONE:
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
        gone[t + 1, i >> 6] |= bit
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
    kept,
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
    plain,
    band,
    U,
    B,
    st,
    order,
    keys,
    bins,
    out,
    o,
    extremes,
):
    """The chambers of a leaf by sorting u; unless it is `plain`, with what ties, is dead or vanishes resolved."""
    W = fixed.shape[1]
    row_c = top + k * Mp
    row_n = top if level == 0 else row_c + Mp
    fn = fa if level == 0 else (T[row_n + p] * inverse if p >= 0 else 0.0)
    bound_n = tol * (growth[t, 3] + abs(fn) * growth[t, 2])
    if p >= 0:
        for w in range(W):
            same[k - 2, w] = 0
            opposite[k - 2, w] = 0
    count = np.int64(0)  # typed, because a literal would make numba compile the sort twice
    if plain:
        for i in range(M):
            order[count] = i
            count += np.int64((kept[i >> 6] >> np.uint64(i & 63)) & ONE)
    else:
        for w in range(W):
            st[w] = fixed[t, w]
        for i in range(M):
            bit = ONE << np.uint64(i & 63)
            if not kept[i >> 6] & bit:
                continue
            if not clean:
                ratio = abs(B[i]) / bound_b
                if level > 0:
                    ratio = max(ratio, abs(T[top + i] - fa * T[row_c + i]) / bound_a)
                if ratio <= 1.0:
                    extremes[0] = max(extremes[0], ratio)
                    value = T[row_n + i] - fn * T[row_c + i]
                    ratio = abs(value) / bound_n
                    if ratio > 1.0:
                        extremes[1] = min(extremes[1], ratio)
                        if value > 0.0:
                            st[i >> 6] |= bit
                        continue
                    extremes[0] = max(extremes[0], ratio)
                    if i > p:
                        return o
                    if T[row_c + i] * inverse > 0.0:
                        same[k - 2, i >> 6] |= bit
                    else:
                        opposite[k - 2, i >> 6] |= bit
                    continue
                extremes[1] = min(extremes[1], ratio)
            if B[i] > 0.0:
                st[i >> 6] |= bit
            order[count] = i
            count += 1
    ties = sort_by(U, order, count, keys, bins, band)
    if plain and not ties:
        for w in range(0, W, 8):
            state = load_words(st, w)
            here = o
            for z in range(count):
                j = order[z]
                state = flipped_at(state, (j >> 6) - w, ONE << np.uint64(j & 63))
                row = state
                for q in range(k - 1):
                    v = T[row_c + j] * inverse
                    if q < k - 2:
                        start = top + (2 + q) * Mp
                        v = T[start + j] - T[start + p] * v
                    row = flipped_at(row, (sel[q] >> 6) - w, np.uint64(v * B[j] > 0.0) << np.uint64(sel[q] & 63))
                listed = low <= j < high
                store_some_words(out, here * W + w, row, min(W - w, 8) if listed else 0)
                here += listed
        return here

    g = 0
    while g < count:
        end = g + 1
        while end < count:
            i = order[end - 1]
            j = order[end]
            if clean and U[j] - U[i] > band:
                break
            di = abs(T[top + i] - fa * T[row_c + i]) + abs(B[i])
            dj = abs(T[top + j] - fa * T[row_c + j]) + abs(B[j])
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
                out[o * W + w] = st[w]
            valid = True
            for y in range(g, end):
                i = order[y]
                if i == j:
                    continue
                if level > 0:
                    aj = T[top + j] - fa * T[row_c + j]
                    if abs(B[j]) > abs(aj):
                        rho = B[i] / B[j]
                    else:
                        rho = (T[top + i] - fa * T[row_c + i]) / aj
                    value = (T[row_n + i] - fn * T[row_c + i]) - rho * (T[row_n + j] - fn * T[row_c + j])
                    ratio = abs(value) / (bound_n * (1.0 + abs(rho)))
                    if ratio > 1.0:
                        extremes[1] = min(extremes[1], ratio)
                        bit = ONE << np.uint64(i & 63)
                        if value > 0.0:
                            out[o * W + (i >> 6)] |= bit
                        else:
                            out[o * W + (i >> 6)] &= ~bit
                        continue
                    extremes[0] = max(extremes[0], ratio)
                if i > j:
                    valid = False
                    break
            if not valid:
                continue
            for q in range(k - 1):
                v = T[row_c + j] * inverse
                if q < k - 2:
                    row = top + (2 + q) * Mp
                    v = T[row + j] - T[row + p] * inverse * T[row_c + j]
                s = sel[q]
                active = v * B[j] > 0.0
                if active:
                    out[o * W + (s >> 6)] |= ONE << np.uint64(s & 63)
                if plain:
                    continue
                for w in range(W):
                    out[o * W + w] |= same[q, w] if active else opposite[q, w]
            o += 1
        g = end
    return o
