"""The page: whole in itself, well formed, and working in a browser."""

from __future__ import annotations

import html.parser
import json
import re
import shutil
import subprocess

import pytest

from tests.experiments.test_tables import row
from zonofit.experiments.report import make_report
from zonofit.experiments.tables import TABLES, make_table

ORIGIN = {
    "spec": "0",
    "version": "0.1",
    "commit_hash": "abc",
    "machine": "<m> & co",
    "finished": "2026-01-01T00:00:00Z",
}
VOID = {"meta", "input", "img", "br", "line", "circle"}


@pytest.fixture(scope="module")
def page():
    jobs = {(job.key, job.seed): job for name in TABLES for job in make_table(name, "smoke").jobs()}
    rows = []
    for k, job in enumerate(jobs.values()):
        if k % 7:  # some are missing
            share = 0.9 if job.cell.loss == "logistic" else None
            rows.append(row(job, 0.0 if k % 5 == 0 else 1.0 / k, accuracy=share) | ORIGIN)
    rows[0]["loss"] = float("inf")
    return make_report(rows, "smoke")


class Balance(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links, self.sources = [], [], [], []

    def handle_starttag(self, tag, attributes):
        fields = dict(attributes)
        self.ids += [fields["id"]] if "id" in fields else []
        self.links += [fields["href"]] if "href" in fields else []
        self.sources += [fields["src"]] if "src" in fields else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_page_is_whole_and_needs_no_network(page):
    parser = Balance()
    parser.feed(page)
    assert not parser.open and len(set(parser.ids)) == len(parser.ids)
    assert all(link[0] == "#" and link[1:] in parser.ids for link in parser.links)
    assert len(parser.sources) == 4 and all(
        source.startswith("data:image/svg+xml;base64,") for source in parser.sources
    )
    assert not re.search(r"(?:src|href)=[\"']?(?:https?:)?//|@import|url\(", page)
    assert "&lt;m&gt; &amp; co" in page and "ZONOFIT_" not in page
    points = json.loads(re.search(r'id="points">(.*?)</script>', page, re.DOTALL)[1])
    assert set(points) == set(TABLES) and all(point["ours"] > 0 for one in points.values() for point in one)


def test_page_without_rows(monkeypatch):
    monkeypatch.setattr("zonofit.experiments.report.FIGURES", ())
    page = make_report([], "smoke")
    assert page.count("runs have no row") == 3


SCRIPT = """<script>
const table = document.querySelector("table.sortable"), heads = [...table.tHead.rows[0].cells];
const ours = heads.findIndex(h => h.textContent === "ours: loss"), button = heads[ours].querySelector("button");
const column = () => [...table.tBodies[0].rows].map(r => r.cells[ours].dataset.value ?? "");
button.click(); const up = column(); button.click(); const down = column();
const box = document.querySelector(".choose input[value=hopping]"); box.click();
const hidden = [...document.querySelectorAll("#table-a1 [data-method=hopping]")].every(n => n.style.display === "none");
const circle = document.querySelector("svg.chart circle"); circle.dispatchEvent(new Event("pointerenter"));
const found = {up, down, hidden, circles: document.querySelectorAll("svg.chart circle").length,
  tip: document.getElementById("tip").textContent, wide: document.documentElement.scrollWidth <= innerWidth};
document.title = "FOUND" + JSON.stringify(found);
</script></body>"""


def test_page_works_in_a_browser(page, tmp_path):
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium here")
    path = tmp_path / "page.html"
    path.write_text(page.replace("</body>", SCRIPT), "utf8")
    command = [
        browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}",
        "--window-size=1200,900", "--virtual-time-budget=3000", "--dump-dom", path.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
    title = re.search(r"<title>FOUND(.*?)</title>", done.stdout, re.DOTALL)
    assert title, done.stdout[:200] + done.stderr[-500:]
    found = json.loads(title[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
    numbers = [float(text.replace("Infinity", "inf")) for text in found["up"] if text]
    assert (
        len(numbers) > 10 and numbers == sorted(numbers) and found["up"][len(numbers) :] == [""] * found["up"].count("")
    )
    again = [float(text.replace("Infinity", "inf")) for text in found["down"] if text]
    assert again == sorted(numbers, reverse=True) and found["hidden"] and found["wide"]
    assert found["circles"] > 10 and "paper" in found["tip"]
