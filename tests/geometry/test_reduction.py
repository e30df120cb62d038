"""Zero, parallel and dependent generators, and coordinates that no scale can spoil."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reference import chambers_by_lp, cube
from zonofit.geometry.arrangement import Arrangement
from zonofit.geometry.reduction import _accurate_product, _modular_rank, reduce_generators
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


def overloaded_flats():
    """Most generators on a line or a plane, where no change of coordinates makes directions point everywhere alike."""
    rng = np.random.default_rng(5)
    for trial in range(120):
        n = int(rng.integers(2, 5))
        k = int(rng.integers(1, n))
        flat = rng.integers(-3, 4, (int(rng.integers(3, 8)), k)) @ rng.integers(-2, 3, (k, n))
        G = np.r_[flat, rng.integers(-2, 3, (int(rng.integers(1, 3)), n))].astype(float)
        yield pytest.param(G, rng.standard_normal((n, n)), id=str(trial))


@pytest.mark.parametrize(("G", "change"), list(overloaded_flats()))
def test_crowded_flats_neither_split_nor_merge_chambers(G, change):
    count = len(chambers_by_lp(G))
    assert Arrangement(G).n_chambers() == count
    assert Arrangement(G @ change).n_chambers() == count


@pytest.mark.parametrize(
    ("G", "count"), [([[1, -1, 1], [0, 1, 1], [-1, 1, 1], [1, 1, 1], [1, 1, 1]], 39), ([[0, 1]] + 4 * [[1, 1]], 9)]
)
def test_faces_of_crowded_flats(G, count):
    from zonofit.geometry.faces import faces

    for seed in range(10):
        change = np.random.default_rng(seed).standard_normal((len(G[0]), len(G[0])))
        for rows in (np.array(G, float), np.array(G) @ change):
            arrangement = Arrangement(rows)
            assert sum(len(faces(arrangement, k)) for k in range(arrangement.rank + 1)) == count


def test_noise_counts_only_where_entries_were_rounded():
    X = np.random.default_rng(0).standard_normal((30, 3))
    assert reduced(np.round(100 * X)).noise == reduced(np.round(X, 3)).noise == 0
    near, far = reduced(np.c_[X, np.ones(30)]).noise, reduced(np.c_[1000 + X, np.ones(30)]).noise
    assert 0 < near < 20 < 100 * near < far


@pytest.mark.parametrize("far", [1e9, 1e11, 1e12, 1e13])
def test_numbers_typed_differently_are_not_merged_beside_a_large_one(far):
    arrangement = Arrangement.from_examples([[0], [1], [far]])
    assert len(arrangement.reduction.simple) == 3 and arrangement.n_chambers() == 6
    square = np.array([[0, 0], [1, 0], [0, 1], [1, 1], [far, 3]])
    assert len(Arrangement.from_examples(square).reduction.simple) == 5
    twice = Arrangement.from_examples(np.r_[square, square[:2]]).reduction
    assert len(twice.simple) == 5 and twice.member[5:].tolist() == twice.member[:2].tolist()
    turned = Arrangement(np.array([[1, 0], [1e-12, 1], [-2, 0], [-2e-12, -2]])).reduction
    assert len(turned.simple) == 2 and turned.orientation.tolist() == [1, 1, -1, -1]


def test_independent_integers_keep_their_rank_however_small_a_singular_value():
    X = [[2, 2, 0], [2, 2, 2], [1, 100000003, 2], [2, 0, 100000004]]
    arrangement = Arrangement.from_examples(X)
    assert arrangement.rank == 4 and arrangement.n_chambers() == 16
    points = np.random.default_rng(0).standard_normal((50, 4)) @ np.linalg.inv(arrangement.generators).T
    known = {tuple(p) for p in arrangement.patterns().tolist()}
    assert {tuple(p) for p in (points @ arrangement.generators.T > 0).tolist()} <= known


def test_rank_modulo_a_prime():
    rng = np.random.default_rng(0)
    for rank in range(1, 5):
        G = rng.integers(-9, 10, (7, rank)) @ rng.integers(-9, 10, (rank, 5))
        assert _modular_rank(G.astype(float)) == np.linalg.matrix_rank(G)
    assert _modular_rank(np.zeros((3, 2))) == 0
