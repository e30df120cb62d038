"""The slice of parameter space: exact polygons, checked against rational arithmetic."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zonofit.geometry.arrangement import Arrangement
from zonofit.plots.chart import area, clip, line_ends, slice_cells, slice_turn, slice_window


def cells_of(X, bias=1.0):
    X = np.asarray(X, float)
    window = slice_window(X, bias)
    return window, slice_cells(X, Arrangement.from_examples(X).patterns(), bias, window)


def regions_of_lines(X):
    """Regions into which lines x·w = -1 cut the plane: 1 + lines + Σ over meeting points of (multiplicity - 1)."""
    lines = [tuple(map(Fraction, x)) for x in np.unique(np.asarray(X, float), axis=0).tolist() if any(x)]
    points = {}
    for i, j in combinations(range(len(lines)), 2):
        (a, b), (c, d) = lines[i], lines[j]
        det = a * d - b * c
        if det:
            points.setdefault(((b - d) / det, (c - a) / det), set()).update((i, j))
    return 1 + len(lines) + sum(len(through) - 1 for through in points.values())


quarters = st.integers(-12, 12).map(lambda k: k / 4)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(st.lists(st.tuples(quarters, quarters), min_size=1, max_size=7), st.sampled_from([1.0, -1.0]))
def test_every_region_of_the_slice_is_one_cell(X, bias):
    window, cells = cells_of(X, bias)
    assert len(cells) == regions_of_lines(X)
    whole = np.prod(window[:, 1] - window[:, 0])
    assert sum(area(cell.polygon) for cell in cells) == pytest.approx(whole, rel=1e-9)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.lists(st.tuples(quarters, quarters), min_size=1, max_size=7))
def test_cells_lie_on_their_side_of_every_line(X):
    _, cells = cells_of(X)
    for cell in cells:
        middle = cell.polygon.mean(axis=0)
        assert np.array_equal(np.asarray(X) @ middle + 1 > 0, cell.pattern)


def test_bounded_chambers_are_inside_the_window():
    rng = np.random.default_rng(3)
    for N in range(2, 9):
        X = rng.standard_normal((N, 2))
        window, cells = cells_of(X)
        touching = [(np.abs(cell.polygon[:, None] - window.T) < 1e-9).any() for cell in cells]
        assert len(cells) == 1 + N + N * (N - 1) // 2
        assert len(cells) - sum(touching) == (N - 1) * (N - 2) // 2


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_units_of_the_data_do_not_matter(scale):
    X = np.random.default_rng(1).standard_normal((6, 2))
    window, cells = cells_of(X)
    scaled = X * [scale, 1 / scale]
    other, others = cells_of(scaled)
    assert np.allclose(other * np.array([[scale], [1 / scale]]), window)
    assert {c.pattern.tobytes() for c in others} == {c.pattern.tobytes() for c in cells}


def test_slanted_slices_are_turned():
    X = np.random.default_rng(0).standard_normal((6, 2))
    assert np.array_equal(slice_turn(X, 1.0), np.eye(2))
    far = X + [100.0, 50.0]
    turn = slice_turn(far, 1.0)
    assert not np.array_equal(turn, np.eye(2))
    patterns = Arrangement.from_examples(far).patterns()

    def least(data):
        window = slice_window(data, 1.0)
        cells = slice_cells(data, patterns, 1.0, window)
        return len(cells), np.median([area(c.polygon) for c in cells]) / np.prod(np.ptp(window, axis=1))

    (straight, small), (turned, large) = least(far), least(far @ turn)
    assert straight == turned and large > 3 * small


def test_lines_end_on_the_window():
    window = np.array([[-1.0, 2.0], [0.0, 1.0]])
    assert line_ends(np.array([0.0, 1.0]), 1.0, window) is None
    ends = line_ends(np.array([1.0, 0.0]), -1.0, window)
    assert sorted(map(tuple, ends.tolist())) == [(1.0, 0.0), (1.0, 1.0)]
    diagonal = line_ends(np.array([1.0, -3.0]), 1.0, window)
    assert sorted(map(tuple, np.round(diagonal, 12).tolist())) == [(-1.0, 0.0), (2.0, 1.0)]


def test_clip_keeps_orientation():
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    part = clip(square, np.array([1.0, 1.0]), -0.5)
    assert area(part) == pytest.approx(0.875) and len(part) == 5
    assert len(clip(square, np.array([1.0, 0.0]), -2.0)) == 0
    assert clip(square, np.array([1.0, 0.0]), 2.0) is square
