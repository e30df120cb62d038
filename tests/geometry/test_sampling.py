"""Random chambers: exactly uniform, or weighed by solid angle."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2

from tests.reference import cube, resonance
from zonofit.errors import BudgetError, InputError
from zonofit.geometry import sampling
from zonofit.geometry.arrangement import Arrangement

GENERIC = np.c_[np.random.default_rng(1).standard_normal((9, 2)), np.ones(9)]
ARRANGEMENTS = {
    "generic": GENERIC,
    "cube": cube(3),
    "resonance": resonance(4),
    "duplicates": np.r_[GENERIC[:5], 2 * GENERIC[:3], np.zeros((1, 3))],
    "wide": np.random.default_rng(2).standard_normal((3, 6)),
    "line": np.ones((4, 1)),
}


@pytest.mark.parametrize("name", ARRANGEMENTS)
@pytest.mark.parametrize("how", ["gaussian", "uniform"])
def test_witnesses_are_strictly_inside_their_chambers(name, how):
    arrangement = Arrangement(ARRANGEMENTS[name])
    draw = arrangement.sample(150, 5, how=how)
    assert len(draw) == 150
    live = np.any(arrangement.generators != 0, axis=1)
    signs = arrangement.sign_vector(draw.witnesses)
    assert np.all(signs[:, live] != 0)
    assert np.array_equal(signs > 0, draw.patterns)


@pytest.mark.parametrize("name", ["generic", "cube", "resonance", "duplicates"])
def test_uniform_is_uniform(name):
    arrangement = Arrangement(ARRANGEMENTS[name])
    count = arrangement.n_chambers()
    draw = arrangement.sample(40 * count, 11, how="uniform")
    _, hits = np.unique(draw.patterns, axis=0, return_counts=True)
    assert len(hits) == count
    assert np.sum((hits - 40.0) ** 2 / 40.0) < chi2.ppf(0.999, count - 1)


def test_gaussian_is_not_uniform():
    arrangement = Arrangement(GENERIC)
    count = arrangement.n_chambers()
    _, hits = np.unique(arrangement.sample(40 * count, 11).patterns, axis=0, return_counts=True)
    assert np.sum((hits - 40.0) ** 2 / 40.0) > 3 * chi2.ppf(0.999, count - 1)


@pytest.mark.parametrize("how", ["gaussian", "uniform"])
def test_seeds_repeat_and_generators_advance(how):
    arrangement = Arrangement(GENERIC)
    assert np.array_equal(arrangement.sample(20, 3, how=how).patterns, arrangement.sample(20, 3, how=how).patterns)
    rng = np.random.default_rng(3)
    first, second = arrangement.sample(20, rng, how=how), arrangement.sample(20, rng, how=how)
    assert not np.array_equal(first.patterns, second.patterns)


def test_zero_generators_have_one_chamber():
    draw = Arrangement(np.zeros((3, 2))).sample(4, 0, how="uniform")
    assert not draw.patterns.any()


def test_many_examples_in_many_dimensions():
    X = np.random.default_rng(0).standard_normal((700, 16))
    arrangement = Arrangement.from_examples(X)
    draw = arrangement.sample(5, 0, how="uniform")
    assert np.array_equal(arrangement.pattern(draw.witnesses), draw.patterns)


def test_hopeless_rejection_says_so(monkeypatch):
    monkeypatch.setattr("zonofit.geometry.sampling._TRIES_PER_CHAMBER", 1)
    with pytest.raises(BudgetError, match="gaussian"):
        Arrangement(resonance(5)).sample(50, 0, how="uniform")


@pytest.mark.parametrize(("size", "how", "name"), [(-1, "gaussian", "size"), (1, "best", "how")])
def test_bad_arguments_are_named(size, how, name):
    with pytest.raises(InputError, match=name):
        Arrangement(GENERIC).sample(size, how=how)


@pytest.mark.parametrize("unit", [1e13, 1e18, 1e200])
def test_gaussian_chambers_of_features_with_very_different_units(unit):
    X = np.array([[0, 1], [1, 0], [2, 3], [0, 0], [0, 5]]) * [unit, 1.0]
    arrangement = Arrangement.from_examples(X)
    draw = arrangement.sample(300, 3)
    w = np.random.default_rng(3).standard_normal((300, 3))
    assert np.array_equal(draw.patterns, w @ arrangement.generators.T > 0)
    assert np.array_equal(arrangement.pattern(draw.witnesses), draw.patterns)
    assert all(arrangement.membership(pattern).feasible for pattern in np.unique(draw.patterns, axis=0))


def test_gaussian_draws_end(monkeypatch):
    monkeypatch.setattr(sampling, "_TRIES_PER_CHAMBER", 3)
    monkeypatch.setattr(
        sampling, "_signs_of_exact", lambda _, w, live: (np.zeros((len(w), 3), bool), np.zeros(len(w), bool))
    )
    with pytest.raises(BudgetError, match="similar units"):
        Arrangement.from_examples([[0], [1e18], [2e18]]).sample(10, 0)
