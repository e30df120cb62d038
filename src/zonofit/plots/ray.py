"""The objective along a ray of parameter space: what an exact line search sees, and a drawing of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from zonofit.plots.canvas import ACCENT, FAINT, INK
from zonofit.plots.drawing import Style, around, place_text, text_at
from zonofit.plots.layout import Boxes, Measure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from zonofit.programs.problem import Problem

NEWTON = "#0b4f8a"
_STYLE = Style(vertex=6.0, name=8.0)
_ON = 1e-12  # a preactivation below this part of its terms is on its hyperplane
_FAR = 2.0**20
_FINE = 400
_MOST_NAMES = 24
_SAME = 0.01  # parts of the panel within which two points are drawn as one


@dataclass(frozen=True)
class Ray:
    """The objective at (W + t D, c + t dc), t >= 0.

    Attributes
    ----------
    problem : Problem
    W, D : ndarray (m, n)
    c, dc : float
    """

    problem: Problem
    W: np.ndarray
    D: np.ndarray
    c: float
    dc: float

    @cached_property
    def _rates(self) -> tuple[np.ndarray, np.ndarray]:
        """Preactivations (m, N) at the start and their derivatives; what is rounding is 0."""
        X = self.problem.generators
        Z, Q = self.W @ X.T, self.D @ X.T
        Z[np.abs(Z) <= _ON * (np.abs(self.W) @ np.abs(X).T)] = 0.0
        Q[np.abs(Q) <= _ON * (np.abs(self.D) @ np.abs(X).T)] = 0.0
        return Z, Q

    @cached_property
    def breakpoints(self) -> list[tuple[float, int, int]]:
        """(t, unit, example) of every preactivation that passes zero at a t > 0, in the order of t."""
        Z, Q = self._rates
        j, i = np.nonzero(Z * Q < 0)
        t = -Z[j, i] / Q[j, i]
        return [(float(t[k]), int(j[k]), int(i[k])) for k in np.argsort(t, kind="stable")]

    def at(self, t: float) -> float:
        """Objective at t."""
        problem, W = self.problem, self.W + t * self.D
        return problem.mean_loss(problem.predict(W, self.c + t * self.dc)) + self._ridge(W)

    @cached_property
    def first_pattern(self) -> np.ndarray:
        """Patterns (m, N) just after the start."""
        Z, Q = self._rates
        return (Z > 0) | ((Z == 0) & (Q > 0))

    def first_piece(self, t: float) -> float:
        """Objective at t if the patterns of the first piece were kept: the first piece, extended."""
        return self.problem.mean_loss(self._first(t)) + self._ridge(self.W + t * self.D)

    @cached_property
    def newton(self) -> float:
        """Where the first piece, extended, is least; infinite when it falls for ever."""
        high = 1.0
        while self._slope(high) < 0:
            high *= 2.0
            if high > _FAR:
                return np.inf
        low = 0.0
        for _ in range(200):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self._slope(middle) < 0 else (low, middle)
        return high

    def _first(self, t: float) -> np.ndarray:
        Z, Q = self._rates
        return self.problem.output_weights @ np.where(self.first_pattern, Z + t * Q, 0.0) + self.c + t * self.dc

    def _slope(self, t: float) -> float:
        problem, (_, Q) = self.problem, self._rates
        du = problem.output_weights @ np.where(self.first_pattern, Q, 0.0) + self.dc
        bend = problem.loss.slope(self._first(t), problem.labels)
        return float(problem.weights @ (bend * du) + problem.alpha * np.sum((self.W + t * self.D) * self.D))

    def _ridge(self, W: np.ndarray) -> float:
        return self.problem.alpha / 2.0 * float(np.sum(W * W))


def draw_ray(axes: Axes, ray: Ray, stop: float, measure: Measure, *, bands=None, first: int = 1) -> None:
    """Draw the objective along `ray`, its pieces, and the stops of two line searches.

    Parameters
    ----------
    stop : float
        Where the exact line search stopped.
    bands : callable, optional
        From a pattern (m, N) to the colour of its chamber.
    first : int
        Number given to row 0.
    """
    known = np.isfinite(ray.newton)
    unit = ray.newton if known else stop
    end = 1.22 * max(stop, unit)
    fine = np.unique([*np.linspace(0.0, end, _FINE), *(t for t, _, _ in ray.breakpoints if t < end)])
    truth = np.array([ray.at(t) for t in fine])
    model = np.array([ray.first_piece(t) for t in fine])
    marks = [ray.at(0.0), ray.at(stop)] + ([ray.at(unit), ray.first_piece(unit)] if known else [])
    low, high = min(marks), max(marks)
    axes.set_xlim(-0.03 * end / unit, end / unit)
    axes.set_ylim(low - 0.16 * (high - low), high + 0.14 * (high - low))
    _frame(axes, "step length, in Newton steps of the first piece" if known else "step length", ray)

    taken = Boxes()
    inside = [b for b in ray.breakpoints if b[0] < end]
    _draw_pieces(axes, ray, inside, end, unit, bands, measure, taken, first)
    axes.plot(fine / unit, model, color=NEWTON, linewidth=1.6, linestyle=(0, (4, 2)), zorder=4)
    axes.plot(fine / unit, truth, color=INK, linewidth=2.0, zorder=5)
    for curve in (truth, model):
        pixels = axes.transData.transform(np.c_[fine / unit, curve])
        taken.add_segments(np.stack([pixels[:-1], pixels[1:]], axis=1), 0.2)
    points = [(0.0, ray.at(0.0), "o", "start", INK, (1, 1))]
    same = known and abs(stop - unit) < _SAME * end and abs(ray.at(stop) - ray.first_piece(unit)) < _SAME * (high - low)
    here = "\nand a Newton step ends" if same else ""
    points.append((stop, ray.at(stop), "o", "the exact line search\nstops here" + here, ACCENT, (-1, -1)))
    if known and not same:
        axes.plot([1, 1], [ray.first_piece(unit), ray.at(unit)], color=NEWTON, linewidth=1.0, linestyle=":", zorder=4)
        points.append((unit, ray.first_piece(unit), "D", "least of the first\npiece, extended", NEWTON, (-1, -1)))
        points.append((unit, ray.at(unit), "D", "the Newton step\nwould end here", NEWTON, (-1, 1)))
    spots = [axes.transData.transform((t / unit, value)) for t, value, *_ in points]
    for p in spots:
        taken.add(np.array([*(p - 5 * measure.pixel), *(p + 5 * measure.pixel)]))
    frame = axes.get_window_extent().extents
    for p, (t, value, marker, name, colour, outward) in zip(spots, points, strict=True):
        dot(axes, (t / unit, value), marker, colour)
        places = [*around(p, outward, measure, name, _STYLE), *_farther(p, measure)]
        place_text(axes, measure, taken, name, places, _STYLE.name, frame, color=colour)
    halo(axes)


def _farther(point, measure: Measure) -> list[np.ndarray]:
    """Places for a text that found none beside its point."""
    turns = np.radians(np.arange(0.0, 360.0, 15.0))
    away = [(a, b) for a, b in zip(np.cos(turns), np.sin(turns), strict=True)]
    return [point + r * measure.pixel * np.array([1.6 * a, b]) for r in (30.0, 45.0, 60.0) for a, b in away]


def halo(axes: Axes) -> None:
    """Let the lines that a text crosses end beside its letters."""
    from matplotlib.patheffects import withStroke

    for artist in axes.texts:
        artist.set_path_effects([withStroke(linewidth=2.0, foreground=(1.0, 1.0, 1.0, 0.75))])


def dot(axes: Axes, point, marker: str, colour, size: float = 6.0) -> None:
    """A marker; a diamond is hollow, so that shape and filling say what colour says."""
    axes.plot(
        *point, marker=marker, markersize=size, markerfacecolor="white" if marker == "D" else colour,
        markeredgecolor=colour if marker == "D" else "white", markeredgewidth=1.5 if marker == "D" else 0.9, zorder=8,
        linestyle="none", clip_on=False,
    )  # fmt: skip


def _frame(axes: Axes, name: str, ray: Ray) -> None:
    axes.tick_params(labelsize=7, length=2.5, color=FAINT, labelcolor=INK)
    axes.locator_params(nbins=6)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("bottom", "left"))
        spine.set_color(FAINT)
    axes.set_xlabel(name, fontsize=8)
    axes.set_ylabel("mean loss plus ridge" if ray.problem.alpha > 0 else "mean loss", fontsize=8)


def _draw_pieces(axes, ray: Ray, inside, end, unit, bands, measure, taken: Boxes, first) -> None:
    pattern, start = ray.first_pattern.copy(), 0.0
    for t, j, i in [*inside, (end, -1, -1)]:
        if bands is not None and t > start:
            axes.axvspan(start / unit, t / unit, color=bands(pattern), linewidth=0, zorder=1)
        if j >= 0:
            pattern[j, i] ^= True
        start = t
    frame = axes.get_window_extent().extents
    many = len(inside) > _MOST_NAMES
    top = 0.04 if many else 1.0
    if many:
        taken.add(np.array([frame[0], frame[1], frame[2], frame[1] + top * (frame[3] - frame[1])]))
    for t, j, i in inside:
        axes.axvline(t / unit, 0.0, top, color=INK, linewidth=0.5 if many else 0.8, zorder=3, gid="breakpoint")
        if many:
            continue
        x = axes.transData.transform((t / unit, 0))[0]
        taken.add_segments(np.array([[[x, frame[1]], [x, frame[3]]]]), 0.05)
        name = f"$H_{{{i + first}}}$" if len(ray.W) == 1 else f"$H_{{{i + first}}}^{{{j + first}}}$"
        spot = np.array([x, frame[3] + 7 * measure.pixel])
        for shift in (0.0, 4.0, -4.0, 8.0, -8.0):
            at = spot + [shift * measure.pixel, 0.0]
            box = measure.box(name, 7.5, at=at)
            if taken.free(box, 1.0):
                taken.add(box)
                text_at(axes, name, at, 7.5)
                break
