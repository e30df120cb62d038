"""``zonofit reproduce`` and its JSON object; running is tested in tests/experiments."""

import pytest

from tests.cli.runner import run
from tests.cli.test_commands import documented
from tests.experiments.miniature import miniature
from zonofit.experiments import figures, report, runner
from zonofit.experiments.tables import make_table


@pytest.fixture
def small(monkeypatch):
    """Every table is one of a second."""
    monkeypatch.setattr("zonofit.experiments.tables.make_table", lambda name, scale="smoke": miniature(1))
    monkeypatch.setattr(
        figures,
        "make_table",
        lambda name, scale: miniature(1) if scale == "smoke" else make_table(name, scale),
    )


def test_everything_is_made(small, tmp_path):
    found = run("reproduce", "all", "--out", tmp_path, "--json")
    assert found.status == 0 and found.err == ""
    fields = found.json
    assert set(fields) == documented("reproduce")
    assert fields["runs"] == fields["done"] == 9
    names = {path.name for path in tmp_path.iterdir()}
    tables = {f"table-a{k}.{kind}" for k in (1, 2, 3) for kind in ("md", "tex", "csv")}
    figures = {"figure-1.svg", "figure-2.svg", "figure-3.svg", "appendix-d.svg"}
    assert names == tables | figures | {"rows.sqlite", "rows.csv"}
    assert {path.split("/")[-1] for path in fields["files"]} == names - {"rows.sqlite"}
    lines = (tmp_path / "rows.csv").read_text().splitlines()
    assert len(lines) == 10


def test_rendering_is_apart_from_running(small, tmp_path, monkeypatch):
    assert run("reproduce", "table-a1", "--out", tmp_path, "--render-only").status == 2
    assert run("reproduce", "table-a1", "--out", tmp_path).status == 0
    before = (tmp_path / "table-a1.md").read_text()
    (tmp_path / "table-a1.md").unlink()
    monkeypatch.setattr(runner, "execute", lambda job: pytest.fail("ran"))
    assert run("reproduce", "table-a1", "--out", tmp_path, "--render-only").status == 0
    assert (tmp_path / "table-a1.md").read_text() == before


def test_only_one_method(small, tmp_path):
    fields = run("reproduce", "table-a1", "--out", tmp_path, "--method", "random-vertex", "--json").json
    assert (fields["runs"], fields["done"]) == (9, 3)
    assert "Runs without a row" in (tmp_path / "table-a1.md").read_text()


def test_figures_without_rows_need_no_file(tmp_path):
    assert run("reproduce", "appendix-d", "--out", tmp_path).status == 0
    assert {path.name for path in tmp_path.iterdir()} == {"appendix-d.svg"}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["table-b1"], "what: 'table-b1' is not in the paper; choose among"),
        (["table-a1", "--scale", "huge"], "scale: 'huge' will not do"),
        (["table-a1", "--budget", "soon"], "--budget: 'soon' is not a length of time"),
        (["table-a1", "--method", "magic"], "method: 'magic' is not in these tables"),
        (["table-a1", "--backend", "dask"], "scheduler: --backend dask and the address"),
        (["table-a1", "--backend", "cloud"], "backend: 'cloud' is none"),
    ],
)
def test_refusals(arguments, sentence, tmp_path):
    found = run("reproduce", *arguments, "--out", tmp_path)
    assert found.status == 2 and found.out == "" and sentence in found.err and found.err.count("\n") == 1


def test_ctrl_c_keeps_what_is_done(small, tmp_path, monkeypatch):
    real, ran = runner.execute, []

    def some(job):
        if len(ran) == 4:
            raise KeyboardInterrupt
        ran.append(job)
        return real(job)

    monkeypatch.setattr(runner, "execute", some)
    assert run("reproduce", "table-a1", "--out", tmp_path).status == 130
    monkeypatch.setattr(runner, "execute", real)
    fields = run("reproduce", "table-a1", "--out", tmp_path, "--json").json
    assert fields["done"] == 9 and len({(job.key, job.seed) for job in ran}) == 4


def test_report(small, tmp_path, monkeypatch):
    monkeypatch.setattr(report, "FIGURES", ())
    assert run("reproduce", "table-a1", "--out", tmp_path).status == 0
    page = tmp_path / "page.html"
    fields = run("report", tmp_path / "rows.sqlite", "--out", page, "--json").json
    assert set(fields) == documented("report") and fields["n_rows"] == 9
    assert page.read_text().startswith("<!doctype html>")
    for arguments, sentence in (
        ([tmp_path / "none.sqlite"], "there is no file"),
        ([tmp_path / "rows.sqlite", "--out", tmp_path], "--out: "),
        ([tmp_path / "rows.sqlite", "--scale", "huge"], "scale: "),
        ([page], "cannot be used"),
    ):
        found = run("report", *arguments, *([] if "--out" in arguments else ["--out", page]))
        assert found.status == 2 and sentence in found.err
