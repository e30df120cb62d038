"""Facet descent for smooth losses that only NumPy knows; `zonofit.programs.descent` says what it computes.

Each step expands the loss to second order and asks the compiled kernels for the direction and for the walls. The line
search is on the loss itself: along the step predictions are piecewise linear, so it bisects over the sorted breakpoints on
the sign of the slope, and then inside one interval, where the loss is convex.
"""

from __future__ import annotations

import numpy as np

from zonofit.programs._descent_kernel import EXACT, LOCAL, STALLED, STEPS, TARGET, propose, state, unit_signs
from zonofit.programs._descent_search import breakpoints
from zonofit.programs._descent_walls import join, release, rest, settle
from zonofit.programs.losses import Loss

_REACH = 10.0  # curvatures are raised until no example wants to move by more, in units of the labels
_FLAT = 1e-12  # and to this part of the largest
_LEVEL = 1e-11  # rho of the step
_LOOSE, _FIRM = 1e-4, 1e-15  # as in the squared kernel; slopes carry more rounding here
_LARGE, _SMALL = 1e-3, 1e-6
_GREED, _GAIN = 0.3, 1e-3
_STILL = 3  # steps without gain after which a piece has no more to give
_TRIFLE = 1e-13  # a unit that contributes less to the predictions is at w = 0
_FLOOR = 1e-16  # a value below this part of the start's, or of 1, is zero


def descend_smooth(X, y, p, v, W, c0, loss: Loss, alpha, bias, limit, target):
    """Descend; W is written. Returns status, c, activity, kinds, ν and counts as `descend_squared` does."""
    walk = _Walk(X, y, p, v, W, c0, loss, alpha, bias)
    count = walk.count
    value = walk.value()
    best, idle, still, tight, status = np.inf, 0, 0, False, STEPS
    zero = _FLOOR * min(value, 1.0)
    while count[0] < limit:
        if value <= max(target, zero):
            status = TARGET if value <= target else EXACT
            break
        slope, dc = walk.direction()
        if value < best * (1.0 - 1e-12):
            idle = 0
        tight = tight or (idle > 0 and not -slope > _FIRM * value)
        if still >= _STILL or not -slope > (_FIRM if tight or idle > 0 else _LOOSE) * value:
            tight = tight or still >= _STILL
            if walk.release(_GREED if idle == 0 else 1.0, _SMALL if tight else _LARGE):
                idle, still, tight, best = idle + 1, 0, False, value
                value = walk.value()
                if idle > 2 * X.shape[1] + 20:
                    status = STALLED
                    break
                continue
            if tight:
                status = LOCAL
                break
            tight = True
            continue
        joins = count[4]
        gain, flips = walk.step(dc, value, tight)
        value -= gain
        count[0] += 1
        count[1] += flips
        still = still + 1 if gain <= 1e-14 * value and count[4] == joins else 0
    walk.refresh()
    settle(walk.size, W, walk.act, walk.Z, walk.on)
    nu = walk.slopes()
    return status, float(walk.c[0]), walk.act, walk.on, nu, count


class _Walk:
    """The arrays that the kernels work on, and the few steps that the loss takes part in."""

    def __init__(self, X, y, p, v, W, c0, loss, alpha, bias):
        (N, r), m = X.shape, len(v)
        q = m * r + 1
        self.X, self.y, self.p, self.v, self.W, self.loss = X, y, p, v, W, loss
        self.alpha, self.bias, self.c = alpha, bias, np.array([c0])
        self.XT, self.size = np.ascontiguousarray(X.T), np.sqrt(np.einsum("ij,ij->i", X, X))
        wide = q > N
        self.XX, self.G = (X @ X.T, np.empty((N, N))) if wide else (np.empty((0, 0)), np.empty((0, 0)))
        side = min(q, N + 1)
        self.H, self.T, self.was = np.empty((q, q)), np.empty((side, side)), np.empty((m, N))
        self.P, self.bits, self.tally = np.empty((4, max(N, q))), np.empty((m, N), np.uint8), np.empty(N, np.uint8)
        self.B, self.L = np.tile(np.eye(r), (m, 1, 1)), np.zeros((m, r, r))
        self.K, self.nk, self.ndep = np.zeros((m, r), np.int64), np.zeros(m, np.int64), np.zeros(m, np.int64)
        self.on, self.act = np.zeros((m, N), np.int8), np.zeros((m, N))
        self.Z, self.Q, self.when = (np.empty((m, N)) for _ in range(3))
        self.e, self.rate, self.nu, self.mu, self.one, self.line = (np.empty(N) for _ in range(6))
        self.D, self.g, self.half, self.x = np.empty((m, r)), np.empty((m, r)), np.empty(q), np.empty(q)
        self.scratch, self.short = np.empty((3, r + 1)), np.empty(max(r, m), np.int64)
        self.plain, self.h, self.count = unit_signs(v), np.ones(N), np.zeros(6, np.int64)
        self.refresh(True)

    def refresh(self, fresh=False):
        state(
            self.XT, self.y, self.h, self.v, self.W, self.c, self.alpha, self.on, self.act, self.Z, self.e, self.nk,
            self.ndep, self.mu, fresh,
        )  # fmt: skip

    def predictions(self):
        return self.c[0] + self.v @ (self.act * self.Z)

    def ridge(self, W):
        return 0.5 * self.alpha * float(np.vdot(W, W))

    def value(self):
        return float(self.p @ self.loss.value(self.predictions(), self.y)) + self.ridge(self.W)

    def slopes(self):
        return self.p * self.loss.slope(self.predictions(), self.y)

    def direction(self):
        """Newton direction of the expanded loss; its slope, and the rate of c."""
        if self.count[0] % 40 == 39:
            self.refresh()
        u = self.predictions()
        slope, curvature = self.loss.slope(u, self.y), self.loss.curvature(u, self.y)
        self.nu[:] = self.p * slope
        curvature = np.maximum(curvature, np.abs(slope) / _REACH)
        self.h = self.p * np.maximum(curvature, _FLAT * float(curvature.max()) + 1e-200)
        self.e[:] = self.nu / self.h
        self.was.fill(-1.0)
        self.wide = int((self.X.shape[1] - self.nk).sum()) + 1 > len(self.y)
        _, dc, slope, _, _ = propose(
            self.X, self.XT, self.XX, self.size, self.v, self.plain, self.act, self.bits, self.B, self.nk, self.on,
            self.bias, self.h, self.alpha, _LEVEL, self.e, self.W, self.wide, True, 0.0, self.G, self.H, self.T, self.P,
            self.was, self.D, self.Q, self.rate, self.g, self.mu, self.one, self.nu, self.line, self.half, self.x,
            self.short, self.tally,
        )  # fmt: skip
        return slope, dc

    def release(self, greed, bar):
        """Let walls go; whether any went. A unit that leaves w = 0 does so by a step that the loss itself approves."""
        self.nu[:] = self.slopes()
        rest(self.size, self.v, self.W, self.act, self.Z, self.nk, self.on, self.ndep, _TRIFLE)
        before, rested = self.value(), self.nk == self.X.shape[1]
        got = release(
            self.X, self.XT, self.size, self.h, self.v, self.W, self.alpha, self.e, self.nu, self.act, self.Z, self.B, self.L,
            self.K, self.nk, self.on, self.ndep, self.g, self.scratch, self.line, self.mu, greed, bar,
        )  # fmt: skip
        self.count[2] += got
        for j in np.flatnonzero(rested & (self.nk == 0)):
            for _ in range(60):
                if self.value() < before:
                    break
                self.W[j] *= 0.5
                self.Z[j] *= 0.5
        return got > 0

    def step(self, dc, value, tight):
        """Line search on the loss itself, and the step; the decrease, and the number of flips."""
        breakpoints(self.Z, self.act, self.Q, self.when)
        flat = self.when.ravel()
        order = np.flatnonzero(np.isfinite(flat))
        order = order[np.argsort(flat[order], kind="stable")]
        times = flat[order]
        rank = np.full(flat.size, len(order))
        rank[order] = np.arange(len(order))
        rank = rank.reshape(self.when.shape)
        flats = self.alpha * np.array([np.vdot(self.W, self.D), np.vdot(self.D, self.D)])

        def piece(k):  # activity after k breakpoints; predictions there are start + t * rate
            act = np.where(rank < k, 1.0 - self.act, self.act)
            return act, self.c[0] + self.v @ (act * self.Z), dc + self.v @ (act * self.Q)

        def slope(start, rate, t):
            return float((self.p * self.loss.slope(start + t * rate, self.y)) @ rate + flats[0] + t * flats[1])

        def height(start, rate, t):
            bend = self.ridge(self.W) + t * (flats[0] + 0.5 * t * flats[1])
            return float(self.p @ self.loss.value(start + t * rate, self.y)) + bend

        low, high, floor = 0, len(order) + 1, value
        middle = int(np.searchsorted(times, 1.0))  # a whole Newton step is the best guess
        while high - low > 1:
            middle = middle if low < middle < high else (low + high) // 2
            _, start, rate = piece(middle)
            t = times[middle - 1]
            here = height(start, rate, t)
            if here <= floor and slope(start, rate, t) < 0.0:
                low, floor = middle, here
            else:
                high = middle
        act, start, rate = piece(low)
        a, b = (times[low - 1] if low else 0.0), (times[low] if low < len(order) else np.inf)
        hit = np.isfinite(b) and slope(start, rate, b) < 0.0
        t = b if hit else _least(lambda s: slope(start, rate, s), a, b)
        after = height(start, rate, t)
        if not after <= value:
            return 0.0, 0
        self.act[:] = act
        self.W += t * self.D
        self.Z += t * self.Q
        self.c[0] += t * dc
        if hit:
            j, i = divmod(int(order[low]), len(self.y))
            self.Z[j, i] = 0.0
            if self.wide or t == 0.0 or value - after < _GAIN * value:
                self.count[4] += 1
                join(
                    j, i, self.X, self.XT, self.size, self.W, self.act, self.Z, self.B, self.L, self.K, self.nk, self.on,
                    self.ndep, self.scratch,
                )  # fmt: skip
        return value - after, low


def _least(slope, a, b):
    """Where a rising slope on [a, b] passes zero, by bisection with secants; b may be infinite."""
    if not np.isfinite(b):
        b = max(2.0 * a, 1.0)
        while slope(b) < 0.0 and b < 1e8:
            a, b = b, 4.0 * b
    low, high = slope(a), slope(b)
    for n in range(80):
        t = 0.5 * (a + b) if n % 3 == 2 or not high > low else a + (b - a) * (-low / (high - low))
        t = min(max(t, a), b)
        here = slope(t)
        if here < 0.0:
            a, low = t, here
        else:
            b, high = t, here
        if b - a <= 1e-12 * b or here == 0.0:
            break
    return a if low > -high else b
