"""``zonofit reproduce``: the paper's tables and figures."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from zonofit import __version__
from zonofit.cli.options import Json, read_duration
from zonofit.cli.output import WARNINGS, elapsed, emit, say, show
from zonofit.cli.progress import Progress
from zonofit.cli.signals import sigterm_interrupts
from zonofit.errors import InputError

ROWS = "rows.sqlite"
TABLES = ("table-a1", "table-a2", "table-a3")
FIGURES = ("figure-1", "figure-2", "figure-3", "appendix-d")


def reproduce(
    what: Annotated[
        list[str], typer.Argument(metavar="WHAT...", help=f"{', '.join((*TABLES, *FIGURES))}, or all of them: all.")
    ],
    scale: Annotated[
        str, typer.Option("--scale", metavar="NAME", help="smoke, a miniature of minutes, or paper, which takes days.")
    ] = "smoke",
    out: Annotated[
        Path, typer.Option("--out", metavar="FOLDER", help="Folder for rows and results; made when it is not there.")
    ] = Path("zonofit-results"),
    rows: Annotated[
        Path | None, typer.Option("--rows", metavar="FILE", help=f"File of rows; by default {ROWS} in the folder.")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", min=1, metavar="K", help="Number of worker processes.")] = 1,
    budget: Annotated[
        str | None, typer.Option("--budget", metavar="TIME", help="Begin no run after 60, 60s, 5m or 2h.")
    ] = None,
    method: Annotated[
        list[str] | None, typer.Option("--method", metavar="NAME", help="Run this method only; may be given again.")
    ] = None,
    backend: Annotated[
        str, typer.Option("--backend", metavar="NAME", help="processes, dask, or gpu for gradient descent in batches.")
    ] = "processes",
    scheduler: Annotated[
        str | None, typer.Option("--scheduler", metavar="ADDRESS", help="Of Dask, as in tcp://host:8786.")
    ] = None,
    render_only: Annotated[
        bool, typer.Option("--render-only", help="Run nothing; tables and figures of the rows that are there.")
    ] = False,
    json: Json = False,
) -> None:
    """Reproduce the paper's tables and figures.

    Every finished run is a row in an SQLite file, so that a command that was stopped, by Ctrl-C, a budget or kill -9,
    goes on where it was when it is given again, and several commands may work on one file. Tables are written as
    Markdown, LaTeX and CSV, with the paper's medians and spreads beside ours, marked where they differ by more than the
    paper's spread; runs that are still missing are listed with the time that they would take. zonofit report makes a
    page of them.

    \b
    JSON: command, version, scale, rows: str; what: list of str;
      runs, done: int, those of the plan and those with a row;
      files: list of str, tables, figures and rows.csv with a line for each run; seconds: float;
      warnings: list of str.
    """  # noqa: D301
    import time

    from zonofit.experiments.figures import needs
    from zonofit.experiments.render import render_rows
    from zonofit.experiments.runner import jobs_of, run_tables
    from zonofit.experiments.store import Store
    from zonofit.experiments.tables import make_table
    from zonofit.search.trace import write_whole

    chosen = _chosen(what)
    seconds = float("inf") if budget is None else read_duration(budget, "--budget")
    names = [name for name in TABLES if name in chosen or any(name in needs(one) for one in chosen)]
    plans = [make_table(name, scale) for name in names]
    path = _rows_path(out, rows)
    since, left = time.perf_counter(), 0
    with sigterm_interrupts():
        if not render_only and plans:
            with RowsProgress() as progress:
                left = run_tables(
                    plans, path, jobs=jobs, budget=seconds, methods=method, backend=backend, scheduler=scheduler,
                    progress=progress,
                )  # fmt: skip
        elif plans and not path.exists():
            raise InputError(f"--rows: there is no file {path}; leave --render-only out to make it.")
        store = Store(path) if plans else None
        with Progress("drawing"):
            files = [str(file) for name in chosen for file in _write(name, scale, store, out)]
            if store is not None:
                files.append(str(out / "rows.csv"))
                write_whole(out / "rows.csv", render_rows(store.rows(), plans))
    wanted = [job for job, _ in jobs_of(plans)]
    done = len(store.done(wanted)) if store is not None else 0
    spent = time.perf_counter() - since
    if json:
        emit({
            "command": "reproduce", "version": __version__, "scale": scale, "rows": str(path), "what": chosen,
            "runs": len(wanted), "done": done, "files": files, "seconds": spent, "warnings": WARNINGS,
        })  # fmt: skip
        return
    show([("runs", f"{done:,} of {len(wanted):,}"), ("rows", str(path)), ("files", "\n".join(files))])
    say(f"Done in {elapsed(spent)}." + (f" {left:,} runs are left; the same command goes on." if left else ""))


class RowsProgress(Progress):
    """Rows that are there, the rate of this command, and the time left at that rate."""

    def __init__(self) -> None:
        super().__init__("running", "rows")
        self._first: int | None = None

    def __call__(self, done: int, total: int) -> None:
        """Note that `done` of `total` rows are there."""
        self._first = done if self._first is None else self._first
        super().__call__(done, total)

    def _status(self) -> str:
        import time

        seconds = time.monotonic() - self._start
        new = self._done - (self._first or 0)
        parts = [f"{self._done:,} of {self._total:,} rows"]
        if new:
            parts.append(f"{new / seconds:.3g} rows/s")
        parts.append(elapsed(seconds))
        if new and self._done < self._total:
            parts.append(f"{elapsed(seconds * (self._total - self._done) / new)} left")
        return ", ".join(parts)


def _chosen(what: list[str]) -> list[str]:
    known = (*TABLES, *FIGURES)
    for name in what:
        if name not in (*known, "all"):
            raise InputError(f"what: {name!r} is not in the paper; choose among {', '.join(known)} and all.")
    return list(known) if "all" in what else [name for name in known if name in what]


def _rows_path(out: Path, rows: Path | None) -> Path:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--out: {out} cannot be made a folder ({error.strerror}); pass another name.") from None
    if not os.access(out, os.W_OK):
        raise InputError(f"--out: {out} cannot be written to; pass another name.")
    return out / ROWS if rows is None else rows


def _write(name: str, scale: str, store, out: Path) -> list[Path]:
    """A table in its formats, or a picture; whole or not at all."""
    from zonofit.experiments.figures import draw
    from zonofit.experiments.render import FORMATS, render_table
    from zonofit.experiments.summary import missing, summarise
    from zonofit.experiments.tables import make_table
    from zonofit.search.trace import write_whole

    rows = store.rows() if store is not None else []
    if name in FIGURES:
        path = out / f"{name}.svg"
        draw(name, scale, rows, path)
        return [path]
    table = make_table(name, scale)
    entries, left = summarise(table, rows), missing(table, rows)
    files = []
    for kind in FORMATS:
        files.append(out / f"{name}.{kind}")
        write_whole(files[-1], render_table(table, entries, left, kind))
    return files
