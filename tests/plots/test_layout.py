import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from zonofit.plots.canvas import new_figure
from zonofit.plots.layout import Boxes, Measure, room_in, segments_cross, segments_meet_box
from zonofit.plots.names import active_set, runs, wrap


def convex_polygon(rng, k):
    angle = np.sort(rng.uniform(0, 2 * np.pi, k))
    while np.diff(np.append(angle, angle[0] + 2 * np.pi)).max() > 2.8:
        angle = np.sort(rng.uniform(0, 2 * np.pi, k))
    return np.c_[np.cos(angle), np.sin(angle)] * rng.uniform(0.5, 300) * [1, rng.uniform(0.2, 1)] + rng.normal(size=2)


@pytest.mark.parametrize("seed", range(20))
def test_room_is_the_optimum_of_its_linear_program(seed):
    rng = np.random.default_rng(seed)
    polygon = convex_polygon(rng, rng.integers(3, 9))
    width, height = rng.uniform(0, 40, 2) * (seed % 2)
    side = np.roll(polygon, -1, axis=0) - polygon
    normal = np.c_[side[:, 1], -side[:, 0]] / np.hypot(*side.T)[:, None]
    level = (normal * polygon).sum(axis=1) - np.abs(normal) @ [width / 2, height / 2]
    best = linprog([0, 0, -1], np.c_[normal, np.ones(len(normal))], level, bounds=[(None, None)] * 3)
    centre, clearance = room_in(polygon, width, height)
    assert clearance == pytest.approx(-best.fun, rel=1e-6, abs=1e-6)
    assert np.min(level - normal @ centre) == pytest.approx(clearance, rel=1e-5, abs=1e-4)


def test_room_in_a_strip_is_in_its_middle():
    strip = np.array([[0.0, 0.0], [10.0, 0.0], [10.0, 2.0], [0.0, 2.0]])
    centre, clearance = room_in(strip)
    assert np.allclose(centre, [5, 1]) and clearance == pytest.approx(1)


coordinate = st.integers(-6, 6).map(float)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(coordinate, coordinate, coordinate, coordinate)
def test_segments_meet_boxes(a, b, c, d):
    box = np.array([-2.0, -1.0, 3.0, 2.0])
    t = np.linspace(0, 1, 2521)
    x, y = a + t * (c - a), b + t * (d - b)
    on = ((x >= -2 - 1e-9) & (x <= 3 + 1e-9) & (y >= -1 - 1e-9) & (y <= 2 + 1e-9)).any()
    assert segments_meet_box(np.array([[a, b, c, d]]), box)[0] == on


def test_segments_cross():
    others = np.array([[0.0, -1, 0, 1], [5, -1, 5, 1], [-1, 1, 1, 2]])
    assert segments_cross(np.array([-1.0, 0, 1, 0]), others) == 1
    assert segments_cross(np.array([-1.0, 0, 9, 0]), others) == 2
    assert segments_cross(np.array([-1.0, 0, 9, 0]), others[:0]) == 0


def test_boxes_that_touch_are_taken():
    taken = Boxes()
    taken.add(np.array([0.0, 0, 10, 10]))
    assert not taken.free(np.array([9.0, 9, 20, 20]))
    assert taken.free(np.array([11.0, 0, 20, 10]))
    assert not taken.free(np.array([11.0, 0, 20, 10]), gap=2)


def test_measured_sizes_are_those_drawn():
    figure = new_figure(4, 3)
    measure = Measure(figure)
    for text, size, weight in [
        ("1,2,3", 8, "normal"),
        ("$H_{12}$", 7.5, "normal"),
        ("0.1", 9, "bold"),
        ("a,\nb", 6, "normal"),
    ]:
        artist = figure.text(
            0.5, 0.5, text, fontsize=size, fontweight=weight, ha="center", va="center", linespacing=1.1
        )
        drawn = artist.get_window_extent(figure.canvas.get_renderer()).extents
        assert np.allclose(measure.box(text, size, weight, at=(200, 150)), drawn, atol=1.01)


def test_active_sets_are_short():
    assert active_set(np.zeros(3, bool)) == "∅"
    assert active_set(np.array([1, 1, 1, 0, 1], bool)) == "1,2,3,5"
    assert active_set(np.array([1, 1, 1, 0, 1], bool), first=0) == "0,1,2,4"
    assert active_set(np.array([1, 1, 1, 0, 1, 0, 1, 1], bool)) == "1–3,5,7,8"
    assert runs([1, 2, 4, 5, 6, 9]) == ["1", "2", "4–6", "9"]


def test_wrapping_loses_nothing():
    for text in ("1", "1,2", "1,2,3,4,5", "1–5,7,9–12,14"):
        for lines in (1, 2, 3):
            wrapped = wrap(text, lines)
            if wrapped is None:
                assert text.count(",") + 1 < lines
                continue
            assert wrapped.replace("\n", "") == text
            assert wrapped.count("\n") == lines - 1
            assert all(row.strip(",") for row in wrapped.split("\n"))
