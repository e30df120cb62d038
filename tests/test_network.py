"""ShallowReLU: its pieces, its simplest form and its dictionary, against plain evaluation."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zonofit.errors import InputError
from zonofit.network import ShallowReLU


def evaluate(network, X):
    """The definition, a unit at a time."""
    total = np.full(len(X), network.c)
    for w, v in zip(network.W, network.v, strict=True):
        for i, x in enumerate(X):
            total[i] += v * max(0.0, float(np.dot(w[:-1], x)) + w[-1])
    return total


def draw(seed, m=6, d=3):
    rng = np.random.default_rng(seed)
    return ShallowReLU(rng.standard_normal((m, d + 1)), rng.standard_normal(m), rng.standard_normal()), rng


def test_predicts_the_definition():
    network, rng = draw(0)
    X = rng.standard_normal((20, 3))
    assert network.predict(X) == pytest.approx(evaluate(network, X))


def test_affine_at_is_the_piece():
    network, rng = draw(1)
    X = rng.standard_normal((20, 3))
    slopes, intercepts = network.affine_at(X)
    assert np.sum(slopes * X, axis=1) + intercepts == pytest.approx(network.predict(X))
    step = 1e-7 * rng.standard_normal((20, 3))
    assert np.sum(slopes * step, axis=1) == pytest.approx(network.predict(X + step) - network.predict(X), abs=1e-12)


@given(st.integers(0, 2**31))
@settings(max_examples=40, deadline=None)
def test_pieces_are_the_function(seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(0, 7))
    W = rng.integers(-3, 4, (m, 2)).astype(float)  # parallel, dead and constant units abound
    network = ShallowReLU(W, rng.integers(-2, 3, m), rng.integers(-2, 3))
    pieces = network.pieces
    assert pieces[0].left == -np.inf and pieces[-1].right == np.inf
    for before, after in itertools.pairwise(pieces):
        assert before.right == after.left and before.slope != after.slope
        assert before.slope * before.right + before.intercept == pytest.approx(
            after.slope * after.left + after.intercept, abs=1e-9
        )
    for piece in pieces:
        x = np.linspace(max(piece.left, -9), min(piece.right, 9), 5)
        if x[0] <= x[-1]:
            assert network.predict(x[:, None]) == pytest.approx(piece.slope * x + piece.intercept, abs=1e-9)
    assert list(network.breakpoints) == [piece.left for piece in pieces[1:]]


@given(st.integers(0, 2**31), st.booleans())
@settings(max_examples=60, deadline=None)
def test_simplify_keeps_the_function(seed, box):
    rng = np.random.default_rng(seed)
    m, d = int(rng.integers(0, 9)), int(rng.integers(1, 3))
    W = rng.integers(-1, 2, (m, d + 1)) * rng.integers(1, 4, (m, 1)).astype(float)
    network = ShallowReLU(W, rng.integers(-2, 3, m), rng.integers(-2, 3))
    sides = (-1.5, 0.5) if box else (None, None)
    simple = network.simplify(*sides)
    assert simple.width <= network.width
    X = rng.uniform(-1.5, 0.5, (50, d)) if box else 4 * rng.standard_normal((50, d))
    assert simple.predict(X) == pytest.approx(network.predict(X), abs=1e-9)
    assert simple.simplify(*sides).width == simple.width


@pytest.mark.parametrize(
    ("W", "v", "width"),
    [
        ([[1, 0], [2, 0]], [1, 1], 1),  # parallel
        ([[1, 0], [2, 0]], [2, -1], 0),  # and cancelling
        ([[1, 0], [-1, 0]], [1, 1], 2),  # |x| needs both
        ([[1, 0], [-1, 0]], [1, -1], 2),  # so does x itself
        ([[0, 1], [0, -1]], [3, 5], 0),  # constants
        ([[1, 0], [-1, 0], [1, 1], [-1, -1], [1, 2], [-1, -2]], [1, 1, 1, 1, 1, 1], 5),  # three pairs: 3 + 2
        ([[1, 0], [-1, 0], [1, 1], [-1, -1]], [1, 1, -1, -1], 2),  # |x| - |x+1|: the remainders cancel
        ([[1, 0], [1, 0]], [0, 1], 1),
    ],
)
def test_simplify_finds_the_least(W, v, width):
    network = ShallowReLU(W, v, 0.5)
    simple = network.simplify()
    x = np.linspace(-4, 4, 33)[:, None]
    assert simple.width == width
    assert simple.predict(x) == pytest.approx(network.predict(x))


def test_simplify_on_a_box_drops_the_dead_and_gathers_the_affine():
    network = ShallowReLU([[1, 5], [1, -5], [1, 7], [1, 0]], [1, 1, -1, 1], 0)
    simple = network.simplify(-1, 1)
    assert simple.width == 1 and simple.c == -2  # x + 5 - (x + 7) + max(0, x)
    with pytest.raises(InputError, match="lower: is above upper"):
        network.simplify(1, -1)


def test_ranges_are_attained():
    network, rng = draw(3)
    lower, upper = -rng.uniform(0, 2, 3), rng.uniform(0, 2, 3)
    low, high = network.ranges(lower, upper)
    corners = np.array(np.meshgrid(*zip(lower, upper, strict=True))).reshape(3, -1).T
    Z = network.preactivations(corners)
    assert Z.min(axis=0) == pytest.approx(low) and Z.max(axis=0) == pytest.approx(high)
    assert np.isinf(network.ranges()[0]).all()


def test_prune_keeps_the_predictions_on_the_examples():
    network, rng = draw(4, m=20)
    X = 0.1 * rng.standard_normal((10, 3))
    pruned = network.prune(X)
    assert pruned.width < 20 and pruned.predict(X) == pytest.approx(network.predict(X))


def test_dictionary_and_back():
    network = ShallowReLU([[1, 2, 3]], [-1], 0.1, features=("a", "b"), target="y", classes=("no", "yes"))
    again = ShallowReLU.from_dict(network.to_dict())
    assert again.to_dict() == network.to_dict()
    assert ShallowReLU.from_dict(ShallowReLU(np.zeros((0, 4)), [], 1).to_dict()).n_features == 3


def test_repr_tells():
    assert repr(draw(0)[0]).startswith("ShallowReLU(3 features, 6 units (")
    one = ShallowReLU([[1, 0], [-1, 0]], [1, 1], 0, classes=(0, 1))
    assert repr(one) == "ShallowReLU(1 feature, 2 units (2 up, 0 down), 7 parameters, 2 linear pieces, 0 or 1)"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1, 2]], [1, 2], 0), "v: expected 1 numbers"),
        (([1, 2], [1], 0), "W: expected one row a unit"),
        (([[1, np.nan]], [1], 0), "W: holds NaN"),
        (([[1, 2]], [1], [0]), "c: expected one number"),
        (([[1, 2]], [1], 0, ("a", "b")), "features: 2 names for 1 features"),
        (([[1, 2]], [1], 0, None, None, (1,)), "classes: 1 labels"),
    ],
)
def test_refuses_what_is_no_network(arguments, message):
    with pytest.raises(InputError, match=message):
        ShallowReLU(*arguments)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ([], "this is no network"),
        ({"format": "zonofit network", "version": 2}, "version 2"),
        ({"format": "zonofit network", "version": 1, "W": [], "c": 0}, "output_weights is missing"),
    ],
)
def test_refuses_other_dictionaries(fields, message):
    with pytest.raises(InputError, match=message):
        ShallowReLU.from_dict(fields)


def test_wrong_number_of_features():
    with pytest.raises(InputError, match="X: expected 3 features, got 2"):
        draw(0)[0].predict([[1, 2]])
