"""Random vertex programs over all losses, sizes and degeneracies, and the paper's synthetic data."""

from __future__ import annotations

import numpy as np

from zonofit.programs import Huber, Problem

LOSSES = ("squared", "logistic", "huber", "absolute")
SHAPES = (
    "generic", "duplicates", "collinear", "binary", "constant column", "few", "units of features", "units of labels",
    "constant labels", "weighted", "fixed bias", "ridge", "output weights", "nearly exact",
)  # fmt: skip


def synthetic(d: int, m_gen: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The paper's synthetic data (App. H.1): (d + 1) m_gen examples, labels of a random network of m_gen units."""
    N = (d + 1) * m_gen
    X = rng.standard_normal((N, d))
    W = rng.standard_normal((m_gen, d + 1))
    v, c = rng.standard_normal(m_gen), rng.standard_normal()
    return X, np.maximum(np.c_[X, np.ones(N)] @ W.T, 0) @ v + c


def random_program(seed: int, *, loss: str | None = None, shape: str | None = None):
    """A problem and feasible patterns for it; names of its loss and shape."""
    rng = np.random.default_rng(seed)
    loss = loss or LOSSES[seed % len(LOSSES)]
    shape = shape or SHAPES[seed // len(LOSSES) % len(SHAPES)]
    N, d, m = int(rng.integers(2, 50)), int(rng.integers(1, 8)), int(rng.integers(1, 9))
    if shape == "few":
        N = int(rng.integers(1, d + 2))
    X = rng.standard_normal((N, d))
    if shape == "duplicates":
        X = X[rng.integers(0, max(N // 3, 1), N)]
    elif shape == "collinear":
        X = rng.standard_normal((N, 1)) * rng.standard_normal(d) + rng.standard_normal(d)
    elif shape == "binary":
        X = rng.integers(0, 2, (N, d)).astype(float)
    elif shape == "constant column":
        X[:, rng.integers(0, d)] = rng.choice([0.0, 3.0, 1e6])
    elif shape == "units of features":
        X *= 10.0 ** rng.integers(-8, 9, d)
    G = np.c_[X, np.ones(N)]
    # weights of a size that suits each column, so that badly scaled features still cut the examples
    scale = np.maximum(np.abs(G).max(axis=0), 1e-300)
    W = rng.standard_normal((m, d + 1)) / scale
    A = np.array([G @ w > 0 for w in W])
    options: dict = {}
    if shape == "nearly exact":
        v = rng.choice([-1.0, 1.0], m)
        y = v @ np.maximum(G @ (rng.standard_normal((m, d + 1)) / scale).T, 0).T + 1e-4 * rng.standard_normal(N)
    else:
        y = rng.standard_normal(N)
        v = np.where(np.arange(m) < (m + 1) // 2, 1.0, -1.0)
    if shape == "output weights":
        v = rng.standard_normal(m) * 10.0 ** rng.integers(-3, 4, m) * (rng.random(m) < 0.8)
    if shape == "weighted":
        options["sample_weight"] = rng.exponential(size=N) * (rng.random(N) < 0.8) + 1e-3 * (np.arange(N) == 0)
    if shape == "fixed bias":
        options["output_bias"] = float(rng.standard_normal())
    if shape == "ridge" and loss != "absolute":
        options["alpha"] = float(10.0 ** rng.integers(-6, 2))
    if loss == "logistic":
        y = (y > np.median(y)).astype(float) if shape != "constant labels" else np.ones(N)
        if rng.random() < 0.5:
            flip = rng.random(N) < 0.2
            y[flip] = 1 - y[flip]
    elif shape == "units of labels":
        y = y * 10.0 ** int(rng.integers(-8, 9)) + float(rng.choice([0.0, 10.0]))
    elif shape == "constant labels":
        y = np.full(N, float(rng.choice([0.0, -2.5, 1e8])))
    if loss == "huber":
        loss_object = Huber(float(0.3 * max(np.std(y), 1e-12)))
    else:
        loss_object = loss
    return Problem(X, y, v, loss=loss_object, **options), A, loss, shape
