"""What facet descent asks of a smooth loss, compiled for the losses of this library and through NumPy for a user's own.

A compiled loss is a pair (code, parameter). `measure` and `probe` are written for a `Loss` object; inside compiled
code, where only pairs occur, numba puts kernels in their place, so that loops over them are written once.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numba.extending import overload

from zonofit.programs._frame_kernel import CORE
from zonofit.programs.losses import Huber, Logistic, Loss

LOGISTIC, HUBER = 0, 1
INSIDE = {"error_model": CORE["error_model"], "fastmath": CORE["fastmath"]}


def compiled(loss: Loss) -> tuple[int, float] | None:
    """Code and parameter of a loss that has kernels; None for others, also for classes that inherit from one."""
    if type(loss) is Logistic:
        return LOGISTIC, 0.0
    if type(loss) is Huber:
        return HUBER, float(loss.delta)
    return None


def measure(loss, u, y, p, nu, h):
    """Mean loss of the predictions u; its derivatives into nu, and curvatures p ℓ'' into h."""
    with np.errstate(over="ignore", invalid="ignore"):
        nu[:] = p * loss.slope(u, y)
        h[:] = p * loss.curvature(u, y)
        return float(p @ loss.value(u, y))


def probe(loss, u, rate, t, y, p):
    """Mean loss of the predictions u + t rate, and its derivative in t."""
    with np.errstate(over="ignore", invalid="ignore"):
        there = u + t * rate
        return float(p @ loss.value(there, y)), float((p * loss.slope(there, y)) @ rate)


@overload(measure, jit_options=INSIDE)
def _measure_pair(loss, u, y, p, nu, h):
    def pair(loss, u, y, p, nu, h):
        return _measure(loss[0], loss[1], u, y, p, nu, h)

    return pair


@overload(probe, jit_options=INSIDE)
def _probe_pair(loss, u, rate, t, y, p):
    def pair(loss, u, rate, t, y, p):
        return _probe(loss[0], loss[1], u, rate, t, y, p)

    return pair


@njit(**CORE)
def _measure(code, parameter, u, y, p, nu, h):
    total = 0.0
    if code == LOGISTIC:
        for i in range(u.size):
            tail = np.exp(-abs(u[i]))
            near = 1.0 / (1.0 + tail)
            far = tail * near
            up, down = (near, far) if u[i] > 0.0 else (far, near)
            nu[i] = p[i] * ((1.0 - y[i]) * up - y[i] * down)
            h[i] = p[i] * near * far
        for i in range(u.size):
            tail = np.exp(-abs(u[i]))
            total += p[i] * ((1.0 - y[i]) * max(u[i], 0.0) + y[i] * max(-u[i], 0.0) + np.log1p(tail))
    else:
        for i in range(u.size):
            e = u[i] - y[i]
            size = abs(e)
            if size <= parameter:
                nu[i] = 2.0 * p[i] * e
                h[i] = 2.0 * p[i]
            else:
                nu[i] = 2.0 * p[i] * (parameter if e > 0.0 else -parameter)
                h[i] = 0.0
        for i in range(u.size):
            size = abs(u[i] - y[i])
            total += p[i] * (size * size if size <= parameter else parameter * (2.0 * size - parameter))
    return total


@njit(**CORE)
def _probe(code, parameter, u, rate, t, y, p):
    total, slope = 0.0, 0.0
    if code == LOGISTIC:
        for i in range(u.size):
            z = u[i] + t * rate[i]
            tail = np.exp(-abs(z))
            near = 1.0 / (1.0 + tail)
            far = tail * near
            up, down = (near, far) if z > 0.0 else (far, near)
            total += p[i] * ((1.0 - y[i]) * max(z, 0.0) + y[i] * max(-z, 0.0) + np.log1p(tail))
            slope += p[i] * ((1.0 - y[i]) * up - y[i] * down) * rate[i]
    else:
        for i in range(u.size):
            e = u[i] + t * rate[i] - y[i]
            size = abs(e)
            if size <= parameter:
                total += p[i] * e * e
                slope += 2.0 * p[i] * e * rate[i]
            else:
                total += p[i] * parameter * (2.0 * size - parameter)
                slope += 2.0 * p[i] * (parameter if e > 0.0 else -parameter) * rate[i]
    return total, slope
