import subprocess
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from matplotlib.text import Text

from tests.plots.inspect import cut_off, drawn_texts, overlaps
from zonofit.data import load_example
from zonofit.errors import BudgetError, InputError
from zonofit.geometry.zonotope import Zonotope
from zonofit.plots import figure_one
from zonofit.plots.canvas import ACCENT
from zonofit.plots.solid import Solid

RNG = np.random.default_rng(0)
CIRCLE = np.linspace(0, 2 * np.pi, 12, endpoint=False)
DATA = {
    "the example": load_example(),
    "one": [[1.0, 2.0]],
    "one at zero": [[0.0, 0.0]],
    "two": [[1, 2], [2, -1]],
    "equal": [[1, 2], [1, 2], [-1, 1], [0, -2]],
    "all equal": [[1, 2]] * 4,
    "on a line": [[0, 1], [1, 1.5], [2, 2], [3, 2.5], [4, 3]],
    "on a line through 0": [[1, 0], [2, 0], [3, 0], [4, 0]],
    "parallel": [[1, 1], [2, 2], [-1, -1], [0, 1]],
    "binary": [[0, 0], [0, 1], [1, 0], [1, 1]],
    "eight": RNG.standard_normal((8, 2)),
    "twelve": RNG.standard_normal((12, 2)),
    "a circle": np.c_[np.cos(CIRCLE), np.sin(CIRCLE)],
    "far from 0": RNG.standard_normal((6, 2)) + [100, 50],
    "far and near": RNG.standard_normal((6, 2)) * 1e-3 + [1e4, -2e4],
    "units": RNG.standard_normal((7, 2)) * [1e8, 1e-8],
}


@pytest.mark.parametrize("name", DATA)
def test_text_neither_overlaps_nor_leaves_the_figure(name):
    figure = figure_one(DATA[name])
    assert overlaps(figure) == []
    assert cut_off(figure) == []


@pytest.mark.parametrize("bias", [1, -1])
def test_both_slices(bias):
    figure = figure_one(load_example(), bias=bias)
    assert overlaps(figure) == []
    texts = [text for text, _ in drawn_texts(figure)]
    assert f"Parameter space, slice $w_3 = {bias}$" in texts
    assert ("∅" in texts) and ("1,2,3,4,5" in texts)


def test_every_chamber_of_the_example_is_named_in_the_slice():
    figure = figure_one(load_example())
    names = [artist.get_text() for artist in figure.axes[1].texts]
    chambers = [name for name in names if name and not name.startswith(("$", "chambers"))]
    assert len(chambers) == len(set(chambers)) == 16
    assert {name.replace("$", "") for name in names if name.startswith("$H")} == {f"H_{{{i}}}" for i in range(1, 6)}
    assert not any("left out" in name for name in names)


def test_vertices_have_the_colours_of_their_chambers():
    figure = figure_one(load_example())
    chambers = {tuple(np.round(patch.get_facecolor()[:3], 6)) for patch in figure.axes[1].patches}
    vertices = []
    for collection in figure.axes[2].collections:
        if len(collection.get_offsets()) > 2:
            vertices += [tuple(np.round(c[:3], 6)) for c in collection.get_facecolors()]
    coloured = [c for c in vertices if c != (1.0, 1.0, 1.0)]
    assert len(vertices) == 22 and len(coloured) == 16
    assert set(coloured) == chambers & set(coloured) and len(set(coloured)) == 16


@pytest.mark.parametrize("rows", [{0, 1, 2}, {2, 3, 4}, {0, 1, 2, 3, 4}, {3, 4}])
def test_thick_edges_add_up_to_the_highlighted_vertex(rows):
    X = load_example()
    figure = figure_one(X, highlight=rows)
    thick = [c for c in figure.axes[2].collections if c.get_linewidths()[0] == 2.4]
    assert len(thick) == 1 and len(thick[0].get_segments()) == len(rows)
    names = {t.get_text() for t in figure.axes[2].texts if t.get_color() == ACCENT}
    assert names == {rf"$\bar{{x}}_{{{i + 1}}}$" for i in rows}

    solid = Solid(Zonotope.from_examples(X))
    pattern = np.isin(np.arange(5), list(rows))
    vertex = solid.zonotope.index(pattern)
    path = solid.path_to(vertex, solid.best_view(vertex))
    points, _ = solid.zonotope.vertices()
    steps = [points[b] - points[a] for a, b in solid.ends[path]]
    generators = solid.zonotope.generators
    assert {int(np.flatnonzero(np.all(np.isclose(generators, s), axis=1))[0]) for s in steps} == rows
    assert np.allclose(sum(steps), points[vertex])


def test_highlight_can_be_left_out_or_impossible():
    figure = figure_one(load_example(), highlight=None)
    assert all(t.get_color() != ACCENT for t in figure.findobj(Text)) and overlaps(figure) == []
    with pytest.raises(InputError, match=r"no chamber of this slice has the active rows \[0\]"):
        figure_one(load_example(), highlight={0})


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_files_are_written_and_repeat(tmp_path, suffix):
    for name in "ab":
        figure_one(load_example(), path=tmp_path / f"{name}.{suffix}")
    raw = (tmp_path / f"a.{suffix}").read_bytes()
    assert raw == (tmp_path / f"b.{suffix}").read_bytes()
    assert raw.startswith({"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[suffix])
    if suffix == "svg":
        assert ET.fromstring(raw).tag.endswith("svg")


def test_bad_arguments_are_refused(tmp_path):
    X = load_example()
    for options, message in [
        ({"path": tmp_path / "f.gif"}, "end in .svg, .png, .pdf"),
        ({"path": tmp_path / "no" / "f.svg"}, "there is no folder"),
        ({"path": tmp_path}, "rename it"),
        ({"bias": 0}, "w3 = 1 and w3 = -1"),
        ({"window": [[1, 0], [0, 1]]}, "left < right"),
    ]:
        with pytest.raises(InputError, match=message):
            figure_one(X, **options)
    with pytest.raises(InputError, match="3 features"):
        figure_one(np.ones((4, 3)))
    with pytest.raises(BudgetError, match="too many to be told apart"):
        figure_one(RNG.standard_normal((60, 2)))


def test_pyplot_is_never_imported():
    code = (
        "import sys; from zonofit.data import load_example; from zonofit.plots import figure_one; "
        "figure_one(load_example()); sys.exit('matplotlib.pyplot' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
