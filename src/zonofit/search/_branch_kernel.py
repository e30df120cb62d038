"""Signs that follow from others, and where to branch, over a list of all chambers of one unit."""

from __future__ import annotations

import numpy as np
from numba import njit

from zonofit.programs._frame_kernel import CORE
from zonofit.programs._relaxation_kernel import ABOVE, BELOW, example_kind


@njit(**CORE)
def _ones(x):
    """How many bits of a word are set."""
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(**CORE)
def imply(columns, everyone, signs, active, total, fitting, words):
    """Decide every sign that all chambers with a unit's signs share; whether each unit has a chamber.

    ``columns`` (N, V / 64) has a bit for each chamber that is active on an example, ``everyone`` (V / 64,) for each
    that there is. Leaves in ``active`` (m, N) and ``total`` (m,) how many of a unit's chambers are active on an
    example, and how many it has; ``fitting`` and ``words`` (V / 64,) are scratch.
    """
    N, n_words = columns.shape
    for j in range(signs.shape[0]):
        some = 0  # words with a chamber left
        for k in range(n_words):
            fitting[some], words[some] = everyone[k], k
            some += 1
        for i in range(N):
            if signs[j, i] == 0:
                continue
            left = 0
            for a in range(some):
                bits = columns[i, words[a]]
                bits = fitting[a] & (bits if signs[j, i] > 0 else ~bits)
                if bits != 0:
                    fitting[left], words[left] = bits, words[a]
                    left += 1
            some = left
        total[j] = 0
        for a in range(some):
            total[j] += _ones(fitting[a])
        if some == 0:
            return False
        for i in range(N):
            if signs[j, i] != 0:
                active[j, i] = total[j] if signs[j, i] > 0 else 0
                continue
            active[j, i] = 0
            for a in range(some):
                active[j, i] += _ones(fitting[a] & columns[i, words[a]])
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
