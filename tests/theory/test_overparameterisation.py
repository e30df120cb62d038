"""Section 4.2: how many random units are independent, and what they leave of the loss."""

from __future__ import annotations

import numpy as np
import pytest

from tests.programs.instances import synthetic
from zonofit import Arrangement
from zonofit.errors import InputError
from zonofit.theory.overparameterisation import (
    accuracy_of_random_vertices,
    feature_rank,
    independence,
    loss_of_random_vertices,
    vertex_rank,
)


def generic(N, d, seed=0):
    return Arrangement.from_examples(np.random.default_rng(seed).standard_normal((N, d)))


@pytest.mark.parametrize(("N", "d"), [(8, 1), (10, 2), (12, 4), (12, 8), (3, 4)])
def test_probability_goes_from_0_to_1(N, d):
    arrangement = generic(N, d)
    n = d + 1
    widths = sorted({1, max(-(-N // n) - 1, 1), -(-N // n), max(N - 1, 1), N, 2 * N, 60 * N})
    found = independence(arrangement, widths, draws=20, rng=0)
    assert (found.least_frozen, found.least_free) == (N, -(-N // n))
    assert np.all(np.diff(found.frozen) >= 0) and np.all(np.diff(found.free) >= 0) and np.all(np.diff(found.dead) <= 0)
    assert np.all(found.frozen[found.widths < found.least_frozen] == 0)
    assert np.all(found.free[found.widths < found.least_free] == 0)
    assert np.all(found.frozen <= found.free) and np.all(found.free + found.dead < 1 + 1e-9)
    assert d < 8 or found.free[found.widths < N].max() > 0.5  # with W free fewer units than examples do
    assert found.frozen[-1] > 0.9 and found.free[-1] > 0.9 and found.dead[-1] == 0


def test_dead_examples():
    """Gaussian units are active on an example with probability 1/2."""
    found = independence(generic(1, 3), [1, 2, 3], draws=4000, rng=1)
    assert found.dead == pytest.approx([1 / 2, 1 / 4, 1 / 8], abs=0.03)
    assert found.frozen + found.dead == pytest.approx(1)  # one example is fitted unless it is dead


def test_rank_depends_on_the_pattern_alone():
    """Other weights of the same chambers, rational ones among them, have the same rank."""
    rng = np.random.default_rng(0)
    for N, d, m in [(8, 1, 10), (8, 1, 14), (9, 2, 9), (10, 2, 12)]:
        arrangement = generic(N, d)
        G = arrangement.generators
        drawn = arrangement.sample(m, rng)
        ranks = {feature_rank(G, drawn.witnesses)}
        for _ in range(5):
            W = drawn.witnesses.copy()
            for j in range(m):
                step = rng.standard_normal(d + 1)
                change, z = G @ step, G @ W[j]
                limit = np.min(np.abs(z / np.where(change == 0, 1e-300, change)))
                W[j] += rng.uniform(-0.9, 0.9) * limit * step
            assert np.array_equal(G @ W.T > 0, drawn.patterns.T)
            ranks.add(feature_rank(G, W))
        assert len(ranks) == 1
        assert ranks.pop() <= vertex_rank(G, drawn.patterns) <= min(N, m * (d + 1))


def test_equal_patterns_are_worth_n_units():
    """Units of one chamber have n independent activations at most, which is why one feature takes so many."""
    arrangement = generic(9, 2)
    G = arrangement.generators
    rng = np.random.default_rng(0)
    w = rng.standard_normal(3)
    W = w + 1e-6 * rng.standard_normal((20, 3))
    active = int(np.sum(G @ w > 0))
    assert feature_rank(G, W) == min(3, active) == vertex_rank(G, arrangement.pattern(W))


def test_a_random_vertex_fits_when_it_can():
    """W free: where the features are independent and walls do not bind the loss is 0; it falls with the width."""
    X, y = synthetic(8, 4, np.random.default_rng(0))
    losses = loss_of_random_vertices(X, y, [4, 8, 32], runs=4)
    assert losses.shape == (4, 3)
    middle = np.median(losses, axis=0)
    assert middle[0] > middle[1] > middle[2] and middle[2] < 1e-10
    assert np.array_equal(losses[:2], loss_of_random_vertices(X, y, [4, 8, 32], runs=2))


def test_random_vertices_of_classes():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    y = (X[:, 0] ** 2 + 0.3 * rng.standard_normal(60) > 0.5).astype(float)
    share = accuracy_of_random_vertices(X, y, [1, 4, 32], runs=4)
    assert share.shape == (4, 3) and np.all((share >= 0) & (share <= 1)) and np.all(np.round(60 * share) == 60 * share)
    middle = np.median(share, axis=0)
    assert middle[0] < middle[1] < middle[2] == 1.0
    assert np.array_equal(share, accuracy_of_random_vertices(X, 2 * y - 1, [1, 4, 32], runs=4))


def test_refused():
    for widths in ([], [0, 1], [2, 1], [1.5], [[1]]):
        with pytest.raises(InputError, match="widths: "):
            independence(generic(4, 1), widths)
    with pytest.raises(InputError, match="draws: 0"):
        independence(generic(4, 1), [1], draws=0)
