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

from zonofit.geometry._chamber_rounding import (
    CLEAR,
    DOUBT,
    NONZERO,
    ZERO,
    at_coefficient,
    at_leaf,
    carried,
    carried_to_leaf,
    coefficients,
    combined,
    glance,
    judge,
)
from zonofit.geometry._chamber_sort import KERNEL, ONE, sort_by
from zonofit.geometry._lanes import flipped_at, load_words, store_some_words

BROKEN = 0
SETTLED = 1
DOUBTFUL = 2


@njit(**KERNEL)
def note(redo, begin, end):
    """Append the ranks begin <= rank < end to the intervals in `redo`."""
    filled = redo[0]
    if filled > 0 and redo[filled] == begin:
        redo[filled] = end
        return
    redo[filled + 1] = begin
    redo[filled + 2] = end
    redo[0] = filled + 2


@njit(**KERNEL)
def retire(
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
):
    """Settle generators that eliminating p made vanish; BROKEN when one of them makes p part of a broken circuit."""
    node = (k + 2) * Mp
    new = (t + 1) * node
    alpha = np.empty(k + 1)
    dual = np.empty(k + 2)
    sel[t] = p
    widest = max(growth[t + 1, 0], max(growth[t + 1, 1], growth[t + 1, 2]))
    verdict = SETTLED
    for i in range(M):
        worst = loss[(t + 1) * Mp + i]
        if score[i] > CLEAR * bound * worst:
            continue
        if (gone[t + 1, i >> 6] >> np.uint64(i & 63)) & ONE:
            continue
        known = False
        found = glance(score[i], bound, bound * worst, floor / widest, exact)
        if found == DOUBT:
            known = True
            coefficients(T, t + 1, node, Mp, sel, i, alpha)
            ratio = 0.0
            widest_bound = 0.0
            for a in range(rows):
                if (a == 0 and level == 0) or 2 <= a <= 2 + t or a > k:
                    continue
                dual[:] = 0.0
                dual[a] = 1.0
                own = bound * growth[t + 1, min(a, 2)]
                own += tol * carried(T, t + 1, k, rows, node, Mp, sel, growth, alpha, dual)
                ratio = max(ratio, abs(T[new + a * Mp + i]) / own)
                widest_bound = max(widest_bound, own)
            found = judge(ratio, widest_bound, floor, extremes, exact)
        if found == NONZERO:
            continue
        if found == DOUBT:
            verdict = DOUBTFUL
            continue
        value = T[new + row_last * Mp + i]
        bit = ONE << np.uint64(i & 63)
        last_bound = tol * growth[t + 1, 3]
        found = glance(abs(value), last_bound, last_bound * worst, floor, exact)
        if found == DOUBT:
            if not known:
                coefficients(T, t + 1, node, Mp, sel, i, alpha)
            dual[:] = 0.0
            dual[row_last] = 1.0
            last_bound += tol * carried(T, t + 1, k, rows, node, Mp, sel, growth, alpha, dual)
            found = judge(abs(value) / last_bound, last_bound, floor, extremes, exact)
        if found == DOUBT:
            verdict = DOUBTFUL
            continue
        if found == NONZERO:
            if value > 0.0:
                fixed[t + 1, i >> 6] |= bit
        else:
            if i > p:
                return BROKEN
            if T[new + (2 + t) * Mp + i] > 0.0:
                same[t, i >> 6] |= bit
            else:
                opposite[t, i >> 6] |= bit
        gone[t + 1, i >> 6] |= bit
        n_dead[t + 1] += 1
        for a in range(rows):
            if a < 2 or a > 2 + t:
                T[new + a * Mp + i] = 0.0
    return verdict


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
    st,
    alpha,
    beta,
    dual,
    order,
    keys,
    bins,
    out,
    o,
    extremes,
    exact,
):
    """The chambers of a leaf by sorting u; unless it is `plain`, with what ties, is dead or vanishes resolved.

    Returns where the next chamber goes, or -1 when `exact` arithmetic has to decide.
    """
    W = fixed.shape[1]
    row_c = top + k * Mp
    row_n = top if level == 0 else row_c + Mp
    fn = fa if level == 0 else (T[row_n + p] * inverse if p >= 0 else 0.0)
    bound_n = tol * (growth[t, 3] + abs(fn) * growth[t, 2])
    own = loss[t * Mp + p] if p >= 0 else 0.0
    alpha = np.empty(k + 1)
    beta = np.empty(k + 1)
    dual = np.empty(k + 2)
    node = (k + 2) * Mp
    rows = k + 1 if level == 0 else k + 2
    at_n = 0 if level == 0 else k + 1
    spoilt = own * abs(inverse)
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
                worst = loss[t * Mp + i] + abs(T[row_c + i]) * spoilt
                ratio = abs(B[i]) / bound_b
                wide = bound_b
                if level > 0:
                    wide = max(wide, bound_a)
                    a_ = T[top + i] - fa * T[row_c + i]
                    ratio = max(ratio, abs(a_) / bound_a)
                found = glance(ratio, 1.0, worst, floor / wide, exact)
                known = False
                if found == DOUBT:
                    known = True
                    at_leaf(T, t, node, Mp, sel, p, row_c, inverse, i, alpha)
                    dual[0] = 0.0
                    dual[1] = 1.0
                    dual[k + 1] = 0.0
                    lost = bound_b + tol * carried_to_leaf(
                        T, t, k, rows, node, Mp, sel, growth, alpha, dual, p, fa, fb, fn
                    )
                    ratio = abs(B[i]) / lost
                    wide = lost
                    if level > 0:
                        dual[0] = 1.0
                        dual[1] = 0.0
                        dual[k + 1] = 0.0
                        lost = bound_a + tol * carried_to_leaf(
                            T, t, k, rows, node, Mp, sel, growth, alpha, dual, p, fa, fb, fn
                        )
                        ratio = max(ratio, abs(T[top + i] - fa * T[row_c + i]) / lost)
                        wide = max(wide, lost)
                    found = judge(ratio, wide, floor, extremes, exact)
                if found != NONZERO:
                    if found == DOUBT:
                        return -1
                    if found == ZERO:
                        value = T[row_n + i] - fn * T[row_c + i]
                        found = glance(abs(value), bound_n, bound_n * worst, floor, exact)
                        if found == DOUBT:
                            if not known:
                                at_leaf(T, t, node, Mp, sel, p, row_c, inverse, i, alpha)
                            dual[0] = 0.0
                            dual[1] = 0.0
                            dual[k + 1] = 0.0
                            dual[at_n] = 1.0
                            lost = bound_n + tol * carried_to_leaf(
                                T, t, k, rows, node, Mp, sel, growth, alpha, dual, p, fa, fb, fn
                            )
                            found = judge(abs(value) / lost, lost, floor, extremes, exact)
                        if found == DOUBT:
                            return -1
                        if found == NONZERO:
                            if value > 0.0:
                                st[i >> 6] |= bit
                            continue
                        if i > p:
                            return o
                        if T[row_c + i] * inverse > 0.0:
                            same[k - 2, i >> 6] |= bit
                        else:
                            opposite[k - 2, i >> 6] |= bit
                        continue
            if B[i] > 0.0:
                st[i >> 6] |= bit
            order[count] = i
            count += 1
    ties = sort_by(U, order, count, keys, bins, band)
    if plain and not ties and not lossy:
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
            li = loss[t * Mp + i] + abs(T[row_c + i]) * spoilt
            lj = loss[t * Mp + j] + abs(T[row_c + j]) * spoilt
            gap = (U[j] - U[i]) / (bound_a + bound_b)
            found = glance(
                gap, 1.0 / di + 1.0 / dj, li / di + lj / dj, floor / ((bound_a + bound_b) * min(di, dj)), exact
            )
            if found == DOUBT:
                combined(T, t, k, node, Mp, sel, p, top, row_c, inverse, fa, B, i, j, alpha, beta, dual)
                lost = tol * carried_to_leaf(T, t, k, rows, node, Mp, sel, growth, alpha, dual, p, fa, fb, fn)
                # what z is to u: the other one is (1, rho) times as far
                lost = (bound_a + bound_b) * (1.0 / di + 1.0 / dj) + lost / di
                found = judge((U[j] - U[i]) / lost, lost * min(di, dj), floor, extremes, exact)
            if found == DOUBT:
                return -1
            if found == NONZERO:
                break
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
            for x in range(g, end):
                i = order[x]
                if i == j:
                    continue
                if level > 0:
                    aj = T[top + j] - fa * T[row_c + j]
                    if abs(B[j]) > abs(aj):
                        rho = B[i] / B[j]
                    else:
                        rho = (T[top + i] - fa * T[row_c + i]) / aj
                    value = (T[row_n + i] - fn * T[row_c + i]) - rho * (T[row_n + j] - fn * T[row_c + j])
                    slope = abs(T[row_n + j] - fn * T[row_c + j]) / max(abs(B[j]), abs(aj))
                    limit = bound_n + slope * (bound_b if abs(B[j]) > abs(aj) else bound_a)
                    li = loss[t * Mp + i] + abs(T[row_c + i]) * spoilt
                    lj = loss[t * Mp + j] + abs(T[row_c + j]) * spoilt
                    found = glance(abs(value), limit * (1.0 + abs(rho)), limit * (li + abs(rho) * lj), floor, exact)
                    if found == DOUBT:
                        combined(T, t, k, node, Mp, sel, p, top, row_c, inverse, fa, B, i, j, alpha, beta, dual)
                        dual[0] = 0.0
                        dual[1] = 0.0
                        slope = T[row_n + j] - fn * T[row_c + j]
                        if abs(B[j]) > abs(aj):
                            dual[1] = -slope / B[j]
                        else:
                            dual[0] = -slope / aj
                        dual[k + 1] = 1.0
                        limit = limit * (1.0 + abs(rho)) + tol * carried_to_leaf(
                            T, t, k, rows, node, Mp, sel, growth, alpha, dual, p, fa, fb, fn
                        )
                        found = judge(abs(value) / limit, limit, floor, extremes, exact)
                    if found == DOUBT:
                        return -1
                    if found == NONZERO:
                        bit = ONE << np.uint64(i & 63)
                        if value > 0.0:
                            out[o * W + (i >> 6)] |= bit
                        else:
                            out[o * W + (i >> 6)] &= ~bit
                        continue
                if i > j:
                    valid = False
                    break
            if not valid:
                continue
            lj = tol * (loss[t * Mp + j] + abs(T[row_c + j]) * spoilt)
            for q in range(k - 1):
                v = T[row_c + j] * inverse
                if q < k - 2:
                    row = top + (2 + q) * Mp
                    v = T[row + j] - T[row + p] * inverse * T[row_c + j]
                if lossy:
                    size = at_coefficient(T, t, k, node, Mp, sel, growth, p, inverse, q)
                    if not abs(v) > 2.0 * size * lj:
                        if exact:
                            return -1
                        extremes[1] = min(extremes[1], abs(v) / (size * lj))
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
