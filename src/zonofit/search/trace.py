"""What came of a search: the best network, how it got there, and why it stopped."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from zonofit.errors import InputError
from zonofit.search.coding import decode, encode
from zonofit.search.walk import COLUMNS, COUNTS

if TYPE_CHECKING:
    import pandas

VERSION = 1
STOP_REASONS = {
    "target": "the target was reached",
    "seconds": "time was up",
    "programs": "as many programs were solved as allowed",
    "moves": "as many moves were made as allowed",
    "local minimum": "no neighbour is better",
    "complete": "everything was looked at",
    "validation": "examples that were held back are predicted no better",
    "interrupted": "it was interrupted",
}


@dataclass(frozen=True, eq=False)
class Trace:
    """Result of a search.

    Attributes
    ----------
    search : str
        The search with its settings.
    seed : int
    W, c, output_weights : ndarray (m, n), float, ndarray (m,)
        The best network.
    loss : float
        Its objective: mean loss plus ridge.
    stop_reason : str
        One of `STOP_REASONS`.
    seconds : float
        Wall clock.
    counts : dict
        Totals of all walkers: `programs`, `vertices`, `moves`, `steps`, `flips`.
    walkers : int
        How many walked, each from a start of its own.
    history : dict of ndarray
        Columns `seconds`, `loss`, `programs`, `vertices`, `moves`, `steps`, `flips` and `walker`: a row whenever a
        walker got better, in the walker's own counts.
    details : dict
        What the search adds, for example all optimal vertices.
    ends : dict of ndarray
        Seconds and counts of each walker when it stopped, by the names of the columns of `history`; that table ends
        with a walker's last improvement.
    """

    search: str
    seed: int
    W: np.ndarray
    c: float
    output_weights: np.ndarray
    loss: float
    stop_reason: str
    seconds: float
    counts: dict[str, int]
    walkers: int
    history: dict[str, np.ndarray]
    details: dict[str, Any] = field(default_factory=dict)
    ends: dict[str, np.ndarray] = field(default_factory=dict)

    def __repr__(self) -> str:
        return (
            f"Trace(loss={self.loss:.6g}, stop_reason={self.stop_reason!r}, seconds={self.seconds:.3g}, "
            f"programs={self.counts['programs']}, search={self.search})"
        )

    def to_frame(self) -> pandas.DataFrame:
        """`history` as a frame of pandas."""
        try:
            import pandas
        except ImportError:
            raise InputError("to_frame: pandas is not installed; pip install pandas, or read `history`.") from None
        return pandas.DataFrame(self.history)

    def to_json(self) -> str:
        """As text that `from_json` reads, floats to the last bit."""
        return json.dumps({"format": "zonofit trace", "version": VERSION, **encode(vars(self))}, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Trace:
        """The trace that `to_json` wrote."""
        try:
            data = json.loads(text)
            if data.pop("format", None) != "zonofit trace" or data.pop("version", None) != VERSION:
                raise ValueError("it is another kind of JSON, or of another version")
            return cls(**decode(data))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise InputError(f"text: this is no trace ({error}); pass what Trace.to_json wrote.") from None

    def save(self, path) -> None:
        """Write `to_json` to a file, whole or not at all."""
        write_whole(Path(path), self.to_json())


def write_whole(path: Path, text: str) -> None:
    """Write a file so that whoever reads it finds the old text or the new one, even after a power cut."""
    temporary = path.with_name(path.name + ".part")
    with open(temporary, "w", encoding="utf8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def merge_histories(walks) -> dict[str, np.ndarray]:
    """Rows of all walkers, one after another."""
    rows = [(*row, k) for k, walk in enumerate(walks) for row in walk.history]
    table = list(zip(*rows, strict=True)) if rows else [()] * (len(COLUMNS) + 1)
    kinds = [float, float, *[np.int64] * (len(COUNTS) + 1)]
    return {name: np.array(column, kind) for name, column, kind in zip((*COLUMNS, "walker"), table, kinds, strict=True)}


def where_ended(walks) -> dict[str, np.ndarray]:
    """Seconds and counts of each walker now."""
    ends = {"seconds": np.array([walk.seconds for walk in walks])}
    return ends | {name: np.array([walk.counts[name] for walk in walks], np.int64) for name in COUNTS}
