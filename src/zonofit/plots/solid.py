"""A zonotope in R^3 as edges and faces that face the reader or do not.

The picture is an orthographic projection after an invertible linear change of coordinates (the mean of the
generators becomes the vertical axis, and the zonotope equally wide from every side). It keeps what the picture is for:
which vertices, edges and faces there are, and which edges are translations of the same generator.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from zonofit.geometry.zonotope import Zonotope

HEIGHT = 1.25
EDGE_ON = 1e-9
FLAT = 1e-7
AZIMUTHS = np.radians(np.arange(0.0, 360.0, 5.0))
ELEVATIONS = np.radians([12.0, 18.0, 24.0, 30.0])
MOST_FOR_SEARCH = 200


@dataclass(frozen=True)
class View:
    """A direction to look from: angles in radians."""

    azimuth: float
    elevation: float

    @property
    def axes(self) -> np.ndarray:
        """Rows: right, up, and towards the reader."""
        a, e = self.azimuth, self.elevation
        return np.array(
            [
                [-np.sin(a), np.cos(a), 0.0],
                [-np.sin(e) * np.cos(a), -np.sin(e) * np.sin(a), np.cos(e)],
                [np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)],
            ]
        )


class Solid:
    """Vertices, edges and 2-faces of a zonotope in R^3 of any rank, in display coordinates.

    Attributes
    ----------
    points : ndarray (V, 3)
        Vertices about the centre.
    barcodes : ndarray (V, N) of bool
        Their patterns.
    ends, flips : ndarray (E, 2), (E,)
        Edges and the parallel class that each flips, see `Zonotope.edges`.
    """

    def __init__(self, zonotope: Zonotope):
        self.zonotope = zonotope
        vertices, self.barcodes = zonotope.vertices()
        self.points = (vertices - zonotope.center) @ display_change(zonotope.generators).T
        self.ends, self.flips = zonotope.edges()

    @cached_property
    def faces(self) -> list[np.ndarray]:
        """Vertex numbers around each 2-face."""
        if self.zonotope.dimension < 2:
            return []
        return [self._around(face.vertices) for face in self.zonotope.faces(2)]

    @cached_property
    def normals(self) -> np.ndarray:
        """Outward unit normals of the faces."""
        normals = np.zeros((len(self.faces), 3))
        for k, face in enumerate(self.faces):
            corners = self.points[face]
            middle = corners.mean(axis=0)
            normal = np.linalg.svd(corners - middle)[2][-1]
            normals[k] = normal if normal @ middle >= 0 else -normal
        return normals

    @cached_property
    def _sides(self) -> np.ndarray:
        """Faces on either side of each edge (E, 2); -1 where there is none."""
        place = {(min(a, b), max(a, b)): k for k, (a, b) in enumerate(self.ends.tolist())}
        sides = np.full((len(self.ends), 2), -1)
        for f, face in enumerate(self.faces):
            for a, b in zip(face.tolist(), np.roll(face, -1).tolist(), strict=True):
                edge = place[min(a, b), max(a, b)]
                sides[edge, int(sides[edge, 0] >= 0)] = f
        return sides

    def visible_faces(self, view: View) -> np.ndarray:
        """Which faces look at the reader; a flat zonotope has one face, seen from both sides."""
        if self.zonotope.dimension < 3:
            return np.ones(len(self.faces), bool)
        return self.normals @ view.axes[2] > EDGE_ON

    def visible_edges(self, view: View) -> np.ndarray:
        """Which edges bound a face that looks at the reader."""
        seen = np.append(self.visible_faces(view), self.zonotope.dimension < 3)
        return seen[self._sides].any(axis=1)

    def visible_vertices(self, view: View) -> np.ndarray:
        """Which vertices end a visible edge."""
        seen = np.zeros(len(self.points), bool)
        seen[self.ends[self.visible_edges(view)].ravel()] = True
        return seen | (len(self.ends) == 0)

    def path_to(self, vertex: int, view: View) -> np.ndarray:
        """Edges of a shortest path from the vertex without active examples, over visible edges where there is one."""
        target = self.barcodes[vertex]
        start = np.flatnonzero(~self.barcodes.any(axis=1))
        if not len(start):
            return np.zeros(0, int)
        cost = np.full(len(self.points), np.inf)
        cost[start[0]] = 0
        came = np.full(len(self.points), -1)
        inside = ~(self.barcodes & ~target).any(axis=1)
        price = np.where(self.visible_edges(view), 1.0, 100.0)
        usable = np.flatnonzero(inside[self.ends].all(axis=1))
        counts = self.barcodes.sum(axis=1)
        for e in usable[np.argsort(counts[self.ends[usable, 0]], kind="stable")]:
            a, b = self.ends[e]
            if cost[a] + price[e] < cost[b]:
                cost[b], came[b] = cost[a] + price[e], e
        path = []
        while came[vertex] >= 0:
            path.append(came[vertex])
            vertex = self.ends[came[vertex], 0]
        return np.array(path[::-1], int)

    def best_view(self, vertex: int | None = None) -> View:
        """The view that keeps vertices and edges in sight farthest apart and shows the path to `vertex`."""
        if len(self.points) > MOST_FOR_SEARCH or len(self.points) < 3:
            return View(np.radians(35.0), np.radians(20.0))
        best, chosen = -np.inf, View(0.0, 0.0)
        for elevation in ELEVATIONS:
            for azimuth in AZIMUTHS:
                view = View(azimuth, elevation)
                flat = self.points @ view.axes[:2].T
                lines, seen = self.visible_edges(view), self.visible_vertices(view)
                score = least_gap(flat, self.ends[lines], np.flatnonzero(seen))
                if vertex is not None:
                    path = self.path_to(vertex, view)
                    outline = (self.visible_faces(view)[self._sides[path]] & (self._sides[path] >= 0)).all(axis=1)
                    score += 0.02 * outline.sum() - 10 * np.sum(~lines[path]) - 5 * (not seen[vertex])
                if score > best + 1e-9:
                    best, chosen = score, view
        return chosen

    def _around(self, face: np.ndarray) -> np.ndarray:
        corners = self.points[face] - self.points[face].mean(axis=0)
        plane = np.linalg.svd(corners, full_matrices=False)[2][:2]
        x, y = plane @ corners.T
        return face[np.argsort(np.arctan2(y, x))]


def least_gap(points: np.ndarray, ends: np.ndarray, chosen: np.ndarray) -> float:
    """Least distance between a chosen point of the plane and a segment that does not end there."""
    start, step = points[ends[:, 0]], points[ends[:, 1]] - points[ends[:, 0]]
    reach = points[chosen, None] - start
    t = np.clip((reach * step).sum(axis=2) / np.maximum((step**2).sum(axis=1), 1e-300), 0.0, 1.0)
    gap = np.linalg.norm(reach - t[..., None] * step, axis=2)
    gap[(chosen[:, None, None] == ends).any(axis=2)] = np.inf
    return float(gap.min(initial=np.inf))


def display_change(generators: np.ndarray) -> np.ndarray:
    """Invertible 3 x 3 matrix after which the zonotope is equally wide from every side.

    When the last coordinate of every generator is positive, as with a bias, it stays vertical and the sum of the
    generators is straight above the origin.
    """
    size = np.abs(generators).sum(axis=0)
    change = np.diag(1 / np.where(size > 0, size, 1.0))
    total = change @ generators.sum(axis=0)
    if generators[:, 2].min() < 0 or total[2] == 0:
        return _even(generators @ change.T) @ change
    change[:2] -= np.outer(total[:2] / total[2], change[2])
    change[:2] = _even((generators @ change.T)[:, :2]) @ change[:2]
    extent = np.abs(generators @ change.T).sum(axis=0)
    change[:2] /= extent[:2].max() or 1.0
    change[2] *= HEIGHT / extent[2]
    return change


def _even(rows: np.ndarray) -> np.ndarray:
    """Symmetric matrix that gives `rows` equal singular values, so that x1 still points right and x2 away."""
    _, width, axes = np.linalg.svd(rows, full_matrices=False)
    if len(width) < rows.shape[1] or width[-1] <= FLAT * width[0]:
        return np.eye(rows.shape[1])
    return axes.T @ np.diag(width[0] / width) @ axes
