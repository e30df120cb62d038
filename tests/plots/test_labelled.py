import numpy as np
import pytest
from scipy.optimize import linprog

from tests.plots.inspect import cut_off, drawn_texts, overlaps
from zonofit.errors import BudgetError, InputError
from zonofit.geometry.arrangement import Arrangement
from zonofit.geometry.zonotope import Zonotope
from zonofit.plots import labelled_zonotope, zonotope_figure
from zonofit.plots.canvas import ACCENT
from zonofit.plots.layout import segments_meet_box

# the data of the paper's sections D.1 (with a bias) and D.2 (without one)
D1 = np.array([[1, 0, 1], [2, 0, 1], [3, 0, 1], [4, 0, 1], [5, 0, 1]]), np.array([1, 2, 2.5, 4, 5])
D2 = np.array([[-1, 0, 0], [2, 1, 0], [-1, 1, 0], [-1, -1, 0]]), np.array([4, 3, 2, 1])


def least_losses(generators, y):
    """Least mean absolute error of one ReLU unit at every vertex, by a linear program each."""
    N, n = generators.shape
    losses = {}
    for barcode in Zonotope(generators).barcodes():
        fit = generators * barcode[:, None]
        sides = -np.where(barcode, 1, -1)[:, None] * generators
        rows = np.block([[fit, -np.eye(N)], [-fit, -np.eye(N)], [sides, np.zeros((N, N))]])
        result = linprog(
            np.r_[np.zeros(n), np.full(N, 1 / N)],
            rows,
            np.r_[y, -y, np.zeros(N)],
            bounds=[(None, None)] * n + [(0, None)] * N,
        )
        losses[frozenset(np.flatnonzero(barcode).tolist())] = result.fun
    return losses


@pytest.mark.parametrize(("data", "count", "best", "least"), [(D1, 10, {0, 1, 2, 3, 4}, 0.1), (D2, 8, {1, 2}, 1.25)])
def test_the_zonotopes_of_appendix_d(data, count, best, least):
    generators, y = data
    losses = least_losses(generators, y)
    assert min(losses, key=losses.get) == best and losses[frozenset(best)] == pytest.approx(least)
    figure = labelled_zonotope(generators, losses, axis_names=("$x_1$", "bias"))
    assert overlaps(figure) == [] and cut_off(figure) == []
    bold = [t.get_text() for t in figure.axes[0].texts if t.get_fontweight() == "bold"]
    sets = [t.get_text() for t in figure.axes[0].texts if t.get_fontweight() == "normal"]
    assert len(bold) == len(sets) == count
    assert sorted(bold) == sorted(f"{x:.4g}" for x in losses.values())
    assert "{" + ",".join(str(i + 1) for i in sorted(best)) + "}" in sets
    _no_text_on_the_outline(figure)


def _no_text_on_the_outline(figure):
    axes = figure.axes[0]
    corners = axes.transData.transform(axes.patches[0].get_xy())
    segments = np.hstack([corners[:-1], corners[1:]])
    figure.canvas.draw()
    for text in axes.texts:
        box = text.get_window_extent(figure.canvas.get_renderer()).extents
        assert not segments_meet_box(segments, box).any(), text.get_text()
        assert (
            not axes.patches[0]
            .get_path()
            .contains_point(axes.transData.inverted().transform([(box[0] + box[2]) / 2, (box[1] + box[3]) / 2]))
        )


def test_labels_by_set_pattern_and_text():
    generators = [[1, 0], [0, 1]]
    labels = {frozenset(): "none", (1, 0): 2, "01": "two words"}
    figure = labelled_zonotope(generators, labels, first=0, mark={0, 1})
    texts = [t.get_text() for t in figure.axes[0].texts]
    assert sorted(texts) == sorted(["none", "2", "two words", "∅", "{0}", "{1}", "{0,1}"])


def test_least_label_is_marked():
    from matplotlib.colors import to_rgba

    figure = labelled_zonotope([[1, 0], [0, 1]], {(0, 0): 3.0, (1, 0): 1.0, (0, 1): 2.0})
    dots = figure.axes[0].collections[0]
    marked = [
        tuple(p) for p, c in zip(dots.get_offsets(), dots.get_facecolors(), strict=True) if tuple(c) == to_rgba(ACCENT)
    ]
    assert marked == [(1.0, 0.0)]


@pytest.mark.parametrize("N", [1, 2, 3, 9, 20])
def test_polygons_have_legible_names(N):
    rng = np.random.default_rng(N)
    figure = zonotope_figure(rng.standard_normal((N, 2)))
    assert overlaps(figure) == [] and cut_off(figure) == []
    if N <= 9:
        assert len([t for t in figure.axes[0].texts if t.get_text()]) == max(2 * N, 2)
    _no_text_on_the_outline(figure)


@pytest.mark.parametrize(
    "generators",
    [
        np.random.default_rng(1).standard_normal((6, 3)),
        np.c_[np.random.default_rng(2).standard_normal((7, 2)), np.ones(7)],
        [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
        [[1, 2, 3], [2, 4, 6], [1, 0, 0]],
        [[1, 2, 3]],
        [[0, 0, 0]],
        [[0.0, 0.0]],
        [[0, 3], [0, -3], [1, 0]],
        np.random.default_rng(1).standard_normal((6, 3)) * [1e9, 1, 1e-9],
    ],
)
def test_any_zonotope_in_the_plane_or_in_space(generators):
    figure = zonotope_figure(Arrangement(generators))
    assert overlaps(figure) == [] and cut_off(figure) == []
    assert drawn_texts(figure)


def test_large_zonotopes_are_drawn_without_names(tmp_path):
    rng = np.random.default_rng(0)
    zonotope_figure(np.c_[rng.standard_normal((30, 2)), np.ones(30)], path=tmp_path / "z.svg")
    assert (tmp_path / "z.svg").stat().st_size > 10_000
    figure = zonotope_figure(rng.standard_normal((200, 2)))
    assert not figure.axes[0].texts and len(figure.axes[0].patches[0].get_xy()) == 401


def test_what_cannot_be_drawn_is_refused():
    rng = np.random.default_rng(0)
    for n in (1, 4):
        with pytest.raises(InputError, match=rf"R\^2 or R\^3, this one is in R\^{n}"):
            zonotope_figure(rng.standard_normal((5, n)))
    with pytest.raises(BudgetError, match="too many for a picture"):
        zonotope_figure(rng.standard_normal((100, 3)))
    with pytest.raises(InputError, match="rank 3"):
        labelled_zonotope(rng.standard_normal((4, 3)), {})
    with pytest.raises(BudgetError, match="cannot be named"):
        labelled_zonotope(rng.standard_normal((40, 2)), {})
    square = [[1, 0], [0, 1]]
    for labels, message in [
        ({frozenset({2}): 1}, r"labels: no vertex has the active rows \[2\]"),
        ({(1, 0, 0): 1}, "neither a set of rows nor a pattern of 2"),
        ({3: 1}, "neither a set of rows nor a pattern of 2"),
    ]:
        with pytest.raises(InputError, match=message):
            labelled_zonotope(square, labels)
    with pytest.raises(InputError, match="mark: no vertex"):
        labelled_zonotope(square, {}, mark={5})
    with pytest.raises(InputError, match="no room"):
        labelled_zonotope(square, {(0, 0): "a very long label " * 9}, size=(3, 3))


def test_one_example_is_an_upright_segment():
    """Not rounding errors, enlarged until they fill the axes."""
    axes = zonotope_figure(Zonotope.from_examples([[1.0, 2.0]])).axes[0]
    ends = axes.patches[0].get_xy()
    assert np.all(ends[:, 0] == 0.0)
    assert ends[:, 1].min() == 0.0 and ends[:, 1].max() == pytest.approx(6**0.5)
