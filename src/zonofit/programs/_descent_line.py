"""Line search through the walls for losses that are no squares: kernels of `zonofit.programs.descent`.

Between two breakpoints the predictions are linear in the length t of the step, and the loss along it is convex, but
slopes must be asked of the loss, at O(N) each. So the search does not walk from breakpoint to breakpoint: it bisects
over them for one where the slope turns positive, or an interval where it passes zero, behind points that all lie lower
than the start; and then it finds that zero.
"""

from __future__ import annotations

from numba import njit
from numba.extending import register_jitable

from zonofit.programs._descent_losses import INSIDE, probe
from zonofit.programs._descent_search import gather
from zonofit.programs._frame_kernel import CORE

_NOISE = 1e-14  # values are not told apart that differ by less than this part
_STRIDE = 8.0  # when the slope is still negative at the end of the window, the next one is this much longer
_FAR = 1e6  # length, in Newton steps, after which a new direction is due
_CLOSE = 1e-2  # the slope at the end, in units of the slope at the start, that counts as zero
_NARROW = 1e-15  # an interval, in units of its end, that is not divided further


@register_jitable(**INSIDE)
def seek(
    loss, y, p, v, act, Q, when, u, rate, slope, value, flat, bend, window, zero, raw, drawn, keys, names, heads,
    u1, rate1,
):  # fmt: skip
    """Length of the step, the breakpoint where it ended (or -1), and the number of flips.

    ``u`` and ``rate`` are predictions at t = 0 and their rate; on return those of the piece that the step ends on,
    extended to t = 0, and the bits in ``act`` are flipped. ``slope`` and ``value`` are those of the objective at t = 0,
    of which ``flat t + bend t²/2`` is the ridge. Values at most ``zero`` are as good as 0.
    """
    floor, noise = value, _NOISE * abs(value)
    low, high, flips = -1.0, window, 0
    loss0, _ = probe(loss, u, rate, 0.0, y, p)
    rest = value - loss0  # the ridge at t = 0
    while True:  # windows that can be passed as a whole
        count = gather(when, low, high, raw, drawn, keys, names, heads)
        lay(u, rate, v, act, Q, keys, names, 0, count, u1, rate1)
        here, ahead = probe(loss, u1, rate1, high, y, p)
        here += rest + high * (flat + 0.5 * high * bend)
        ahead += flat + high * bend
        if not (here <= floor + noise and ahead <= 0.0):
            break
        flips += count
        flip_some(act, names, 0, count)
        keep(u1, rate1, u, rate)
        if ahead == 0.0 or here <= zero or high >= _FAR:
            return high, -1, flips
        floor = min(floor, here)
        low, high = high, _STRIDE * high
    first, last = 0, count + 1  # breakpoints that may be passed, and that may not
    while last - first > 1:
        middle = (first + last) // 2
        t = keys[middle - 1]
        lay(u, rate, v, act, Q, keys, names, first, middle, u1, rate1)
        here, ahead = probe(loss, u1, rate1, t, y, p)
        here += rest + t * (flat + 0.5 * t * bend)
        ahead += flat + t * bend
        if here <= floor + noise and ahead < 0.0:
            flip_some(act, names, first, middle)
            keep(u1, rate1, u, rate)
            first, floor, low = middle, min(floor, here), t
        else:
            last = middle
    flips += first
    a, b = max(low, 0.0), keys[first] if first < count else high
    here, over = probe(loss, u, rate, b, y, p)
    over += flat + b * bend
    if first < count and over <= 0.0:
        return b, names[first], flips
    if over <= 0.0:  # the end of the window was refused for rounding alone
        return b, -1, flips
    here, under = probe(loss, u, rate, a, y, p)
    under += flat + a * bend
    close = -_CLOSE * slope
    side = 0
    while b - a > _NARROW * b:  # Illinois: secants, with the end that stays weighed down
        t = a + (b - a) * (under / (under - over)) if under < 0.0 else 0.5 * (a + b)
        if not a < t < b:
            t = 0.5 * (a + b)
        here, ahead = probe(loss, u, rate, t, y, p)
        here += rest + t * (flat + 0.5 * t * bend)
        ahead += flat + t * bend
        if abs(ahead) <= close and here <= floor + noise:
            return t, -1, flips
        if ahead <= 0.0:
            a, under = t, ahead
            over = 0.5 * over if side < 0 else over
            side = -1
        else:
            b, over = t, ahead
            under = 0.5 * under if side > 0 else under
            side = 1
    return a, -1, flips


@njit(**CORE)
def lay(u, rate, v, act, Q, keys, names, first, last, u1, rate1):
    """Predictions and their rate after the breakpoints first, ..., last - 1, whose bits in act are not flipped yet."""
    N = u.size
    for i in range(N):
        u1[i] = u[i]
        rate1[i] = rate[i]
    for a in range(first, last):
        j, i = names[a] // N, names[a] % N
        change = v[j] * Q[j, i]
        if act[j, i] != 0.0:
            change = -change
        u1[i] -= keys[a] * change
        rate1[i] += change


@njit(**CORE)
def flip_some(act, names, first, last):
    """Flip the bits of the breakpoints first, ..., last - 1."""
    N = act.shape[1]
    for a in range(first, last):
        j, i = names[a] // N, names[a] % N
        act[j, i] = 1.0 - act[j, i]


@njit(**CORE)
def keep(u1, rate1, u, rate):
    """Accept what `lay` made."""
    for i in range(u.size):
        u[i] = u1[i]
        rate[i] = rate1[i]


@njit(**CORE)
def arrive(u, rate, t):
    """Predictions at the end of the step."""
    for i in range(u.size):
        u[i] += t * rate[i]
