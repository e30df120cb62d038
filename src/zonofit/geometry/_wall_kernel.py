"""The compiled search for the walls of one chamber; `zonofit.geometry.facets` says what it computes.

Rows y are unit generators turned to the inside of the chamber, u is a point inside. The points y / (y·u) span a
polytope whose corners are the walls. Two operations do all the work:

*Query* in a direction d: the row with the least (y·d) / (y·u) is a wall if no other row ties with it, because
h = d - min·u touches its hyperplane and no other: h proves it. O(M n), contiguous.

*Test* of a row y against the columns E known so far: is y = Eλ with λ ≥ 0? Dual simplex method, always from the same
*central* basis, which holds the mean of all rows. It ends with λ, which proves y redundant, or with a
direction d, E·d ≥ 0 > y·d; the query in d yields a wall that is not yet a column (Clarkson's algorithm).

Deep rows come first, when there are few columns; rows decided already need not be asked in queries. Since all tests
start from one basis, its table of coefficients D = B⁻¹E is kept, and the basis k steps on is P·B⁻¹ with P the identity
except in the at most k columns that left: a step costs O(k (|E| + n)) and no table is ever updated. Costs are equal but
for a random part, which breaks ties and so prevents cycling.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from zonofit.geometry._wall_query import (
    AT,
    BASIS,
    BUCKETS,
    CENTRAL,
    COLUMN,
    DEPTH,
    DIRECTION,
    DOUBTFUL,
    DOUBTS,
    ENTERING,
    ETA,
    FRESH,
    IDENTITY,
    INSIDE,
    INVERSE,
    KERNEL,
    LANES,
    LEAVING,
    LENGTH,
    LEVEL,
    MEAN,
    NEVER,
    NONE,
    NOWHERE,
    NUDGED,
    OPEN,
    ORDER,
    PIVOT_ROW,
    PLACE,
    PROGRAMS,
    QUERIES,
    RATIO,
    REDUCED,
    REDUNDANT,
    ROUNDING,
    ROW,
    ROWS,
    SIGN,
    SLOT,
    STEPS,
    SUPPORT,
    TOUCH,
    VALUE,
    WALL,
    WEIGHT,
    ZERO,
    combine,
    lowest,
    project,
    touched,
)


@njit(**KERNEL)
def find_walls(
    rows, across, frame, cost, tol, status, proof, touch, work, bits,
    lines, columns, vectors, index, turned, turned_across, table, table_across, inverse, inverse_across, changed,
    scratch,
):  # fmt: skip
    """Decide every row; returns the number of walls: rows ``index[ROWS]``, touched by points ``touch[index[AT]]``.

    The answer is -1 when the point is not inside.

    Parameters
    ----------
    rows, across : (M, n) unit rows, not turned, and their transpose, filled up.
    frame : (n, n) orthonormal directions to start with.
    cost : costs of columns, 1 plus a random part.
    tol : distance up to which a unit row touches a hyperplane.
    status : (M,) REDUNDANT where a proof is known already, else OPEN; filled in.
    proof : (M, n) for a redundant row the rows that hold it, else -1; filled in.
    touch : (M, n) points, each on one hyperplane only; filled in.
    work : numbers of programs, simplex steps, queries, and rows left doubtful.
    bits : (M,) pattern of the rows.
    lines, ..., scratch : workspace; ``vectors`` holds a point inside the chamber and a random direction.
    """
    M, n = rows.shape
    for c in range(max(n, M)):
        index[IDENTITY, c] = c
        index[SLOT, c] = -1
    combine(across, index, IDENTITY, vectors, INSIDE, n, ZERO, M, lines, DEPTH)
    outside = 0
    for i in range(M):
        lines[SIGN, i] = 1.0 if bits[i] else -1.0
        outside += 0 if lines[SIGN, i] * lines[DEPTH, i] > 0.0 else 1
        lines[INVERSE, i] = 1.0 / lines[DEPTH, i]
    if outside:
        return -1
    m = first_basis(rows, across, frame, tol, status, touch, lines, vectors, index, inverse, work)
    first = turn_and_sort(rows, across, status, touch, m, lines, vectors, index, turned, turned_across)
    for k in range(n):
        index[CENTRAL, k] = index[SLOT, index[BASIS, k]]
    tabulate(turned, cost, m, columns, vectors, index, table, table_across, inverse, inverse_across)
    m = decide(
        NOWHERE, ZERO, first, m, tol, cost, status, proof, touch, work, lines, columns, vectors, index,
        turned, turned_across, table, table_across, inverse, inverse_across, changed,
    )  # fmt: skip
    for k in range(n):
        index[CENTRAL, k] = index[BASIS, k]
        index[SUPPORT, k] = index[COLUMN, index[BASIS, k]]
    invert(turned, index, n, scratch, inverse)
    tabulate(turned, cost, m, columns, vectors, index, table, table_across, inverse, inverse_across)
    m = decide(
        first, M, first, m, tol, cost, status, proof, touch, work, lines, columns, vectors, index,
        turned, turned_across, table, table_across, inverse, inverse_across, changed,
    )  # fmt: skip
    count = 0
    for i in range(M):
        if status[i] == WALL:
            index[ROWS, count] = i
            index[AT, count] = index[SLOT, index[PLACE, i]]
            count += 1
    return count


@njit(**KERNEL)
def decide(
    start, stop, first, m, tol, cost, status, proof, touch, work, lines, columns, vectors, index,
    turned, turned_across, table, table_across, inverse, inverse_across, changed,
):  # fmt: skip
    """Test the open rows from `start` to `stop`; row -1 is the mean of all rows, and its basis stays in ``index``."""
    M = turned.shape[0]
    n = table.shape[0]
    K = vectors.shape[1]
    keys = vectors.view(np.int64)
    column_keys = columns.view(np.int64)
    most = 50 + 20 * n
    for p in range(start, stop):
        if p >= 0 and status[index[ORDER, p]] != OPEN:
            continue
        for c in range(n):
            vectors[ROW, c] = turned[p, c] if p >= 0 else vectors[MEAN, c]
        verdict = OPEN
        for attempt in range(2):
            work[PROGRAMS] += 1
            combine(inverse_across, index, IDENTITY, vectors, ROW, n, ZERO, K, vectors, LEVEL)
            for k in range(n, K):
                vectors[LEVEL, k] = NONE
            for k in range(n):
                index[BASIS, k] = index[CENTRAL, k]
            r = lowest(keys, LEVEL, ZERO, K)
            verdict = REDUNDANT if vectors[LEVEL, r] >= -tol else OPEN
            wide = (m + LANES - 1) // LANES * LANES
            s = 0  # columns of P that differ from the identity's
            t = 0
            if verdict == OPEN:
                for k in range(n):
                    index[LEAVING, k] = -1
                for j in range(wide):
                    # the second attempt turns the order of the costs round
                    z = columns[FRESH, j]
                    columns[REDUCED, j] = z if attempt == 0 or z == NEVER else 3.0 - z
            # comparisons below are written so that a NaN ends the attempt
            while verdict == OPEN and t < most and r < n:
                # row r of P, a bound for the rounding in it, and row r of P·D
                noise = 0.0
                for e in range(s):
                    vectors[WEIGHT, e] = changed[e, r]
                    noise += abs(changed[e, r]) * vectors[LENGTH, index[SUPPORT, e]]
                count = s
                if index[LEAVING, r] < 0:
                    vectors[WEIGHT, s] = 1.0
                    index[SUPPORT, s] = r
                    noise += vectors[LENGTH, r]
                    count = s + 1
                noise = max(tol, ROUNDING * noise)
                combine(table, index, SUPPORT, vectors, WEIGHT, count, ZERO, wide, columns, PIVOT_ROW)
                for j in range(wide):
                    a = columns[PIVOT_ROW, j]
                    columns[RATIO, j] = columns[REDUCED, j] / -a if a < -noise else NONE
                q = lowest(column_keys, RATIO, ZERO, wide)
                if not columns[RATIO, q] < NEVER:
                    if not vectors[LEVEL, r] < -noise:
                        break
                    combine(inverse, index, SUPPORT, vectors, WEIGHT, count, ZERO, n, vectors, DIRECTION)
                    behind = max(p, first)
                    project(turned_across, behind, lines, vectors, index, M, n)
                    i, sure = touched(turned_across, behind, tol, lines, vectors, index, M, n)
                    work[QUERIES] += 1
                    if index[SLOT, i] >= 0:
                        break
                    a = 0.0
                    for c in range(n):
                        touch[m, c] = vectors[TOUCH, c]
                        a += vectors[DIRECTION, c] * turned[i, c]
                    if not a < 0.0:
                        break
                    status[index[ORDER, i]] = WALL if sure else DOUBTFUL
                    work[DOUBTS] += not sure
                    index[COLUMN, m] = i
                    q = m
                    m += 1
                    add_column(turned, i, cost, q, columns, vectors, index, table, table_across, inverse_across)
                    if i == p:
                        verdict = WALL
                        break
                    if m > wide:
                        for j in range(wide, wide + LANES):
                            columns[REDUCED, j] = 1.0
                            columns[PIVOT_ROW, j] = 0.0
                        wide += LANES
                    columns[REDUCED, q] = columns[FRESH, q]
                    columns[PIVOT_ROW, q] = a
                # column q of P·D
                work[STEPS] += 1
                t += 1
                for k in range(K):
                    vectors[ENTERING, k] = table_across[q, k]
                for e in range(s):
                    vectors[ENTERING, index[SUPPORT, e]] = 0.0
                for e in range(s):
                    a = table_across[q, index[SUPPORT, e]]
                    for k in range(K):
                        vectors[ENTERING, k] += a * changed[e, k]
                a = 1.0 / vectors[ENTERING, r]
                z = vectors[LEVEL, r] * a
                for k in range(K):
                    vectors[LEVEL, k] -= z * vectors[ENTERING, k]
                    vectors[ETA, k] = -a * vectors[ENTERING, k]
                vectors[LEVEL, r] = z
                vectors[ETA, r] = a
                left = index[BASIS, r]
                index[BASIS, r] = q
                gone = r
                r = lowest(keys, LEVEL, ZERO, K)
                if vectors[LEVEL, r] >= -tol:
                    verdict = REDUNDANT
                    break
                for e in range(s):
                    a = changed[e, gone]
                    changed[e, gone] = 0.0
                    for k in range(K):
                        changed[e, k] += a * vectors[ETA, k]
                if index[LEAVING, gone] < 0:
                    index[LEAVING, gone] = s
                    index[SUPPORT, s] = gone
                    for k in range(K):
                        changed[s, k] = vectors[ETA, k]
                    s += 1
                z = columns[REDUCED, q] / -columns[PIVOT_ROW, q]
                for j in range(wide):
                    columns[REDUCED, j] += z * columns[PIVOT_ROW, j]
                columns[REDUCED, left] = z
                columns[REDUCED, q] = NEVER
            if p < 0:
                break
            if verdict == REDUNDANT:
                # the proof, from the rows themselves
                for k in range(n):
                    index[SUPPORT, k] = index[COLUMN, index[BASIS, k]]
                combine(turned, index, SUPPORT, vectors, LEVEL, n, ZERO, K, vectors, NUDGED)
                z = 0.0
                for c in range(n):
                    z += (vectors[NUDGED, c] - vectors[ROW, c]) ** 2
                if z <= 100.0 * tol * tol:
                    o = index[ORDER, p]
                    status[o] = REDUNDANT
                    for k in range(n):
                        proof[o, k] = index[ORDER, index[SUPPORT, k]]
                    break
                verdict = OPEN
            if verdict == WALL:
                break
        if p >= 0 and verdict == OPEN:
            status[index[ORDER, p]] = DOUBTFUL
            work[DOUBTS] += 1
    return m


@njit(**KERNEL)
def first_basis(rows, across, frame, tol, status, touch, lines, vectors, index, inverse, work):
    """Choose independent rows by queries in directions orthogonal to those before; their inverse goes to `inverse`."""
    M, n = rows.shape
    m = 0
    for k in range(n):
        for c in range(n):
            inverse[k, c] = frame[k, c]
    for k in range(n):
        for c in range(n):
            vectors[DIRECTION, c] = inverse[k, c]
        project(across, ZERO, lines, vectors, index, M, n)
        steepest = -1.0
        chosen = 0
        for side in range(2):
            if side == 1:
                for c in range(n):
                    vectors[DIRECTION, c] = -vectors[DIRECTION, c]
                for i in range(M):
                    lines[VALUE, i] = -lines[VALUE, i]
            i, sure = touched(across, ZERO, tol, lines, vectors, index, M, n)
            work[QUERIES] += 1
            if index[SLOT, i] < 0:
                if status[i] == OPEN:
                    status[i] = WALL if sure else DOUBTFUL
                    work[DOUBTS] += not sure
                index[SLOT, i] = m
                index[COLUMN, m] = i
                for c in range(n):
                    touch[m, c] = vectors[TOUCH, c]
                m += 1
            a = 0.0
            for c in range(n):
                a += vectors[DIRECTION, c] * rows[i, c]
            if side == 0 or abs(a) > steepest:
                steepest = abs(a)
                chosen = i
        index[BASIS, k] = chosen
        for r in range(n):
            a = 0.0
            for c in range(n):
                a += inverse[r, c] * rows[chosen, c]
            vectors[ENTERING, r] = a * lines[SIGN, chosen]
        a = 1.0 / vectors[ENTERING, k]
        for c in range(n):
            inverse[k, c] *= a
        for r in range(n):
            if r != k:
                a = vectors[ENTERING, r]
                for c in range(n):
                    inverse[r, c] -= a * inverse[k, c]
    return m


@njit(**KERNEL)
def turn_and_sort(rows, across, status, touch, m, lines, vectors, index, turned, turned_across):
    """Move the inner point to the middle of the points found, turn rows to the inside, sort: decided, deep, others."""
    M, n = rows.shape
    length = 0.0
    for c in range(n):
        vectors[ROW, c] = vectors[INSIDE, c]
        for j in range(m):
            vectors[INSIDE, c] += touch[j, c]
        length += vectors[INSIDE, c] ** 2
    length = np.sqrt(length)
    for c in range(n):
        vectors[INSIDE, c] /= length
        vectors[MEAN, c] = 0.0
    for _ in range(2):
        combine(across, index, IDENTITY, vectors, INSIDE, n, ZERO, M, lines, DEPTH)
        deepest = 0.0
        outside = 0
        for i in range(M):
            lines[DEPTH, i] *= lines[SIGN, i]
            deepest = max(deepest, lines[DEPTH, i])
            outside += 0 if lines[DEPTH, i] > 0.0 else 1
        if outside == 0:
            break
        # a chamber of rounding width: stay where we were
        for c in range(n):
            vectors[INSIDE, c] = vectors[ROW, c]
    scale = (BUCKETS - 1) / deepest
    count = np.zeros(BUCKETS + 2, np.int64)
    for i in range(M):
        b = 0 if status[i] == REDUNDANT else BUCKETS - int(lines[DEPTH, i] * scale)
        index[PLACE, i] = b
        count[b + 1] += 1
    first = count[1]
    for b in range(1, BUCKETS + 2):
        count[b] += count[b - 1]
    for i in range(M):
        b = index[PLACE, i]
        index[ORDER, count[b]] = i
        index[PLACE, i] = count[b]
        count[b] += 1
    for i in range(M):
        o = index[ORDER, i]
        lines[INVERSE, i] = 1.0 / lines[DEPTH, o]
        a = lines[SIGN, o]
        for c in range(n):
            y = a * rows[o, c]
            turned[i, c] = y
            vectors[MEAN, c] += y
    for c in range(n):
        for i in range(M):
            turned_across[c, i] = turned[i, c]
        vectors[MEAN, c] /= M
        index[BASIS, c] = index[PLACE, index[BASIS, c]]
    for i in range(M):
        index[SLOT, i] = -1
    for j in range(m):
        index[COLUMN, j] = index[PLACE, index[COLUMN, j]]
        index[SLOT, index[COLUMN, j]] = j
    return first


@njit(**KERNEL)
def tabulate(turned, cost, m, columns, vectors, index, table, table_across, inverse, inverse_across):
    """Table of the first m columns in the central basis, whose inverse is given."""
    n = table.shape[0]
    for k in range(n):
        length = 0.0
        for c in range(n):
            inverse_across[c, k] = inverse[k, c]
            length += inverse[k, c] ** 2
        vectors[LENGTH, k] = np.sqrt(length)
    for j in range(LANES):
        for k in range(n):
            table[k, j] = 0.0
    for j in range(m):
        add_column(turned, index[COLUMN, j], cost, j, columns, vectors, index, table, table_across, inverse_across)
    for k in range(n):
        columns[FRESH, index[CENTRAL, k]] = NEVER


@njit(**KERNEL)
def add_column(turned, i, cost, j, columns, vectors, index, table, table_across, inverse_across):
    """Append row i as column j of the table; columns beyond are empty up to the next multiple of LANES."""
    n = table.shape[0]
    K = vectors.shape[1]
    combine(inverse_across, index, IDENTITY, turned, i, n, ZERO, K, table_across, j)
    for k in range(n):
        table[k, j] = table_across[j, k]
    columns[FRESH, j] = cost[j]
    index[SLOT, i] = j
    if (j + 1) % LANES == 0:
        for b in range(j + 1, j + 1 + LANES):
            columns[FRESH, b] = 1.0
            for k in range(n):
                table[k, b] = 0.0


@njit(**KERNEL)
def invert(turned, index, n, scratch, inverse):
    """Inverse of the matrix whose columns are the rows ``index[SUPPORT]``; Gauss and Jordan."""
    for k in range(n):
        for c in range(n):
            scratch[c, k] = turned[index[SUPPORT, k], c]
            inverse[k, c] = 0.0
        inverse[k, k] = 1.0
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(scratch[i, k]) > abs(scratch[p, k]):
                p = i
        for c in range(n):
            scratch[k, c], scratch[p, c] = scratch[p, c], scratch[k, c]
            inverse[k, c], inverse[p, c] = inverse[p, c], inverse[k, c]
        a = 1.0 / scratch[k, k]
        for c in range(n):
            scratch[k, c] *= a
            inverse[k, c] *= a
        for i in range(n):
            if i != k:
                a = scratch[i, k]
                for c in range(n):
                    scratch[i, c] -= a * scratch[k, c]
                    inverse[i, c] -= a * inverse[k, c]
