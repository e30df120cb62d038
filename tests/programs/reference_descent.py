"""Slow and readable twins of the kernels of `zonofit.programs.descent`, and independent judges of its answers.

Squared loss only, but for the damped steps; these take the constants of their schedule from the kernel.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import null_space

from zonofit.programs import _damped_kernel as kernel
from zonofit.programs._descent_smooth import REACH
from zonofit.programs.losses import Squared


def value(X, y, p, v, W, c, alpha=0.0):
    """F(W, c)."""
    return p @ (np.maximum(X @ W.T, 0) @ v + c - y) ** 2 + 0.5 * alpha * (W**2).sum()


def descend(X, y, p, v, W, c, alpha=0.0, steps=400):
    """Facet descent by the book: one release at a time, least-squares steps, all breakpoints sorted."""
    (N, r), m = X.shape, len(v)
    W, A = W.copy(), W @ X.T > 0
    walls = [[] for _ in range(m)]
    history = [value(X, y, p, v, W, c, alpha)]
    for _ in range(steps):
        seen = np.array([[A[j, i] and i not in walls[j] for i in range(N)] for j in range(m)])
        Z = W @ X.T
        for j in range(m):
            Z[j, walls[j]] = 0.0
        residual = v @ (seen * Z) + c - y
        if 0.5 * history[-1] <= 1e-28 * (p @ y**2):
            break
        free = [null_space(X[walls[j]]) if walls[j] else np.eye(r) for j in range(m)]
        P = np.hstack([v[j] * seen[j][:, None] * (X @ free[j]) for j in range(m)] + [np.ones((N, 1))])
        rows, right = np.sqrt(2 * p)[:, None] * P, -np.sqrt(2 * p) * residual
        if alpha:
            coordinates = np.concatenate([free[j].T @ W[j] for j in range(m)])
            ridge = np.sqrt(alpha) * np.eye(P.shape[1])[:-1]
            rows, right = np.vstack([rows, ridge]), np.concatenate([right, -np.sqrt(alpha) * coordinates])
        delta = np.linalg.lstsq(rows, right, rcond=1e-11)[0]
        if -(right @ (rows @ delta)) > -1e-11 * max(history[-1], 1e-300):  # the piece has no more to give
            worst, best = None, 1e-7
            nu = 2 * p * residual
            for j in range(m):
                if not walls[j] or len(walls[j]) == r:
                    continue
                g = v[j] * (seen[j] * nu) @ X + alpha * W[j]
                mu = np.linalg.lstsq(X[walls[j]].T, g, rcond=None)[0]
                for a, i in enumerate(walls[j]):
                    for violation, active in ((mu[a], False), (-mu[a] - v[j] * nu[i], True)):
                        if violation > best:
                            worst, best = (j, i, active), violation
            if worst is None:
                break
            j, i, active = worst
            walls[j].remove(i)
            A[j, i] = active
            continue
        ends = np.cumsum([f.shape[1] for f in free])
        D = np.array([f @ part for f, part in zip(free, np.split(delta[:-1], ends[:-1]), strict=True)])
        Q = D @ X.T
        for j in range(m):
            Q[j, walls[j]] = 0.0
        toward = np.where(A, Q < 0, Q > 0) & (np.abs(Q) > 1e-13)
        order = sorted((max(0.0, -Z[j, i] / Q[j, i]), j, i) for j, i in np.argwhere(toward))
        t, hit, now = None, None, seen.copy()

        def slope_at(t, now, W=W, Z=Z, Q=Q, D=D, delta=delta, c=c):
            rate = v @ (now * Q) + delta[-1]
            e = v @ (now * (Z + t * Q)) + c + t * delta[-1] - y
            return 2 * p @ (e * rate) + alpha * np.vdot(W + t * D, D), 2 * p @ rate**2 + alpha * np.vdot(D, D)

        for when, j, i in order:
            ahead = slope_at(when, now)[0]
            if ahead >= 0:
                break
            flipped = now.copy()
            flipped[j, i] = ~now[j, i]
            if slope_at(when, flipped)[0] >= 0:
                t, hit = when, (j, i)
                break
            now = flipped
        if t is None:
            start, curve = slope_at(0.0, now)
            t = -start / curve
        W, c = W + t * D, c + t * delta[-1]
        A = now | (A & ~seen & ~now & False)
        if hit:
            walls[hit[0]].append(hit[1])
            A[hit] = False
        history.append(value(X, y, p, v, W, c, alpha))
    return W, c, history


def steepest_slope(X, y, p, v, W, c, walls, alpha=0.0, tries=400, rng=None, loss=None):
    """Least directional derivative of F found over unit directions: random ones and those that single walls suggest."""
    rng = rng or np.random.default_rng(0)
    Z = X @ W.T
    Z[walls.T] = 0.0
    u = np.maximum(Z, 0) @ v + c
    nu = 2 * p * (u - y) if loss is None else p * loss.slope(u, y)
    least = -abs(nu.sum())  # the bias
    for j, w in enumerate(W):
        g = v[j] * ((Z[:, j] > 0) * nu) @ X + alpha * w
        on = np.flatnonzero(walls[j])
        directions = list(rng.standard_normal((tries, X.shape[1]))) + [-g, g]
        if len(on):
            directions += list(np.linalg.pinv(X[on]).T) + list(-np.linalg.pinv(X[on]).T)
            directions += list(
                (null_space(X[on]) @ rng.standard_normal((X.shape[1] - np.linalg.matrix_rank(X[on]), 50))).T
            )
        for d in directions:
            length = np.linalg.norm(d)
            if length > 1e-12:
                d = d / length
                least = min(least, g @ d + v[j] * nu[on] @ np.maximum(X[on] @ d, 0))
    return least


def damped(X, y, p, v, W, c, loss, alpha=0.0, bias_free=True, steps=60, worth=np.inf):
    """Damped steps by the book: Levenberg and Marquardt on the dense design. Weights, output bias, value, systems."""
    (N, r), m = X.shape, len(v)
    q = m * r + 1
    small = kernel.SLOWER if q * kernel.MANY <= N else kernel.SLOW

    def look(W, c):
        u = np.maximum(X @ W.T, 0) @ v + c
        return p @ loss.value(u, y) + 0.5 * alpha * (W**2).sum(), u

    value, u = look(W, c)
    level, slow, count = kernel.FIRST, 0, 0
    while count < steps and value > 0:
        count += 1
        nu, h = p * loss.slope(u, y), p * loss.curvature(u, y)
        if not isinstance(loss, Squared):
            top = max(np.max(h / p), np.max(np.abs(nu) / (REACH * p)))
            h = np.maximum(np.maximum(h, np.abs(nu) / REACH), p * 1e-12 * top)
        P = np.hstack([v[j] * (W[j] @ X.T > 0)[:, None] * X for j in range(m)] + [np.ones((N, 1)) * bias_free])
        P = P if bias_free else P[:, :-1]
        ridge = np.r_[np.full(m * r, alpha), np.zeros(int(bias_free))]
        normal = (P.T * h) @ P
        rho = level * np.trace(normal) / len(normal)
        if q > N:
            rho = level * np.mean(np.sum(P * P, axis=1)) * h.sum() / N
        gradient = P.T @ nu + ridge * np.r_[W.ravel(), np.zeros(int(bias_free))]
        move = -np.linalg.solve(normal + np.diag(ridge + rho), gradient)
        there = W + move[: m * r].reshape(m, r), c + (move[-1] if bias_free else 0.0)
        ahead, u_there = look(*there)
        if not ahead < value:
            level *= kernel.MORE
            if level > kernel.MOST:
                break
            continue
        gain, value, (W, c), u = 1 - ahead / value, ahead, there, u_there
        level = max(level * (kernel.FAR_LESS if gain > kernel.GOOD else kernel.LESS), kernel.LEAST)
        slow = slow + 1 if gain < small else 0
        hopeless = q * kernel.MANY <= N and value * (1 - kernel.HOPE * gain) >= worth
        if slow == kernel.PATIENCE or hopeless:
            break
    return W, c, value, count
