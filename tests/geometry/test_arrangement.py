"""The facade: what goes in, signs and patterns of points."""

from __future__ import annotations

import numpy as np
import pytest

from zonofit.errors import InputError
from zonofit.geometry.arrangement import Arrangement
from zonofit.geometry.zonotope import Zonotope


def test_examples_get_a_one():
    X = [[1.0, 2.0], [3.0, 4.0]]
    arrangement = Arrangement.from_examples(X)
    assert np.array_equal(arrangement.generators, [[1, 2, 1], [3, 4, 1]])
    assert (arrangement.n_generators, arrangement.dimension, arrangement.rank) == (2, 3, 2)
    assert repr(arrangement) == "Arrangement(n_generators=2, dimension=3, rank=2)"


def test_input_is_copied_and_frozen():
    G = np.eye(2)
    arrangement = Arrangement(G)
    G[0, 0] = 7
    assert arrangement.generators[0, 0] == 1
    with pytest.raises(ValueError, match="read-only"):
        arrangement.generators[0, 0] = 2


def test_signs_and_patterns():
    arrangement = Arrangement([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    assert arrangement.sign_vector([2.0, -3.0]).tolist() == [1, -1, 0]
    assert arrangement.sign_vector([[0.0, 1.0], [1e-20, 1.0]]).tolist() == [[0, 1, 0], [0, 1, 0]]
    assert arrangement.pattern([2.0, -3.0]).tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("points", "words"),
    [
        ([[1.0, np.nan]], "nan at row 0, column 1"),
        ([[1.0], [np.inf]], "inf at row 1, column 0"),
        ([[1.0, 2.0], [3.0]], "equal length"),
        ([["a", "b"]], "numbers"),
        ([1.0, 2.0], "shape"),
        (np.zeros((0, 3)), "empty"),
        (np.zeros((3, 0)), "empty"),
        (np.zeros((2, 2, 2)), "shape"),
        (None, "shape"),
    ],
)
def test_bad_points_are_refused_in_one_sentence(points, words):
    with pytest.raises(InputError, match=words) as caught:
        Arrangement(points)
    assert str(caught.value).startswith("generators:")
    with pytest.raises(InputError, match=r"^X:"):
        Arrangement.from_examples(points)


@pytest.mark.parametrize("w", [1.0, [1.0], [1.0, 2.0, 3.0], [np.nan, 1.0]])
def test_bad_weights_are_named(w):
    with pytest.raises(InputError, match=r"^w:"):
        Arrangement(np.eye(2)).sign_vector(w)


def test_signs_do_not_depend_on_units():
    rng = np.random.default_rng(0)
    G = rng.standard_normal((12, 3))
    w = rng.standard_normal((20, 3))
    column = np.array([2.0**-27, 1.0, 2.0**27])
    row = 2.0 ** rng.integers(-30, 30, 12)
    scaled = Arrangement(row[:, None] * G * column)
    assert np.array_equal(scaled.sign_vector(w / column), Arrangement(G).sign_vector(w))
    assert np.all(scaled.sign_vector(w / column) != 0)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("scale", [1e-315, 1e-300, 1e-160, 1e160, 1e300])
def test_scales_whose_squares_are_no_floats(scale, bias):
    rng = np.random.default_rng(5)
    G = np.c_[rng.standard_normal((8, 2)), np.ones(8)]
    size = np.array([scale, scale, 1.0 if bias else scale])
    plain, scaled = Arrangement(G), Arrangement(G * size)
    assert scaled.rank == 3
    patterns = plain.patterns()
    assert np.array_equal(np.unique(scaled.patterns(), axis=0), np.unique(patterns, axis=0))
    w = rng.standard_normal((20, 3))
    if not bias:
        assert np.array_equal(scaled.sign_vector(w), plain.sign_vector(w))
    for pattern in patterns[:6]:
        walls = scaled.walls(pattern)
        assert np.array_equal(walls.indices, plain.walls(pattern).indices)
        assert np.array_equal(scaled.pattern(walls.neighbor_witnesses()), walls.neighbors())
    for how in ("gaussian", "uniform"):
        draw = scaled.sample(10, 1, how=how)
        assert np.array_equal(scaled.pattern(draw.witnesses), draw.patterns)
    assert len(Zonotope(scaled).vertices()[0]) == len(patterns)
    assert Zonotope(scaled).volume() >= 0
    assert Zonotope(G[:2] * size).volume() >= 0  # in a plane of R^3
