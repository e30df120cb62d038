"""What hopping is compared with: Levenberg-Marquardt, L-BFGS and Adam on all parameters, from start after start.

Each returns the seconds and losses of its improvements. Levenberg and Marquardt's is scipy's `least_squares` with the
exact Jacobian: MINPACK's where examples are at least as many as parameters, else the trust region solver, for MINPACK
takes no fewer equations than unknowns. L-BFGS is scipy's. Adam is full batch, in double precision and compiled here, so
that no framework's overhead counts against it; its restarts draw a step size and let it fall to nothing on a cosine.
"""

from __future__ import annotations

import time

import numpy as np
from numba import njit
from scipy.optimize import least_squares, minimize

STEPS = 20_000  # of one start of Adam
EXACT = 1e-26  # nobody goes on from here: less says nothing but how sums round


class Network:
    """Mean squared error of (W, v, c) in one vector, gradient and Jacobian; remembers how the least one fell."""

    def __init__(self, X, y, m: int, seconds: float):
        self.G, self.y, self.m = np.c_[X, np.ones(len(X))], y, m
        self.begin = time.perf_counter()
        self.end = self.begin + seconds
        self.seconds, self.losses = [], []

    def start(self, rng) -> np.ndarray:
        """Random weights of the usual size."""
        m, n = self.m, self.G.shape[1]
        return np.r_[rng.standard_normal(m * n) / np.sqrt(n), rng.standard_normal(m) * np.sqrt(2 / m), 0.0]

    def saw(self, loss: float) -> None:
        """Take note of a loss; stops with TimeoutError when the time is over or the fit exact."""
        now = time.perf_counter()
        if not self.losses or loss < self.losses[-1]:
            self.seconds.append(now - self.begin)
            self.losses.append(loss)
        if now > self.end or loss <= EXACT:
            raise TimeoutError

    def parts(self, parameters):
        """Activations, output weights and residuals."""
        n = self.G.shape[1]
        W, v, c = parameters[: self.m * n].reshape(self.m, n), parameters[self.m * n : -1], parameters[-1]
        H = np.maximum(self.G @ W.T, 0.0)
        return H, v, H @ v + c - self.y

    def residuals(self, parameters):
        """Of the network."""
        e = self.parts(parameters)[2]
        self.saw(float(e @ e) / len(e))
        return e

    def jacobian(self, parameters):
        """Of the residuals."""
        H, v, _ = self.parts(parameters)
        blocks = ((H > 0) * v)[:, :, None] * self.G[:, None, :]
        return np.c_[blocks.reshape(len(H), -1), H, np.ones(len(H))]

    def value_and_gradient(self, parameters):
        """Mean squared error and gradient."""
        H, v, e = self.parts(parameters)
        loss = float(e @ e) / len(e)
        self.saw(loss)
        nu = 2.0 * e / len(e)
        return loss, np.r_[(((H > 0) * nu[:, None] * v).T @ self.G).ravel(), H.T @ nu, nu.sum()]


def levenberg_marquardt(network: Network, rng) -> None:
    """One start."""
    start = network.start(rng)
    method = "lm" if len(network.y) >= len(start) else "trf"
    least_squares(
        network.residuals, start, network.jacobian, method=method, xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=2000
    )


def lbfgs(network: Network, rng, **tolerances) -> None:
    """One start; to the end, where no tolerances are given."""
    options = {"maxiter": 20_000, "maxfun": 50_000, "ftol": 0.0, "gtol": 1e-14, **tolerances}
    minimize(network.value_and_gradient, network.start(rng), jac=True, method="L-BFGS-B", options=options)


def loose_lbfgs(network: Network, rng) -> None:
    """One start with scipy's own tolerances: more starts in the same time, where nothing fits exactly."""
    lbfgs(network, rng, ftol=2.2e-9, gtol=1e-5)


def adam(network: Network, rng) -> None:
    """One start."""
    x, rate = network.start(rng), 10.0 ** rng.uniform(-3, -1)
    first, second = np.zeros_like(x), np.zeros_like(x)
    n, chunk = network.G.shape[1], 200
    XT = np.ascontiguousarray(network.G.T)
    for step in range(0, STEPS, chunk):
        network.saw(_adam(XT, network.y, x, first, second, n, rate, step, chunk))


@njit(cache=True, nogil=True, fastmath=True)
def _adam(XT, y, x, first, second, n, rate, begin, steps):
    N = y.size
    m = (x.size - 1) // (n + 1)
    H, e, g, least = np.empty((m, N)), np.empty(N), np.empty(x.size), np.inf
    for step in range(begin, begin + steps):
        e[:] = x[-1] - y
        for j in range(m):
            H[j, :] = 0.0
            for b in range(n):
                for i in range(N):
                    H[j, i] += x[j * n + b] * XT[b, i]
            for i in range(N):
                H[j, i] = max(H[j, i], 0.0)
                e[i] += x[m * n + j] * H[j, i]
        loss, total = 0.0, 0.0
        for i in range(N):
            loss += e[i] * e[i] / N
            e[i] *= 2.0 / N
            total += e[i]
        least = min(least, loss)
        g[-1] = total
        for j in range(m):
            s, v = 0.0, x[m * n + j]
            for i in range(N):
                s += e[i] * H[j, i]
                H[j, i] = e[i] * v if H[j, i] > 0.0 else 0.0
            g[m * n + j] = s
            for b in range(n):
                s = 0.0
                for i in range(N):
                    s += H[j, i] * XT[b, i]
                g[j * n + b] = s
        size = rate * 0.5 * (1.0 + np.cos(np.pi * step / STEPS))
        for k in range(x.size):
            first[k] = 0.9 * first[k] + 0.1 * g[k]
            second[k] = 0.999 * second[k] + 0.001 * g[k] * g[k]
            mean = first[k] / (1.0 - 0.9 ** (step + 1))
            x[k] -= size * mean / (np.sqrt(second[k] / (1.0 - 0.999 ** (step + 1))) + 1e-8)
    return least


RIVALS = {"Levenberg-Marquardt": levenberg_marquardt, "L-BFGS": lbfgs, "Adam": adam}


def restart(method, X, y, m: int, seconds: float, seed: int) -> tuple[list[float], list[float]]:
    """Restarts for so many seconds, or until the fit is exact: seconds and losses of the improvements."""
    rng, network = np.random.default_rng(seed), Network(X, y, m, seconds)
    try:
        while True:
            method(network, rng)
    except TimeoutError:
        return network.seconds, network.losses
