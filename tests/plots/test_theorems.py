"""The pictures of the theorems: texts have room, every number has a place, files are the same twice."""

from __future__ import annotations

import numpy as np
import pytest

from tests.plots.inspect import cut_off, drawn_texts, overlaps
from zonofit import Arrangement
from zonofit.errors import InputError
from zonofit.plots.theorems import drift_figure, figure_two, independence_figure, interpolation_figure, jump_figure
from zonofit.theory.continuity import Drift, drift, towards_the_break
from zonofit.theory.overparameterisation import independence

X, Y = np.array([[0, 0], [1, 0.25], [2, 0], [1, -4]]), np.array([1, 2.5, 2, 0.5])
PATH = drift(X, Y, towards_the_break(X), np.linspace(0, 0.25, 9), output_bias=0.0)
EPSILON = 10.0 ** -np.arange(1, 9)
CURVES = {
    "App. E.2": (EPSILON, EPSILON * 0 + 1.0, 3.0, 1 / EPSILON),
    "App. D.1": (EPSILON, EPSILON * 0, 0.1, 2 / EPSILON),
}
ROWS = [
    {"name": name, "N": N, "residual": 1e-16 * N**power, "norm": N**power + k}
    for k, (name, power) in enumerate((("printed", 4), ("vertex program", 2), ("hopping, half the units", 1)))
    for N in (10, 100, 1000)
]
FOUND = {
    f"d = {d}": independence(
        Arrangement.from_examples(np.random.default_rng(0).standard_normal((8, d))), [1, 2, 8, 30], draws=5, rng=0
    )
    for d in (1, 2)
}
LOSSES = {"random vertex, signs drawn": [1.0, 1e-3, 0.0], "paper: “GLS”": [3.0, np.nan, 1e-12]}
SHARES = {"random vertex": [60, 70], "paper: gradient descent": [61, 99]}
FIGURES = {
    "drift": lambda **options: drift_figure(PATH, **options),
    "jump": lambda **options: jump_figure(CURVES, **options),
    "interpolation": lambda **options: interpolation_figure(ROWS, title="d = 4", **options),
    "figure two": lambda **options: figure_two([8, 12, 64], LOSSES, [4, 8], SHARES, **options),
    "independence": lambda **options: independence_figure(FOUND, **options),
}


@pytest.mark.parametrize("name", FIGURES)
def test_text_neither_overlaps_nor_leaves_the_figure(name):
    figure = FIGURES[name]()
    assert overlaps(figure) == [] and cut_off(figure) == []
    for axes in figure.axes:
        assert np.isfinite([*axes.get_xlim(), *axes.get_ylim()]).all()
        assert axes.get_xlabel() and axes.get_ylabel()


@pytest.mark.parametrize("name", FIGURES)
def test_files(name, tmp_path):
    for kind in ("svg", "png"):
        FIGURES[name](path=tmp_path / f"a.{kind}")
        FIGURES[name](path=tmp_path / f"b.{kind}")
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()
    with pytest.raises(InputError, match="pictures end in"):
        FIGURES[name](path=tmp_path / "a.gif")


def test_points_of_a_drift():
    axes = drift_figure(PATH).axes[0]
    before, after = axes.lines[:2]
    assert len(before.get_xdata()) == np.sum(PATH.changed == 0) > 0
    assert len(after.get_xdata()) == np.sum(PATH.changed > 0) > 0
    texts = [text for text, _ in drawn_texts(axes.figure)]
    assert {"proof", "certified", "best possible"} <= set(texts)
    flat = Drift(PATH.lengths[:2], np.ones(2), np.zeros(2, int), PATH.stability, PATH.proof)
    low, high = drift_figure(flat).axes[0].get_ylim()
    assert low < 1 < high


def test_medians_of_interpolations():
    rows = [{"name": "a", "N": 5, "residual": r, "norm": r} for r in (1e-3, 1e-1, 1e-2)]
    line = interpolation_figure(rows).axes[0].lines[0]
    assert line.get_xdata().tolist() == [5] and line.get_ydata().tolist() == [1e-2]
    with pytest.raises(InputError, match="none to draw"):
        interpolation_figure([])
    with pytest.raises(InputError, match="no lengths"):
        drift_figure(Drift(np.zeros(0), np.zeros(0), np.zeros(0, int), PATH.stability, PATH.proof))
