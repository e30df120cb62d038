"""What is to be run, as data: a table is a list of jobs, and nothing that decides a result is outside it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from zonofit.errors import InputError

__all__ = ["Cell", "Job", "Method", "Table"]

Value = int | float | str | bool | None


@dataclass(frozen=True)
class Cell:
    """One row of a table: the data, and the number of units.

    Attributes
    ----------
    data : str
        "synthetic" (App. H.1), or the name of an image task (App. H.2).
    d, m : int
        Features and units.
    m_gen : int
        Units of the network that makes synthetic labels; 0 for an image task.
    n_examples : int
        Examples; (d + 1) m_gen for synthetic data.
    """

    data: str
    d: int
    m: int
    m_gen: int = 0
    n_examples: int = 0

    @property
    def loss(self) -> str:
        """The loss that the paper takes for such data."""
        return "squared" if self.data == "synthetic" else "logistic"


@dataclass(frozen=True)
class Method:
    """One column of a table: how to train, and for how long.

    Attributes
    ----------
    name : str
        "gradient-descent", or a search by the name that the command line knows.
    settings, budget : tuple of (str, value)
        Settings of the class, and limits of `zonofit.search.Budget`.
    runs : int
        Seeds 0, ..., runs - 1.
    """

    name: str
    settings: tuple[tuple[str, Value], ...] = ()
    budget: tuple[tuple[str, float], ...] = ()
    runs: int = 8

    @property
    def timed(self) -> bool:
        """Whether the clock may end a run, so that its result depends on the machine."""
        return any(name == "seconds" for name, _ in self.budget)


@dataclass(frozen=True)
class Job:
    """One run: a cell, a method and a seed. Its key says all that decides the result, but for the seed."""

    cell: Cell
    method: Method
    seed: int

    @cached_property
    def key(self) -> str:
        """Hash of cell, method, settings and budget; tables that share a run share its row."""
        method = {"name": self.method.name, "settings": self.method.settings, "budget": self.method.budget}
        return _digest({"cell": asdict(self.cell), "method": method})

    def to_json(self) -> str:
        """As text that `from_json` reads."""
        return json.dumps({"cell": asdict(self.cell), "method": asdict(self.method), "seed": self.seed})

    @classmethod
    def from_json(cls, text: str) -> Job:
        """The job that `to_json` wrote."""
        data = json.loads(text)
        method = data["method"]
        for name in ("settings", "budget"):
            method[name] = tuple((key, value) for key, value in method[name])
        return cls(Cell(**data["cell"]), Method(**method), int(data["seed"]))


@dataclass(frozen=True)
class Table:
    """A frozen table: cells, and the methods that each of them gets.

    Attributes
    ----------
    name, scale : str
    plan : tuple of (Cell, tuple of Method)
    """

    name: str
    scale: str
    plan: tuple[tuple[Cell, tuple[Method, ...]], ...] = field(default=())

    def __post_init__(self) -> None:
        """Refuse a cell that is there twice."""
        cells = [cell for cell, _ in self.plan]
        if len(set(cells)) < len(cells):
            raise InputError("plan: a cell is there twice; put its methods together.")

    @property
    def cells(self) -> list[Cell]:
        """The rows."""
        return [cell for cell, _ in self.plan]

    def jobs(self) -> list[Job]:
        """Every run, the first seed of everything before the second of anything, and small cells before large ones."""
        jobs = [
            Job(cell, method, seed) for cell, methods in self.plan for method in methods for seed in range(method.runs)
        ]
        return sorted(jobs, key=lambda job: (job.seed, size(job.cell)))

    @property
    def digest(self) -> str:
        """Hash of everything."""
        return _digest(
            {
                "name": self.name,
                "scale": self.scale,
                "plan": [[asdict(c), [asdict(m) for m in ms]] for c, ms in self.plan],
            }
        )


def size(cell: Cell) -> int:
    """Entries of the matrix of a vertex program: what most methods' time grows with."""
    return cell.n_examples * cell.m * (cell.d + 1)


def _digest(data: Any) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]
