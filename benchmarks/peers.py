"""One vertex program given to other people's solvers, with all constraints, as a user would who has no walls.

Every peer is a class made from a problem and patterns, which builds what the solver wants, and ``solve()``, which
returns the weights (m n + 1,), the last one the output bias. Both halves are timed apart. All ask for about the
accuracy that ours has; what they reach is reported beside their time.
"""

from __future__ import annotations

import ctypes
import importlib.util
import warnings

import numpy as np
import scipy.sparse as sp

_RIDGE = 1e-9  # added to the Hessian for solvers that want it positive definite; N < q is the normal case here
_TIGHT = 1e-9


def matrices(problem, patterns):
    """Predictions ``P θ`` and constraints ``G θ >= 0`` (m N rows), dense."""
    X, v = problem.generators, problem.output_weights
    (m, N), n = patterns.shape, X.shape[1]
    P = np.concatenate([v[j] * patterns[j][:, None] * X for j in range(m)] + [np.ones((N, 1))], axis=1)
    G = np.zeros((m * N, m * n + 1))
    for j in range(m):
        G[j * N : (j + 1) * N, j * n : (j + 1) * n] = np.where(patterns[j], 1.0, -1.0)[:, None] * X
    return P, G


def loss_of(problem, patterns, theta):
    """Mean loss of weights θ, every unit held to its pattern; and the worst violated wall, relative to the weights."""
    n = problem.generators.shape[1]
    W = theta[:-1].reshape(-1, n)
    Z = W @ problem.generators.T
    outside = np.max(np.where(patterns, -Z, Z), initial=0.0) / max(np.max(np.abs(Z)), 1e-300)
    return problem.mean_loss(problem.output_weights @ np.where(patterns, Z, 0.0) + theta[-1]), outside


class _Quadratic:
    def __init__(self, problem, patterns):
        P, self.G = matrices(problem, patterns)
        N = len(P)
        self.H = 2.0 / N * (P.T @ P) + _RIDGE * np.eye(P.shape[1])
        self.f = -2.0 / N * (P.T @ problem.labels)


class Daqp(_Quadratic):
    """daqp: dual active set, C."""

    name, needs = "daqp", "daqp"

    def __init__(self, problem, patterns):
        super().__init__(problem, patterns)
        k = len(self.G)
        self.G = -self.G
        self.upper, self.lower, self.sense = np.zeros(k), np.full(k, -1e30), np.zeros(k, dtype=ctypes.c_int)

    def solve(self):
        import daqp

        return daqp.solve(self.H, self.f, self.G, self.upper, self.lower, self.sense)[0]


class Quadprog(_Quadratic):
    """quadprog: Goldfarb and Idnani's dual method, C."""

    name, needs = "quadprog", "quadprog"

    def solve(self):
        import quadprog

        return quadprog.solve_qp(self.H, -self.f, self.G.T, np.zeros(len(self.G)))[0]


class Piqp(_Quadratic):
    """piqp: interior point, C++; dense or sparse, whichever is built for the size."""

    name, needs = "piqp", "piqp"
    sparse_from = 2_000_000  # entries of G beyond which the sparse solver is the faster one

    def solve(self):
        import piqp

        sparse = self.G.size > self.sparse_from
        solver = piqp.SparseSolver() if sparse else piqp.DenseSolver()
        solver.settings.eps_abs = _TIGHT
        H, G = (sp.csc_matrix(self.H), sp.csc_matrix(self.G)) if sparse else (self.H, self.G)
        solver.setup(H, self.f, None, None, G, np.zeros(len(self.G)), None, None, None)
        solver.solve()
        return solver.result.x


class Clarabel:
    """Clarabel: interior point on the residual form, sparse, Rust."""

    name, needs = "Clarabel", "clarabel"

    def __init__(self, problem, patterns):
        P, G = matrices(problem, patterns)
        N, q = P.shape
        self.q = q
        # variables (θ, e): minimise |e|²/N with e = P θ - y
        self.H = sp.block_diag([sp.csc_matrix((q, q)), 2.0 / N * sp.eye(N)], format="csc")
        equal = sp.hstack([sp.csc_matrix(P), -sp.eye(N)])
        self.A = sp.vstack([equal, sp.hstack([-sp.csc_matrix(G), sp.csc_matrix((len(G), N))])], format="csc")
        self.f, self.b, self.counts = np.zeros(q + N), np.r_[problem.labels, np.zeros(len(G))], (N, len(G))

    def solve(self):
        import clarabel

        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = _TIGHT
        settings.max_threads = 1
        cones = [clarabel.ZeroConeT(self.counts[0]), clarabel.NonnegativeConeT(self.counts[1])]
        return np.array(clarabel.DefaultSolver(self.H, self.f, self.A, self.b, cones, settings).solve().x)[: self.q]


class CvxpyEcos:
    """The paper's stack: the program in cvxpy, written anew for each vertex, solved by ECOS."""

    name, needs = "cvxpy+ECOS", "ecos"
    solver = "ECOS"

    def __init__(self, problem, patterns):
        self.problem, self.patterns = problem, patterns
        self.P, self.G = matrices(problem, patterns)

    def solve(self):
        import cvxpy as cp

        theta, N = cp.Variable(self.P.shape[1]), len(self.P)
        u, y = self.P @ theta, self.problem.labels
        if self.problem.loss.quadratic:
            objective = cp.sum_squares(u - y) / N
        else:
            objective = cp.sum(cp.logistic(u) - cp.multiply(y, u)) / N
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cp.Problem(cp.Minimize(objective), [self.G @ theta >= 0]).solve(solver=self.solver)
        return np.full(self.P.shape[1], np.nan) if theta.value is None else theta.value


DIRECT = [Daqp, Quadprog, Piqp, Clarabel]


def installed(peers):
    """Those that can be imported; the others are named."""
    here = [peer for peer in peers if importlib.util.find_spec(peer.needs)]
    missing = [peer.name for peer in peers if peer not in here]
    if missing:
        print(f'not installed, so left out: {", ".join(missing)}; pip install ".[bench]"')
    return here
