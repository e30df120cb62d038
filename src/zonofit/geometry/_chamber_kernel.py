"""The compiled walk over sets without broken circuits; `zonofit.geometry.bijection` is its readable twin.

Subsets S of size k are visited in lexicographic order by depth-first search. A node holds the tableau of all
generators after eliminating the ones chosen so far; its rows are

====================  ==========================================================================
row                   content
====================  ==========================================================================
0, 1                  coordinates on h_l and h_{l+1}: never pivoted, they carry ray and objective
2 ... 1+t             coefficients on the t generators chosen so far
2+t ... k             coordinates not pivoted yet
k+1 (only if l > 0)   coefficient on x_N, which decides signs at infinity
====================  ==========================================================================

The last two generators of S are not pivoted: the last but one is eliminated in two fused passes over rows 0 and 1,
and then every last generator j is read off the order of the ratios a/b in the plane (h_l, h_{l+1}) of what is left.
With u = a/(|a|+|b|), turned to b > 0, generator i is active at j's ray iff (u_i > u_j) = (b_i > 0).

Cost per leaf (all j at once): 2M multiply-adds, M divisions, per chamber 2M comparisons (eight an instruction) and
k sign tests. Ties (|u_i - u_j| within the rounding bound) send the leaf to `leaf_sorted`, which resolves them.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from zonofit.geometry._chamber_ties import KERNEL, ONE, leaf_sorted, retire
from zonofit.geometry._lanes import (
    below,
    flatter,
    load,
    mark_same_sign,
    minus_scaled,
    plus_scaled_size,
    scaled,
    spread,
    store,
    turned_ratio,
)

SORT_FROM = 160  # a leaf with this many last generators is sorted: O(M log M) then beats comparing all pairs
EPS = 2.0**-52
NARROW = 1e-3  # residuals below this go to the careful leaf, so that the fast one may use one band for all


@njit(**KERNEL)
def enumerate_subsets(axes, M, k, start, ahead, n_subsets, binomial, both, mask, roundoff, out, extremes):
    """Write the chambers of `n_subsets` k-subsets, from `start` on in lexicographic order, to `out`.

    Parameters
    ----------
    axes : (n, Mp) frame coordinates of all generators but the last, one row an axis, padded to a multiple of 8.
    M : number of those generators; the last one, x_N, has bit M.
    k : size of the subsets, at least 1.
    start, ahead : first subset, and for each prefix of it the number of subsets from it on that share the prefix.
    binomial : (M + 1, k + 1) table.
    both : whether to add the opposite chambers behind.
    mask : words with the M + 1 pattern bits set.
    roundoff : multiple of the rounding bound below which a quantity is zero.
    out : (at least n_subsets or twice that, W) words.
    extremes : (2,) largest quantity taken for zero and smallest taken for non-zero, both over their threshold.

    Returns
    -------
    Number of rows written.
    """
    n, Mp = axes.shape
    W = mask.shape[0]
    level = n - 1 - k
    rows = k + 1 if level == 0 else k + 2
    row_last = 0 if level == 0 else k + 1
    depth = max(k - 1, 1)
    node = (k + 2) * Mp
    T = np.zeros(depth * node)
    for i in range(M):
        for r in range(k + 1):
            T[r * Mp + i] = axes[level + r, i]
        if level > 0:
            T[(k + 1) * Mp + i] = axes[0, i]
    for i in range(M, Mp):
        T[i] = 1.0
    growth = np.ones((depth, 4))
    sel = np.full(k + 1, -1, np.int64)
    cur = np.zeros(depth, np.int64)
    dead = np.zeros((depth, Mp), np.bool_)
    n_dead = np.zeros(depth, np.int64)
    fixed = np.zeros((depth, W), np.uint64)
    fixed[0, M >> 6] = ONE << np.uint64(M & 63)
    same = np.zeros((k + 1, W), np.uint64)
    opposite = np.zeros((k + 1, W), np.uint64)
    tol = roundoff * EPS
    score = np.empty(Mp)
    U = np.empty(Mp)
    B = np.empty(Mp)
    marks = np.zeros(W * Mp, np.uint64)
    words = np.empty(W, np.uint64)
    order = np.empty(Mp, np.int64)
    scratch = np.empty(3 * Mp + 1, np.int64)

    # typed, because a literal 0 would make numba compile the functions below twice
    o = np.int64(0)
    t = np.int64(0)
    cur[0] = start[0] if k > 1 else 0
    left = n_subsets
    first = True
    while t >= 0 and left > 0:
        top = t * node
        if t < k - 2:
            p = cur[t]
            if p > M - (k - t):
                t -= 1
                continue
            cur[t] = p + 1
            size = ahead[t] if first else binomial[M - 1 - p, k - 1 - t]
            alive = not dead[t, p]
            if alive:
                # eliminate p: the row with the largest entry, not yet pivoted, becomes row 2 + t
                r = 2 + t
                for a in range(3 + t, k + 1):
                    if abs(T[top + a * Mp + p]) > abs(T[top + r * Mp + p]):
                        r = a
                inverse = 1.0 / T[top + r * Mp + p]
                grow = growth[t, 2]
                growth[t + 1, 0] = growth[t, 0] + abs(T[top + p] * inverse) * grow
                growth[t + 1, 1] = growth[t, 1] + abs(T[top + Mp + p] * inverse) * grow
                growth[t + 1, 2] = grow + 1.0
                growth[t + 1, 3] = growth[t, 3] + abs(T[top + row_last * Mp + p] * inverse) * grow
                pivot = top + node + (2 + t) * Mp
                for i in range(0, Mp, 8):
                    store(T, pivot + i, scaled(inverse, load(T, top + r * Mp + i)))
                    store(score, i, spread(0.0))
                for a in range(rows):
                    if a == 2 + t:
                        continue
                    source = top + (2 + t if a == r else a) * Mp
                    target = top + node + a * Mp
                    f = T[source + p]
                    if a >= 2 and a < 2 + t:
                        for i in range(p & ~7, Mp, 8):
                            store(T, target + i, minus_scaled(load(T, source + i), f, load(T, pivot + i)))
                        continue
                    weight = 0.0 if a == row_last else 1.0 / growth[t + 1, min(a, 2)]
                    for i in range(0, Mp, 8):
                        v = minus_scaled(load(T, source + i), f, load(T, pivot + i))
                        store(T, target + i, v)
                        store(score, i, plus_scaled_size(load(score, i), weight, v))
                    T[target + p] = 0.0
                    for q in range(t):
                        T[target + sel[q]] = 0.0
                bound = tol * (k + 1 - t)
                score[p] = 0.0
                for q in range(t):
                    score[sel[q]] = 0.0
                for i in range(M, Mp):
                    score[i] = 0.0
                small = np.uint64(0)
                n_small = 0
                for i in range(0, Mp, 8):
                    small = below(load(score, i), 1e4 * bound)
                    while small:
                        small &= small - ONE
                        n_small += 1
                for i in range(M):
                    dead[t + 1, i] = dead[t, i]
                n_dead[t + 1] = n_dead[t]
                for w in range(W):
                    fixed[t + 1, w] = fixed[t, w]
                    same[t, w] = 0
                    opposite[t, w] = 0
                if n_small > t + 1 + Mp - M + n_dead[t]:
                    alive = retire(
                        T,
                        t,
                        p,
                        k,
                        rows,
                        row_last,
                        M,
                        Mp,
                        sel,
                        dead,
                        n_dead,
                        fixed,
                        same,
                        opposite,
                        growth,
                        tol,
                        bound,
                        score,
                        extremes,
                    )
            if not alive:
                left -= size
                first = False
                continue
            sel[t] = p
            t += 1
            cur[t] = start[t] if first else p + 1
            continue

        p = cur[t] if k > 1 else -1
        if p >= M - 1:
            t -= 1
            continue
        cur[t] = p + 1
        if k == 1:
            t = -1
        node_t = max(t, 0)
        low = start[k - 1] if first else p + 1
        high = min(M, low + left)
        first = False
        left -= high - low
        if k > 1 and dead[node_t, p]:
            continue
        row_c = top + k * Mp
        inverse = 0.0
        fa = 0.0
        fb = 0.0
        if k > 1:
            inverse = 1.0 / T[row_c + p]
            fa = T[top + p] * inverse
            fb = T[top + Mp + p] * inverse
            sel[k - 2] = p
        bound_a = tol * (growth[node_t, 0] + abs(fa) * growth[node_t, 2])
        bound_b = tol * (growth[node_t, 1] + abs(fb) * growth[node_t, 2])
        begin = o
        band = max(1e-9, 4.0 * (bound_a + bound_b) / NARROW)
        n_small = 0
        for i in range(0, Mp, 8):
            c = load(T, row_c + i)
            a_ = minus_scaled(load(T, top + i), fa, c)
            b_ = minus_scaled(load(T, top + Mp + i), fb, c)
            size_ = plus_scaled_size(plus_scaled_size(spread(1e-300), 1.0, a_), 1.0, b_)
            store(B, i, b_)
            store(U, i, turned_ratio(a_, b_, size_))
            small = below(size_, NARROW) | flatter(b_, band, size_)
            while small:
                small &= small - ONE
                n_small += 1
        # the selected, the padding and the dead are small; anything else that is needs a closer look
        clean = n_small == (k - 1) + (Mp - M) + n_dead[node_t]
        careful = high - low >= SORT_FROM or n_dead[node_t] > 0 or not clean
        if not careful:
            for q in range(k - 1):
                U[sel[q]] = 2.0
                B[sel[q]] = -1.0
            for i in range(M, Mp):
                U[i] = 2.0
                B[i] = -1.0
            begin_lanes = low & ~7
            for w in range(W):
                for i in range(begin_lanes, high):
                    marks[w * Mp + i] = 0
            for q in range(k - 1):
                bit = ONE << np.uint64(sel[q] & 63)
                target = (sel[q] >> 6) * Mp
                row = top + (2 + q) * Mp
                f = T[row + p] * inverse
                for i in range(begin_lanes, high, 8):
                    if q < k - 2:
                        v = minus_scaled(load(T, row + i), f, load(T, row_c + i))
                    else:
                        v = scaled(inverse, load(T, row_c + i))
                    mark_same_sign(marks, target + i, v, load(B, i), bit)
            for w in range(W):
                base = w << 6
                end = min(Mp, base + 64)
                turn = np.uint64(0)
                for i in range(base, end, 8):
                    turn |= (below(load(B, i), 0.0) ^ np.uint64(255)) << np.uint64(i - base)
                turn |= fixed[node_t, w]
                o = begin
                for j in range(low, high):
                    under = U[j] - band
                    over = U[j] + band
                    x = np.uint64(0)
                    y = np.uint64(0)
                    for i in range(base, end, 8):
                        u = load(U, i)
                        x |= below(u, under) << np.uint64(i - base)
                        y |= below(u, over) << np.uint64(i - base)
                    bit = ONE << np.uint64(j & 63) if j >> 6 == w else np.uint64(0)
                    careful = careful | (y != x | bit)
                    out[o, w] = (x ^ turn ^ bit) | marks[w * Mp + j]
                    o += 1
        if careful:
            o = leaf_sorted(
                T,
                top,
                node_t,
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
                words,
                order,
                scratch,
                out,
                begin,
                extremes,
            )
    if both:
        for i in range(o):
            for w in range(W):
                out[o + i, w] = out[i, w] ^ mask[w]
        o *= 2
    return o
