"""Enumeration of chambers: counts, twins, independence of order, threads and block size."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference import (
    chambers_by_bijection,
    chambers_by_lp,
    cover_count,
    cube,
    resonance,
    small_instances,
)
from zonofit.errors import AmbiguousPositionWarning, BudgetError, InputError
from zonofit.geometry.arrangement import Arrangement
from zonofit.geometry.chambers import SubsetWalk, _binomials, _unrank, chamber_bound
from zonofit.geometry.packing import pack, unpack


def pattern_set(arrangement: Arrangement, **options) -> set[tuple[bool, ...]]:
    rows = [unpack(block, arrangement.n_generators) for block in arrangement.chambers(**options)]
    patterns = [tuple(row.tolist()) for row in np.concatenate(rows)]
    assert len(set(patterns)) == len(patterns), "a chamber came twice"
    return set(patterns)


@pytest.mark.parametrize(
    ("N", "n"),
    [(1, 1), (5, 1), (6, 2), (7, 3), (10, 4), (12, 5), (16, 9), (3, 7), (64, 3), (65, 3), (129, 3), (200, 2), (420, 3)],
)
def test_generic_count_is_covers(N, n):
    G = np.random.default_rng(N + 1000 * n).standard_normal((N, n))
    G[n == 1] = 1.0
    arrangement = Arrangement(G)
    M = len(arrangement.reduction.simple)
    assert len(pattern_set(arrangement)) == cover_count(M, min(n, M)) == arrangement.chamber_bound()


@pytest.mark.parametrize(
    ("generators", "count"),
    [(cube(1), 4), (cube(2), 14), (cube(3), 104), (cube(4), 1882), (cube(5), 94572)]
    + [(resonance(n), c) for n, c in enumerate([2, 6, 32, 370, 11292], start=1)],
    ids=lambda v: str(v) if isinstance(v, int) else None,
)
def test_published_counts_of_degenerate_arrangements(generators, count):
    for rows in (generators, np.random.default_rng(1).permutation(generators)):
        assert Arrangement(rows).n_chambers() == count


@pytest.mark.slow
def test_published_counts_of_large_degenerate_arrangements():
    assert Arrangement(resonance(6)).n_chambers() == 1066044
    assert Arrangement(cube(6)).n_chambers() == 15028134


@pytest.mark.parametrize("G", small_instances())
def test_patterns_are_those_of_independent_linear_programs(G):
    assert pattern_set(Arrangement(G)) == chambers_by_lp(G)


@pytest.mark.parametrize("generators", [np.random.default_rng(3).standard_normal((9, 4)), cube(3), resonance(4)])
def test_kernel_meets_its_twin(generators):
    arrangement = Arrangement(generators)
    assert pattern_set(arrangement) == chambers_by_bijection(arrangement.reduction.simple)


def test_each_subset_names_the_chamber_of_its_twin():
    from itertools import combinations

    from zonofit.geometry.bijection import chamber_of_subset, frame_coordinates

    coordinates, _ = frame_coordinates(Arrangement(cube(3)).reduction.simple)
    walk = SubsetWalk(coordinates, both=False, roundoff=256.0)
    for k in range(4):
        for subset in combinations(range(7), k):
            words = walk.of_subset(np.array(subset, np.int64))
            signs = chamber_of_subset(coordinates, subset, 1e-9)
            assert (words is None) == (signs is None)
            if signs is not None:
                assert np.array_equal(unpack(words, 8), signs > 0)


@pytest.mark.parametrize("G", [np.random.default_rng(5).standard_normal((14, 5)), cube(4)], ids=["generic", "cube"])
def test_blocks_and_threads_change_nothing(G):
    arrangement = Arrangement(G)
    whole = np.concatenate(list(arrangement.chambers(block_size=10**6, half=True)))
    for block_size in (2, 7, 64, 1000):
        blocks = list(arrangement.chambers(block_size=block_size, half=True))
        assert max(len(block) for block in blocks) <= block_size
        assert np.array_equal(np.sort(np.concatenate(blocks), axis=0), np.sort(whole, axis=0))
        for n_jobs in (2, 3):
            again = list(arrangement.chambers(block_size=block_size, half=True, n_jobs=n_jobs))
            assert len(again) == len(blocks)
            assert all(np.array_equal(a, b) for a, b in zip(again, blocks, strict=True))
    everything = pattern_set(arrangement, block_size=300, n_jobs=2)
    assert everything == {p for row in unpack(whole, len(G)) for p in (tuple(row.tolist()), tuple((~row).tolist()))}


def test_blocks_that_are_kept_are_not_written_again():
    arrangement = Arrangement(np.random.default_rng(0).standard_normal((20, 4)))
    kept = []
    copies = []
    for block in arrangement.chambers(block_size=64):
        kept.append(block[1:])
        copies.append(block[1:].copy())
    assert all(np.array_equal(a, b) for a, b in zip(kept, copies, strict=True))


def test_stopping_early_is_allowed():
    stream = Arrangement(np.random.default_rng(0).standard_normal((60, 8))).chambers(n_jobs=2)
    assert len(next(stream)) > 0
    stream.close()


def test_half_has_the_last_independent_generator_active():
    G = np.random.default_rng(2).standard_normal((8, 3))
    rows = np.concatenate([unpack(b, 8) for b in Arrangement(G).chambers(half=True)])
    assert rows[:, -1].all()


def test_progress_reaches_its_total():
    seen = []
    arrangement = Arrangement(cube(4))
    for _ in arrangement.chambers(block_size=100, progress=lambda done, total: seen.append((done, total))):
        pass
    done, totals = zip(*seen, strict=True)
    assert list(done) == sorted(done) and done[-1] == totals[0] == arrangement.chamber_bound() // 2


def test_n_chambers_by_formula_or_enumeration():
    G = np.random.default_rng(0).standard_normal((30, 4))
    arrangement = Arrangement(G)
    assert arrangement.n_chambers() == arrangement.n_chambers(assume_generic=True) == cover_count(30, 4)
    # far beyond enumeration: independent generators, and a plane
    assert Arrangement(np.eye(80)).n_chambers() == 2**80
    assert Arrangement(np.random.default_rng(0).standard_normal((500, 2))).n_chambers() == 1000


def test_too_much_is_refused_with_its_size():
    big = Arrangement(np.random.default_rng(0).standard_normal((400, 30)))
    with pytest.raises(BudgetError, match="more than can be counted"):
        next(big.chambers())
    with pytest.raises(BudgetError, match=str(cover_count(60, 5))):
        Arrangement(np.random.default_rng(0).standard_normal((60, 5))).patterns(budget=1000)


@pytest.mark.parametrize(("option", "value"), [("block_size", 1), ("n_jobs", 0)])
def test_bad_options_are_named(option, value):
    with pytest.raises(InputError, match=option):
        Arrangement(np.eye(2)).chambers(**{option: value})


def test_a_count_that_rounding_decides_is_reported():
    rng = np.random.default_rng(0)
    G = rng.standard_normal((10, 4))
    step = rng.standard_normal(4)
    G[9] = G[0] + G[1] + G[2]
    dependent = Arrangement(G).n_chambers()
    assert dependent < cover_count(10, 4)
    reported = []
    for size in np.logspace(-16, -9, 29):
        nearby = G.copy()
        nearby[9] += size * step
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            count = Arrangement(nearby).n_chambers()
        assert all(issubclass(w.category, AmbiguousPositionWarning) for w in caught)
        assert caught or count in (dependent, cover_count(10, 4))
        reported.append(bool(caught))
    assert any(reported) and not reported[0] and not reported[-1]


def twice_the_plane_regions(X: np.ndarray) -> int:
    """Chambers of distinct integer points of the plane with bias, from the lines through them (Zaslavsky)."""
    lines: dict[tuple[int, int, int], set[int]] = {}
    for i, (a, b) in enumerate(X.tolist()):
        for j, (c, d) in enumerate(X[:i].tolist()):
            line = (b - d, c - a, a * d - b * c)
            scale = math.gcd(*line) * (1 if line > (0, 0, 0) else -1)
            lines.setdefault(tuple(x // scale for x in line), set()).update((i, j))
    return 2 + 2 * sum(len(members) - 1 for members in lines.values())


@pytest.mark.parametrize(("rows", "columns"), [(3, 3), (7, 9), (9, 11), (12, 15)])
def test_grids_are_counted_by_their_lines(rows, columns):
    """Leaves large enough to be sorted, full of ties, dead generators and generators that vanish."""
    X = np.array([(a, b) for a in range(rows) for b in range(columns)])
    for points in (X, np.random.default_rng(rows).permutation(X)):
        blocks = np.concatenate(list(Arrangement.from_examples(points).chambers()))
        assert len(np.unique(blocks, axis=0)) == len(blocks) == twice_the_plane_regions(X)


def test_patterns_of_many_words():
    """Nine words: more than one vector of them, and the last one alone in its own."""
    G = np.random.default_rng(4).standard_normal((530, 3))
    blocks = np.concatenate(list(Arrangement(G).chambers()))
    assert blocks.shape == (cover_count(530, 3), 9)
    assert len(np.unique(blocks, axis=0)) == len(blocks)
    known = {row.tobytes() for row in blocks}
    points = np.random.default_rng(5).standard_normal((500, 3))
    assert all(row.tobytes() in known for row in pack(points @ G.T > 0))


@pytest.mark.parametrize(("N", "n", "seed"), [(100, 3, 0), (120, 4, 1)])
def test_sorted_leaves_hold_the_patterns_of_points(N, n, seed):
    rng = np.random.default_rng(seed)
    G = np.c_[rng.integers(-4, 5, (N, n - 1)), np.ones(N)].astype(float)
    known = {row.tobytes() for block in Arrangement(G).chambers() for row in block}
    products = rng.standard_normal((2000, n)) @ G.T
    assert all(row.tobytes() in known for row in pack(products > 0))


def test_binomials_are_exact_up_to_the_cap():
    table = _binomials(90, 40)
    for i in range(91):
        assert table[i].tolist() == [min(math.comb(i, j), 2**62) for j in range(41)]


def test_unrank_is_lexicographic():
    from itertools import combinations

    subsets = list(combinations(range(7), 3))
    for rank, subset in enumerate(subsets):
        start, ahead = _unrank(rank, 7, 3)
        assert tuple(start) == subset
        for t in range(3):
            assert ahead[t] == sum(s[: t + 1] == subset[: t + 1] for s in subsets[rank:])


@st.composite
def integer_generators(draw):
    n = draw(st.integers(1, 4))
    rows = draw(st.lists(st.lists(st.integers(-3, 3), min_size=n, max_size=n), min_size=1, max_size=7))
    return np.array(rows, float)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(integer_generators(), st.randoms(use_true_random=False))
def test_symmetries(G, random):
    patterns = pattern_set(Arrangement(G))
    N, n = G.shape
    order = list(range(N))
    random.shuffle(order)
    assert pattern_set(Arrangement(G[order])) == {tuple(p[i] for i in order) for p in patterns}
    scale = np.array([random.choice([1e-8, 0.3, 1.0, 7.0, 1e8]) for _ in range(N)])
    assert pattern_set(Arrangement(scale[:, None] * G)) == patterns
    change = np.eye(n) + np.triu(np.ones((n, n)), 1) * random.choice([-1.0, 2.0])
    assert pattern_set(Arrangement(G @ change)) == patterns
    flip = random.randrange(N)
    if np.any(G[flip] != 0):
        turned = G.copy()
        turned[flip] *= -1
        assert pattern_set(Arrangement(turned)) == {tuple(b ^ (i == flip) for i, b in enumerate(p)) for p in patterns}


@settings(max_examples=40, deadline=None, derandomize=True)
@given(integer_generators())
def test_deletion_and_restriction(G):
    """Chambers(A) = chambers(A - g) + chambers(A restricted to g's hyperplane), for g no multiple of another."""
    last = G[-1]
    if not last.any() or any(np.linalg.matrix_rank(np.array([last, g])) < 2 for g in G[:-1] if g.any()):
        return
    count = Arrangement(G).n_chambers()
    without = Arrangement(G[:-1]).n_chambers() if len(G) > 1 else 1
    if G.shape[1] == 1 or len(G) == 1:
        on = 1
    else:
        basis = np.linalg.svd(last[None])[2][1:].T
        on = Arrangement(np.round(G[:-1] @ basis, 12)).n_chambers()
    assert count == without + on


def test_bound_is_reached_only_in_general_position():
    assert chamber_bound(8, 4) == cover_count(8, 4) > 104
    assert chamber_bound(0, 0) == 1
    assert chamber_bound(5, 5) == 32


def test_zero_parallel_and_constant_generators():
    assert pattern_set(Arrangement(np.zeros((3, 2)))) == {(False, False, False)}
    assert pattern_set(Arrangement([[1.0, 0.0], [0.0, 0.0], [-2.0, 0.0]])) == {
        (True, False, False),
        (False, False, True),
    }
    X = np.c_[np.arange(5.0), np.full(5, 3.0)]
    assert len(pattern_set(Arrangement.from_examples(X))) == 10
    assert len(pattern_set(Arrangement.from_examples(np.repeat(X, 3, axis=0)))) == 10


def test_packed_words_have_no_stray_bits():
    for N in (5, 64, 65):
        G = np.random.default_rng(N).standard_normal((N, 3))
        for block in Arrangement(G).chambers():
            assert np.array_equal(pack(unpack(block, N)), block)


def test_count_matches_binomials_of_large_tables():
    assert Arrangement(np.random.default_rng(1).standard_normal((24, 7))).n_chambers() == 2 * sum(
        math.comb(23, k) for k in range(7)
    )


@pytest.mark.parametrize(
    ("X", "count"),
    [
        ([[2, 2], [0, 0], [2, 2], [0, 20006], [2, 1], [0, 2]], 20),
        ([[0, 0], [2, 2], [2, 2], [30010, 2], [0, 2]], 12),
        ([[0, 1], [1, 2007], [2, 0], [1, 0], [2, 2], [1, 2008]], 30),
        ([[1, 2, 0], [2, 300011, 0], [100004, 2, 0], [2, 2, 0]], 12),
    ],
)
def test_collinear_integers_beside_large_ones(X, count):
    # the counts are those of the patterns that `membership` proves feasible in rational arithmetic
    assert Arrangement.from_examples(X).n_chambers() == count
