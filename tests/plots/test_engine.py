import subprocess
import sys

import numpy as np
import pytest

from tests.plots.inspect import cut_off, drawn_texts, overlaps
from zonofit.errors import BudgetError, InputError
from zonofit.plots import engine_figure
from zonofit.plots.engine import descent_path
from zonofit.plots.ray import Ray
from zonofit.programs import Huber, Problem

RNG = np.random.default_rng(0)
X5, Y5, W5 = np.array([[-3.0], [-2], [-1], [1], [2]]), np.array([4.0, 2, -1, 1, -1]), np.array([[3.3, 0.9]])


def flat(x, y, W=(1.0, 0.5), *, weight=1.0, bias=0.0, **options):
    return Problem(np.reshape(x, (-1, 1)), y, [weight], output_bias=bias, **options), np.reshape(W, (1, 2))


CASES = {
    "the example": flat(X5, Y5, W5),
    "one example": flat([2.0], [3.0]),
    "one at zero": flat([0.0], [3.0]),
    "equal": flat([1.0, 1.0, -2.0, -2.0], [3.0, 1.0, 0.0, 2.0], (0.5, 1.5)),
    "ridge": flat(X5, Y5, W5, alpha=0.5),
    "another weight and bias": flat(X5, Y5, W5, weight=-2.5, bias=3.0),
    "from the origin's side": flat(X5, Y5, (1e-6, 1e-6)),
    "on a wall": flat(X5, Y5, (1.0, 1.0)),
    "units of features": flat(1e8 * X5, Y5, W5 * [1e-8, 1.0]),
    "units of labels": flat(X5, 1e8 * Y5, 1e8 * W5),
    "far from 0": flat(X5 + 100.0, Y5, (1.0, -101.5)),
    "twenty": flat(RNG.standard_normal(20), RNG.standard_normal(20) + 1.0, (2.0, 1.0)),
    "a free bias": (Problem(X5, Y5, 1), W5),
    "four units": (Problem(RNG.standard_normal((30, 2)), RNG.standard_normal(30), 4), RNG.standard_normal((4, 3))),
    "more parameters than examples": (
        Problem(RNG.standard_normal((5, 4)), RNG.standard_normal(5), 3),
        RNG.standard_normal((3, 5)),
    ),
}


def first_ray(problem, W, c=None):
    weights, biases = descent_path(problem, W, c)
    return Ray(problem, weights[0], weights[1] - weights[0], biases[0], biases[1] - biases[0]), weights


@pytest.mark.parametrize("name", CASES)
def test_text_neither_overlaps_nor_leaves_the_figure(name):
    problem, W = CASES[name]
    figure = engine_figure(problem, W)
    assert overlaps(figure) == []
    assert cut_off(figure) == []
    texts = [text for text, _ in drawn_texts(figure)]
    assert "start" in texts and sum(text.startswith("the exact line search\nstops here") for text in texts) == 1
    assert len(figure.axes) == (2 if problem.output_bias is not None else 1)


@pytest.mark.parametrize("name", CASES)
def test_breakpoints_are_where_preactivations_pass_zero(name):
    problem, W = CASES[name]
    ray, _ = first_ray(problem, W)
    axes = engine_figure(problem, W).axes[0]
    unit = ray.newton if np.isfinite(ray.newton) else 1.0
    drawn = sorted(line.get_xdata()[0] * unit for line in axes.lines if line.get_gid() == "breakpoint")
    end = axes.get_xlim()[1] * unit
    X = problem.generators
    # a preactivation is linear along the ray: it passes zero once where its signs at the ends differ
    signs = [np.sign(np.where(np.abs(z) < 1e-12 * size, 0.0, z)) for z, size in _ends(ray, X, end)]
    assert len(drawn) == np.sum(signs[0] * signs[1] < 0)
    for t in drawn:
        at = ray.W + t * ray.D
        size = (np.abs(ray.W) + t * np.abs(ray.D)) @ np.abs(X).T
        assert np.min(np.abs(at @ X.T) / size) < 1e-9


def _ends(ray, X, end):
    for W in (ray.W, ray.W + end * ray.D):
        yield W @ X.T, np.abs(W) @ np.abs(X).T


def test_names_of_the_breakpoints_are_the_examples_that_change():
    problem, W = CASES["the example"]
    ray, _ = first_ray(problem, W)
    figure = engine_figure(problem, W)
    named = {t.get_text() for t in figure.axes[0].texts if t.get_text().startswith("$H")}
    end = figure.axes[0].get_xlim()[1] * ray.newton
    changed = np.flatnonzero(problem.patterns(ray.W)[0] != problem.patterns(ray.W + end * ray.D)[0])
    assert named == {f"$H_{{{i + 1}}}$" for i in changed} and len(named) == 4


@pytest.mark.parametrize("name", CASES)
def test_the_line_search_stops_at_the_first_minimum_and_the_path_never_rises(name):
    problem, W = CASES[name]
    ray, weights = first_ray(problem, W)
    here, size = ray.at(1.0), ray.at(0.0)
    grid = np.array([ray.at(t) for t in np.linspace(0, 1, 500)])
    assert np.all(np.diff(grid) <= 1e-9 * size)  # it falls all the way
    assert here <= min(ray.at(1 - 1e-5), ray.at(1 + 1e-5)) + 1e-9 * size  # and no further
    weights, biases = descent_path(problem, W)
    values = [
        problem.mean_loss(problem.predict(w, c)) + problem.alpha / 2 * np.sum(w * w)
        for w, c in zip(weights, biases, strict=True)
    ]
    assert np.all(np.diff(values) <= 1e-9 * values[0]) and values[-1] < values[0]
    if problem.output_bias is not None:
        drawn = next(line for line in engine_figure(problem, W).axes[1].lines if line.get_gid() == "path")
        assert np.array_equal(drawn.get_xydata(), weights[:, 0])


def test_the_first_step_heads_for_the_least_point_of_the_first_piece():
    problem, W = CASES["the example"]
    ray, _ = first_ray(problem, W)
    active = W[0] @ problem.generators.T > 0
    target = np.linalg.lstsq(problem.generators[active], problem.labels[active], rcond=None)[0]
    assert np.allclose(ray.W[0] + ray.newton * ray.D[0], target)
    fit = np.where(active, problem.generators @ target, 0.0)
    assert np.isclose(ray.first_piece(ray.newton), np.mean((fit - problem.labels) ** 2))


@pytest.mark.parametrize("direction", [(1.0, 0.0), (-1.0, 0.0), (0.3, 0.3)])
def test_the_first_piece_of_a_ray_that_starts_on_a_wall_is_the_one_ahead(direction):
    problem, W = CASES["on a wall"]
    assert (W @ problem.generators.T == 0).sum() == 1
    ray = Ray(problem, W, np.reshape(direction, (1, 2)), 0.0, 0.0)
    for t in (0.0, 0.01, 0.1):
        assert ray.first_piece(t) == pytest.approx(ray.at(t), rel=1e-13)


def test_bands_have_the_colours_of_the_chambers_that_the_step_passes():
    problem, W = CASES["the example"]
    left, right = engine_figure(problem, W).axes
    bands = [tuple(np.round(patch.get_facecolor()[:3], 6)) for patch in left.patches]
    chambers = [tuple(np.round(patch.get_facecolor()[:3], 6)) for patch in right.patches]
    assert len(bands) == len(set(bands)) == 5 and set(bands) <= set(chambers)
    assert len(set(chambers)) == len(chambers) == problem.arrangement.n_chambers()


def test_units_of_the_feature_change_nothing_but_the_numbers():
    paths, names = [], []
    for name in ("the example", "units of features"):
        right = engine_figure(*CASES[name]).axes[1]
        drawn = next(line for line in right.lines if line.get_gid() == "path")
        paths.append(right.transData.transform(drawn.get_xydata()))
        names.append({text.get_text() for text in right.texts if text.get_text().startswith("$H")})
    assert np.allclose(*paths, atol=0.5) and names[0] == names[1] == {f"$H_{{{i}}}$" for i in range(1, 6)}


def test_other_losses_can_be_drawn_along_a_ray():
    rng = np.random.default_rng(1)
    X, D = rng.standard_normal((12, 2)), rng.standard_normal((2, 3))
    for loss, y in (("logistic", rng.integers(0, 2, 12)), (Huber(0.5), rng.standard_normal(12))):
        problem = Problem(X, y, 2, loss=loss, alpha=0.1)
        ray = Ray(problem, rng.standard_normal((2, 3)), D, 0.0, 0.3)
        if ray.first_piece(1e-6) > ray.at(0.0):
            ray = Ray(problem, ray.W, -D, 0.0, -0.3)
        t = ray.newton
        assert ray.first_piece(0.0) == pytest.approx(ray.at(0.0))
        assert ray.first_piece(t) <= min(ray.first_piece(0.999 * t), ray.first_piece(1.001 * t))


def test_bad_arguments_are_refused(tmp_path):
    problem, W = CASES["the example"]
    with pytest.raises(InputError, match=r"end in \.svg, \.png, \.pdf"):
        engine_figure(problem, W, path=tmp_path / "f.gif")
    with pytest.raises(InputError, match="start somewhere else"):
        engine_figure(problem, descent_path(problem, W)[0][-1])
    with pytest.raises(InputError, match="W: want finite numbers"):
        engine_figure(problem, [[1.0, 2.0, 3.0]])
    x = np.arange(1500.0)
    with pytest.raises(BudgetError, match="too narrow to be seen"):
        engine_figure(*flat(x, x))


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_files_are_written_and_repeat(tmp_path, suffix):
    for name in "ab":
        engine_figure(*CASES["the example"], path=tmp_path / f"{name}.{suffix}")
    raw = (tmp_path / f"a.{suffix}").read_bytes()
    assert raw == (tmp_path / f"b.{suffix}").read_bytes()
    assert raw.startswith({"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[suffix])


def test_pyplot_is_never_imported():
    code = (
        "import sys; from zonofit.plots import engine_figure; from zonofit.programs import Problem; "
        "engine_figure(Problem([[1], [2]], [1, 3], [1], output_bias=0), [[1, 1]]); "
        "sys.exit('matplotlib.pyplot' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
