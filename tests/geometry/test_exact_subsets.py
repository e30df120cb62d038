"""Chambers that rounding could decide: integers beside large ones, against exact counts and proofs."""

from __future__ import annotations

import warnings
from itertools import combinations

import numpy as np
import pytest

from tests.reference import count_by_restriction, cover_count, cube, resonance
from zonofit.errors import AmbiguousPositionWarning
from zonofit.geometry import chambers
from zonofit.geometry._exact_subsets import ExactSubsets, exact_columns, least_value
from zonofit.geometry.arrangement import Arrangement
from zonofit.geometry.bijection import chamber_of_subset, frame_coordinates
from zonofit.geometry.chambers import SubsetWalk, _advance, _rank, _unrank, exact_frame
from zonofit.geometry.packing import unpack
from zonofit.geometry.rational import gordan

TRIPLE = [[0, 1], [1, 2007], [2, 0], [1, 0], [2, 2], [1, 2008]]


def beside_large_ones(seed: int, e: int) -> np.ndarray:
    """Small integers, one or two of them moved by about 10^e."""
    rng = np.random.default_rng(seed)
    d, N = int(rng.integers(1, 4)), int(rng.integers(3, 9))
    X = rng.integers(0, 3, (N, d)).astype(float)
    for _ in range(int(rng.integers(1, 3))):
        X[rng.integers(N), rng.integers(d)] += (10**e + 3) * int(rng.integers(1, 4))
    return X


def integers(X: np.ndarray) -> list[list[int]]:
    return [[*map(int, row), 1] for row in X.tolist()]


@pytest.mark.parametrize("e", [3, 4, 5, 6, 7, 8])
def test_integers_beside_large_ones_are_counted_exactly(e):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for seed in range(60):
            X = beside_large_ones(seed, e)
            assert Arrangement.from_examples(X).n_chambers() == count_by_restriction(integers(X)), seed


@pytest.mark.slow
@pytest.mark.parametrize("e", [3, 4, 5, 6, 7, 8])
def test_many_integers_beside_large_ones(e):
    for seed in range(60, 500):
        X = beside_large_ones(seed, e)
        assert Arrangement.from_examples(X).n_chambers() == count_by_restriction(integers(X)), seed


@pytest.mark.parametrize("e", [3, 5, 7, 8])
def test_every_pattern_beside_large_ones_is_proved(e):
    for seed in range(15):
        X = beside_large_ones(seed, e)
        patterns = Arrangement.from_examples(X).patterns()
        assert len(np.unique(patterns, axis=0)) == len(patterns) == count_by_restriction(integers(X))
        for pattern in patterns:
            rows = [[x if bit else -x for x in row] for row, bit in zip(integers(X), pattern, strict=True)]
            assert isinstance(gordan(rows), list)


@pytest.mark.parametrize("scale", [0.1, 0.01])
def test_short_decimals_far_from_the_origin_are_counted_exactly(scale):
    rng = np.random.default_rng(0)
    for _ in range(10):
        Z = rng.integers(0, 4, (9, 2)) + 10**6
        rows = [[*row, round(1 / scale)] for row in Z.tolist()]
        assert Arrangement.from_examples(Z * scale).n_chambers() == count_by_restriction(rows)


def test_blocks_threads_and_halves_agree_on_doubtful_subsets():
    for X in (beside_large_ones(4, 8), beside_large_ones(17, 3), beside_large_ones(7, 6)):
        arrangement = Arrangement.from_examples(X)
        whole = {row.tobytes() for block in arrangement.chambers() for row in block}
        for options in ({"block_size": 2}, {"block_size": 7, "n_jobs": 2}, {"n_jobs": 2}):
            blocks = list(arrangement.chambers(**options))
            assert {row.tobytes() for block in blocks for row in block} == whole
            assert sum(map(len, blocks)) == len(whole)
        assert 2 * sum(len(block) for block in arrangement.chambers(half=True)) == len(whole)


def test_uniform_samples_are_chambers():
    arrangement = Arrangement.from_examples(beside_large_ones(4, 8))
    known = {tuple(p) for p in arrangement.patterns().tolist()}
    sample = arrangement.sample(3000, np.random.default_rng(0), how="uniform")
    assert {tuple(p) for p in sample.patterns.tolist()} == known


@pytest.mark.parametrize("X", [cube(3)[:, :-1], TRIPLE, beside_large_ones(4, 8), resonance(4)])
def test_integers_name_the_chambers_of_the_walk(X):
    reduction = Arrangement.from_examples(X).reduction
    coordinates, axes = frame_coordinates(reduction.simple)
    exact = ExactSubsets(exact_columns(reduction.exact, axes))
    walk = SubsetWalk(coordinates, False, 256.0, exact_frame(reduction, axes))
    M, n = exact.M, exact.n
    for k in range(1, n):
        for subset in combinations(range(M), k):
            words = walk.of_subset(np.array(subset, np.int64))
            assert exact.pattern(subset) == (None if words is None else unpack(words, M + 1).tolist())


def test_integers_meet_the_readable_twin():
    reduction = Arrangement(cube(3)).reduction
    coordinates, axes = frame_coordinates(reduction.simple)
    exact = ExactSubsets(exact_columns(reduction.exact, axes))
    for k in range(exact.n):
        for subset in combinations(range(exact.M), k):
            signs = chamber_of_subset(coordinates, subset, 1e-9)
            assert exact.pattern(subset) == (None if signs is None else (signs > 0).tolist())


def test_more_doubts_than_the_budget_are_reported(monkeypatch):
    monkeypatch.setattr(chambers, "_EXACT_BUDGET", 0)
    with pytest.warns(AmbiguousPositionWarning, match="not all were settled"):
        Arrangement.from_examples(beside_large_ones(4, 8)).n_chambers()


def test_floats_on_a_line_beside_large_ones_are_not_wrong_in_silence():
    # the same three examples, after a change of features that leaves no short decimals
    change = np.random.default_rng(0).standard_normal((3, 3))
    G = np.c_[np.array(TRIPLE, float), np.ones(6)] @ change
    assert Arrangement(G).reduction.exact is None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        count = Arrangement(G).n_chambers()
    assert caught or count == 30


def test_generic_decimals_and_floats_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for seed in range(3):
            G = np.random.default_rng(seed).standard_normal((40, 5))
            assert Arrangement(G).n_chambers() == cover_count(40, 5)
            assert Arrangement(np.round(G, 6)).n_chambers() == cover_count(40, 5)


def test_the_least_value_is_below_every_volume_that_is_not_zero():
    reduction = Arrangement(cube(3)).reduction
    volumes = [abs(np.linalg.det(reduction.simple[list(S)])) for S in combinations(range(8), 4)]
    assert 0 < least_value(reduction.exact) < min(v for v in volumes if v > 1e-9)


def test_ranks_of_subsets():
    subsets = list(combinations(range(8), 3))
    for rank, subset in enumerate(subsets):
        assert _rank(subset, 8) == rank
        assert tuple(_unrank(rank, 8, 3).start) == subset
        following = list(subset)
        _advance(following, 8)
        assert tuple(following) == subsets[min(rank + 1, len(subsets) - 1)]
