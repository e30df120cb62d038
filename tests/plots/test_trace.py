import itertools

import numpy as np
import pytest
from matplotlib import colors

from tests.plots.inspect import cut_off, drawn_texts, overlaps
from zonofit.errors import InputError
from zonofit.plots import trace_figure
from zonofit.plots.canvas import ACCENT
from zonofit.plots.colours import relative_luminance
from zonofit.plots.trace import WALKER, staircase
from zonofit.search.trace import STOP_REASONS, Trace
from zonofit.search.walk import COUNTS

RNG = np.random.default_rng(0)


def make(rows, ends=None, *, search="Hopping(kick='weak')", reason="seconds"):
    """A trace of rows (seconds, loss, programs, walker) whose walkers end at `ends` = [(seconds, programs), ...]."""
    table = np.array(rows, float).reshape(-1, 4)
    walkers = int(table[:, 3].max(initial=0)) + 1 if ends is None else len(ends)
    history = {"seconds": table[:, 0], "loss": table[:, 1], "programs": table[:, 2].astype(np.int64)}
    history |= {name: history["programs"] for name in COUNTS} | {"walker": table[:, 3].astype(np.int64)}
    columns = {} if ends is None else {"seconds": np.array([s for s, _ in ends], float)}
    if ends is not None:
        columns |= {name: np.array([p for _, p in ends], np.int64) for name in COUNTS}
    seconds = float(max([*table[:, 0], *(s for s, _ in ends or [])], default=0.0))
    loss = float(table[:, 1].min(initial=np.inf))
    counts = dict.fromkeys(COUNTS, 1)
    return Trace(
        search, 0, np.zeros((2, 3)), 0.0, np.ones(2), loss, reason, seconds, counts, walkers, history, {}, columns
    )


def falling(walker=0, steps=12, decades=12.0, seconds=60.0, *, early=False):
    at = np.sort(RNG.uniform(0, seconds, steps))
    at = seconds * (at / seconds) ** 6 if early else at
    loss = 10.0 ** -np.sort(RNG.uniform(0, decades, steps))
    return [(s, L, int(100 * s), walker) for s, L in zip(at, loss, strict=True)]


CASES = {
    "falling": make(falling(), [(70.0, 7000)], reason="target"),
    "early": make(falling(early=True), [(60.0, 6000)]),
    "four walkers": make([row for k in range(4) for row in falling(k)], [(60.0, 6000)] * 4),
    "sixteen walkers": make([row for k in range(16) for row in falling(k, 6, 4.0)], [(60.0, 6000)] * 16),
    "one row": make([(0.01, 0.3, 1, 0)], [(0.01, 1)]),
    "one row at 0 s, without ends": make([(0.0, 0.3, 0, 0)]),
    "one row long before the end": make([(0.01, 0.3, 1, 0)], [(60.0, 900)], reason="local minimum"),
    "down to zero": make([(0.1, 1.0, 1, 0), (0.5, 1e-9, 5, 0), (0.9, 0.0, 9, 0)], [(1.0, 10)], reason="target"),
    "all zero": make([(0.1, 0.0, 1, 0)], [(0.1, 1)]),
    "one and zero": make([(0.1, 1.0, 1, 0), (0.2, 0.0, 2, 0)], [(0.2, 2)]),
    "constant in three walkers": make([(0.1, 0.25, 1, k) for k in range(3)], [(9.0, 90)] * 3),
    "less than a decade": make([(0.1, 0.354, 1, 0), (3.0, 0.3281, 40, 0), (7.0, 0.3166, 90, 0)], [(9.0, 120)]),
    "nearly constant": make([(0.1, 0.3000001, 1, 0), (3.0, 0.3, 40, 0)], [(9.0, 120)]),
    "tiny": make([(0.1, 1e-300, 1, 0), (3.0, 5e-324, 40, 0)], [(9.0, 120)]),
    "huge": make([(0.1, 1e300, 1, 0), (3.0, 1e12, 40, 0)], [(9e5, 10**9)]),
    "a walker with no row": make(falling(1), [(1.0, 0), (70.0, 7000)]),
    "long settings": make(falling(), [(70.0, 7000)], search="Hopping(" + "a_setting=1.25, " * 30 + ")"),
}


@pytest.mark.parametrize("name", CASES)
def test_text_neither_overlaps_nor_leaves_the_figure(name):
    trace = CASES[name]
    figure = trace_figure(trace)
    assert overlaps(figure) == [] and cut_off(figure) == []
    texts = [text for text, _ in drawn_texts(figure)]
    assert any(STOP_REASONS[trace.stop_reason] in text for text in texts)
    assert f"{trace.loss:.3g}" in texts
    assert ("one walker" in texts) == (trace.walkers > 1)
    ticks = [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    assert ("0" in ticks) == bool(np.any(trace.history["loss"] < 1e-200))


@pytest.mark.parametrize("name", CASES)
def test_everything_is_inside_the_axes(name):
    figure = trace_figure(CASES[name])
    for axes in figure.axes:
        (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
        assert np.isfinite([left, right, low, high]).all() and left < right and low < high
        for line in axes.lines:
            if line.get_gid() != "zero":
                x, y = np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)
                assert np.all((left <= x) & (x <= right)) and np.all((low <= y) & (y <= high))
        best = [line for line in axes.lines if line.get_gid() == "best"]
        assert len(best) == 1 and best[0].get_drawstyle() == "steps-post"


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("column", ["seconds", "programs"])
def test_staircase_is_the_least_loss_until_then(name, column):
    trace = CASES[name]
    for walker in (None, *range(trace.walkers)):
        at, loss = staircase(trace, column, walker)
        rows = [
            (x, L)
            for x, L, k in zip(*(trace.history[c] for c in (column, "loss", "walker")), strict=True)
            if walker in (None, k)
        ]
        assert len(at) == len(loss) and (len(at) == 0) == (not rows)
        for x, L in zip(at, loss, strict=True):
            assert L == min(value for t, value in rows if t <= x)
        for x, value in rows:
            assert value >= loss[np.flatnonzero(at <= x)[-1]]
        if rows and column in trace.ends:
            ends = trace.ends[column]
            assert at[-1] == (max(ends) if walker is None else ends[walker])
        assert all(a <= b for a, b in itertools.pairwise(at)) and all(a >= b for a, b in itertools.pairwise(loss))


def test_scales():
    def across(name):
        return [axes.get_xscale() for axes in trace_figure(CASES[name]).axes]

    assert across("falling") == ["linear", "linear"]
    assert across("early") == ["log", "log"]


def test_colours_differ_in_lightness():
    light = [relative_luminance(colors.to_rgb(c)) for c in (ACCENT, WALKER)]
    assert light[1] > 1.5 * light[0]


def test_files(tmp_path):
    for kind in ("svg", "png", "pdf"):
        trace_figure(CASES["four walkers"], path=tmp_path / f"a.{kind}")
        trace_figure(CASES["four walkers"], path=tmp_path / f"b.{kind}")
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()


def test_refused(tmp_path):
    with pytest.raises(InputError, match="its history is empty"):
        trace_figure(make([], [(1.0, 0)]))
    with pytest.raises(InputError, match="pictures end in"):
        trace_figure(CASES["falling"], path=tmp_path / "t.gif")
