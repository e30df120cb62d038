"""Least distances against projections that alternate, and in closed form."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zonofit.theory.cones import nearest, shortest

quick = settings(deadline=None, max_examples=40, derandomize=True)


@given(st.integers(0, 2**32 - 1))
@quick
def test_nearest_has_multipliers(seed):
    """w - point is a nonnegative combination of the walls that bind: then no feasible point is nearer."""
    rng = np.random.default_rng(seed)
    N, n = int(rng.integers(1, 30)), int(rng.integers(1, 6))
    C = rng.standard_normal((N, n)) * 10.0 ** rng.integers(-3, 4, (N, 1))
    inside = 3 * rng.standard_normal(n)
    h = C @ inside - rng.exponential(size=N) * np.linalg.norm(C, axis=1)
    point = rng.standard_normal(n)
    w = nearest(C, h, point)
    slack = (C @ w - h) / np.linalg.norm(C, axis=1)
    assert np.all(slack >= -1e-9)
    binding = slack < 1e-8
    if not binding.any():
        assert w == pytest.approx(point)
        return
    from scipy.optimize import nnls

    _, left = nnls((C[binding] / np.linalg.norm(C[binding], axis=1)[:, None]).T, w - point)
    assert left <= 1e-7


def test_closed_forms():
    assert nearest(np.eye(2), np.array([1.0, 2.0])) == pytest.approx([1, 2])
    assert nearest(np.eye(2), np.array([-1.0, -2.0])) == pytest.approx([0, 0])
    assert nearest(np.array([[1.0, 1.0]]), np.array([2.0])) == pytest.approx([1, 1])
    assert nearest(np.array([[1.0], [-1.0]]), np.array([1.0, 1.0])) is None
    assert nearest(np.array([[0.0, 1e-8]]), np.array([1.0])) == pytest.approx([0, 1e8])
    none = np.zeros((0, 2))
    assert shortest(np.array([[1.0, 1.0]]), np.array([2.0]), none, np.zeros(0)) == pytest.approx([1, 1])
    assert shortest(np.eye(2), np.array([3.0, 4.0]), none, np.zeros(0)) == pytest.approx([3, 4])
    w = shortest(np.array([[1.0, 0.0]]), np.array([1.0]), np.array([[1.0, 0.5]]), np.array([3.0]))
    assert w == pytest.approx([1, 4])
