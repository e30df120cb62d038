"""Walls of a chamber: against all chambers, against linear programs, and by their own certificates."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.geometry import reference_facets as twin
from tests.reference import chambers_by_lp, cover_count, cube, resonance
from zonofit.errors import InputError
from zonofit.geometry import facets
from zonofit.geometry._wall_query import DOUBTFUL, DOUBTS, WALL
from zonofit.geometry.arrangement import Arrangement
from zonofit.geometry.facets import walls, walls_of
from zonofit.geometry.membership import is_chamber

quick = settings(deadline=None, max_examples=40, derandomize=True)


def gaussian(N, n, seed):
    rng = np.random.default_rng(seed)
    return Arrangement.from_examples(rng.standard_normal((N, n - 1))), rng


def small_instance(seed):
    """Few generators of every kind: generic, integer, binary, repeated, flat, scaled, zero."""
    rng = np.random.default_rng(seed)
    N, n = int(rng.integers(1, 8)), int(rng.integers(1, 5))
    kind = seed % 6
    if kind == 0:
        G = rng.standard_normal((N, n))
    elif kind == 1:
        G = rng.integers(-1, 2, (N, n)).astype(float)
    elif kind == 2:
        G = np.c_[rng.integers(0, 2, (N, n)).astype(float), np.ones(N)]
    elif kind == 3:
        G = rng.integers(-2, 3, (N, n)).astype(float)
        G = G[rng.integers(0, N, N)] * rng.choice([-2.0, 0.5, 1.0, 3.0], (N, 1))
    elif kind == 4:
        G = rng.integers(-2, 3, (N, max(1, n - 1))) @ rng.integers(-2, 3, (max(1, n - 1), n)).astype(float)
    else:
        G = rng.integers(-2, 3, (N, n)) * 10.0 ** rng.integers(-8, 9, (N, 1))
    return G


def check_by_hand(arrangement, found):
    """Every claim about every generator, from the generators alone."""
    G = arrangement.generators
    signs = np.where(found.pattern, 1.0, -1.0)
    size = np.max(np.abs(G), axis=0)
    G = G / np.where(size > 0, size, 1.0)
    product = G @ (found.witness * size)
    live = np.any(G != 0, axis=1)
    assert np.all((signs * product)[live] > 0)
    on_wall = dict(zip(found.indices.tolist(), found.classes, strict=True))
    assert all(members[0] == i for i, members in on_wall.items())
    every = {j for members in on_wall.values() for j in members}
    assert len(every) == sum(map(len, on_wall.values()))
    for i in range(len(G)):
        proof = found.certificate(i)
        assert proof.index == i and proof.is_wall == (i in every)
        if proof.is_wall:
            violated = np.flatnonzero((signs * (G @ (proof.point * size)) <= 0) & live)
            assert any(violated.tolist() == list(members) for members in on_wall.values() if i in members)
        else:
            assert np.all(proof.multipliers > 0) and set(proof.walls.tolist()) <= set(on_wall)
            combination = (proof.multipliers * signs[proof.walls]) @ G[proof.walls]
            scale = np.linalg.norm(G[i]) + np.abs(proof.multipliers) @ np.linalg.norm(G[proof.walls], axis=1)
            assert np.linalg.norm(combination - signs[i] * G[i]) <= 1e-9 * scale


def check_against_all(arrangement, chambers, patterns):
    """Neighbours are the chambers one class away; their witnesses are inside them."""
    classes = twin.parallel_classes(arrangement.generators)
    for pattern in patterns:
        found = walls(arrangement, np.array(pattern))
        expected = twin.neighbors_in(chambers, pattern, classes)
        assert set(found.classes) == set(expected)
        for i, members, behind in zip(found, found.classes, found.neighbors(), strict=True):
            assert np.array_equal(behind, expected[members])
            assert np.array_equal(found.neighbor(i), behind)
        assert np.array_equal(arrangement.pattern(found.neighbor_witnesses()), found.neighbors())


@pytest.mark.parametrize("seed", range(120))
def test_small_instances(seed):
    G = small_instance(seed)
    chambers = chambers_by_lp(G)
    rng = np.random.default_rng(seed)
    listed = sorted(chambers)
    patterns = [listed[i] for i in rng.permutation(len(listed))[:6]]
    arrangement = Arrangement(G)
    check_against_all(arrangement, chambers, patterns)
    check_by_hand(arrangement, walls(arrangement, np.array(patterns[0])))


@pytest.mark.parametrize(
    ("generators", "step"), [(cube(2), 1), (cube(3), 1), (cube(4), 5), (resonance(3), 1), (resonance(4), 1)]
)
def test_binary_data(generators, step):
    """In degenerate position a row may touch a lower face only; such a row is no wall."""
    arrangement = Arrangement(generators)
    chambers = {tuple(p) for p in arrangement.patterns().tolist()}
    check_against_all(arrangement, chambers, sorted(chambers)[::step])
    for pattern in sorted(chambers)[:: 40 * step]:
        check_by_hand(arrangement, walls(arrangement, np.array(pattern)))


@pytest.mark.parametrize(("N", "n"), [(7, 2), (8, 3), (9, 4), (7, 6)])
def test_all_walls_of_a_generic_arrangement(N, n):
    """Walls on hyperplane i are the chambers of the arrangement that the others cut out on it."""
    arrangement = Arrangement(np.random.default_rng(N).standard_normal((N, n)))
    patterns = arrangement.patterns()
    everything = {tuple(p) for p in patterns.tolist()}
    sides = {}
    for found in walls_of(arrangement, patterns):
        assert np.array_equal(arrangement.pattern(found.neighbor_witnesses()), found.neighbors())
        sides[tuple(found.pattern.tolist())] = {tuple(p) for p in found.neighbors().tolist()}
    assert sum(map(len, sides.values())) == 2 * N * cover_count(N - 1, n - 1)
    assert all(around <= everything for around in sides.values())
    assert all(a in sides[b] for a, around in sides.items() for b in around)


@pytest.mark.parametrize(("N", "n", "seed"), [(20, 5, 0), (30, 3, 1), (40, 8, 2), (12, 11, 3), (60, 2, 4)])
def test_twins(N, n, seed):
    arrangement, rng = gaussian(N, n, seed)
    w = rng.standard_normal(n)
    found = walls(arrangement, w)
    rows = arrangement.generators * np.where(found.pattern, 1.0, -1.0)[:, None]
    assert found.indices.tolist() == twin.walls_by_programs(rows) == twin.clarkson(rows, w)


@pytest.mark.parametrize(
    ("N", "n"), [(144, 9), (272, 17), (700, 17), (2000, 5), (500, 3), (40, 33), (34, 33), (33, 33)]
)
def test_large_instances_by_certificates(N, n):
    arrangement, rng = gaussian(N, n, N + n)
    found = walls(arrangement, rng.standard_normal(n))
    check_by_hand(arrangement, found)
    assert len(found) >= n
    assert np.array_equal(arrangement.pattern(found.neighbor_witnesses()), found.neighbors())


@quick
@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.integers(0, 30))
def test_symmetries(seed, n, more):
    rng = np.random.default_rng(seed)
    N = n + more
    G = rng.integers(-3, 4, (N, n)).astype(float) if seed % 2 else rng.standard_normal((N, n))
    w = rng.standard_normal(n)
    found = walls(Arrangement(G), w)
    order = rng.permutation(N)
    moved = walls(Arrangement(G[order]), w)
    assert {tuple(sorted(order[list(c)].tolist())) for c in moved.classes} == set(found.classes)
    scaled = walls(Arrangement(G * 10.0 ** rng.uniform(-4, 4, (N, 1))), w)
    assert np.array_equal(scaled.indices, found.indices) and scaled.classes == found.classes
    for size in (1e-8, 1e8):
        assert walls(Arrangement(G * size), w).classes == found.classes
    turned = walls(Arrangement(G * rng.choice([-1.0, 1.0], (N, 1))), w)
    assert turned.classes == found.classes
    units = 10.0 ** rng.integers(-8, 9, n)
    assert walls(Arrangement(G * units), w / units).classes == found.classes
    assert walls(Arrangement(G), w * 1e-100).classes == walls(Arrangement(G), w * 1e100).classes == found.classes
    change = rng.standard_normal((n, n)) + 3 * np.eye(n)
    assert walls(Arrangement(G @ np.linalg.inv(change)), change @ w).classes == found.classes
    opposite = walls(Arrangement(G), -w)
    assert opposite.classes == found.classes and np.array_equal(
        opposite.pattern ^ found.pattern, np.any(G != 0, axis=1)
    )


@pytest.mark.parametrize(
    ("generators", "w", "classes"),
    [
        ([[2.0]], [1.0], [(0,)]),
        ([[0.0]], [1.0], []),
        ([[0.0, 0.0], [0.0, 0.0]], [1.0, 2.0], []),
        ([[1.0, 2.0]], [1.0, 1.0], [(0,)]),
        ([[1.0], [-3.0], [0.0], [2.0]], [-1.0], [(0, 1, 3)]),
        ([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1.0, 1.0], [(0,), (1,)]),
        ([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [2.0, -1.0], [(1,), (2,)]),
        ([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], [1.0, -1.0, 2.0], [(0,), (1,), (2,)]),
        ([[1.0, 1.0, 0.0], [1.0, 2.0, 0.0], [-2.0, -2.0, 0.0], [0.0, 1.0, 0.0]], [1.0, 1.0, 9.0], [(0, 2), (3,)]),
        (np.c_[np.arange(5.0), np.ones(5)], [1.0, -2.5], [(2,), (3,)]),
        (np.c_[np.arange(5.0), np.ones(5)], [1.0, 2.0], [(0,), (4,)]),
    ],
)
def test_little_things(generators, w, classes):
    arrangement = Arrangement(generators)
    found = walls(arrangement, np.array(w, float))
    assert list(found.classes) == classes
    assert len(found) == len(classes) == len(found.neighbors()) == len(list(found))
    assert found.indices.tolist() == [c[0] for c in classes]
    check_by_hand(arrangement, found)


def test_pattern_and_weights_agree():
    arrangement, rng = gaussian(12, 4, 0)
    w = rng.standard_normal(4)
    by_weights = walls(arrangement, w)
    pattern = by_weights.pattern
    for found in (
        walls(arrangement, pattern),
        walls(arrangement, pattern.astype(int).tolist()),
        walls(arrangement, pattern, witness=w),
        walls_of(arrangement, pattern[None])[0],
        walls_of(arrangement, w[None])[0],
        walls_of(arrangement, [pattern], witnesses=[w])[0],
    ):
        assert found.classes == by_weights.classes and np.array_equal(found.pattern, pattern)
        assert np.array_equal(arrangement.pattern(found.witness), pattern)
    square = Arrangement(np.eye(3))
    assert walls(square, [1, 0, 1]).pattern.tolist() == [True, False, True]
    assert walls(square, [1.0, -1.0, 1.0]).pattern.tolist() == [True, False, True]


@pytest.mark.parametrize(("N", "n"), [(40, 4), (60, 7), (90, 12)])
def test_warm_walk(N, n):
    arrangement, rng = gaussian(N, n, 7)
    found = walls(arrangement, rng.standard_normal(n))
    cold_steps = warm_steps = 0
    for _ in range(25):
        k = int(rng.integers(len(found)))
        w = found.neighbor_witnesses()[k]
        warm, cold = walls(arrangement, w, warm=found), walls(arrangement, w)
        assert warm.classes == cold.classes
        cold_steps, warm_steps = cold_steps + cold.work["steps"], warm_steps + warm.work["steps"]
        found = warm
    assert warm_steps < 0.9 * cold_steps
    check_by_hand(arrangement, found)


@quick
@given(st.integers(0, 2**32 - 1))
def test_warm_from_anywhere(seed):
    """Any chamber may serve as a start, however many bits differ, and in degenerate position."""
    rng = np.random.default_rng(seed)
    G = small_instance(seed % 1000)
    G = np.vstack([G, rng.integers(-1, 2, G.shape)])
    arrangement = Arrangement(G)
    known = walls(arrangement, rng.standard_normal(G.shape[1]))
    w = rng.standard_normal(G.shape[1])
    assert walls(arrangement, w, warm=known).classes == walls(arrangement, w).classes


@pytest.mark.parametrize("distance", [1e-3, 1e-6, 1e-8])
def test_point_near_a_wall_or_a_corner(distance):
    """The answer does not depend on where in the chamber the point is."""
    arrangement, rng = gaussian(50, 6, 3)
    found = walls(arrangement, rng.standard_normal(6))
    G = arrangement.generators * np.where(found.pattern, 1.0, -1.0)[:, None]
    w = found.witness / np.linalg.norm(found.witness)
    checked = 0
    for i, behind in zip(found, found.neighbor_witnesses(), strict=True):
        behind = behind / np.linalg.norm(behind)
        t = (G[i] @ w) / (G[i] @ (w - behind))  # on the wall
        near = w + (1 - distance) * t * (behind - w)
        if np.all(arrangement.sign_vector(near)):
            assert walls(arrangement, near).classes == found.classes
            checked += 1
    assert checked > len(found) / 2
    # a vertex of the chamber: five walls meet there
    for five in (found.indices[:5], found.indices[-5:]):
        corner = np.linalg.svd(G[five])[2][-1]
        if np.all(G @ corner > -1e-12) or np.all(G @ corner < 1e-12):
            corner *= np.sign((G @ corner).sum())
            assert walls(arrangement, corner + distance * w).classes == found.classes


@pytest.mark.parametrize("size", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("copies", [1, 2])
def test_nearly_degenerate(size, copies):
    """Walls are found that exist through a small perturbation only."""
    rng = np.random.default_rng(1)
    G = np.vstack([cube(3)] * copies)
    G += size * rng.standard_normal(G.shape)
    arrangement = Arrangement(G)
    for w in rng.standard_normal((15, 4)):
        found = walls(arrangement, w)
        flips = np.eye(len(G), dtype=bool)
        exact = [i for i, flip in enumerate(flips) if is_chamber(arrangement, found.pattern ^ flip)]
        assert found.indices.tolist() == exact
        assert np.array_equal(arrangement.pattern(found.neighbor_witnesses()), found.neighbors())


def test_doubtful_rows_are_settled(monkeypatch):
    """The route for rows that the kernel leaves open gives the same answer."""
    arrangement, rng = gaussian(40, 5, 11)
    w = rng.standard_normal(5)
    found = walls(arrangement, w)
    original = facets.find_walls

    def undecided(*arguments):
        status, proof, work = arguments[5], arguments[6], arguments[8]
        original(*arguments)
        status[status == WALL] = DOUBTFUL
        status[::3] = DOUBTFUL
        proof[::3] = -1
        work[DOUBTS] = 1
        return 0

    monkeypatch.setattr(facets, "find_walls", undecided)
    settled = walls(arrangement, w)
    assert settled.classes == found.classes
    check_by_hand(arrangement, settled)
    assert walls(arrangement, w, warm=settled).classes == found.classes


def test_witnesses_come_with_the_walls(monkeypatch):
    """Points behind walls are read off the proofs; no program is solved for them."""
    monkeypatch.setattr(facets, "membership", None)
    generic, rng = gaussian(60, 6, 2)
    for arrangement in (generic, Arrangement(cube(4))):
        for found in walls_of(arrangement, rng.standard_normal((5, arrangement.dimension))):
            assert np.array_equal(arrangement.pattern(found.neighbor_witnesses()), found.neighbors())


def test_threads_do_not_share_a_workspace():
    arrangement, rng = gaussian(100, 6, 5)
    points = rng.standard_normal((60, 6))
    expected = [found.indices.tolist() for found in walls_of(arrangement, points)]
    with ThreadPoolExecutor(4) as pool:
        assert [f.indices.tolist() for f in pool.map(lambda w: walls(arrangement, w), points)] == expected


def test_results_do_not_change_later():
    """The workspace is shared by the calls; what they return is not."""
    arrangement, rng = gaussian(30, 4, 9)
    first = walls(arrangement, rng.standard_normal(4))
    before = first.indices.copy(), first.neighbors(), first._touch.copy(), first._inside.copy()
    w = rng.standard_normal(4)
    second = walls(arrangement, w)
    w[:] = 0
    assert np.all(second.witness != 0)
    for a, b in zip(before, (first.indices, first.neighbors(), first._touch, first._inside), strict=True):
        assert np.array_equal(a, b)
    check_by_hand(arrangement, first)


def test_bad_input():
    arrangement = Arrangement([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    with pytest.raises(InputError, match="no weights have this pattern"):
        walls(arrangement, [True, True, False])
    with pytest.raises(InputError, match="hyperplane of generator 1"):
        walls(arrangement, [1.0, 0.0])
    with pytest.raises(InputError, match="chamber: expected a pattern of 3 bits or 2 weights"):
        walls(arrangement, [1.0])
    with pytest.raises(InputError, match="finite"):
        walls(arrangement, [1.0, np.nan])
    with pytest.raises(InputError, match="booleans or zeros and ones"):
        walls(arrangement, [1, -1, 1])
    with pytest.raises(InputError, match="witness: its pattern"):
        walls(arrangement, [True, True, True], witness=[-1.0, -1.0])
    with pytest.raises(InputError, match="weights already"):
        walls(arrangement, [1.0, 1.0], witness=[1.0, 1.0])
    with pytest.raises(InputError, match="witnesses: 1 for 2"):
        walls_of(arrangement, [[1.0, 1.0], [1.0, 2.0]], witnesses=[[1.0, 1.0]])
    found = walls(arrangement, [1.0, 1.0])
    with pytest.raises(InputError, match="another arrangement"):
        walls(Arrangement(np.eye(2)), [1.0, 1.0], warm=found)
    for use in (found.neighbor, found.neighbor_witness):
        with pytest.raises(InputError, match="not a wall"):
            use(2)
        with pytest.raises(InputError, match="no generator"):
            use(3)
    with pytest.raises(InputError, match="no generator"):
        found.certificate(-1)
