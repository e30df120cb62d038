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
k sign tests. Leaves with many j go to `leaf_sorted`, where a chamber costs the flip of a bit and the copy of its words;
so do leaves with ties (|u_i - u_j| within the rounding bound), which it resolves.

Lanes that do not count (chosen, dead, padding) hold anything and are masked out of every result: writing single entries
of a row that is read eight at a time next would stall on each of them.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from zonofit.geometry._chamber_sort import BINS, KERNEL, ONE
from zonofit.geometry._chamber_ties import DOUBTFUL, SETTLED, leaf_sorted, note, retire
from zonofit.geometry._lanes import (
    below,
    flatter,
    flipped,
    load,
    load_words,
    mark_same_sign,
    minus_scaled,
    no_words,
    plus_scaled_size,
    scaled,
    spread,
    store,
    store_words,
    turned_ratio,
)

SORT_FROM = 80  # a leaf with this many last generators is sorted: O(M log M) then beats comparing all pairs
EPS = 2.0**-52
NONZERO = 1e-100  # keeps 0/0 away; its products with other thresholds stay normal numbers, unlike 1e-300's
LOSSY = 1e-8  # leaves with larger rounding bounds have the signs of their multipliers checked too
# residuals below this multiple of their rounding factor go to the careful leaf, so that the fast one may use one band
NARROW = 1e-3


@njit(**KERNEL)
def enumerate_subsets(axes, M, k, start, ahead, n_subsets, binomial, both, mask, roundoff, floor, out, extremes, redo):
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
    floor : least value that a quantity which is not zero can have; used with `redo`.
    out : (at least n_subsets W or twice that) words, W a pattern.
    extremes : (2,) largest quantity taken for zero and smallest taken for non-zero, both over their threshold.
    redo : (1 or n_subsets + 2,) when longer than 1, subsets that rounding could decide are left out of `out`, and
        their ranks from the first subset on stand in ``redo[1 : 1 + redo[0]]``, as pairs of begin and end.

    Returns
    -------
    Number of patterns written.
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
    loss = np.ones(depth * Mp)  # rounding errors of the columns, as `growth` is of the rows
    sel = np.full(k + 1, -1, np.int64)
    cur = np.zeros(depth, np.int64)
    gone = np.zeros((depth, W), np.uint64)  # chosen, dead or padding
    for i in range(M, 64 * W):
        gone[0, i >> 6] |= ONE << np.uint64(i & 63)
    n_dead = np.zeros(depth, np.int64)
    factor = np.zeros(k + 2)
    fixed = np.zeros((depth, W), np.uint64)
    fixed[0, M >> 6] = ONE << np.uint64(M & 63)
    same = np.zeros((k + 1, W), np.uint64)
    opposite = np.zeros((k + 1, W), np.uint64)
    tol = roundoff * EPS
    exact = redo.shape[0] > 1
    redo[0] = 0
    score = np.empty(Mp)
    alpha = np.zeros(k + 2)
    beta = np.zeros(k + 2)
    dual = np.zeros(k + 2)
    U = np.empty(Mp)
    B = np.empty(Mp)
    marks = np.zeros(W * Mp, np.uint64)
    words = np.empty(8 * (-(-W // 8)), np.uint64)
    kept = np.empty(W, np.uint64)
    masks = np.empty(8 * W, np.uint64)
    order = np.empty(Mp, np.int64)
    keys = np.empty((2, Mp), np.int64)
    bins = np.empty(2 * BINS, np.int64)

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
            alive = not (gone[t, p >> 6] >> np.uint64(p & 63)) & ONE
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
                for a in range(rows):
                    factor[a] = T[top + (2 + t if a == r else a) * Mp + p]
                for w in range(W):
                    gone[t + 1, w] = gone[t, w]
                    fixed[t + 1, w] = fixed[t, w]
                    same[t, w] = 0
                    opposite[t, w] = 0
                gone[t + 1, p >> 6] |= ONE << np.uint64(p & 63)
                n_dead[t + 1] = n_dead[t]
                bound = tol * (k + 1 - t)
                weight_a = 0.0 if level == 0 else 1.0 / growth[t + 1, 0]
                weight_b = 1.0 / growth[t + 1, 1]
                weight_c = 1.0 / growth[t + 1, 2]
                own = loss[t * Mp + p]
                small = np.uint64(0)
                for i in range(0, Mp, 8):
                    source = top + i
                    target = source + node
                    c = scaled(inverse, load(T, source + r * Mp))
                    store(T, target + (2 + t) * Mp, c)
                    worse = plus_scaled_size(load(loss, t * Mp + i), own, c)
                    store(loss, (t + 1) * Mp + i, worse)
                    v = minus_scaled(load(T, source), factor[0], c)
                    store(T, target, v)
                    sum_ = plus_scaled_size(spread(0.0), weight_a, v)
                    v = minus_scaled(load(T, source + Mp), factor[1], c)
                    store(T, target + Mp, v)
                    sum_ = plus_scaled_size(sum_, weight_b, v)
                    for a in range(3 + t, k + 1):
                        v = minus_scaled(load(T, source + (2 + t if a == r else a) * Mp), factor[a], c)
                        store(T, target + a * Mp, v)
                        sum_ = plus_scaled_size(sum_, weight_c, v)
                    if level > 0:
                        v = minus_scaled(load(T, source + row_last * Mp), factor[row_last], c)
                        store(T, target + row_last * Mp, v)
                    if i + 8 > p:
                        for a in range(2, 2 + t):
                            v = minus_scaled(load(T, source + a * Mp), factor[a], c)
                            store(T, target + a * Mp, v)
                    store(score, i, sum_)
                    small |= (flatter(sum_, 1e2 * bound, worse) << np.uint64(i & 63)) & ~gone[t + 1, i >> 6]
                if small:
                    settled = retire(
                        T,
                        t,
                        p,
                        k,
                        rows,
                        row_last,
                        M,
                        Mp,
                        sel,
                        gone,
                        n_dead,
                        fixed,
                        same,
                        opposite,
                        growth,
                        loss,
                        tol,
                        bound,
                        level,
                        floor,
                        score,
                        alpha,
                        dual,
                        extremes,
                        exact,
                    )
                    if settled == DOUBTFUL:
                        note(redo, n_subsets - left, n_subsets - left + min(size, left))
                    alive = np.uint64(settled == SETTLED)
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
        begin_rank = n_subsets - left
        left -= high - low
        if k > 1 and (gone[node_t, p >> 6] >> np.uint64(p & 63)) & ONE:
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
        spoilt = loss[node_t * Mp + p] * abs(inverse) if k > 1 else 0.0
        lossy = tol * spoilt > LOSSY
        for w in range(W):
            kept[w] = ~gone[node_t, w]
        if k > 1:
            kept[p >> 6] &= ~(ONE << np.uint64(p & 63))
        small = np.uint64(0)
        for w in range(W):
            base = w << 6
            near = np.uint64(0)
            turn = np.uint64(0)
            for i in range(base, min(Mp, base + 64), 8):
                c = load(T, row_c + i)
                a_ = minus_scaled(load(T, top + i), fa, c)
                b_ = minus_scaled(load(T, top + Mp + i), fb, c)
                size_ = plus_scaled_size(plus_scaled_size(spread(NONZERO), 1.0, a_), 1.0, b_)
                store(B, i, b_)
                store(U, i, turned_ratio(a_, b_, size_))
                turn |= (below(b_, 0.0) ^ np.uint64(255)) << np.uint64(i - base)
                worse = plus_scaled_size(load(loss, node_t * Mp + i), spoilt, c)
                near |= (flatter(size_, NARROW, worse) | flatter(b_, band, size_)) << np.uint64(i - base)
            small |= near & kept[w]
            words[w] = (turn & kept[w]) | fixed[node_t, w]
        # anything small that is neither chosen, nor padding, nor dead needs a closer look
        clean = small == 0
        plain = clean and n_dead[node_t] == 0
        careful = not plain or lossy or high - low >= SORT_FROM
        if not careful:
            for q in range(k - 2):
                factor[q] = T[top + (2 + q) * Mp + p] * inverse
            for i in range(low & ~7, high, 8):
                b_ = load(B, i)
                q = 0
                for w in range(W):
                    mark = no_words()
                    while q < k - 1 and sel[q] >> 6 == w:
                        v = load(T, top + (2 + q) * Mp + i)
                        if q < k - 2:
                            v = minus_scaled(v, factor[q], load(T, row_c + i))
                        else:
                            v = scaled(inverse, v)
                        mark = mark_same_sign(mark, v, b_, ONE << np.uint64(sel[q] & 63))
                        q += 1
                    store_words(marks, w * Mp + i, mark)
            for w in range(W):
                base = w << 6
                end = min(Mp, base + 64)
                keep = kept[w]
                turn = words[w]
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
                    x &= keep
                    careful = careful | (y & keep != x | bit)
                    out[o * W + w] = (x ^ turn ^ bit) | marks[w * Mp + j]
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
                kept,
                fixed,
                same,
                opposite,
                growth,
                loss,
                tol,
                floor,
                inverse,
                fa,
                fb,
                bound_a,
                bound_b,
                clean,
                plain,
                lossy,
                band,
                U,
                B,
                words,
                alpha,
                beta,
                dual,
                order,
                keys,
                bins,
                out,
                begin,
                extremes,
                exact,
            )
            if o < 0:
                note(redo, begin_rank, begin_rank + high - low)
                o = begin
    if both:
        for r in range(8 * W):  # eight patterns, so that any W fills whole vectors
            masks[r] = mask[r % W]
        count = o * W
        for i in range(0, count - 8 * W + 1, 8 * W):
            for r in range(0, 8 * W, 8):
                store_words(out, count + i + r, flipped(load_words(out, i + r), load_words(masks, r)))
        for i in range(count - count % (8 * W), count):
            out[count + i] = out[i] ^ mask[i % W]
        o *= 2
    return o
