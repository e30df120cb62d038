"""The paper for the benchmarks: synthetic data (App. H.1), and the medians of Table A1."""

from __future__ import annotations

import numpy as np

# d m_gen m, then the columns headed gradient descent, random vertex, GLS; infinite where the paper has none
_TABLE_A1 = """
    4 2 2 3.82e-10 1.25e-1 8.27e-1; 4 2 3 3.43e-11 3.85e-5 -; 4 2 4 6.01e-12 4.10e-8 1.58e-1;
    4 2 8 - 8.81e-9 8.29e-13; 4 2 16 - 1.13e-8 4.11e-17; 4 4 4 8.30e-3 1.98e-3 8.11e-1;
    4 4 6 5.04e-12 3.13e-4 -; 4 4 8 6.54e-12 4.70e-5 8.47e-9; 4 4 16 - 5.08e-7 1.68e-12;
    4 4 32 - 2.71e-7 1.97e-15; 4 8 8 8.53e-3 8.47e-3 4.68e-1; 4 8 12 2.52e-11 7.59e-4 -;
    4 8 16 2.21e-11 6.07e-4 9.96e-3; 4 8 32 - 1.70e-5 6.68e-12; 4 8 64 - 6.26e-6 3.49e-14;
    8 4 4 2.54e-3 1.44e-2 3.74e0; 8 4 6 6.11e-11 1.11e-3 -; 8 4 8 7.69e-12 6.96e-8 4.94e-1;
    8 4 16 - 2.24e-8 5.33e-12; 8 4 32 - 6.25e-9 2.40e-13; 8 8 8 7.47e-3 2.45e-2 3.67e0;
    8 8 12 7.30e-12 1.69e-4 -; 8 8 16 5.83e-13 2.07e-6 1.77e0; 8 8 32 - 8.01e-8 3.09e-12;
    8 8 64 - 2.43e-8 3.15e-13; 8 16 16 - 2.72e-2 7.07e0; 8 16 24 - 1.61e-3 -;
    8 16 32 - 8.57e-5 1.47e0; 8 16 64 - 5.62e-7 2.35e-2; 8 16 128 - 1.03e-7 3.16e-13;
    16 8 8 - 2.79e-2 1.85e1; 16 8 12 - 9.05e-7 -; 16 8 16 - 1.10e-7 8.76e0;
    16 8 32 - 2.86e-8 1.74e0; 16 8 64 - 9.53e-9 2.82e-13; 16 16 16 - 4.99e-2 2.81e1;
    16 16 24 - 4.70e-5 -; 16 16 32 - 4.80e-7 1.63e1; 16 16 64 - 8.13e-8 4.03e0;
    16 16 128 - 2.75e-8 3.42e-13
"""
TABLE_A1: dict[tuple[int, ...], tuple[float, ...]] = {
    tuple(map(int, row.split()[:3])): tuple(float("inf") if cell == "-" else float(cell) for cell in row.split()[3:])
    for row in _TABLE_A1.split(";")
}


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
