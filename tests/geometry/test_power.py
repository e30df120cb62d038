"""Z^m against the plain zonotope of the generators e_i x_j^T, and against closed-form counts."""

from itertools import islice, product
from math import comb

import networkx as nx
import numpy as np
import pytest

from tests.geometry import reference_zonotope as reference
from zonofit.errors import BudgetError, InputError
from zonofit.geometry.zonotope import Zonotope, label

INSTANCES = reference.instances()
TINY = ["generic 6,2", "line", "few", "one", "nothing"]


@pytest.mark.parametrize("name", TINY)
@pytest.mark.parametrize("m", [1, 2])
def test_a_power_is_a_zonotope(name, m):
    power = Zonotope(INSTANCES[name]) ** m
    plain = power.as_zonotope()
    G = power.zonotope.generators
    for (i, j), matrix in zip(product(range(m), range(len(G))), power.generators, strict=True):
        assert np.array_equal(matrix, np.outer(np.eye(m)[i], G[j]))
    patterns = np.array(list(power.vertices()))
    assert patterns.shape == (power.n_vertices, m, len(G))
    assert np.array_equal(patterns.reshape(len(patterns), -1), plain.barcodes())
    assert power.f_vector() == plain.f_vector()
    assert power.dimension == plain.dimension == len(power.f_vector()) - 1
    assert power.n_edges == len(plain.edges().ends)


@pytest.mark.parametrize("name", ["generic 7,3", "cube 2", "cube 3", "collinear", "zero column", "one", "nothing"])
@pytest.mark.parametrize("m", [1, 2, 5])
def test_f_vectors_satisfy_euler(name, m):
    power = Zonotope(INSTANCES[name]) ** m
    f = power.f_vector()
    r = power.dimension
    assert len(f) == r + 1 and f[-1] == 1
    assert sum((-1) ** k * f[k] for k in range(r)) == 1 - (-1) ** r
    assert f[0] == power.n_vertices == power.zonotope.n_vertices**m
    assert r == 0 or f[1] == power.n_edges
    V, E = power.zonotope.n_vertices, len(power.zonotope.edges().ends)
    assert power.n_edges == m * E * V ** (m - 1)


def test_numbers_do_not_overflow():
    power = Zonotope(INSTANCES["cube 3"]) ** 40
    assert power.n_vertices == 104**40
    assert power.index(power.vertex_at(104**40 - 7)) == 104**40 - 7
    assert len(list(islice(power.vertices(), 5))) == 5
    assert power.orbits([1, -1] * 20).count == comb(104 + 19, 20) ** 2
    assert len(list(islice(power.orbits(), 5))) == 5


def test_numbering():
    power = Zonotope(INSTANCES["cube 2"]) ** 3
    for i, patterns in islice(enumerate(power), 0, None, 97):
        assert np.array_equal(power.vertex_at(i), patterns)
        assert power.index(patterns) == i


@pytest.mark.parametrize(("name", "m"), [("generic 6,2", 2), ("line", 3), ("antiparallel", 2), ("nothing", 2)])
def test_skeleton_and_distance(name, m):
    power = Zonotope(INSTANCES[name]) ** m
    graph = power.skeleton()
    single = power.zonotope.skeleton()
    expected = single
    for _ in range(m - 1):
        expected = nx.cartesian_product(expected, single)

    def flat(node):
        return (node,) if isinstance(node, str) else (*flat(node[0]), node[1])

    expected = nx.relabel_nodes(expected, flat)
    assert set(graph) == set(expected)
    assert set(map(frozenset, graph.edges)) == set(map(frozenset, expected.edges))
    assert graph.number_of_edges() == power.n_edges
    patterns = list(power)
    start = patterns[len(patterns) // 3]
    lengths = nx.single_source_shortest_path_length(graph, tuple(map(label, start)))
    assert all(power.distance(start, p) == lengths[tuple(map(label, p))] for p in patterns)
    for p, q, data in graph.edges(data=True):
        assert [i for i in range(m) if p[i] != q[i]] == [data["unit"]]
        assert single.edges[p[data["unit"]], q[data["unit"]]]["flips"] == data["flips"]


@pytest.mark.parametrize(("name", "m"), [("generic 6,2", 2), ("cube 2", 2), ("zero generator", 2)])
def test_neighbors(name, m):
    pytest.importorskip("zonofit.geometry.facets")
    power = Zonotope(INSTANCES[name]) ** m
    graph = power.skeleton()
    for patterns in islice(power, 0, None, 37):
        around = list(power.neighbors(patterns))
        assert {tuple(map(label, p)) for p in around} == set(graph[tuple(map(label, patterns))])
        assert len(around) == graph.degree[tuple(map(label, patterns))]


@pytest.mark.parametrize("signs", [None, [1, 1, 1], [1, -1, 1], [-1, -1, 1], [-1, -1, -1]])
@pytest.mark.parametrize("name", ["line", "few", "one"])
def test_orbits(name, signs):
    power = Zonotope(INSTANCES[name]) ** 3
    orbits = power.orbits(signs)
    V = power.zonotope.n_vertices
    plus = 3 if signs is None else signs.count(1)
    assert orbits.count == comb(V + plus - 1, plus) * comb(V + 2 - plus, 3 - plus)
    vertices = list(power)
    signs = [1, 1, 1] if signs is None else signs
    every = reference.orbits(vertices, signs)
    representatives = list(orbits)
    assert len(representatives) == len(every) == orbits.count
    assert reference.orbits(representatives, signs) == every
    sizes = {}
    for patterns in vertices:
        key = next(iter(reference.orbits([patterns], signs)))
        sizes[key] = sizes.get(key, 0) + 1
    for patterns, size in orbits.weighted():
        assert sizes[next(iter(reference.orbits([patterns], signs)))] == size


def test_bad_input_and_budgets():
    Z = Zonotope(INSTANCES["cube 2"])
    for m in (0, -1, 1.5, "2"):
        with pytest.raises(InputError, match="m:"):
            Z**m
    power = Z**3
    with pytest.raises(BudgetError, match="2744 vertices"):
        power.skeleton(budget=100)
    with pytest.raises(InputError, match="index"):
        power.vertex_at(14**3)
    with pytest.raises(InputError, match="patterns"):
        power.index(np.zeros((2, 4)))
    with pytest.raises(InputError, match="not a vertex"):
        power.index(np.array([[0, 0, 0, 0], [0, 0, 0, 0], [1, 0, 0, 1]]))
    with pytest.raises(InputError, match="signs"):
        power.orbits([1, 0, 1])
