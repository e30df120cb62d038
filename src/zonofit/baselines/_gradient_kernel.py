"""Steps of gradient descent, compiled. Examples run along the innermost loops, where processors add eight at a time."""

from __future__ import annotations

import numpy as np
from numba import njit

# sums may be taken in any order, which vectorises them; NaN and infinity keep their meaning
_FAST = {"reassoc", "contract", "nsz"}
_FIRST, _SECOND, _EPSILON = 0.9, 0.999, 1e-8  # Adam's


@njit(cache=True, nogil=True, fastmath=_FAST)
def _forward(XT, theta, m, Z, u):
    n, N = XT.shape
    zero = XT.dtype.type(0)
    u[:] = theta[-1]
    for j in range(m):
        z = Z[j]
        z[:] = 0
        for b in range(n):
            w, x = theta[j * n + b], XT[b]
            for i in range(N):
                z[i] += w * x[i]
        v = theta[m * n + j]
        for i in range(N):
            z[i] = max(z[i], zero)
            u[i] += v * z[i]


@njit(cache=True, nogil=True, fastmath=_FAST)
def advance(XT, y, theta, moments, m, begin, steps, logistic, train_output, rate, factor):
    """Take `steps` steps from θ, which is overwritten; `moments` (2, 0) for plain ones, (2, q) for Adam's."""
    n, N = XT.shape
    adam = moments.shape[1] > 0
    kind = XT.dtype
    Z, e, g, s = np.empty((m, N), kind), np.empty(N, kind), np.empty(theta.size, kind), np.empty(N, kind)
    # constants in the precision of the data: one double among them and every sum would be in doubles
    per, pace, zero, one, two = kind.type(factor / N), kind.type(rate), kind.type(0), kind.type(1), kind.type(2)
    for step in range(begin, begin + steps):
        _forward(XT, theta, m, Z, e)
        if logistic:
            for i in range(N):
                e[i] = per * (one / (one + np.exp(-e[i])) - y[i])
        else:
            for i in range(N):
                e[i] = two * per * (e[i] - y[i])
        total = zero
        for i in range(N):
            total += e[i]
        g[-1] = total
        for j in range(m):
            z, v, up = Z[j], theta[m * n + j], zero
            for i in range(N):
                up += e[i] * z[i]
                s[i] = v * e[i] if z[i] > zero else zero
            g[m * n + j] = up if train_output else zero
            for b in range(n):
                x, total = XT[b], zero
                for i in range(N):
                    total += s[i] * x[i]
                g[j * n + b] = total
        if adam:
            first, second = 1.0 - _FIRST ** (step + 1), 1.0 - _SECOND ** (step + 1)
            for k in range(theta.size):
                moments[0, k] = _FIRST * moments[0, k] + (1.0 - _FIRST) * g[k]
                moments[1, k] = _SECOND * moments[1, k] + (1.0 - _SECOND) * g[k] * g[k]
                theta[k] -= rate * (moments[0, k] / first) / (np.sqrt(moments[1, k] / second) + _EPSILON)
        else:
            for k in range(theta.size):
                theta[k] -= pace * g[k]


@njit(cache=True, nogil=True)
def mean_loss(XT, y, theta, m, logistic):
    """Mean loss at θ."""
    N = y.size
    Z, u = np.empty((m, N)), np.empty(N)
    _forward(XT, theta, m, Z, u)
    total = 0.0
    for i in range(N):
        if logistic:
            total += np.log1p(np.exp(-abs(u[i]))) + max(u[i], 0.0) - y[i] * u[i]
        else:
            total += (u[i] - y[i]) ** 2
    return total / N
