"""A progress bar on standard error, for whatever takes longer than two seconds."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

from zonofit.cli.output import elapsed, rate, say

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

PATIENCE = 2.0
LOG_EVERY = 10.0


class Progress:
    """Appears after two seconds, with the part done, the rate and the time left.

    On a terminal it is a bar; elsewhere (a log file) it is a line at two seconds and every ten seconds after. Call it
    as ``progress(done, total)``; without calls it only shows that something is under way.

    Parameters
    ----------
    title : str
        What is being done.
    what : str
        What is counted in `produced`, for the rate.
    """

    def __init__(self, title: str, what: str = ""):
        self.title = title
        self.what = what
        self.produced = 0
        self._start = time.monotonic()
        self._next_line = self._start + PATIENCE
        self._done, self._total = 0, 0
        self._bar: Bar | None = None
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._live = sys.stderr.isatty()

    def __enter__(self) -> Self:
        """Start waiting."""
        self._schedule(PATIENCE)
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Take the bar away."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            if self._bar is not None:
                self._update()
                self._bar.stop()

    def __call__(self, done: int, total: int) -> None:
        """Note that `done` of `total` units of work are done."""
        self._done, self._total = done, total

    def _schedule(self, seconds: float) -> None:
        self._timer = threading.Timer(seconds, self._tick)
        self._timer.daemon = True
        self._timer.start()

    def _tick(self) -> None:
        # kernels may keep the main thread for long, so the bar is moved from here
        with self._lock:
            if self._timer is None:
                return
            self._update()
            self._schedule(0.1 if self._live else LOG_EVERY)

    def _update(self) -> None:
        if not self._live:
            say(f"zonofit: {self.title}: {self._status()}")
            return
        bar = self._bar
        if bar is None:
            bar = self._bar = self._make()
            bar.start()
        bar.update(bar.task_ids[0], completed=self._done, total=self._total or None, status=self._status())

    def _status(self) -> str:
        seconds = time.monotonic() - self._start
        parts = []
        if self._total:
            parts.append(f"{100 * self._done / self._total:.1f} %")
        if self.produced:
            parts.append(f"{self.produced:,} {self.what}, {rate(self.produced, seconds)}")
        elif self._total and self._done:
            parts.append(f"{rate(self._done, seconds)}")
        parts.append(elapsed(seconds))
        if 0 < self._done < self._total:
            parts.append(f"{elapsed(seconds * (self._total - self._done) / self._done)} left")
        return ", ".join(parts)

    def _make(self) -> Bar:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bar

        console = Console(stderr=True)
        bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[status]}"),
            console=console,
            transient=True,
            auto_refresh=True,
        )
        bar.add_task(self.title, total=None, status="")
        return bar
