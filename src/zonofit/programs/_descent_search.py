"""Line search through the walls: kernels of `zonofit.programs.descent`.

Along a step the prediction of each example is piecewise linear; it bends where one unit's preactivation passes zero.
Those places are *breakpoints*. Only those before the end of the step matter, and usually few come before it, so they
are taken from a window that grows when it runs out, and are never all sorted.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from zonofit.programs._frame_kernel import KERNEL

_SLIDE = 1e-13  # a rate below this, in units of |x||d|, does not lead through a wall


@njit(**KERNEL)
def rates(XT, size, D, dc, v, act, on, Q, rate):
    """``Q = X D`` for every unit, 0 on the walls that it keeps, and the rate of the predictions."""
    m, N = Q.shape
    r = XT.shape[0]
    for i in range(N):
        rate[i] = dc
    for j in range(m):
        length = 0.0
        for b in range(r):
            length += D[j, b] * D[j, b]
        if length == 0.0:
            for i in range(N):
                Q[j, i] = 0.0
            continue
        y = D[j, 0]
        for i in range(N):
            Q[j, i] = y * XT[0, i]
        b = 1
        while b + 3 < r:
            y0, y1, y2, y3 = D[j, b], D[j, b + 1], D[j, b + 2], D[j, b + 3]
            for i in range(N):
                Q[j, i] += y0 * XT[b, i] + y1 * XT[b + 1, i] + y2 * XT[b + 2, i] + y3 * XT[b + 3, i]
            b += 4
        while b < r:
            y = D[j, b]
            for i in range(N):
                Q[j, i] += y * XT[b, i]
            b += 1
        slide, y = _SLIDE * np.sqrt(length), v[j]
        for i in range(N):
            q = Q[j, i]
            q = 0.0 if (on[j, i] != 0) | (abs(q) <= slide * size[i]) else q
            Q[j, i] = q
            rate[i] += y * act[j, i] * q


@njit(**KERNEL)
def breakpoints(Z, act, Q, when):
    """Where along the step each preactivation passes zero, infinity where it does not."""
    m, N = Z.shape
    for j in range(m):
        for i in range(N):
            z, q = Z[j, i], Q[j, i]
            toward = (q < 0.0) if act[j, i] != 0.0 else (q > 0.0)
            when[j, i] = max(0.0, -z / q) if toward else np.inf


@njit(**KERNEL)
def gather(when, low, high, raw, drawn, keys, names, heads):
    """Breakpoints in (low, high], in order; their number. Buckets first, so that the rest is nearly sorted."""
    m, N = when.shape
    count, last = 0, low
    for j in range(m):
        for i in range(N):
            t = when[j, i]
            if t <= high and t > low and t < np.inf:
                raw[count], drawn[count] = t, j * N + i
                count += 1
                last = max(last, t)
    if count > 24:
        buckets = min(count, heads.size - 1)
        first = max(low, 0.0)
        scale = (buckets - 1) / (last - first) if last > first else 0.0
        for b in range(buckets + 1):
            heads[b] = 0
        for a in range(count):
            heads[int((raw[a] - first) * scale) + 1] += 1
        crowd = 0
        for b in range(buckets):
            crowd = max(crowd, heads[b + 1])
            heads[b + 1] += heads[b]
        if crowd > 100:
            order = np.argsort(raw[:count])
            for a in range(count):
                keys[a], names[a] = raw[order[a]], drawn[order[a]]
            return count
        for a in range(count):
            b = int((raw[a] - first) * scale)
            at = heads[b]
            heads[b] = at + 1
            keys[at], names[at] = raw[a], drawn[a]
    else:
        for a in range(count):
            keys[a], names[a] = raw[a], drawn[a]
    for a in range(1, count):
        t, name = keys[a], names[a]
        b = a - 1
        while b >= 0 and keys[b] > t:
            keys[b + 1], names[b + 1] = keys[b], names[b]
            b -= 1
        keys[b + 1], names[b + 1] = t, name
    return count


@njit(**KERNEL)
def search(slope, curve, window, v, h, Q, act, when, e, rate, raw, drawn, keys, names, heads):
    """Walk along the step while the slope stays negative, flipping what is passed.

    ``e`` and ``rate`` are residual and its rate at the start; on return they are those at the end. Returns the
    length of the step, the breakpoint where the slope turned positive (or -1) and the number of flips.
    """
    N = e.size
    now, low, high, flips = 0.0, -1.0, window, 0
    at, count = 0, gather(when, low, high, raw, drawn, keys, names, heads)
    while True:
        if at == count:
            end = now - slope / curve if curve > 0.0 else np.inf
            if high == np.inf or end <= high:
                break
            low, high = high, max(8.0 * high, min(2.0 * end, 1e3)) if high < 1e3 else np.inf
            at, count = 0, gather(when, low, high, raw, drawn, keys, names, heads)
            continue
        t, name = keys[at], names[at]
        ahead = slope + curve * (t - now)
        if ahead >= 0.0:
            break
        j, i = name // N, name % N
        change = v[j] * Q[j, i]
        if act[j, i] != 0.0:
            change = -change
        here = e[i] + t * rate[i]
        turned = ahead + h[i] * here * change
        if turned >= 0.0:
            for k in range(N):
                e[k] += t * rate[k]
            return t, name, flips
        d = rate[i] + change
        curve += h[i] * change * (rate[i] + d)
        e[i] = here - t * d
        rate[i] = d
        act[j, i] = 1.0 - act[j, i]
        flips += 1
        slope, now = turned, t
        at += 1
    t = now - slope / curve if curve > 0.0 else now
    for k in range(N):
        e[k] += t * rate[k]
    return t, -1, flips
