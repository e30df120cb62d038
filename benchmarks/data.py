"""Instances of the paper for the benchmarks: synthetic data (App. H.1), and random patterns for it."""

from __future__ import annotations

import numpy as np


def synthetic(d: int, m_gen: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Standard normal examples, N = (d + 1) m_gen, with the labels of a random network of m_gen units."""
    N = (d + 1) * m_gen
    X = rng.standard_normal((N, d))
    W, v, c = rng.standard_normal((m_gen, d + 1)), rng.standard_normal(m_gen), rng.standard_normal()
    return X, np.maximum(np.c_[X, np.ones(N)] @ W.T, 0.0) @ v + c


def classes(N: int, d: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two classes, balanced, whose means differ by 1.6 standard deviations: as separable as the paper's image tasks."""
    y = (np.arange(N) % 2).astype(float)
    X = rng.standard_normal((N, d)) / np.sqrt(np.arange(1, d + 1))
    X[:, : max(d // 2, 1)] += 0.8 * (2 * y[:, None] - 1) / np.sqrt(max(d // 2, 1))
    return X, y
