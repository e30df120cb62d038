"""Plans, the paper's numbers, medians, marks and the tables made of them; nothing here trains for long."""

from __future__ import annotations

import csv
import io
import math
import xml.etree.ElementTree as ET
from dataclasses import asdict

import pytest

from zonofit.errors import InputError
from zonofit.experiments.figures import FIGURES, draw, needs
from zonofit.experiments.paper import printed
from zonofit.experiments.render import render_table
from zonofit.experiments.spec import Cell, Job
from zonofit.experiments.summary import DIFFERS, OTHER_HEADING, missing, summarise
from zonofit.experiments.tables import SCALES, TABLES, make_table
from zonofit.experiments.work import execute


def row(job: Job, loss: float, seconds: float = 1.0, accuracy: float | None = None) -> dict:
    return {
        "key": job.key, "seed": job.seed, "cell": asdict(job.cell), "loss": loss, "accuracy": accuracy,
        "method": {"name": job.method.name, "settings": [list(pair) for pair in job.method.settings]},
        "certificate": 1e-12, "stop_reason": "steps", "seconds": seconds,
    }  # fmt: skip


def rows_of(table, loss=lambda job: 1.0, **options) -> list[dict]:
    share = None if table.name == "table-a1" else 0.9
    return [row(job, loss(job), accuracy=share, **options) for job in table.jobs()]


def test_the_papers_numbers():
    a1, a2, a3 = (printed(name) for name in TABLES)
    assert len(a1) == 87 and len({cell for cell, _ in a1}) == 40
    assert len({cell for cell, _ in a2}) == 60 and len({cell for cell, _ in a3}) == 12  # MNIST stands there twice
    assert a1[Cell("synthetic", 8, 16, 8, 72), "gls"].loss == 1.77
    entry = a2[Cell("fashion_24", 16, 64, 0, 700), "random-vertex"]
    assert (entry.loss, entry.loss_spread, entry.accuracy, entry.accuracy_spread) == (0.343, 0.015, 85.6, 1.14)
    assert a3[Cell("mnist_59", 8, 32, 0, 350), "mgls"] == a3[Cell("mnist_49", 8, 32, 0, 350), "mgls"]
    for cell, _ in a1:
        assert cell.n_examples == (cell.d + 1) * cell.m_gen


@pytest.mark.parametrize("scale", SCALES)
def test_plans_are_frozen_and_have_the_papers_runs(scale):
    for name in TABLES:
        table = make_table(name, scale)
        assert table.digest == make_table(name, scale).digest
        assert len({(job.key, job.seed) for job in table.jobs()}) == len(table.jobs())
        assert set(table.cells) <= {cell for cell, _ in printed(name)}
    runs = {method.name: method.runs for _, methods in make_table("table-a1", "paper").plan for method in methods}
    assert runs == {"gradient-descent": 8, "random-vertex": 16, "gls": 8, "hopping": 8}
    assert not any(method.timed for name in TABLES for _, ms in make_table(name, "smoke").plan for method in ms)
    shared = {job.key for job in make_table("table-a2").jobs()} & {job.key for job in make_table("table-a3").jobs()}
    assert len(shared) == 24  # the cells of gradient descent and of hopping stand in both tables


def test_unknown_tables_and_scales():
    with pytest.raises(InputError, match=r"^name: "):
        make_table("table-b1")
    with pytest.raises(InputError, match=r"^scale: "):
        make_table("table-a1", "large")


def test_medians_spreads_and_marks():
    table = make_table("table-a1", "smoke")
    cell = Cell("synthetic", 8, 16, 8, 72)
    losses = {
        "random-vertex": (1.7, 1.9),
        "gls": (1.7, 1.9),
        "gradient-descent": (0.5, math.inf),
        "hopping": (0.0, 0.0),
    }
    rows = [row(job, losses[job.method.name][job.seed]) for job in table.jobs() if job.cell == cell]
    found = {e.method: e for e in summarise(table, rows) if e.cell == cell}
    assert (
        math.isclose(found["gls"].loss, 1.8)
        and math.isclose(found["gls"].loss_spread, math.sqrt(0.02))
        and found["gls"].mark == ""
    )
    assert found["random-vertex"].mark == OTHER_HEADING
    assert found["gradient-descent"].mark == DIFFERS and found["gradient-descent"].loss_spread is None
    assert found["hopping"].paper is None and found["hopping"].mark == ""
    assert found["gls"].runs == found["gls"].wanted == 2 and found["gls"].stopped == {"steps": 2}


def test_what_is_missing_is_listed_with_its_time():
    table = make_table("table-a1", "paper")
    small = [job for job in table.jobs() if job.cell.d == 4 and job.method.name == "gls"]
    rows = [row(job, 1.0, seconds=1e-6 * (job.cell.n_examples * job.cell.m * 5) ** 2) for job in small]
    left = {(one.cell, one.method): one for one in missing(table, rows)}
    assert not any(cell.d == 4 and name == "gls" for cell, name in left)
    one = left[Cell("synthetic", 8, 8, 8, 72), "gls"]
    assert one.runs == 8 and math.isclose(one.seconds, 1e-6 * (72 * 8 * 9) ** 2, rel_tol=1e-6) and not one.bound
    far = left[Cell("synthetic", 16, 128, 16, 272), "gls"]
    assert (far.seconds, far.bound) == (1800.0, True)
    assert left[Cell("synthetic", 8, 8, 8, 72), "gradient-descent"].seconds is None
    seeds = {(one.cell, one.method): one.seconds for one in missing(table, [*rows[:3], row(small[-1], 1.0, 7.0)])}
    assert seeds[small[-1].cell, "gls"] == 7.0
    assert sum(one.runs for one in left.values()) + len(rows) == len(table.jobs())


@pytest.mark.parametrize("name", TABLES)
def test_tables_have_a_line_for_each_cell(name):
    table = make_table(name, "smoke")
    rows = rows_of(table)
    entries = summarise(table, rows)
    text = render_table(table, entries, missing(table, rows), "md")
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(lines) == 1 + len(table.cells) and len({line.count("|") for line in lines}) == 1
    assert "Runs without a row" not in text
    latex = render_table(table, entries, [], "tex")
    body = [line for line in latex.splitlines() if line.endswith(r"\\")]
    assert (
        len(body) == 1 + len(table.cells)
        and len({line.count("&") for line in body}) == 1
        and "_" not in body[0].replace(r"\_", "")
    )
    read = list(csv.DictReader(io.StringIO(render_table(table, entries, [], "csv"))))
    assert len(read) == len(entries) and all(float(line["loss"]) == 1.0 for line in read)
    none = summarise(table, [])
    empty = render_table(table, none, missing(table, []), "md")
    assert "Runs without a row" in empty and "unknown" in empty
    render_table(table, none, missing(table, []), "csv")


@pytest.mark.parametrize("figure", [name for name in FIGURES if needs(name)])
@pytest.mark.parametrize("full", [True, False])
def test_figures_are_drawn_with_rows_and_without(figure, full, tmp_path):
    rows = [one for name in TABLES for one in rows_of(make_table(name, "smoke"), lambda job: 0.0)] if full else []
    draw(figure, "smoke", rows, tmp_path / "f.svg")
    assert len(ET.parse(tmp_path / "f.svg").getroot()) > 0


def test_a_run_is_the_same_again_and_random_vertices_are_one_vertex():
    table = make_table("table-a1", "smoke")
    job = next(job for job in table.jobs() if job.method.name == "random-vertex" and job.cell.m == 4)
    one, two = execute(job), execute(job)
    assert (one.loss, one.certificate, one.stop_reason) == (two.loss, two.certificate, two.stop_reason)
    assert one.certificate < 1e-8
