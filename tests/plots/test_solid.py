import numpy as np
import pytest

from zonofit.geometry.zonotope import Zonotope
from zonofit.plots.solid import Solid, View, display_change, least_gap

VIEW = View(0.7, 0.4)


def generic(N, seed=0):
    return np.c_[np.random.default_rng(seed).standard_normal((N, 2)), np.ones(N)]


@pytest.mark.parametrize("generators", [generic(5), generic(7, 1), [[0, 0, 1], [0, 1, 1], [1, 0, 1], [1, 1, 1]]])
def test_visible_is_what_no_face_hides(generators):
    """A vertex is hidden exactly when the ray from it towards the reader enters the zonotope: a linear program."""
    from scipy.optimize import linprog

    solid = Solid(Zonotope(generators))
    seen = solid.visible_vertices(VIEW)
    rows = solid.zonotope.generators @ display_change(solid.zonotope.generators).T
    for v, point in enumerate(solid.points + rows.sum(axis=0) / 2):
        # the largest t such that point + t (towards the reader) is still inside
        N = len(rows)
        equal = np.c_[rows.T, -VIEW.axes[2]]
        reach = linprog(np.r_[np.zeros(N), -1], A_eq=equal, b_eq=point, bounds=[(0, 1)] * N + [(0, None)])
        assert seen[v] == (-reach.fun < 1e-7)


def test_half_of_the_faces_are_seen():
    solid = Solid(Zonotope(generic(6)))
    assert len(solid.faces) == 30
    assert solid.visible_faces(VIEW).sum() == 15
    # Euler's relation on the part that is seen, which is a disc
    V, E, F = solid.visible_vertices(VIEW).sum(), solid.visible_edges(VIEW).sum(), 15
    assert V - E + F == 1


def test_faces_are_closed_rings_of_edges():
    solid = Solid(Zonotope([[0, 0, 1], [0, 1, 1], [1, 0, 1], [1, 1, 1], [2, 1, 1]]))
    edges = {frozenset(e) for e in solid.ends.tolist()}
    used = {}
    for face in solid.faces:
        for a, b in zip(face.tolist(), np.roll(face, 1).tolist(), strict=True):
            assert frozenset((a, b)) in edges
            used[frozenset((a, b))] = used.get(frozenset((a, b)), 0) + 1
    assert used == dict.fromkeys(edges, 2)


@pytest.mark.parametrize("N", [3, 5, 8])
def test_paths_are_shortest(N):
    solid = Solid(Zonotope(generic(N)))
    for vertex, barcode in enumerate(solid.barcodes):
        path = solid.path_to(vertex, VIEW)
        assert len(path) == barcode.sum()
        assert sorted(solid.flips[path].tolist()) == np.flatnonzero(barcode).tolist()
        walk = [*solid.ends[path, 0].tolist(), vertex]
        assert walk[1:] == [*solid.ends[path, 1].tolist()][: len(walk) - 1]


def test_the_chosen_view_shows_the_path():
    solid = Solid(Zonotope(generic(6)))
    vertex = int(np.flatnonzero(solid.barcodes.sum(axis=1) == 3)[0])
    view = solid.best_view(vertex)
    assert solid.visible_edges(view)[solid.path_to(vertex, view)].all()


@pytest.mark.parametrize(
    "generators", [generic(6) * [1e8, 1e-8, 1], generic(6) + [1e3, -1e3, 0], generic(6) - [0, 0, 0.5]]
)
def test_display_is_even(generators):
    change = display_change(generators)
    assert abs(np.linalg.det(change)) > 0
    solid = Solid(Zonotope(generators))
    width = np.linalg.svd(solid.points[:, :2], compute_uv=False)
    assert width[1] > 0.5 * width[0]
    total = change @ generators.sum(axis=0)
    assert np.allclose(total[:2], 0, atol=1e-6)


def test_flat_zonotopes():
    flat = Solid(Zonotope([[1, 0, 1], [2, 0, 1], [3, 0, 1]]))
    assert len(flat.faces) == 1 and flat.visible_edges(VIEW).all() and flat.visible_vertices(VIEW).all()
    segment = Solid(Zonotope([[1, 2, 1]]))
    assert segment.faces == [] and segment.visible_edges(VIEW).all()
    point = Solid(Zonotope([[0, 0, 0]]))
    assert point.visible_vertices(VIEW).all() and len(point.points) == 1


def test_least_gap():
    points = np.array([[0.0, 0], [4, 0], [1, 1], [9, 9]])
    assert least_gap(points, np.array([[0, 1]]), np.array([2])) == pytest.approx(1)
    assert least_gap(points, np.array([[0, 1]]), np.array([0, 1])) == np.inf
