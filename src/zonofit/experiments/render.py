"""Tables as Markdown, LaTeX and CSV. Nothing is run here."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

from zonofit.data.images import TASKS
from zonofit.experiments.spec import Cell, Table
from zonofit.experiments.summary import MARKS, Entry, Missing
from zonofit.experiments.tables import BEST

__all__ = ["FORMATS", "NAMES", "columns", "render_rows", "render_table", "title", "values", "would"]

NAMES = {
    "gradient-descent": "gradient descent", "random-vertex": "random vertex", "gls": "GLS", "mgls": "mGLS",
    "hopping": "hopping (ours)",
}  # fmt: skip
NONE = "–"


def render_table(table: Table, entries: Sequence[Entry], left: Sequence[Missing], kind: str) -> str:
    """The table as text.

    Parameters
    ----------
    table : Table
    entries : sequence of Entry
    left : sequence of Missing
        Listed below the table, with the time that it would take.
    kind : {"md", "tex", "csv"}
    """
    return FORMATS[kind](table, entries, left)


def _markdown(table: Table, entries: Sequence[Entry], left: Sequence[Missing]) -> str:
    heads, rows = _grid(table, entries, _plain)
    lines = [f"# {title(table)}", "", _explain(), ""]
    lines += ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    marks = [f"- {mark} {meaning}." for mark, meaning in MARKS.items() if any(e.mark == mark for e in entries)]
    lines += ["", *marks] if marks else []
    if left:
        lines += [
            "",
            "## Runs without a row",
            "",
            "| " + " | ".join(columns(table)) + " | method | runs | each would take |",
        ]
        lines += ["|" + "---|" * (len(columns(table)) + 3)]
        lines += [
            "| " + " | ".join([*values(one.cell), NAMES[one.method], str(one.runs), would(one)]) + " |" for one in left
        ]
    return "\n".join(lines) + "\n"


def _latex(table: Table, entries: Sequence[Entry], left: Sequence[Missing]) -> str:
    heads, rows = _grid(table, entries, _tex)
    lines = [
        f"% {title(table)}. {_explain()}", r"% Needs \usepackage{booktabs}.",
        r"\begin{tabular}{" + "l" + "r" * (len(heads) - 1) + "}", r"\toprule",
        " & ".join(map(_escape, heads)) + r" \\", r"\midrule",
    ]  # fmt: skip
    lines += [" & ".join(row) + r" \\" for row in rows]
    lines += [r"\bottomrule", r"\end{tabular}"]
    lines += [
        f"% no row: {', '.join(values(one.cell))}, {NAMES[one.method]}, {one.runs} runs, {would(one)} each"
        for one in left
    ]
    return "\n".join(lines) + "\n"


def _csv(table: Table, entries: Sequence[Entry], left: Sequence[Missing]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        "data d m_gen n_examples m method paper_loss paper_loss_spread paper_accuracy paper_accuracy_spread loss "
        "loss_spread accuracy accuracy_spread seconds certificate runs wanted mark stopped estimated_seconds".split()
    )
    estimates = {(one.cell, one.method): one.seconds for one in left}
    for e in entries:
        p = e.paper
        numbers = (
            p and p.loss, p and p.loss_spread, p and p.accuracy, p and p.accuracy_spread, e.loss, e.loss_spread,
            e.accuracy, e.accuracy_spread, e.seconds, e.certificate,
        )  # fmt: skip
        mark = {"≠": "differs", "⇄": "other heading"}.get(e.mark, "")
        stopped = " ".join(f"{reason.replace(' ', '-')}:{count}" for reason, count in sorted(e.stopped.items()))
        c, estimate = e.cell, estimates.get((e.cell, e.method))
        texts = ["" if x is None else f"{x:.6g}" for x in numbers]
        end = [e.runs, e.wanted, mark, stopped, "" if estimate is None else f"{estimate:.3g}"]
        writer.writerow([c.data, c.d, c.m_gen or "", c.n_examples, c.m, e.method, *texts, *end])
    return out.getvalue()


def render_rows(rows: Sequence[dict[str, Any]], tables: Sequence[Table]) -> str:
    """Every row of these tables as CSV, with what it is from: one line a run."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    settings = ["data", "d", "m_gen", "n_examples", "m", "method", "settings"]
    numbers = ["loss", "accuracy", "certificate", "seconds"]
    origin = ["stop_reason", "spec", "version", "commit_hash", "machine", "finished"]
    writer.writerow([*settings, "seed", *numbers, *origin])
    wanted = {(job.key, job.seed): None for table in tables for job in table.jobs()}
    there = {(row["key"], row["seed"]): row for row in rows}
    for key in wanted:
        if (row := there.get(key)) is not None:
            cell, method = row["cell"], row["method"]
            chosen = " ".join(f"{name}={value}" for name, value in [*method["settings"], *method["budget"]])
            where = [
                cell["data"],
                cell["d"],
                cell["m_gen"] or "",
                cell["n_examples"],
                cell["m"],
                method["name"],
                chosen,
            ]
            texts = ["" if row[name] is None else f"{row[name]:.9g}" for name in numbers]
            writer.writerow([*where, row["seed"], *texts, *(row[name] for name in origin)])
    return out.getvalue()


FORMATS: dict[str, Callable[[Table, Sequence[Entry], Sequence[Missing]], str]] = {
    "md": _markdown,
    "tex": _latex,
    "csv": _csv,
}


def title(table: Table) -> str:
    """What the table is, for people."""
    return f"Table {table.name[-2:].upper()} of the paper, {table.scale} scale"


def _explain() -> str:
    return (
        "Each entry: median ± standard deviation of the loss, and of the accuracy in %; runs, where some are missing."
    )


def columns(table: Table) -> list[str]:
    """Names of what tells the cells of a table apart."""
    return ["d", "m_gen", "m"] if table.name == "table-a1" else ["data", "d", "N", "m"]


def values(cell: Cell) -> list[str]:
    """A cell under these names."""
    if cell.data == "synthetic":
        return [str(cell.d), str(cell.m_gen), str(cell.m)]
    return [TASKS[cell.data].title, str(cell.d), str(cell.n_examples), str(cell.m)]


def _grid(table: Table, entries: Sequence[Entry], show: Callable[..., str]) -> tuple[list[str], list[list[str]]]:
    """Headings and cells: for each method the paper's entry and ours, and hopping, which the paper does not have."""
    methods = list(dict.fromkeys(e.method for e in entries if e.method != BEST))
    heads = columns(table)
    for method in methods:
        heads += [f"{NAMES[method]}: paper", "ours"]
    heads.append(NAMES[BEST])
    rows = []
    for cell, group in groupby(entries, key=lambda e: e.cell):
        mine = {e.method: e for e in group}
        row = values(cell)
        for method in methods:
            e = mine.get(method)
            p = e and e.paper
            row.append(show(p.loss, p.loss_spread, p.accuracy, p.accuracy_spread) if p else NONE)
            row.append(_ours(e, show))
        rows.append([*row, _ours(mine.get(BEST), show)])
    return heads, rows


def _ours(e: Entry | None, show: Callable[..., str]) -> str:
    if e is None or e.loss is None:
        return NONE
    some = f" [{e.runs}/{e.wanted}]" if e.runs < e.wanted else ""
    return show(e.loss, e.loss_spread, e.accuracy, e.accuracy_spread, e.mark) + some


def _plain(loss, spread, accuracy=None, accuracy_spread=None, mark="") -> str:
    text = f"{loss:.2e}" + ("" if spread is None else f" ± {spread:.0e}")
    if accuracy is not None:
        text += f", {accuracy:.1f}" + ("" if accuracy_spread is None else f" ± {accuracy_spread:.1f}") + " %"
    return f"{text} {mark}".rstrip()


def _tex(loss, spread, accuracy=None, accuracy_spread=None, mark="") -> str:
    text = rf"{loss:.2e}" + ("" if spread is None else rf"\textsubscript{{{spread:.0e}}}")
    if accuracy is not None:
        text += rf", {accuracy:.1f}" + ("" if accuracy_spread is None else rf"\textsubscript{{{accuracy_spread:.1f}}}")
    return text + {"≠": r" $\neq$", "⇄": r" $\leftrightarrow$"}.get(mark, "")


def _escape(text: str) -> str:
    return text.replace("_", r"\_").replace("%", r"\%")


def would(one: Missing) -> str:
    """How long a missing run would take, in words."""
    if one.seconds is None:
        return "unknown: too few rows of this method"
    time = f"{one.seconds:.2g} s" if one.seconds < 100 else f"{one.seconds / 60:.0f} min"
    return f"at most {time}, its budget" if one.bound else f"about {time}"
