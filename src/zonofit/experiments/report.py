"""One page that shows everything there is: tables that sort, points to hover over, figures, and where rows come from.

The page needs no network and no other file: styles, scripts and pictures are within it.
"""

from __future__ import annotations

import base64
import html
import json
import math
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from zonofit import __version__
from zonofit.experiments.figures import FIGURES, draw
from zonofit.experiments.render import NAMES, columns, title, values, would
from zonofit.experiments.spec import Table
from zonofit.experiments.summary import MARKS, Entry, missing, summarise
from zonofit.experiments.tables import BEST, TABLES, make_table

__all__ = ["make_report"]

_FLOOR = 1e-32  # where an exact fit is drawn
_HEADS = (
    "method", "paper: loss", "±", "ours: loss", "±", "differs", "paper: accuracy, %", "ours: accuracy, %", "runs",
    "seconds a run", "certificate", "ended by",
)  # fmt: skip
_TEXT = {"data", "method", "differs", "ended by"}


def make_report(rows: Sequence[dict[str, Any]], scale: str) -> str:
    """The page as HTML.

    Parameters
    ----------
    rows : sequence of dict
        As `zonofit.experiments.store.Store.rows` returns them.
    scale : {"smoke", "paper"}
    """
    tables = [make_table(name, scale) for name in TABLES]
    points, body = {}, [_contents()]
    for table in tables:
        entries = summarise(table, rows)
        points[table.name] = _points(entries)
        body.append(_section(table, entries, rows))
    body += ['<section id="figures"><h2>Figures</h2>', *_figures(scale, rows), "</section>", _provenance(tables, rows)]
    head = f"{scale.capitalize()} scale, {len(rows):,} rows, zonofit {html.escape(__version__)}."
    page = (files("zonofit.experiments") / "report.html").read_text("utf8")
    # within a script an end tag would end it, wherever it stands
    data = json.dumps(points, allow_nan=False).replace("<", "\\u003c")
    for mark, text in (("HEAD", head), ("BODY", "\n".join(body)), ("POINTS", data)):
        page = page.replace(f"ZONOFIT_{mark}", text)
    return page


def _contents() -> str:
    names = [(name, f"Table {name[-2:].upper()}") for name in TABLES] + [("figures", "Figures"), ("rows", "Provenance")]
    return "<nav>" + "".join(f'<a href="#{anchor}">{name}</a>' for anchor, name in names) + "</nav>"


def _section(table: Table, entries: list[Entry], rows) -> str:
    methods = list(dict.fromkeys(e.method for e in entries))
    chosen = "".join(
        f'<label><input type="checkbox" checked value="{m}"> <span class="swatch" data-colour="{m}"></span>'
        f"{html.escape(NAMES[m])}</label>"
        for m in methods
    )
    shown = [k for k, head in enumerate(_HEADS) if "accuracy" not in head or table.name != "table-a1"]
    heads = [*columns(table), *(_HEADS[k] for k in shown)]
    body = [(e.method, [*values(e.cell), *(_cells(e)[k] for k in shown)]) for e in entries]
    left, marks = missing(table, rows), {e.mark for e in entries}
    parts = [
        f'<section id="{table.name}"><h2>{html.escape(title(table))}</h2>',
        "<p>Medians and standard deviations. The dashed line is where we would be equal to the paper.</p>",
        f'<div class="choose">{chosen}</div><svg class="chart" data-table="{table.name}" role="img" '
        f'aria-label="our medians against those of the paper"></svg>',
        _table(heads, body),
        *(f'<p class="faint">{mark} {html.escape(meaning)}.</p>' for mark, meaning in MARKS.items() if mark in marks),
    ]
    if left:
        runs = sum(one.runs for one in left)
        listed = [(one.method, [*values(one.cell), NAMES[one.method], one.runs, would(one)]) for one in left]
        inner = _table([*columns(table), "method", "runs", "each would take"], listed, {"each would take"})
        parts.append(f"<details><summary>{runs:,} runs have no row</summary>{inner}</details>")
    return "\n".join([*parts, "</section>"])


def _cells(e: Entry) -> list:
    p = e.paper
    ended = ", ".join(f"{count} {reason}" for reason, count in sorted(e.stopped.items()))
    return [
        NAMES[e.method], p and p.loss, p and p.loss_spread, e.loss, e.loss_spread, e.mark, p and p.accuracy, e.accuracy,
        f"{e.runs}/{e.wanted}", e.seconds, e.certificate, ended,
    ]  # fmt: skip


def _table(
    heads: Sequence[str], rows: Iterable[tuple[str, list]], more: frozenset[str] | set[str] = frozenset()
) -> str:
    text = _TEXT | more

    def cell(head: str, value) -> str:
        kind = ' class="mark"' if head == "differs" else ' class="text"' if head in text else ""
        if isinstance(value, float):
            # JavaScript's numbers know no inf
            sort = repr(value) if math.isfinite(value) else "Infinity"
            shown = (
                f"{value:.1f}" if "%" in head else f"{value:.2e}" if "loss" in head or head == "±" else f"{value:.2g}"
            )
            return f'<td{kind} data-value="{sort}">{shown}</td>'
        shown = "" if value is None else html.escape(str(value))
        number = f' data-value="{shown.split("/")[0]}"' if head == "runs" else ""
        return f"<td{kind}{number}>{shown}</td>"

    head = "".join(
        f'<th scope="col"{" class=text" if h in text else ""}><button type="button">{html.escape(h)}</button></th>'
        for h in heads
    )
    body = "\n".join(
        f'<tr data-method="{method}">' + "".join(map(cell, heads, values)) + "</tr>" for method, values in rows
    )
    inner = f"<thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody>"
    return f'<div class="wide"><table class="sortable">{inner}</table></div>'


def _points(entries: list[Entry]) -> list[dict[str, Any]]:
    least: dict = {}
    for e in entries:
        if e.paper:
            least[e.cell] = min(e.paper.loss, least.get(e.cell, math.inf))
    found = []
    for e in entries:
        paper = least.get(e.cell) if e.method == BEST else e.paper and e.paper.loss
        if e.loss is None or not math.isfinite(e.loss) or not paper:
            continue
        names = ["data", "d", "N", "m"] if e.cell.m_gen == 0 else ["d", "m_gen", "m"]
        where = ", ".join(f"{name} {value}" for name, value in zip(names, values(e.cell), strict=True))
        text = f"{NAMES[e.method]}\n{where.removeprefix('data ')}\npaper {paper:.2e}, ours {e.loss:.2e}"
        found.append({"method": e.method, "paper": paper, "ours": max(e.loss, _FLOOR), "text": text})
    return found


def _figures(scale: str, rows) -> list[str]:
    parts = []
    with tempfile.TemporaryDirectory() as folder:
        for name in FIGURES:
            path = Path(folder) / f"{name}.svg"
            draw(name, scale, rows, path)
            picture = base64.b64encode(path.read_bytes()).decode("ascii")
            label = name.replace("-", " ").capitalize().replace(" d", " D")
            parts.append(
                f'<figure><figcaption>{label}</figcaption><img alt="{label} of the paper" '
                f'src="data:image/svg+xml;base64,{picture}"></figure>'
            )
    return parts


def _provenance(tables: list[Table], rows) -> str:
    specs = {table.digest: f"{table.name}, {table.scale}" for table in tables}
    groups: Counter = Counter()
    times: dict = {}
    seconds: Counter = Counter()
    for row in rows:
        key = (specs.get(row["spec"], "another plan"), row["spec"], row["version"], row["commit_hash"], row["machine"])
        groups[key] += 1
        seconds[key] += row["seconds"]
        first, last = times.get(key, (row["finished"], row["finished"]))
        times[key] = min(first, row["finished"]), max(last, row["finished"])
    heads = ["plan", "hash", "version", "commit", "machine", "first", "last", "runs", "seconds"]
    body = [("", [*key, *times[key], count, float(seconds[key])]) for key, count in sorted(groups.items())]
    return f'<section id="rows"><h2>Provenance</h2>{_table(heads, body, set(heads[:7]))}</section>'
