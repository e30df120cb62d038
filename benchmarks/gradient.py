"""Batch gradient descent on all parameters, compiled: what facet descent is timed against."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, fastmath=True)
def descend(X, XT, y, W, v, c, rate, steps):
    """Mean squared error after so many steps from (W, v, c), which are overwritten."""
    N, n = X.shape
    m = len(v)
    Z, e = np.empty((m, N)), np.empty(N)
    loss = 0.0
    for _ in range(steps + 1):
        for i in range(N):
            e[i] = c - y[i]
        for j in range(m):
            for i in range(N):
                Z[j, i] = 0.0
            for b in range(n):
                w = W[j, b]
                for i in range(N):
                    Z[j, i] += w * XT[b, i]
            for i in range(N):
                Z[j, i] = max(Z[j, i], 0.0)
                e[i] += v[j] * Z[j, i]
        loss, total = 0.0, 0.0
        for i in range(N):
            loss += e[i] * e[i] / N
            total += e[i]
        c -= rate * 2.0 * total / N
        for j in range(m):
            s = 0.0
            for i in range(N):
                s += e[i] * Z[j, i]
                Z[j, i] = e[i] if Z[j, i] > 0.0 else 0.0
            u = v[j]
            v[j] -= rate * 2.0 * s / N
            for b in range(n):
                s = 0.0
                for i in range(N):
                    s += Z[j, i] * XT[b, i]
                W[j, b] -= rate * 2.0 * u * s / N
    return loss


def glorot(m, n, rng):
    """Weights and output weights as the paper initialises them; biases are 0."""
    W = np.zeros((m, n))
    W[:, :-1] = rng.uniform(-1, 1, (m, n - 1)) * np.sqrt(6.0 / (n - 1 + m))
    return W, rng.uniform(-1, 1, m) * np.sqrt(6.0 / (m + 1))
