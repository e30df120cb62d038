"""Rows in an SQLite file, which several processes may work on at once and which any of them may be killed over.

A row is written together with the end of its claim, in one transaction, and its key is unique: whatever is killed when,
a row is there whole and once, or not at all. A process claims a run before it begins. The claim of a process of this
machine that is no more is void at once; that of another machine when it has not been renewed for `LEASE` seconds.
"""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import sys
import threading
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from zonofit.errors import InputError
from zonofit.experiments.spec import Job
from zonofit.experiments.work import Outcome

__all__ = ["Claims", "Store"]

LEASE, BEAT = 300.0, 20.0
_PATIENCE = 60.0  # seconds to wait for another process to finish its transaction
_VERSION = 1
_LAYOUT = """
CREATE TABLE rows (
    key TEXT NOT NULL, seed INTEGER NOT NULL, spec TEXT NOT NULL, cell TEXT NOT NULL, method TEXT NOT NULL,
    loss REAL, accuracy REAL, certificate REAL, stop_reason TEXT NOT NULL, seconds REAL NOT NULL,
    version TEXT NOT NULL, commit_hash TEXT NOT NULL, machine TEXT NOT NULL, finished TEXT NOT NULL,
    PRIMARY KEY (key, seed)
);
CREATE TABLE claims (
    key TEXT NOT NULL, seed INTEGER NOT NULL, owner TEXT NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL,
    born TEXT NOT NULL, beat REAL NOT NULL, PRIMARY KEY (key, seed)
);
"""
COLUMNS = (
    "key", "seed", "spec", "cell", "method", "loss", "accuracy", "certificate", "stop_reason", "seconds", "version",
    "commit_hash", "machine", "finished",
)  # fmt: skip


class Store:
    """A file of rows.

    Parameters
    ----------
    path : str or Path
        Made when it is not there.
    """

    def __init__(self, path):
        self.path = Path(path)
        if self.path.is_dir():
            raise InputError(f"rows: {self.path} is a folder; pass the name of a file.")
        if not self.path.parent.is_dir():
            raise InputError(f"rows: there is no folder {self.path.parent}; make it first.")
        try:
            with self._open() as connection:
                (version,) = connection.execute("PRAGMA user_version").fetchone()
                if version == 0 and not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
                    for statement in filter(str.strip, _LAYOUT.split(";")):
                        connection.execute(statement)
                    connection.execute(f"PRAGMA user_version = {_VERSION}")
                elif version != _VERSION:
                    raise InputError(f"rows: {self.path} is a database of something else; pass another name.")
        except sqlite3.DatabaseError as error:
            raise InputError(f"rows: {self.path} cannot be used ({error}); pass another name.") from None

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """A transaction that has the file for itself from its beginning."""
        with closing(sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    def rows(self) -> list[dict[str, Any]]:
        """All rows, as dictionaries; `cell` and `method` are those of the job, decoded."""
        with closing(sqlite3.connect(self.path, timeout=_PATIENCE)) as connection:
            names = ", ".join(COLUMNS)
            found = connection.execute(f"SELECT {names} FROM rows ORDER BY key, seed").fetchall()
        rows = [dict(zip(COLUMNS, row, strict=True)) for row in found]
        for row in rows:
            row["cell"], row["method"] = json.loads(row["cell"]), json.loads(row["method"])
            row["loss"] = float("inf") if row["loss"] is None else row["loss"]
        return rows

    def done(self, jobs: Iterable[Job]) -> list[Job]:
        """Those of the jobs that have a row."""
        with closing(sqlite3.connect(self.path, timeout=_PATIENCE)) as connection:
            there = set(connection.execute("SELECT key, seed FROM rows"))
        return [job for job in jobs if (job.key, job.seed) in there]

    def claim(self, jobs: Iterable[Job], claims: Claims, most: int = 1) -> tuple[list[Job], int]:
        """Up to `most` jobs for this process, in their order, and how many others have claimed and not finished."""
        mine: list[Job] = []
        with self._open() as connection:
            there = set(connection.execute("SELECT key, seed FROM rows"))
            taken = {}
            for key, seed, owner, host, pid, born, beat in connection.execute("SELECT * FROM claims").fetchall():
                if (key, seed) in there or not _alive(host, pid, born, beat):
                    connection.execute("DELETE FROM claims WHERE key = ? AND seed = ?", (key, seed))
                else:
                    taken[key, seed] = owner
            wanted = [job for job in jobs if (job.key, job.seed) not in there]
            for job in wanted:
                if len(mine) == most:
                    break
                if (job.key, job.seed) not in taken:
                    connection.execute(
                        "INSERT INTO claims VALUES (?, ?, ?, ?, ?, ?, ?)",
                        (job.key, job.seed, claims.owner, claims.host, claims.pid, claims.born, time.time()),
                    )
                    mine.append(job)
        others = sum(taken.get((job.key, job.seed), claims.owner) != claims.owner for job in wanted)
        return mine, others

    def finish(self, job: Job, outcome: Outcome, claims: Claims, spec: str, origin: dict[str, str]) -> bool:
        """Write the row of a job and end its claim; False where another process was first."""
        loss = outcome.loss if abs(outcome.loss) < float("inf") else None
        values = (
            job.key, job.seed, spec, json.dumps(asdict(job.cell)), json.dumps(asdict(job.method)), loss,
            outcome.accuracy, outcome.certificate, outcome.stop_reason, outcome.seconds, origin["version"],
            origin["commit"], origin["machine"], time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        )  # fmt: skip
        with self._open() as connection:
            marks = ", ".join("?" * len(COLUMNS))
            new = connection.execute(f"INSERT OR IGNORE INTO rows VALUES ({marks})", values).rowcount == 1
            connection.execute(
                "DELETE FROM claims WHERE key = ? AND seed = ? AND owner = ?", (job.key, job.seed, claims.owner)
            )
        return new

    def merge(self, other: Store) -> int:
        """Take over the rows of another file that are not here; their number."""
        taken = 0
        with closing(sqlite3.connect(other.path, timeout=_PATIENCE)) as source:
            rows = source.execute(f"SELECT {', '.join(COLUMNS)} FROM rows").fetchall()
        with self._open() as connection:
            for row in rows:
                marks = ", ".join("?" * len(COLUMNS))
                taken += connection.execute(f"INSERT OR IGNORE INTO rows VALUES ({marks})", row).rowcount
        return taken

    def release(self, claims: Claims) -> None:
        """Give back what this process has claimed and not finished."""
        with self._open() as connection:
            connection.execute("DELETE FROM claims WHERE owner = ?", (claims.owner,))

    def renew(self, claims: Claims) -> None:
        """Tell other machines that this process is at work."""
        with self._open() as connection:
            connection.execute("UPDATE claims SET beat = ? WHERE owner = ?", (time.time(), claims.owner))


class Claims:
    """Who claims, and a thread that renews what it has claimed; for a ``with`` block, whose end releases it.

    Parameters
    ----------
    store : Store
    """

    def __init__(self, store: Store):
        self.store = store
        self.owner = uuid.uuid4().hex
        self.host, self.pid = socket.gethostname(), os.getpid()
        self.born = _born(self.pid) or ""
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._renew, daemon=True)

    def _renew(self) -> None:
        while not self._stop.wait(BEAT):
            try:
                self.store.renew(self)
            except sqlite3.OperationalError:  # a full disk, a lock held too long: the lease is for many beats
                continue

    def __enter__(self) -> Claims:
        """Begin to renew."""
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        """Release."""
        self._stop.set()
        self._thread.join()
        self.store.release(self)


def _alive(host: str, pid: int, born: str, beat: float) -> bool:
    if host != socket.gethostname() or sys.platform == "win32":  # where signal 0 is no question but Ctrl-C
        return time.time() - beat < LEASE
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # somebody else's, and there
    now = _born(pid)
    return now == born if now is not None and born else time.time() - beat < LEASE


def _born(pid: int) -> str | None:
    """When a process began, so that one that got the number of a dead one is not taken for it; "" for a dead one.

    None where the system does not say.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("utf8").rpartition(")")[2].split()
    except FileNotFoundError:
        return "" if Path("/proc/self/stat").exists() else None
    except OSError:
        return None
    return "" if fields[0] in "ZX" else fields[19]
