"""Zero, parallel and dependent generators, and coordinates that no scale can spoil."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reference import cube
from zonofit.geometry.arrangement import Arrangement
from zonofit.geometry.reduction import _accurate_product, reduce_generators
from zonofit.tolerances import DEFAULT_TOLERANCES


def reduced(generators):
    return reduce_generators(np.asarray(generators, float), DEFAULT_TOLERANCES)


def test_classes_orientations_and_zeros():
    r = reduced([[0, 0, 0], [1, 2, 3], [-2, -4, -6], [0, 1, 0], [1, 2, 3], [0, -5, 0]])
    assert r.member.tolist() == [-1, 0, 0, 1, 0, 1]
    assert r.orientation.tolist() == [0, 1, -1, 1, 1, -1]
    assert r.rank == 2 and r.simple.shape == (2, 2)
    assert not r.is_trivial
    assert np.array_equal(r.expand([True, False]), [False, True, False, False, True, True])


@pytest.mark.parametrize("scale", [1e-280, 1e-8, 1.0, 1e8, 1e280])
def test_signs_survive_the_change_of_coordinates(scale):
    rng = np.random.default_rng(0)
    G = rng.standard_normal((30, 4)) * np.array([1.0, 1e-8, 1e8, 3.0])
    r = reduced(scale * G)
    u = rng.standard_normal((500, r.rank))
    w = u @ r.lift.T
    values = (w / np.max(np.abs(w), axis=1, keepdims=True)) @ G.T
    assert np.array_equal(values > 0, u @ r.simple.T > 0)


def test_simple_rows_are_unit_and_well_spread():
    rng = np.random.default_rng(1)
    for G in (
        np.c_[1000 + rng.standard_normal((40, 4)), np.ones(40)],
        np.exp(4 * rng.standard_normal((40, 5))),
        cube(4) * rng.choice([1e-6, 1.0, 1e6], 16)[:, None],
    ):
        r = reduced(G)
        assert np.allclose(np.linalg.norm(r.simple, axis=1), 1, atol=1e-14)
        spread = np.linalg.eigvalsh(r.simple.T @ r.simple)
        assert spread[-1] <= 4 * spread[0]


def test_short_decimals_are_read_as_they_were_typed():
    X = np.array([[0.1, 0.1], [0.2, 0.2], [0.3, 0.3], [0.7, 0.1]])
    assert 0.1 + 0.2 != 0.3
    assert Arrangement.from_examples(X).n_chambers() == Arrangement.from_examples(np.round(10 * X)).n_chambers()
    simple = reduced(np.c_[X, np.ones(4)]).simple
    assert abs(np.linalg.det(simple[:3])) < 4e-16


def test_rank_of_wide_and_flat_data():
    rng = np.random.default_rng(2)
    assert reduced(rng.standard_normal((3, 8))).rank == 3
    assert reduced(rng.standard_normal((20, 2)) @ rng.standard_normal((2, 6))).rank == 2
    assert reduced(np.c_[rng.standard_normal((9, 2)), np.zeros(9)]).rank == 2
    assert reduced(np.zeros((4, 3))).rank == 0


def test_nearly_parallel_generators_stay_apart():
    G = np.array([[1.0, 0.0, 1.0], [1.0, 1e-8, 1.0], [0.0, 1.0, 2.0]])
    assert len(reduced(G).simple) == 3


def test_many_copies_form_one_class():
    rng = np.random.default_rng(3)
    G = np.repeat(rng.standard_normal((4, 3)), 50, axis=0) * rng.choice([-1.0, 0.1, 7.0], (200, 1))
    r = reduced(G[rng.permutation(200)])
    assert len(r.simple) == 4
    assert np.bincount(r.member).tolist() == [50] * 4


def test_accurate_product_has_no_cancellation():
    from fractions import Fraction

    rng = np.random.default_rng(4)
    a = rng.standard_normal((6, 5)) * 1e8
    b = np.linalg.pinv(a)[:, :3] + 0.0
    exact = [[float(sum(Fraction(x) * Fraction(y) for x, y in zip(row, col, strict=True))) for col in b.T] for row in a]
    assert np.allclose(_accurate_product(a, b), exact, rtol=4e-16, atol=1e-24)
