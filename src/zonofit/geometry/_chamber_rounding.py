"""What the chamber kernel takes for zero: bounds on the rounding of its tableau, and the verdict.

A quantity of the tableau is a functional y of the rows of some node, applied to a column i. Rounding enters it in two
ways. The column itself was rounded at each elimination, which the factors of the rows (`growth`) follow. And the
chosen columns were rounded before they became pivots: column i gets alpha_s times what column s has, alpha_s its
coefficient. Where two generators are close together, these are large though no row is. A factor of the column, its
`loss`, which is at least one more than the sum of their sizes, costs one addition a step; what such a bound leaves open
is computed from the coefficients themselves and from y pulled back to the rows of each pivot.

Integers beside large ones can be too close to a dependency, or to each other, for any such bound. So where exact
arithmetic is at hand, "zero" needs a bound below the least value that is not zero, and the rest is in doubt.
"""

from __future__ import annotations

from numba import njit

from zonofit.geometry._chamber_sort import KERNEL

ZERO = 0
NONZERO = 1
DOUBT = 2
CLEAR = 100.0  # what exceeds its bound, or is below it, by this factor is not worth a warning


@njit(**KERNEL)
def glance(size, least, most, floor, exact):
    """What a quantity is by bounds on its rounding bound: ZERO, NONZERO, or DOUBT when these are too far apart."""
    if size > (2.0 if exact else CLEAR) * most:
        return NONZERO
    if size < (0.25 if exact else 1.0 / CLEAR) * least and most < floor:
        return ZERO
    return DOUBT


@njit(**KERNEL)
def judge(ratio, bound, floor, extremes, exact):
    """What a quantity of `ratio` times its rounding bound is, when it would be at least `floor` if it were not zero.

    Only with `exact` can it be in doubt; otherwise `extremes` keeps what a warning will say.
    """
    if exact:
        if ratio > 2.0:
            return NONZERO
        if ratio < 0.25 and bound < floor:
            return ZERO
        return DOUBT
    if ratio > 1.0:
        extremes[1] = min(extremes[1], ratio)
        return NONZERO
    extremes[0] = max(extremes[0], ratio)
    if not bound < floor:  # not a number, or no rounding error any more
        extremes[1] = 0.0
    return ZERO


@njit(**KERNEL)
def coefficients(T, t, node, Mp, sel, i, alpha):
    """Write to `alpha` the coefficients of generator i on the t chosen ones.

    The tableau of their node has them only for i behind the last one chosen, but each is stored as it first was.
    """
    for s in range(t):
        c = T[(s + 1) * node + (2 + s) * Mp + i]
        for q in range(s):
            alpha[q] -= T[s * node + (2 + q) * Mp + sel[s]] * c
        alpha[s] = c


@njit(**KERNEL)
def carried(T, t, k, rows, node, Mp, sel, growth, alpha, y):
    """Rounding of the chosen columns in the functional `y` of the rows at node t, for coefficients `alpha` on them.

    Column s was rounded before it became a pivot, in the rows of node s; pulled back to them, y says what it does.
    Overwrites `y`.
    """
    total = 0.0
    for s in range(t - 1, -1, -1):
        top = s * node
        p = sel[s]
        r = 2 + s
        for a in range(3 + s, k + 1):
            if abs(T[top + a * Mp + p]) > abs(T[top + r * Mp + p]):
                r = a
        pull = y[2 + s]
        for a in range(rows):
            if a != 2 + s:
                pull -= y[a] * T[top + (2 + s if a == r else a) * Mp + p]
        y[2 + s] = y[r]
        y[r] = pull / T[top + r * Mp + p]
        total += abs(alpha[s]) * heard(y, s, k, rows, growth)
    return total


@njit(**KERNEL)
def heard(y, s, k, rows, growth):
    """Rounding of a column of node s in the functional `y` of its rows."""
    size = abs(y[0]) * growth[s, 0] + abs(y[1]) * growth[s, 1]
    for a in range(2 + s, k + 1):
        size += abs(y[a]) * growth[s, 2]
    if rows > k + 1:
        size += abs(y[k + 1]) * growth[s, 3]
    return size


@njit(**KERNEL)
def carried_to_leaf(T, t, k, rows, node, Mp, sel, growth, alpha, y, p, fa, fb, fn):
    """The same for a functional of the rows 0, 1 and k + 1 after eliminating p at the leaf."""
    if p < 0:
        return 0.0
    for a in range(2, k + 1):
        y[a] = 0.0
    y[k] = -fa * y[0] - fb * y[1]
    if rows > k + 1:
        y[k] -= fn * y[k + 1]
    size = abs(alpha[t]) * heard(y, t, k, rows, growth)
    return size + carried(T, t, k, rows, node, Mp, sel, growth, alpha, y)


@njit(**KERNEL)
def at_leaf(T, t, node, Mp, sel, p, row_c, inverse, i, alpha):
    """Write to `alpha` the coefficients of generator i on those chosen and p."""
    coefficients(T, t, node, Mp, sel, i, alpha)
    if p >= 0:
        last = T[row_c + i] * inverse
        for q in range(t):
            alpha[q] -= T[t * node + (2 + q) * Mp + p] * last
        alpha[t] = last


@njit(**KERNEL)
def combined(T, t, k, node, Mp, sel, p, top, row_c, inverse, fa, B, i, j, alpha, beta, y):
    """Write to `alpha` the coefficients of i less its multiple of j, and to `y` the functional that vanishes at j."""
    at_leaf(T, t, node, Mp, sel, p, row_c, inverse, i, alpha)
    at_leaf(T, t, node, Mp, sel, p, row_c, inverse, j, beta)
    aj = T[top + j] - fa * T[row_c + j]
    if abs(B[j]) > abs(aj):
        rho = B[i] / B[j]
        y[0] = 1.0
        y[1] = -aj / B[j]
    else:
        rho = (T[top + i] - fa * T[row_c + i]) / aj
        y[0] = -B[j] / aj
        y[1] = 1.0
    y[k + 1] = 0.0
    for q in range(k - 1):
        alpha[q] -= rho * beta[q]


@njit(**KERNEL)
def at_coefficient(T, t, k, node, Mp, sel, growth, p, inverse, q):
    """What `growth` is for the other rows, for the coefficient on the chosen generator q at a leaf."""
    if q == t:
        return growth[t, 2] * abs(inverse)
    size = 0.0
    for s in range(q, t):
        r = 2 + s
        for a in range(3 + s, k + 1):
            if abs(T[s * node + a * Mp + sel[s]]) > abs(T[s * node + r * Mp + sel[s]]):
                r = a
        pivot = growth[s, 2] / abs(T[s * node + r * Mp + sel[s]])
        size += pivot if s == q else abs(T[s * node + (2 + q) * Mp + sel[s]]) * pivot
    return size + abs(T[t * node + (2 + q) * Mp + p] * inverse) * growth[t, 2]
