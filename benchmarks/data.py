"""The paper for the benchmarks: synthetic data (App. H.1), and the medians of Tables A1 and A3."""

from __future__ import annotations

import numpy as np

from zonofit.data.synthetic import synthetic as synthetic
from zonofit.experiments.paper import printed

# by d, m_gen and m: the columns headed gradient descent, random vertex and GLS; infinite where the paper has none
TABLE_A1: dict[tuple[int, ...], list[float]] = {}
for (_cell, _method), _entry in printed("table-a1").items():
    _row = TABLE_A1.setdefault((_cell.d, _cell.m_gen, _cell.m), [float("inf")] * 3)
    _row[("gradient-descent", "random-vertex", "gls").index(_method)] = _entry.loss

# by task, m and method: what is printed for d = 8, N = 350
TABLE_A3 = {(_cell.data, _cell.m, _method): _entry for (_cell, _method), _entry in printed("table-a3").items()}


def classes(N: int, d: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two classes, balanced, whose means differ by 1.6 standard deviations: as separable as the paper's image tasks."""
    y = (np.arange(N) % 2).astype(float)
    X = rng.standard_normal((N, d)) / np.sqrt(np.arange(1, d + 1))
    X[:, : max(d // 2, 1)] += 0.8 * (2 * y[:, None] - 1) / np.sqrt(max(d // 2, 1))
    return X, y
