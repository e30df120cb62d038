"""Damped steps against their twin for every loss, the normal matrix that they and the walls share, when they end."""

from __future__ import annotations

import numpy as np
import pytest

from tests.programs.reference_descent import damped
from tests.programs.test_descent import Cosh, problem
from tests.programs.test_descent_smooth import OwnLogistic, height, labels, name
from zonofit.programs import Problem
from zonofit.programs._damped_kernel import MANY
from zonofit.programs._descent_kernel import renew_normal
from zonofit.programs._descent_step import _GATHERED, normal
from zonofit.programs.descent import _descend_damped
from zonofit.programs.losses import Huber, Logistic, Squared
from zonofit.programs.proposals import random_weights, rate_units

LOSSES = [Squared(), Logistic(), Huber(0.5), Cosh(), OwnLogistic()]
SHAPES = [(60, 3, 3, 0.0, 1.0), (60, 3, 3, 0.02, 0.0), (90, 5, 2, 0.0, 1.0), (20, 3, 6, 0.0, 1.0), (20, 3, 4, 0.1, 1.0)]


@pytest.mark.parametrize("loss", LOSSES, ids=name)
@pytest.mark.parametrize("N, d, m, alpha, bias", SHAPES)
def test_steps_are_those_of_the_twin(loss, N, d, m, alpha, bias):
    for seed in range(4):
        X, y, p, v, W = problem(N, d, m, seed, noise=0.5)
        y = labels(loss, y)
        last = height(loss, X, y, p, v, W, 0.1, alpha)
        for steps in (1, 2, 4, 8):
            ours = W.copy()
            value, c, solved = _descend_damped(X, y, p, v, ours, 0.1, loss, alpha, bias, steps, 0.0, np.inf)
            theirs, c_theirs, _, count = damped(X, y, p, v, W, 0.1, loss, alpha, bias > 0, steps)
            assert solved == count
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
            assert c == pytest.approx(c_theirs, rel=1e-5, abs=1e-6)
            assert value == pytest.approx(height(loss, X, y, p, v, ours, c, alpha), rel=1e-9)
            assert value <= last * (1 + 1e-12)
            last = value


def _dense(X, v, act, h):
    P = np.hstack([v[j] * act[j][:, None] * X for j in range(len(v))] + [np.ones((len(X), 1))])
    return np.triu((P.T * h) @ P)


@pytest.mark.parametrize("N", [1, 7, _GATHERED, 4 * _GATHERED + 300])
@pytest.mark.parametrize("r, m", [(1, 1), (4, 3), (6, 5)])
def test_normal_matrix(N, r, m):
    rng = np.random.default_rng(N + r)
    X, v, h, act = rng.standard_normal((N, r)), rng.standard_normal(m), rng.random(N), rng.random((m, N)) < 0.5
    act = act.astype(float)
    XT, H, line, q = np.ascontiguousarray(X.T), np.full((m * r + 1,) * 2, np.nan), np.empty(N), m * r + 1
    normal(XT, v, act, h, H, line)
    np.testing.assert_allclose(np.triu(np.nan_to_num(H)), _dense(X, v, act, h), atol=1e-12 * N)
    was = act.copy()
    for share in (0.01, 0.9):  # one by one, and all at once
        flip = rng.random((m, N)) < share
        act = np.where(flip, 1.0 - act, act)
        renew_normal(X, XT, v, act, h, H, was, line)
        assert np.array_equal(was, act)
        np.testing.assert_allclose(np.triu(np.nan_to_num(H)), _dense(X, v, act, h), atol=1e-12 * N)
    assert q == len(H)


def noisy(N=400, d=4, m=3, seed=0, loss="squared", **options) -> Problem:
    X, y, _, v, _ = problem(N, d, m, seed, noise=0.5)
    return Problem(X[:, :-1], (y > 0).astype(float) if loss == "logistic" else y, v, loss=loss, **options)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_hopeless_descents_end_early_where_examples_are_many(loss):
    ended = 0
    for seed in range(8):
        own = noisy(seed=seed, loss=loss)
        assert own.many_examples
        W = random_weights(own, np.random.default_rng(seed), own.width)
        free = own.descend(W, damped=60, max_steps=0)
        assert free.damped == pytest.approx(free.objective, rel=1e-9)
        same = own.descend(W, damped=60, max_steps=0, worth=free.damped * 1.0001)
        assert same.damped <= free.damped * 1.0001 or same.steps < free.steps
        short = own.descend(W, damped=60, max_steps=0, worth=0.5 * free.damped)
        assert short.damped >= 0.5 * free.damped and short.steps <= free.steps
        ended += short.steps < free.steps
    assert ended >= 6


def test_where_examples_are_few_nothing_is_given_up():
    own = noisy(N=MANY * 16 - 1)
    assert not own.many_examples and noisy(N=MANY * 16).many_examples
    W = random_weights(own, np.random.default_rng(0), own.width)
    free, hopeless = (own.descend(W, damped=60, max_steps=0, worth=worth) for worth in (np.inf, 1e-9))
    assert np.array_equal(free.W, hopeless.W) and free.steps == hopeless.steps


def test_weightless_examples_do_not_count():
    own = noisy(N=60)
    X, y = own.generators[:, :-1], own.labels
    weighted = Problem(
        np.r_[X, X[:30] + 1], np.r_[y, y[:30]], own.output_weights, sample_weight=np.r_[np.ones(60), np.zeros(30)]
    )
    W = random_weights(own, np.random.default_rng(0), own.width)
    one, other = (each.descend(W, damped=30, max_steps=0) for each in (own, weighted))
    assert np.isfinite(other.damped)
    assert weighted.many_examples == own.many_examples
    assert other.damped == pytest.approx(weighted.mean_loss(weighted.predict(other.W, other.c)), rel=1e-9)
    assert one.status == other.status == "steps"


def test_separable_data_end_at_zero():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3))
    own = Problem(X, (X[:, 0] > 0).astype(float), 4, loss="logistic")
    found = own.descend(random_weights(own, rng, 4), damped=200, max_steps=0)
    assert found.damped <= 1e-16


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_units_are_rated_on_examples_that_count(loss):
    own = noisy(loss=loss)
    weighted = Problem(
        np.r_[own.generators[:, :-1], 50 + own.generators[:, :-1]], np.r_[own.labels, 1 - own.labels],
        own.output_weights, loss=loss, sample_weight=np.repeat([1.0, 0.0], own.n_examples),
    )  # fmt: skip
    all_of_them = rate_units(own, np.zeros(400), np.random.default_rng(1), 50)
    for more in (400, 1000):
        units, signs = rate_units(own, np.zeros(400), np.random.default_rng(1), 50, more)
        assert np.array_equal(units, all_of_them[0]) and np.array_equal(signs, all_of_them[1])
    rest = np.zeros(800)
    rest[400:] = 1e9  # a rating that looked there would show it
    units, _ = rate_units(weighted, rest, np.random.default_rng(1), 50, 300)
    assert np.isfinite(units).all() and np.abs(units).max() < 1e3
    steepest = rate_units(own, np.zeros(400), np.random.default_rng(2), 2000, 300)
    best, worst = (
        min(_with_unit(own, steepest[0][k], steepest[1][k]) for k in which) for which in (range(5), range(-5, 0))
    )
    assert best < worst


def _with_unit(own: Problem, unit, sign) -> float:
    alone = own.with_output_weights([sign])
    u = alone.predict(unit[None], 0.0)
    return own.mean_loss(u - (np.mean(u) - np.mean(own.labels) if own.loss == Squared() else np.mean(u)))


def test_examples_far_from_their_labels_ask_for_no_boundless_unit():
    own = noisy(loss="logistic")
    wrong = np.where(own.labels > 0.5, -1e3, 1e3)
    right = np.where(np.arange(400) > 0, -wrong, wrong)  # but for one
    for predictions in (wrong, right):
        units, signs = rate_units(own, predictions, np.random.default_rng(0), 50)
        assert np.isfinite(units).all()
        features = np.maximum(own.generators @ units[0], 0.0)
        assert features.max() < 1e4 and own.mean_loss(predictions + signs[0] * features) <= own.mean_loss(predictions)
