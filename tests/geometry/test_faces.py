"""The complex R against exact covectors, the axioms of oriented matroids, and the paper's claims about it."""

from itertools import combinations, product
from math import comb

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.geometry import reference_zonotope as reference
from zonofit.errors import BudgetError, InputError
from zonofit.geometry.arrangement import Arrangement
from zonofit.geometry.faces import (
    Face,
    composition,
    face_of,
    faces,
    is_covector,
    meet,
    null_face,
    region,
    separation,
)
from zonofit.geometry.flats import closure, deletion, flats, rank_of, restriction
from zonofit.geometry.poset import face_poset

INSTANCES = reference.instances()
SMALL = [name for name in INSTANCES if name != "cube 3"]
integers = hnp.arrays(np.int64, st.tuples(st.integers(1, 6), st.integers(1, 3)), elements=st.integers(-2, 2))
quick = settings(deadline=None, max_examples=40, derandomize=True)


def all_faces(arrangement):
    return [face for k in range(arrangement.rank + 1) for face in faces(arrangement, k)]


def n_chambers(arrangement):
    return sum(map(len, arrangement.chambers()))


def check_against_reference(generators):
    arrangement = Arrangement(generators)
    found = all_faces(arrangement)
    expected = reference.covectors(generators)
    assert len(found) == len(set(found))
    assert {face.signs: face.codimension for face in found} == expected
    assert all(face.dimension == arrangement.dimension - face.codimension for face in found)
    assert sum((-1) ** face.codimension for face in found) == 1


@pytest.mark.parametrize("name", INSTANCES)
def test_faces_are_the_covectors(name):
    check_against_reference(INSTANCES[name])


@quick
@given(integers)
def test_faces_are_the_covectors_of_small_integers(generators):
    check_against_reference(generators)


@pytest.mark.parametrize(("N", "n"), [(7, 2), (8, 3), (7, 4), (3, 5)])
def test_generic_counts(N, n):
    arrangement = Arrangement(np.random.default_rng(N * n).standard_normal((N, n)))
    r = min(N, n)
    for k in range(r):
        assert len(faces(arrangement, k)) == 2 * comb(N, k) * sum(comb(N - 1 - k, j) for j in range(r - k))
    assert faces(arrangement, r) == [null_face(arrangement)]


@pytest.mark.parametrize("name", SMALL)
def test_region_is_the_largest_covector_below(name):
    generators = INSTANCES[name]
    arrangement = Arrangement(generators)
    known = reference.covectors(generators)
    # a zero generator's closed half-spaces are everything, whatever its sign
    live = np.any(generators != 0, axis=1)
    for a in np.random.default_rng(0).integers(-1, 2, (40, len(generators))):
        below = [F for F in known if all(f in (0, s) for f, s in zip(F, np.where(live, a, 0), strict=True))]
        top = null_face(arrangement).signs
        for F in below:
            top = reference.compose(top, F)
        face = region(arrangement, a)
        assert face.signs == top
        assert is_covector(arrangement, a) == (tuple(a) in known)


@pytest.mark.parametrize("name", ["generic 6,2", "cube 2", "collinear", "antiparallel", "zero generator", "few"])
def test_meet_is_the_greatest_lower_bound(name):
    arrangement = Arrangement(INSTANCES[name])
    every = all_faces(arrangement)
    rng = np.random.default_rng(1)
    for _ in range(25):
        F, G, H = (every[i] for i in rng.integers(len(every), size=3))
        M = meet(F, G)
        assert M == meet(G, F)
        assert meet(F, F) == F
        assert meet(M, H) == meet(F, meet(G, H))
        assert M in every and M <= F and M <= G
        assert all(L <= M for L in every if L <= F and L <= G)
        assert (F <= G) == (M == F)


def test_meet_may_have_more_zeros_than_the_signs_disagree_on():
    arrangement = Arrangement([[1, 0], [0, 1], [1, 1]])
    F, G = region(arrangement, [1, 1, 1]), region(arrangement, [-1, 1, -1])
    assert F.is_chamber and G.is_chamber
    assert not is_covector(arrangement, [0, 1, 0])
    assert meet(F, G) == null_face(arrangement)


@pytest.mark.parametrize("name", ["generic 6,2", "cube 2", "collinear", "antiparallel", "zero generator"])
def test_covector_axioms(name):
    arrangement = Arrangement(INSTANCES[name])
    every = all_faces(arrangement)
    table = np.array([face.signs for face in every])
    known = set(every)
    assert all(-F in known for F in every)
    rng = np.random.default_rng(2)
    for _ in range(300):
        F, G = (every[i] for i in rng.integers(len(every), size=2))
        FG = composition(F, G)
        assert FG in known and F <= FG
        apart = separation(F, G)
        rest = np.setdiff1d(np.arange(len(F.signs)), apart)
        agree = np.all(table[:, rest] == FG.sign_vector[rest], axis=1)
        for i in apart:
            assert np.any(agree & (table[:, i] == 0))


@pytest.mark.parametrize("name", ["generic 6,2", "cube 2", "collinear", "zero generator", "line", "nothing", "few"])
def test_poset_is_the_order(name):
    arrangement = Arrangement(INSTANCES[name])
    every = all_faces(arrangement)
    poset = face_poset(arrangement)
    assert set(poset) == set(every)
    above = {F: nx.descendants(poset, F) | {F} for F in poset}
    for F, G in product(every, repeat=2):
        assert (G in above[F]) == (F <= G) == (G >= F)
        assert (F < G) == (F <= G and F != G) == (G > F)
    assert all(F.dimension + 1 == G.dimension for F, G in poset.edges)
    assert [F for F in poset if poset.in_degree(F) == 0] == [null_face(arrangement)]
    assert all((poset.out_degree(F) == 0) == F.is_chamber for F in poset)
    for F in poset:
        for G in {G for H in poset.successors(F) for G in poset.successors(H)}:
            assert len(set(poset.successors(F)) & set(poset.predecessors(G))) == 2
    ridges = [F for F in poset if F.codimension == 1]
    assert all(poset.out_degree(F) == 2 for F in ridges)


def test_poset_of_the_cube():
    poset = face_poset(Arrangement(INSTANCES["cube 3"]))
    sizes = [sum(k == j for _, k in poset.nodes(data="codimension")) for j in range(5)]
    assert sizes == [104, 256, 192, 40, 1]


@pytest.mark.parametrize("name", ["generic 7,3", "generic 6,4"])
def test_neighbours_in_general_position_differ_by_codimension_of_the_meet(name):
    chambers = faces(Arrangement(INSTANCES[name]), 0)
    rng = np.random.default_rng(3)
    met = 0
    for F in (chambers[i] for i in rng.integers(len(chambers), size=3)):
        for G in chambers:
            M = meet(F, G)
            if M.codimension < len(INSTANCES[name][0]):
                met += 1
                assert len(separation(F, G)) == M.codimension
    assert met > 20


def test_flips_bound_the_codimension_of_the_meet_in_any_position():
    for name in ("cube 2", "collinear", "antiparallel", "zero column"):
        arrangement = Arrangement(INSTANCES[name])
        for F, G in combinations(faces(arrangement, 0)[::2], 2):
            assert rank_of(arrangement, separation(F, G)) <= meet(F, G).codimension


def test_the_papers_bound_fails_out_of_general_position():
    arrangement = Arrangement([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [1, 1, 1, 0], [0, 0, 0, 1]])
    F, G = Face((-1, 1, -1, 1, 1), arrangement), Face((1, -1, -1, 1, 1), arrangement)
    assert is_covector(arrangement, F.signs) and is_covector(arrangement, G.signs)
    M = meet(F, G)
    assert M.signs == (0, 0, 0, 0, 1) and M.dimension == 1
    assert len(separation(F, G)) == 2 < arrangement.dimension - M.dimension


@pytest.mark.parametrize("name", INSTANCES)
def test_witnesses_lie_in_their_faces(name):
    arrangement = Arrangement(INSTANCES[name])
    every = all_faces(arrangement)
    for face in every[:: max(1, len(every) // 40)]:
        w = face.witness()
        assert face_of(arrangement, w) == face
        values = arrangement.generators[face.sign_vector != 0] @ w
        assert np.array_equal(np.sign(values), face.sign_vector[face.sign_vector != 0])
    w = np.random.default_rng(4).standard_normal(arrangement.dimension)
    assert np.array_equal(face_of(arrangement, w).sign_vector, np.sign(arrangement.generators @ w))
    assert face_of(arrangement, 0 * w) == null_face(arrangement)


def test_rounding_onto_a_flat_takes_all_of_it():
    # within tolerance of the first two hyperplanes but not of the third, which holds their intersection
    arrangement = Arrangement([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]])
    w = [0.9e-12, 0.9e-12, 1.0]
    assert arrangement.sign_vector(w).tolist() == [0, 0, 1, 1]
    assert face_of(arrangement, w).signs == (0, 0, 0, 1)
    assert is_covector(arrangement, face_of(arrangement, w).signs)


@pytest.mark.parametrize("name", INSTANCES)
def test_flats_are_closed_and_partition_what_covers_them(name):
    arrangement = Arrangement(INSTANCES[name])
    N = arrangement.n_generators
    rng = np.random.default_rng(6)
    for k in range(arrangement.rank + 1):
        level = flats(arrangement, k)
        for flat in level[:20]:
            assert rank_of(arrangement, flat) == reference.rank(arrangement.generators, flat) == k
            assert np.array_equal(closure(arrangement, flat), flat)
            above = [larger for larger in flats(arrangement, k + 1) if set(flat) <= set(larger)]
            rest = sorted(i for larger in above for i in larger if i not in set(flat))
            assert rest == sorted(set(range(N)) - set(flat)) or k == arrangement.rank
    for _ in range(10):
        some = rng.choice(N, rng.integers(N + 1), replace=False)
        closed = closure(arrangement, some)
        ranks = [reference.rank(arrangement.generators, [*some, i]) for i in range(N)]
        low = reference.rank(arrangement.generators, some)
        assert closed.tolist() == [i for i in range(N) if ranks[i] == low]
    assert flats(arrangement, arrangement.rank + 1) == []


@pytest.mark.parametrize("name", INSTANCES)
def test_restriction_keeps_the_signs(name):
    arrangement = Arrangement(INSTANCES[name])
    rng = np.random.default_rng(7)
    for k in range(arrangement.rank + (arrangement.rank < arrangement.dimension)):
        for flat in flats(arrangement, k)[:6]:
            part = restriction(arrangement, flat)
            assert np.array_equal(part.flat, flat)
            assert part.basis.shape == (arrangement.dimension, arrangement.dimension - k)
            unitless = part.basis / np.max(np.abs(part.basis), axis=1, keepdims=True, initial=1e-300)
            assert np.linalg.matrix_rank(unitless) == arrangement.dimension - k
            u = rng.standard_normal((20, part.basis.shape[1]))
            outside = np.setdiff1d(np.arange(arrangement.n_generators), flat)
            values = u @ part.basis.T @ arrangement.generators[outside].T
            assert np.array_equal(part.arrangement.sign_vector(u)[:, outside], np.sign(values))
            assert not part.arrangement.generators[flat].any()
            assert part.arrangement.rank == arrangement.rank - k


@pytest.mark.parametrize("name", ["generic 7,3", "generic 6,4", "cube 2", "cube 3", "resonance 3", "scales"])
def test_deletion_and_restriction_count_chambers(name):
    arrangement = Arrangement(INSTANCES[name])
    for i in range(arrangement.n_generators):
        with_hyperplane = n_chambers(restriction(arrangement, [i]).arrangement)
        assert n_chambers(arrangement) == n_chambers(deletion(arrangement, [i])) + with_hyperplane


@quick
@given(integers, st.integers(0, 2**32 - 1))
def test_symmetries(generators, seed):
    rng = np.random.default_rng(seed)
    N, n = generators.shape
    expected = {face.signs for face in all_faces(Arrangement(generators))}
    order = rng.permutation(N)
    permuted = {face.signs for face in all_faces(Arrangement(generators[order]))}
    assert permuted == {tuple(signs[i] for i in order) for signs in expected}
    change = rng.standard_normal((n, n)) + 3 * np.eye(n)
    moved = generators * rng.uniform(0.1, 10, (N, 1)) @ change
    assert {face.signs for face in all_faces(Arrangement(moved))} == expected


def test_faces_hash_and_compare():
    generators = INSTANCES["cube 2"]
    one, two = Arrangement(generators), Arrangement(generators.copy())
    F, G = faces(one, 1)[0], faces(two, 1)[0]
    assert F == G and hash(F) == hash(G) and F <= G
    with pytest.raises(InputError, match="different arrangements"):
        meet(F, faces(Arrangement(INSTANCES["generic 7,3"]), 1)[0])
    with pytest.raises(AttributeError):
        F.signs = G.signs


def test_budgets_and_bad_input():
    arrangement = Arrangement(INSTANCES["generic 7,3"])
    with pytest.raises(BudgetError, match="more than 50 faces"):
        face_poset(arrangement, budget=50)
    with pytest.raises(BudgetError, match="more than 30"):
        faces(arrangement, 0, budget=30)
    with pytest.raises(BudgetError, match="flats"):
        flats(arrangement, 2, budget=5)
    with pytest.raises(InputError, match="signs"):
        region(arrangement, np.ones(7, bool))
    with pytest.raises(InputError, match="signs"):
        region(arrangement, [1, 0])
    with pytest.raises(InputError, match="indices"):
        closure(arrangement, [7])
    with pytest.raises(InputError, match="indices"):
        deletion(arrangement, range(7))
    with pytest.raises(InputError, match="flat"):
        restriction(arrangement, [0, 1, 2])
    with pytest.raises(InputError, match="rank"):
        flats(arrangement, -1)
    with pytest.raises(InputError, match="w:"):
        face_of(arrangement, np.eye(3))
    impossible = next(a for a in product([-1, 1], repeat=7) if not is_covector(arrangement, a))
    with pytest.raises(InputError, match="not the sign vector"):
        Face(impossible, arrangement).witness()
