import numpy as np
import pytest

from zonofit.data import load_example
from zonofit.geometry.arrangement import Arrangement
from zonofit.plots.chart import slice_cells, slice_window
from zonofit.plots.colours import chamber_colours, ink_on, relative_luminance

# Vienot, Brettel and Mollon (1999): linear RGB as a protanope and a deuteranope see it
CONFUSED = {
    "normal": np.eye(3),
    "protan": np.array([[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]]),
    "deutan": np.array([[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]]),
}


def lab(rgb, vision):
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4) @ CONFUSED[vision].T
    to_xyz = np.array(
        [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
    )
    t = np.clip(linear, 0, 1) @ to_xyz.T / [0.95047, 1, 1.08883]
    f = np.where(t > (6 / 29) ** 3, np.cbrt(t), t / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.c_[116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])]


def example_colours():
    X = load_example()
    window = slice_window(X, 1.0)
    cells = slice_cells(X, Arrangement.from_examples(X).patterns(), 1.0, window)
    patterns = np.array([c.pattern for c in cells])
    return patterns, chamber_colours(patterns, np.array([c.polygon.mean(axis=0)[0] for c in cells]))


@pytest.mark.parametrize("vision", CONFUSED)
def test_colours_can_be_told_apart(vision):
    patterns, colours = example_colours()
    seen = lab(colours, vision)
    apart = np.linalg.norm(seen[:, None] - seen, axis=2)
    distance = (patterns[:, None] != patterns).sum(axis=2)
    assert apart[distance == 1].min() > 7  # neighbours
    assert apart[distance > 0].min() > 5  # any two


def test_lightness_orders_the_number_of_active_examples():
    patterns, colours = example_colours()
    light = lab(colours, "normal")[:, 0]
    counts = patterns.sum(axis=1)
    for k in range(counts.min(), counts.max()):
        assert light[counts == k].min() > light[counts == k + 1].max() + 3


def test_text_has_contrast():
    _, colours = example_colours()
    for colour in colours:
        ink = 0.0 if ink_on(colour) == "black" else 1.0
        light, dark = sorted([relative_luminance(colour), ink], reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_relative_luminance_and_ink():
    assert relative_luminance([0, 0, 0]) == 0 and relative_luminance([1, 1, 1]) == pytest.approx(1)
    assert ink_on([1, 1, 0.9]) == "black" and ink_on([0, 0, 0.4]) == "white"


def test_one_chamber_has_a_colour():
    colours = chamber_colours(np.ones((1, 3), bool), np.zeros(1))
    assert colours.shape == (1, 3) and colours.min() >= 0 and colours.max() <= 1
