"""Theorem 2: the least loss is t* γ² / N in both data sets, on families of set covers whose answer is known."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zonofit.errors import InputError
from zonofit.geometry.arrangement import Arrangement
from zonofit.search import Budget, FacetDescent
from zonofit.theory.covers import SetCover, greedy_cover, greedy_trap, partition, random_cover, smallest_cover
from zonofit.theory.set_cover import least_norm_weights, nudge, reduce_to_relu, train_cover

quick = settings(deadline=None, max_examples=12, derandomize=True)
FAMILY = {
    "one set": SetCover.of([["a", "b", "c"]]),
    "one element": SetCover.of([["a"], ["a"], ["a"]]),
    "partition of 2": partition(2, 3),
    "partition of 4": partition(4),
    "an empty set": SetCover.of({"A": [1, 2, 3], "B": [1], "C": []}),
    "greedy is lucky": greedy_trap(2),
    "all pairs": SetCover.of(list(combinations("abcd", 2))[:5]),
    "a chain": SetCover.of([list(pair) for pair in ("ab", "bc", "cd", "de")]),
    **{f"random {k}": random_cover(3 + k % 3, 3 + k, k, density=0.3 + 0.1 * (k % 3)) for k in range(6)},
}


def brute_force(instance: SetCover) -> int:
    numbers = range(len(instance.sets))
    return next(k for k in range(1, len(instance.sets) + 1) if any(map(instance.covers, combinations(numbers, k))))


def check(instance: SetCover, general: bool, seed: int = 0) -> None:
    t_star = brute_force(instance)
    assert len(smallest_cover(instance)) == t_star
    reduction = reduce_to_relu(instance, general=general, rng=seed)
    result = train_cover(reduction)
    assert result.optimal and result.level == pytest.approx(t_star, rel=1e-6)
    assert result.cover is not None and len(result.cover) == t_star and instance.covers(result.cover)
    for t in range(len(instance.sets) + 2):
        assert result.allows(t) == reduction.reached(result.trace.loss, t) == (t >= t_star)
        assert (result.trace.loss <= reduction.bound(t) * (1 + 1e-6)) == (t >= t_star)


@pytest.mark.parametrize("general", [False, True], ids=["original", "general"])
@pytest.mark.parametrize("name", FAMILY)
def test_the_least_loss_counts_the_smallest_cover(name, general):
    check(FAMILY[name], general)


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 5), st.booleans())
@quick
def test_any_small_instance(seed, M, n_elements, general):
    check(random_cover(M, n_elements, seed), general, seed)


@pytest.mark.slow
def test_where_greedy_takes_three_and_two_do():
    instance = greedy_trap(3)
    assert len(greedy_cover(instance)) == 3
    check(instance, False)
    check(instance, True)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_larger_random_instances(seed):
    instance = random_cover(6, 6, seed, density=0.3)
    check(instance, False)
    check(instance, True, seed)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_greedy_falls_into_its_trap(k):
    instance = greedy_trap(k)
    assert len(instance.elements) == 2 * (2**k - 1)
    assert len(greedy_cover(instance)) == k and len(smallest_cover(instance)) == min(k, 2)


@pytest.mark.parametrize("general", [False, True])
def test_the_weights_of_the_paper(general):
    """The printed half: a cover of t sets has loss t γ²/N; what is no cover has far more."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        instance = random_cover(int(rng.integers(1, 12)), int(rng.integers(1, 15)), rng)
        reduction = reduce_to_relu(instance, general=general, rng=rng)
        chosen = np.flatnonzero(rng.random(len(instance.sets)) < 0.6)
        problem = reduction.problem
        loss = problem.mean_loss(problem.predict(reduction.weights(chosen)[None], 0.0))
        if instance.covers(chosen):
            assert loss / reduction.unit == pytest.approx(len(chosen))
            assert reduction.decode(reduction.weights(chosen)) == tuple(chosen)
        else:
            assert loss > reduction.bound(len(instance.sets))


def test_general_position():
    """Linear, for there is no bias: every d of the examples are independent, and not before the noise."""
    for seed in range(3):
        instance = random_cover(4, 5, seed)
        assert Arrangement(reduce_to_relu(instance, rng=seed).X).position().is_generic
        assert not Arrangement(reduce_to_relu(instance, general=False).X).position().is_generic


@given(st.integers(0, 2**32 - 1), st.integers(1, 8))
@quick
def test_the_other_half_step_by_step(seed, M):
    """Weights with N times the loss at most M γ², but for one element that no inactive set has: its loss is too large.

    They are drawn from all that the first examples allow, with noise at the corners of its box.
    """
    rng = np.random.default_rng(seed)
    gamma, d = 0.01 / M**2, M + 2
    δ2 = rng.uniform(0, 1) / (2 * d)
    δ1 = δ2 * rng.uniform(0, 1)
    r = np.sqrt(M) * gamma
    B = gamma + r
    assert r <= 0.01 and (M + 1) * B <= 0.04 + 1e-15
    for _ in range(200):
        w1 = 1 + rng.uniform(-r, r)
        wγ = rng.uniform(0, B) if rng.random() < 0.5 else -(10.0 ** rng.uniform(-8, 8))
        inactive = rng.random(M) < 0.5
        inside = rng.random(M) < 0.5
        inside[rng.integers(M)] = True  # every element is in some set
        inactive &= ~inside
        wT = np.where(inactive, -wγ - 10.0 ** rng.uniform(-8, 8, M), rng.uniform(0, B, M) - wγ)
        w = np.r_[wT, wγ, w1]
        η = np.where(w > 0, δ2, δ1)  # the worst noise for this w
        preactivation = w1 + wT[inside].sum() - η @ w
        K = max(-wγ, 0.0)
        if wγ >= 0:
            bound = (1 - r) * (1 - δ2) - (M + 1) * B
            assert bound > 0.78
        else:
            bound = (1 - r) * (1 - δ2) + K * (inside.sum() - M * δ2) - M * B * δ2
            assert bound > 0.8 and inside.sum() - M * δ2 > 0.5
        assert preactivation >= bound - 1e-12 * np.abs(w).sum()


def test_an_element_in_no_set_breaks_it():
    """No cover exists, but in general position two examples given up have all the others right; not in the original."""
    sets = [["a", "b", "c", "e", "f"], ["a"], ["b"], ["c"], ["e"], ["f"]]
    with pytest.raises(InputError, match="elements: lonely is in no set"):
        SetCover.of(sets, [*"abcef", "lonely"])
    instance = SetCover.of(sets, [*"abcef", "lonely"], uncovered=True)
    broken = reduce_to_relu(instance, rng=0)
    result = train_cover(broken)
    assert result.level == pytest.approx(2.0, rel=1e-6) and result.cover is None
    M, w = len(sets), result.trace.W[0]
    assert w[M] < -1 and np.all(w[1:M] > 1)  # large weights switch the lonely element off
    assert result.trace.loss <= broken.bound(2) * (1 + 1e-6)
    original = train_cover(reduce_to_relu(instance, general=False))
    assert original.level > 1e6


@pytest.mark.parametrize("name", ["partition of 4", "all pairs", "random 3", "random 4"])
@pytest.mark.parametrize("epsilon", [1e-1, 1e-3, 1e-6])
def test_appendix_e2(name, epsilon):
    """ε drops the optimum to γ²/N, with weights of length 1/ε; in general position a small ε changes nothing."""
    instance = FAMILY[name]
    reduction = reduce_to_relu(instance, general=False)
    moved = nudge(reduction, 1, epsilon)
    assert np.max(np.linalg.norm(moved.X - reduction.X, axis=1)) <= epsilon * (1 + 1e-12)
    assert train_cover(moved).level == pytest.approx(1.0, rel=1e-5)
    M = len(instance.sets)
    patterns = np.r_[np.arange(M) != 1, [True, True], np.zeros(len(instance.elements), bool)]
    shortest = least_norm_weights(moved, patterns)
    assert np.linalg.norm(shortest) == pytest.approx(np.sqrt(1 + reduction.gamma**2 + epsilon**-2), rel=1e-9)
    problem = moved.problem
    assert problem.mean_loss(problem.predict(shortest[None], 0.0)) == pytest.approx(moved.unit)
    # the pattern is one of the unmoved data too, with the weights that the paper gives for it
    w = np.r_[np.full(M, -1.0), 2.0, reduction.gamma]
    w[1] = -3.0
    signs = reduction.X @ w
    apart = [k for k in range(len(signs)) if k < M + 2 or (instance.incidence[:, k - M - 2].any())]
    assert np.array_equal((signs > 0)[apart], patterns[apart])


def test_general_position_is_stable():
    instance = FAMILY["random 3"]
    reduction = reduce_to_relu(instance, rng=1)
    before = train_cover(reduction).level
    assert train_cover(nudge(reduction, 0, 1e-6)).level == pytest.approx(before, rel=1e-6)


def test_without_proof():
    """Facet descent finds covers, and says nothing of smaller ones."""
    instance = random_cover(12, 15, 0, density=0.25)
    result = train_cover(reduce_to_relu(instance, rng=0), FacetDescent(starts=300), budget=Budget(moves=300))
    assert result.cover is not None and instance.covers(result.cover) and not result.optimal
    assert result.allows(len(result.cover)) is True and result.allows(len(smallest_cover(instance)) - 1) is None


def test_noise_from_the_allowed_range():
    instance = partition(3)
    for seed in range(5):
        low, high = reduce_to_relu(instance, rng=seed).noise
        assert 0 < low < high < 1 / 10
    for noise in [(0.0, 0.05), (0.05, 0.05), (0.01, 0.1), (0.02, 0.01)]:
        with pytest.raises(InputError, match="noise: "):
            reduce_to_relu(instance, noise=noise)
    with pytest.raises(InputError, match="noise: there is none"):
        reduce_to_relu(instance, general=False, noise=(0.01, 0.02))
    narrow = reduce_to_relu(instance, noise=(0.01, 0.02), rng=0)
    original = reduce_to_relu(instance, general=False)
    assert np.all((original.X - narrow.X)[5:] >= 0.01) and np.array_equal(original.X[:5], narrow.X[:5])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1", "this is no JSON"),
        ("[]", 'no object with "sets"'),
        ('{"universe": []}', 'no object with "sets"'),
        ('{"sets": 3}', '"sets" is neither an object nor a list'),
        ('{"sets": []}', "there are none"),
        ('{"sets": [[]]}', "nothing to cover"),
        ('{"sets": {"A": "xy"}}', "sets: A: 'xy' is not a list of elements"),
        ('{"sets": {"A": [null]}}', "an element is a name or a number; found None"),
        ('{"sets": {"A": ["x"]}, "elements": ["y"]}', "A has x, which is not among the elements"),
        ('{"sets": {"A": ["x"]}, "elements": ["x", "y", "z"]}', r"y is in no set \(2 such in all\)"),
        ('{"sets": {"A": ["x"]}, "element": ["x"]}', "'element' is neither"),
    ],
)
def test_refused(text, message):
    with pytest.raises(InputError, match=message):
        SetCover.from_json(text)


def test_names():
    instance = SetCover.from_json('{"sets": {"A": [1, 2, 2], "B": [3]}, "elements": [3, 1, 2]}')
    assert instance == SetCover(("3", "1", "2"), ("A", "B"), (frozenset({1, 2}), frozenset({0})))
    assert SetCover.from_json('{"sets": [["x"], ["x", "y"]]}').names == ("T1", "T2")
    assert instance.prune([0, 1]) == (0, 1) and SetCover.of([["a", "b"], ["b"]]).prune([0, 1]) == (0,)
    with pytest.raises(InputError, match="no set number 5"):
        nudge(reduce_to_relu(instance), 5, 0.1)
    with pytest.raises(InputError, match="epsilon: 0"):
        nudge(reduce_to_relu(instance), 0, 0)
    with pytest.raises(InputError, match="expected 4 finite weights"):
        reduce_to_relu(instance).decode([1, 2])
