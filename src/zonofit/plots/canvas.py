"""Figures without pyplot: nothing global is changed, nothing is shown, equal input gives equal files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from zonofit.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = (".svg", ".png", ".pdf")
INK = "#222222"
FAINT = "#767676"
ACCENT = "#b8390e"
NOTE = 7.0


def new_figure(width: float, height: float) -> Figure:
    """A figure of `width` x `height` inches with an Agg canvas, so that text can be measured before it is placed."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=100, facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def check_path(path) -> Path:
    """`path` when a picture can be written there, or an `InputError`."""
    path = Path(path)
    if path.suffix.lower() not in FORMATS:
        raise InputError(f"{path}: pictures end in {', '.join(FORMATS)}; rename it.")
    if path.is_dir():
        raise InputError(f"{path}: is a folder; pass the name of a file.")
    if not path.parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.parent}; make it first.")
    return path


def save(figure: Figure, path) -> None:
    """Write `figure` as the suffix of `path` says; byte for byte the same for the same picture."""
    import matplotlib

    path = check_path(path)
    kind = path.suffix.lower()[1:]
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}[kind]
    try:
        with matplotlib.rc_context({"svg.hashsalt": "zonofit"}):
            figure.savefig(path, format=kind, dpi=200, metadata=metadata)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror or error}); pass another name.") from None
