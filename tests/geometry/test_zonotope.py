"""Zonotopes against exact covectors, convex hulls, closed forms and their own certificates."""

from itertools import combinations
from math import comb

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.geometry import reference_zonotope as reference
from tests.reference import cover_count, small_instances
from zonofit.errors import BudgetError, InputError
from zonofit.geometry.arrangement import Arrangement
from zonofit.geometry.faces import faces
from zonofit.geometry.lookup import PatternSet, pattern_keys
from zonofit.geometry.packing import pack, unpack
from zonofit.geometry.zonotope import Zonotope, label

INSTANCES = reference.instances()
PLANE_OR_SPACE = [
    "generic 6,2",
    "generic 7,3",
    "cube 2",
    "collinear",
    "repeated",
    "antiparallel",
    "zero generator",
    "resonance 3",
]
integers = hnp.arrays(np.int64, st.tuples(st.integers(1, 6), st.integers(1, 3)), elements=st.integers(-2, 2))
quick = settings(deadline=None, max_examples=40, derandomize=True)


def euler(f):
    """Σ_{k<r} (-1)^k f_k - (1 - (-1)^r), zero for every polytope of dimension r."""
    r = len(f) - 1
    return sum((-1) ** k * f[k] for k in range(r)) - (1 - (-1) ** r)


def check_faces(generators):
    Z = Zonotope(generators)
    points, barcodes = Z.vertices()
    f = Z.f_vector()
    assert len(f) == Z.dimension + 1 and f[-1] == 1 and euler(f) == 0
    for k in range(Z.dimension + 1):
        expected = reference.zonotope_faces(generators, k)
        found = Z.faces(k)
        assert len(found) == len(expected) == f[k]
        assert {F.face.signs: {tuple(map(int, barcodes[v])) for v in F.vertices} for F in found} == expected
        assert {F.face for F in found} == set(faces(Z.arrangement, k))
        for F in found:
            assert F.dimension == F.face.codimension == k
            assert F.is_parallelepiped == (len(F.vertices) == 2**k)
            zeros = F.face.zeros
            assert F.generators.tolist() == [i for i in zeros if np.any(Z.generators[i])]
            if k:
                spread = points[F.vertices[1:]] - points[F.vertices[0]]
                size = np.abs(Z.generators).max(axis=0)
                assert np.linalg.matrix_rank(spread / np.where(size > 0, size, 1)) == k


@pytest.mark.parametrize("name", INSTANCES)
def test_faces(name):
    check_faces(INSTANCES[name])


@quick
@given(integers)
def test_faces_of_small_integers(generators):
    check_faces(generators)


@pytest.mark.parametrize("name", INSTANCES)
def test_edges(name):
    Z = Zonotope(INSTANCES[name])
    points, barcodes = Z.vertices()
    ends, flips = Z.edges()
    assert {tuple(sorted(e)) for e in ends.tolist()} == reference.edges(barcodes, Z.classes)
    assert len(ends) == len(set(map(tuple, ends.tolist()))) == (Z.f_vector()[1] if Z.dimension else 0)
    for (i, j), k in zip(ends, flips, strict=True):
        members = Z.classes[k]
        assert np.array_equal(np.flatnonzero(barcodes[i] != barcodes[j]), members)
        assert barcodes[j][members[0]] and not barcodes[i][members[0]]
        g = Z.generators[members]
        along = np.sign(g @ (g[0] / np.abs(g[0]).max() ** 2)) @ g
        assert np.allclose(points[j] - points[i], along, rtol=1e-12, atol=1e-12 * np.abs(points).max())


@pytest.mark.parametrize(("N", "n"), [(9, 2), (9, 3), (8, 4), (8, 5)])
def test_generic_f_vector(N, n):
    Z = Zonotope(np.random.default_rng(N + n).standard_normal((N, n)))
    expected = [2 * comb(N, k) * sum(comb(N - 1 - k, j) for j in range(n - k)) for k in range(n)]
    assert Z.f_vector() == (*expected, 1)
    assert [len(Z.faces(k)) for k in range(n + 1)] == [*expected, 1]
    assert all(F.is_parallelepiped for k in range(n) for F in Z.faces(k))


@pytest.mark.parametrize("generators", small_instances())
def test_euler_and_the_formula_on_random_instances(generators):
    """As many chambers as in general position means general position, and the formula for every k."""
    N = len(generators)
    f = Zonotope(generators).f_vector()
    r = len(f) - 1
    assert euler(f) == 0
    assert f[0] == Arrangement(generators).n_chambers()
    if r and f[0] == cover_count(N, r):
        assert f == (*(2 * comb(N, k) * sum(comb(N - 1 - k, j) for j in range(r - k)) for k in range(r)), 1)


@pytest.mark.parametrize(
    ("d", "f"), [(2, (14, 24, 12, 1)), (3, (104, 256, 192, 40, 1)), (4, (1882, 5920, 6080, 2320, 280, 1))]
)
def test_cube_f_vector(d, f):
    Z = Zonotope.from_examples(reference.cube(d))
    assert Z.f_vector() == f
    if d < 4:
        assert tuple(len(Z.faces(k)) for k in range(d + 2)) == f
    assert euler(f) == 0


def test_f_vectors_by_hand():
    # a cube; a prism over a hexagon; a segment in space; a point
    assert Zonotope(np.eye(3)).f_vector() == (8, 12, 6, 1)
    prism = Zonotope([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]])
    assert prism.f_vector() == (12, 18, 8, 1)
    assert sorted(len(F.vertices) for F in prism.faces(2)) == [4] * 6 + [6] * 2
    assert sorted(F.is_parallelepiped for F in prism.faces(2)) == [False] * 2 + [True] * 6
    assert Zonotope([[1, 2, 3], [-2, -4, -6]]).f_vector() == (2, 1)
    assert Zonotope(np.zeros((2, 3))).f_vector() == (1,)


@pytest.mark.parametrize("name", PLANE_OR_SPACE)
def test_vertices_and_volume_are_those_of_the_convex_hull(name):
    from scipy.spatial import ConvexHull

    Z = Zonotope(INSTANCES[name])
    points, barcodes = Z.vertices()
    hull = ConvexHull(np.unique(reference.corners(Z.generators).round(12), axis=0))
    assert np.allclose(np.unique(points.round(12), axis=0), np.unique(hull.points[hull.vertices], axis=0))
    assert np.isclose(Z.volume(), hull.volume, rtol=1e-12)
    assert len(ConvexHull(points).vertices) == len(points) == len(np.unique(barcodes, axis=0)) == Z.n_vertices


@pytest.mark.parametrize("name", PLANE_OR_SPACE)
def test_volume_is_the_sum_of_determinants(name):
    Z = Zonotope(INSTANCES[name])
    n = Z.ambient_dimension
    subsets = combinations(range(len(Z.generators)), n)
    assert np.isclose(Z.volume(), sum(abs(np.linalg.det(Z.generators[list(S)])) for S in subsets), rtol=1e-12)


def test_volume_in_lower_dimension():
    flat = Zonotope([[1.0, 0, 0], [0, 1, 0], [1, 1, 0]])
    assert np.isclose(flat.volume(), 3.0)
    turn, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))
    assert np.isclose(Zonotope(flat.generators @ turn).volume(), 3.0)
    assert np.isclose(Zonotope([[3.0, 4.0], [-6.0, -8.0]]).volume(), 15.0)
    assert Zonotope(np.zeros((2, 2))).volume() == 1.0
    with pytest.raises(BudgetError):
        Zonotope(np.random.default_rng(0).standard_normal((30, 5))).volume(budget=1000)


@pytest.mark.parametrize("name", INSTANCES)
def test_central_symmetry_and_order(name):
    Z = Zonotope(INSTANCES[name])
    points, barcodes = Z.vertices()
    assert np.array_equal(barcodes, Z.barcodes()) and np.array_equal(barcodes, np.array(list(Z)))
    assert [tuple(b) for b in barcodes] == sorted(tuple(b) for b in barcodes)
    live = np.any(Z.generators != 0, axis=1)
    assert not barcodes[:, ~live].any()
    assert {tuple(b) for b in barcodes ^ live} == {tuple(b) for b in barcodes}
    opposite = [Z.index(b) for b in barcodes ^ live]
    assert np.allclose(points[opposite], 2 * Z.center - points, atol=1e-12 * (1 + np.abs(points).max()))
    for i in range(0, len(points), 1 + len(points) // 10):
        assert np.array_equal(Z.vertex(barcodes[i]), points[i]) or np.allclose(Z.vertex(barcodes[i]), points[i])
        assert Z.index(label(barcodes[i])) == i


@pytest.mark.parametrize("name", INSTANCES)
def test_support_is_the_maximum_over_vertices(name):
    Z = Zonotope(INSTANCES[name])
    points, barcodes = Z.vertices()
    n = Z.ambient_dimension
    rng = np.random.default_rng(8)
    column = np.abs(Z.generators).max(axis=0)
    column[column == 0] = 1.0
    for w in np.array([*rng.standard_normal((10, n)), *np.eye(n), *rng.integers(-1, 2, (10, n)), np.zeros(n)]) / column:
        value, point, face = Z.support(w)
        heights = points @ w
        size = np.abs(Z.generators * w).sum()
        assert np.isclose(value, heights.max(), atol=1e-12 * size)
        assert np.isclose(point @ w, value, atol=1e-12 * size)
        best = {tuple(b) for b in barcodes[heights >= value - 1e-10 * size]}
        fixed = face.sign_vector != 0
        assert best == {tuple(b) for b in barcodes if np.array_equal(b[fixed], face.pattern[fixed])}


@pytest.mark.parametrize("name", INSTANCES)
def test_containment_proves_itself(name):
    Z = Zonotope(INSTANCES[name])
    points, _ = Z.vertices()
    rng = np.random.default_rng(9)
    N, n = Z.generators.shape
    width = np.abs(Z.generators).sum(axis=0)
    inside = [*rng.random((5, N)) @ Z.generators, *points[:: 1 + len(points) // 6], Z.center]
    ends, _ = Z.edges()
    inside += [points[e].mean(axis=0) for e in ends[:3]]
    for p in inside:
        answer = Z.contains(p)
        assert answer and answer.direction is None and answer.margin == 0.0
        assert np.all((answer.coefficients >= 0) & (answer.coefficients <= 1))
        assert np.all(np.abs(answer.coefficients @ Z.generators - p) <= 1e-9 * width)
    unit = np.where(width > 0, width, 1.0)
    outside = []
    if Z.dimension:
        outside += [v + t * (v - Z.center) for v in points[:: 1 + len(points) // 6] for t in (2.0, 0.1, 1e-3, 1e-6)]
    for x in rng.standard_normal((5, n)):
        outside += [Z.center + unit * x / np.abs(x).max()]
        outside += [Z.center + 1e-6 * unit * x] if Z.dimension < n else []
    for p in outside:
        answer = Z.contains(p)
        assert not answer and answer.margin > 0
        assert answer.direction @ p > Z.support(answer.direction).value
        assert (points @ answer.direction).max() < answer.direction @ p


@pytest.mark.parametrize("name", PLANE_OR_SPACE)
def test_containment_agrees_with_the_convex_hull(name):
    from scipy.spatial import ConvexHull

    Z = Zonotope(INSTANCES[name])
    hull = ConvexHull(Z.vertices()[0])
    size = np.abs(Z.generators).sum(axis=0)
    for p in Z.center + size * np.random.default_rng(10).uniform(-0.6, 0.6, (40, Z.ambient_dimension)):
        height = np.max(hull.equations[:, :-1] @ p + hull.equations[:, -1])
        assert bool(Z.contains(p)) == (height <= 0)


@pytest.mark.parametrize("name", INSTANCES)
def test_skeleton_and_distance(name):
    Z = Zonotope(INSTANCES[name])
    points, barcodes = Z.vertices()
    graph = Z.skeleton()
    assert set(graph) == {label(b) for b in barcodes}
    assert graph.number_of_edges() == len(Z.edges().ends)
    for b, p in zip(barcodes, points, strict=True):
        assert graph.nodes[label(b)]["point"] == tuple(p)
    for i in range(0, len(barcodes), 1 + len(barcodes) // 4):
        lengths = nx.single_source_shortest_path_length(graph, label(barcodes[i]))
        assert len(lengths) == len(barcodes)
        assert all(Z.distance(barcodes[i], b) == lengths[label(b)] for b in barcodes)
    assert nx.is_bipartite(graph)


@pytest.mark.parametrize("name", INSTANCES)
def test_neighbors_are_the_walls(name):
    pytest.importorskip("zonofit.geometry.facets")
    Z = Zonotope(INSTANCES[name])
    barcodes = Z.barcodes()
    graph = Z.skeleton()
    for b in barcodes[:: 1 + len(barcodes) // 8]:
        around = Z.neighbors(b)
        assert {label(a) for a in around} == set(graph[label(b)])
        assert len(around) == graph.degree[label(b)] >= Z.dimension


@quick
@given(integers, st.integers(0, 2**32 - 1))
def test_symmetries(generators, seed):
    rng = np.random.default_rng(seed)
    N, n = generators.shape
    Z = Zonotope(generators)
    expected = {tuple(b) for b in Z.barcodes()}
    order = rng.permutation(N)
    assert {tuple(b) for b in Zonotope(generators[order]).barcodes()} == {tuple(np.array(b)[order]) for b in expected}
    change = rng.standard_normal((n, n)) + 3 * np.eye(n)
    moved = Zonotope(generators @ change)
    assert {tuple(b) for b in moved.barcodes()} == expected
    assert moved.f_vector() == Z.f_vector()
    if Z.dimension == n:
        assert np.isclose(moved.volume(), Z.volume() * abs(np.linalg.det(change)), rtol=1e-9)
    stretched = Zonotope(generators * rng.uniform(0.1, 10, (N, 1)))
    assert {tuple(b) for b in stretched.barcodes()} == expected


def test_scales_change_nothing():
    rng = np.random.default_rng(11)
    G = rng.standard_normal((8, 4))
    Z = Zonotope(G)
    for factor in (1e-8, 1e8):
        assert np.array_equal(Zonotope(factor * G).barcodes(), Z.barcodes())
        columns = Zonotope(G * [factor, 1.0, 1.0, 1 / factor])
        assert np.array_equal(columns.barcodes(), Z.barcodes())
        assert columns.f_vector() == Z.f_vector()
        assert [len(columns.faces(k)) for k in range(5)] == list(Z.f_vector())


def test_more_than_one_word():
    rng = np.random.default_rng(12)
    Z = Zonotope(rng.standard_normal((70, 2)))
    assert Z.f_vector() == (140, 140, 1)
    barcodes = Z.barcodes()
    assert [tuple(b) for b in barcodes] == sorted(tuple(b) for b in barcodes)
    assert {tuple(sorted(e)) for e in Z.edges().ends.tolist()} == reference.edges(barcodes, Z.classes)
    assert sorted(len(F.vertices) for F in Z.faces(1)) == [2] * 140
    assert all(Z.index(b) == i for i, b in enumerate(barcodes))


@pytest.mark.parametrize("n_bits", [1, 8, 63, 64, 65, 200])
def test_pattern_set(n_bits):
    rng = np.random.default_rng(n_bits)
    bits = np.unique(rng.random((300, n_bits)) < rng.choice([0.05, 0.5]), axis=0)
    shuffled = bits[rng.permutation(len(bits))]
    patterns = PatternSet(pack(shuffled))
    assert np.array_equal(unpack(patterns.words, n_bits), bits)
    assert np.array_equal(patterns.find(pack(bits)), np.arange(len(bits)))
    others = rng.random((100, n_bits)) < 0.5
    known = {tuple(b): i for i, b in enumerate(bits)}
    assert patterns.find(pack(others)).tolist() == [known.get(tuple(b), -1) for b in others]
    assert len(set(pattern_keys(pack(bits)).tolist())) == len(patterns) == len(bits)
    with pytest.raises(InputError, match="twice"):
        PatternSet(pack(np.vstack([bits, bits[:1]])))


def test_construction_and_words():
    X = np.random.default_rng(13).standard_normal((6, 2))
    Z = Zonotope.from_examples(X)
    assert np.array_equal(Z.generators, np.c_[X, np.ones(6)])
    shared = Arrangement.from_examples(X)
    assert Zonotope(shared).arrangement is shared
    assert repr(Z) == "Zonotope(n_generators=6, ambient_dimension=3, dimension=3)"
    assert repr(Z**2) == f"{Z!r} ** 2"
    assert Z.contains(Z.center)


def test_bad_input_and_budgets():
    Z = Zonotope(INSTANCES["generic 7,3"])
    with pytest.raises(BudgetError, match="more than 20 vertices"):
        Zonotope(Z.generators, budget=20).vertices()
    with pytest.raises(InputError, match="dimension 0 to 3"):
        Z.faces(4)
    with pytest.raises(InputError, match="3 coordinates"):
        Z.contains([0.0, 0.0])
    with pytest.raises(InputError, match="point"):
        Z.contains([0.0, np.nan, 0.0])
    with pytest.raises(InputError, match="7 bits"):
        Z.vertex([1, 0])
    known = {tuple(b) for b in Z.barcodes()}
    wrong = next(b for b in np.ndindex(*[2] * 7) if b not in known)
    for method in (Z.vertex, Z.index):
        with pytest.raises(InputError, match="not a vertex"):
            method(wrong)
    with pytest.raises(InputError, match="parallel"):
        Zonotope(INSTANCES["antiparallel"]).vertex([1, 1, 0, 0, 0, 0])
    with pytest.raises(InputError, match="zero generator"):
        Zonotope(INSTANCES["zero generator"]).index([1, 0, 0, 0, 0, 0])
