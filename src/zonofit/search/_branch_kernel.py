"""Signs that follow from others, and where to branch, over a list of all chambers of one unit."""

from __future__ import annotations

from numba import njit

from zonofit.programs._frame_kernel import CORE
from zonofit.programs._relaxation_kernel import ABOVE, BELOW, example_kind


@njit(**CORE)
def imply(rows, signs, active, total, order):
    """Decide every sign that all chambers with a unit's signs share; whether each unit has a chamber.

    Leaves in ``active`` (m, N) and ``total`` (m,) how many of its chambers are active on an example, and how many it
    has. ``rows`` (V, N) are the chambers; ``order`` (N,) is scratch.
    """
    V, N = rows.shape
    for j in range(signs.shape[0]):
        known = 0
        for i in range(N):
            active[j, i] = 0
            if signs[j, i] != 0:
                order[known] = i
                known += 1
        total[j] = 0
        for k in range(V):
            fits = True
            for a in range(known):
                i = order[a]
                if rows[k, i] != (signs[j, i] > 0):
                    fits = False
                    break
            if fits:
                total[j] += 1
                for i in range(N):
                    active[j, i] += rows[k, i]
        if total[j] == 0:
            return False
        for i in range(N):
            if active[j, i] == total[j]:
                signs[j, i] = 1
            elif active[j, i] == 0:
                signs[j, i] = -1
    return True


@njit(**CORE)
def choose_branch(Z, c, y, p, v, signs, active, total, loss, one_sided):
    """Unit and example of the next branch, or -1 where nothing is left to decide.

    The example whose loss the relaxation underrates most at its own solution, with preactivations Z (m, N), and among
    its undecided units the one whose chambers are divided most evenly. ``loss`` (N,) are the losses of the network
    there, times the weights p; `one_sided` says that the loss is squared and its convex part counts.
    """
    m, N = Z.shape
    worst, at = 0.0, -1
    for i in range(N):
        undecided = False
        for j in range(m):
            undecided |= signs[j, i] == 0
        if not undecided:
            continue
        missing = loss[i]
        kind = example_kind(signs, v, i)
        if one_sided and (kind == ABOVE or kind == BELOW):
            u = c
            for j in range(m):
                if signs[j, i] > 0 or (signs[j, i] == 0 and Z[j, i] > 0.0):
                    u += v[j] * Z[j, i]
            missing -= p[i] * max(kind * (u - y[i]), 0.0) ** 2
        if at < 0 or missing > worst:
            worst, at = missing, i
    unit, evenness = -1, -1.0
    if at >= 0:
        for j in range(m):
            if signs[j, at] == 0:
                share = active[j, at] / total[j]
                if min(share, 1.0 - share) > evenness:
                    unit, evenness = j, min(share, 1.0 - share)
    return unit, at
