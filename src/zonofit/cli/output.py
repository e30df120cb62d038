"""What commands print: one JSON object, or text for people; warnings as sentences."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence


def emit(fields: dict) -> None:
    """Print `fields` as one JSON object on standard output; non-finite numbers become null."""
    print(json.dumps(_plain(fields), ensure_ascii=False, allow_nan=False))


def say(text: str) -> None:
    """Print a line for people on standard error."""
    print(text, file=sys.stderr, flush=True)


def show(rows: Sequence[tuple[str, str]], title: str | None = None) -> None:
    """Print rows of a name and a value as a compact table on standard output."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left", title_style="bold", box=None, show_header=False, pad_edge=False)
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(Text(name), Text(value))
    Console(file=sys.stdout).print(table)


WARNINGS: list[str] = []


def warning_as_sentence(message, category, filename, lineno, file=None, line=None) -> None:
    """Print a warning without the place in the source that raised it, and keep it for the JSON object."""
    WARNINGS.append(str(message))
    say(f"zonofit: warning: {message}")


def count(number: int) -> str:
    """A whole number with separators."""
    return f"{number:,}"


def rate(number: int, seconds: float) -> str:
    """A number per second, in few digits."""
    per_second = number / max(seconds, 1e-9)
    for limit, unit in ((1e6, "M"), (1e3, "k")):
        if per_second >= limit:
            return f"{per_second / limit:.3g} {unit}/s"
    return f"{per_second:.3g}/s"


def elapsed(seconds: float) -> str:
    """A duration."""
    if seconds < 1:
        return f"{1000 * seconds:.3g} ms"
    if seconds < 60:
        return f"{seconds:.3g} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d} min"


def _plain(value):
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    return value
