"""Instances of the paper for the benchmarks: synthetic data (App. H.1), and random patterns for it."""

from __future__ import annotations

import numpy as np

from zonofit.data.synthetic import synthetic as synthetic


def classes(N: int, d: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two classes, balanced, whose means differ by 1.6 standard deviations: as separable as the paper's image tasks."""
    y = (np.arange(N) % 2).astype(float)
    X = rng.standard_normal((N, d)) / np.sqrt(np.arange(1, d + 1))
    X[:, : max(d // 2, 1)] += 0.8 * (2 * y[:, None] - 1) / np.sqrt(max(d // 2, 1))
    return X, y
