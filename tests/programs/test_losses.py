"""Laws that every loss obeys, and what each does with labels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zonofit.errors import InputError
from zonofit.programs.losses import LOSSES, Absolute, Huber, Logistic, Squared, as_loss, spread

EVERY = [*(cls() for cls in LOSSES.values()), Huber(0.01), Huber(30.0)]
each = pytest.mark.parametrize("loss", EVERY, ids=repr)
laws = settings(max_examples=200, deadline=None, derandomize=True)
numbers = st.floats(-40, 40, allow_subnormal=False)


def label(loss, number):
    return np.float64(number > 0) if isinstance(loss, Logistic) else np.float64(number)


def corner(loss, u, y, width):
    """Whether a slope jumps, or bends, within `width` of u."""
    at = {Absolute: 0.0, Huber: getattr(loss, "delta", 0.0)}.get(type(loss))
    return at is not None and abs(abs(u - y) - at) <= width


def test_every_name_gives_its_loss():
    for name, cls in LOSSES.items():
        assert type(as_loss(name)) is cls
        assert as_loss(cls()) == cls()
    for wrong in ("hinge", None, 3, Squared):
        with pytest.raises(InputError, match=r"loss: .*squared, logistic, huber, absolute"):
            as_loss(wrong)


@each
@laws
@given(u=numbers, number=numbers)
def test_slope_is_the_derivative_of_value(loss, u, number):
    u, y = np.float64(u), label(loss, number)
    h = 1e-5
    if corner(loss, u, y, h):
        return
    quotient = (loss.value(u + h, y) - loss.value(u - h, y)) / (2 * h)
    rounding = 1e-15 * (loss.value(u, y) + 1) / h
    assert quotient == pytest.approx(loss.slope(u, y), abs=1e-8 + 4 * rounding, rel=1e-8)


@each
@laws
@given(u=numbers, number=numbers)
def test_curvature_is_the_derivative_of_slope(loss, u, number):
    u, y = np.float64(u), label(loss, number)
    h = 1e-5
    if corner(loss, u, y, h):
        return
    quotient = (loss.slope(u + h, y) - loss.slope(u - h, y)) / (2 * h)
    assert quotient == pytest.approx(loss.curvature(u, y), abs=1e-8 + 4e-15 * abs(u - y) / h)
    assert loss.curvature(u, y) >= 0


@each
@laws
@given(us=st.lists(numbers, min_size=2, max_size=20), number=numbers)
def test_slope_never_falls_and_values_are_bounded_below(loss, us, number):
    u, y = np.sort(us), label(loss, number)
    assert np.all(np.diff(loss.slope(u, y)) >= 0)
    assert np.all(loss.value(u, y) >= 0)
    # convex: no value lies above the chord of its ends
    share = (u - u[0]) / ((u[-1] - u[0]) or 1.0)
    ends = loss.value(u[[0, -1]], y)
    assert np.all(loss.value(u, y) <= (1 - share) * ends[0] + share * ends[1] + 1e-12 * (1 + ends.max()))


@each
@laws
@given(u=numbers, at=numbers, number=numbers)
def test_fenchel_and_young(loss, u, at, number):
    u, at, y = np.float64(u), np.float64(at), label(loss, number)
    s = loss.slope(at, y)
    size = 1 + abs(s) * (abs(u) + abs(at) + abs(y)) + loss.value(u, y)
    conjugate = loss.conjugate(s, y)
    assert np.isfinite(conjugate)
    assert loss.value(u, y) + conjugate >= s * u - 1e-12 * size
    assert loss.value(at, y) + conjugate == pytest.approx(s * at, abs=1e-12 * size)


@pytest.mark.parametrize(
    ("loss", "label", "low", "high"),
    [
        (Logistic(), 0.0, 0.0, 1.0),
        (Logistic(), 1.0, -1.0, 0.0),
        (Huber(0.3), 2.0, -0.6, 0.6),
        (Absolute(), -7.0, -1, 1),
    ],
)
def test_conjugate_is_infinite_where_no_slope_is(loss, label, low, high):
    s = np.array([low - 1e-6, low, (low + high) / 2, high, high + 1e-6])
    assert np.isfinite(loss.conjugate(s, label)).tolist() == [False, True, True, True, False]


def test_conjugates_at_known_places():
    assert Squared().conjugate(np.float64(2.0), 3.0) == 7.0
    assert Absolute().conjugate(np.float64(-0.5), 3.0) == -1.5
    assert Logistic().conjugate(np.float64(-0.5), 1.0) == pytest.approx(-np.log(2.0))
    assert Logistic().conjugate(np.float64(0.0), 1.0) == 0.0


@pytest.mark.parametrize("u", [-800.0, -40.0, 40.0, 800.0])
def test_logistic_keeps_its_digits_in_both_tails(u):
    loss, u = Logistic(), np.float64(u)
    for y in (0.0, 1.0):
        wrong_by = u if y == 0.0 else -u
        expected = np.log1p(np.exp(-abs(u))) + max(wrong_by, 0.0)
        assert loss.value(u, y) == pytest.approx(expected, rel=1e-14, abs=1e-320)
        tail = np.exp(-abs(u)) / (1 + np.exp(-abs(u)))
        size = tail if wrong_by < 0 else 1 - tail
        assert loss.slope(u, y) == pytest.approx((1.0 if y == 0.0 else -1.0) * size, rel=1e-14, abs=1e-320)


@pytest.mark.parametrize("delta", [0.1, 1.0, 5.0])
def test_huber_lies_between_its_limits(delta):
    u, y = np.linspace(-9, 9, 1001), 0.5
    e = np.abs(u - y)
    values = Huber(delta).value(u, y)
    assert np.all(values <= np.minimum(e**2, 2 * delta * e) + 1e-15)
    assert np.allclose(Huber(1e6).value(u, y), Squared().value(u, y))
    assert np.allclose(Huber(1e-9).value(u, y) / 2e-9, Absolute().value(u, y), atol=1e-8)


@each
@pytest.mark.parametrize("unit", [1e-8, 0.3, 1.0, 1e8])
def test_losses_measured_in_other_units(loss, unit):
    """Divide labels and predictions by a unit: values of the loss in that unit grow by its power."""
    if not loss.translates:
        assert loss.measured_in(1.0) == loss
        return
    rng = np.random.default_rng(0)
    u, y = unit * rng.standard_normal((2, 100))
    scaled = loss.measured_in(unit)
    factor = unit**loss.label_power
    assert np.allclose(factor * scaled.value(u / unit, y / unit), loss.value(u, y), rtol=1e-12, atol=0)
    assert np.allclose(factor / unit * scaled.slope(u / unit, y / unit), loss.slope(u, y), rtol=1e-12, atol=0)


@each
@laws
@given(u=numbers, y=numbers, shift=st.integers(-64, 64))
def test_losses_that_translate(loss, u, y, shift):
    if loss.translates:
        here, there = loss.value(np.float64(u), y), loss.value(np.float64(u) + shift, y + shift)
        assert there == pytest.approx(here, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", [name for name in LOSSES if name != "logistic"])
def test_labels_are_any_numbers(name):
    y = np.array([-1e8, 0.0, 0.25, 3.0])
    assert np.array_equal(as_loss(name).labels(y), y)


def test_logistic_labels():
    loss = Logistic()
    for given_labels, expected in ([[0, 1, 1], [0, 1, 1]], [[-1, 1, 1], [0, 1, 1]], [[1, 1], [1, 1]], [[-1], [0]]):
        assert loss.labels(np.array(given_labels, float)).tolist() == expected
    for wrong, found in (([0, 1, 2], "2"), ([-1, 0, 1], "-1"), ([0.5], "0.5")):
        with pytest.raises(InputError, match=f"y: .*found {found};.*squared"):
            loss.labels(np.array(wrong, float))


@pytest.mark.parametrize("delta", [0.0, -1.0, np.nan, np.inf])
def test_huber_wants_a_length(delta):
    with pytest.raises(InputError, match=r"delta: .*positive"):
        Huber(delta)


@each
def test_best_constants_beat_other_constants(loss):
    rng = np.random.default_rng(1)
    for trial in range(20):
        y = loss.labels(
            (rng.standard_normal(9) > 0).astype(float) if isinstance(loss, Logistic) else rng.normal(size=9)
        )
        p = rng.random(9) * (rng.random(9) < 0.8) + 1e-3
        p /= p.sum()
        constant = loss.best_constant(y, p)
        if isinstance(loss, Huber):  # only a good one
            assert y.min() <= constant <= y.max()
            continue
        if y.min() == y.max() and isinstance(loss, Logistic):
            assert np.isfinite(constant)
            continue
        least = p @ loss.value(np.full(9, constant), y)
        for step in (-1.0, -1e-2, -1e-5, 1e-5, 1e-2, 1.0):
            assert least <= p @ loss.value(np.full(9, constant + step), y) + 1e-15, trial


def test_spread_is_a_standard_deviation_or_nothing():
    y, p = np.array([1.0, 5.0]), np.array([0.5, 0.5])
    assert spread(y, p, 3.0) == pytest.approx(2.0)
    for size in (1e-100, 1e8, 1e150):
        assert spread(size * y, p, 3.0 * size) == pytest.approx(2.0 * size)
    assert spread(np.full(3, 0.1), np.full(3, 1 / 3), np.full(3, 0.1) @ np.full(3, 1 / 3)) == 0.0
    # an example of weight 0 is not asked
    assert spread(np.array([0.0, 0.0, 9.0]), np.array([0.5, 0.5, 0.0]), 0.0) == 0.0
