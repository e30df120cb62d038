"""``zonofit chambers``: all activation patterns of one unit."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from zonofit import __version__
from zonofit.cli.options import Columns, File, Generators, Json, read_arrangement
from zonofit.cli.output import WARNINGS, count, elapsed, emit, rate, say, show
from zonofit.cli.progress import Progress
from zonofit.cli.signals import sigterm_interrupts

IN_JSON = 10_000
ON_SCREEN = 20


def chambers(
    file: File,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="NAME.npz", help="Write the patterns, bit-packed, block by block.")
    ] = None,
    only_count: Annotated[bool, typer.Option("--count", help="Only count them.")] = False,
    half: Annotated[
        bool, typer.Option("--half", help="Only one of each pair of opposite chambers (w and -w).")
    ] = False,
    jobs: Annotated[int, typer.Option("--jobs", min=1, metavar="THREADS", help="Number of threads.")] = 1,
    generators: Generators = False,
    columns: Columns = None,
    json: Json = False,
) -> None:
    """Enumerate the activation patterns of one ReLU unit.

    These are the chambers of the examples in FILE, each once. Patterns go to standard output, one a line, example 1
    first. With --out they go to an archive that zonofit.data.load_patterns and numpy.load read: patterns
    (V, ceil(N / 8)) of bytes, bit i % 8 of byte i // 8 being example i; n_examples; complete; version. While it grows
    it is called NAME.npz.part. Ctrl-C keeps the patterns found so far, says how many, and exits with status 130.

    \b
    JSON: command, version, file: str;
      examples, dimension, rank: int, of the generators (dimension counts the bias);
      bound: int, the number of chambers in general position (Cover's formula), never exceeded;
      chambers: int or null (not known: interrupted);
      patterns_found: int, chambers enumerated, half of them with --half, 0 with --count;
      complete, half: bool; out: str or null, where the patterns are; seconds: float;
      patterns: list of str of 0 and 1, or null when there are more than 10,000, or with --count or --out;
      warnings: list of str, such as generators too near to a dependency to be sure.
    """  # noqa: D301
    if only_count and out is not None:
        from zonofit.errors import InputError

        raise InputError("--count: counts without writing; leave out --out or --count.")
    arrangement = read_arrangement(file, generators, columns)
    start = time.perf_counter()
    fields = {
        "command": "chambers",
        "version": __version__,
        "file": str(file),
        "examples": arrangement.n_generators,
        "dimension": arrangement.dimension,
        "rank": arrangement.rank,
        "bound": arrangement.chamber_bound(),
        "half": half,
    }
    if only_count:
        with Progress("counting chambers") as progress:
            number = arrangement.n_chambers(n_jobs=jobs, progress=progress)
        found = _half(number) if half else number
        if json:
            fields |= {"chambers": number, "patterns_found": 0, "complete": True, "out": None}
            emit(fields | {"seconds": time.perf_counter() - start, "patterns": None, "warnings": WARNINGS})
        else:
            print(found)
        return

    sink = _Archive(out, arrangement.n_generators) if out is not None else _Lines(arrangement.n_generators, json)
    complete = True
    with Progress("enumerating chambers", "chambers") as progress, sigterm_interrupts() as stopped:
        try:
            for block in arrangement.chambers(half=half, n_jobs=jobs, progress=progress):
                sink.write(block)
                progress.produced += len(block)
        except KeyboardInterrupt:
            complete = False
        except OSError:
            sink.close()
            raise
    seconds = time.perf_counter() - start
    where = sink.finish(complete)
    whole = _whole(sink.found, arrangement.rank) if half else sink.found
    fields |= {
        "chambers": whole if complete else None,
        "patterns_found": sink.found,
        "complete": complete,
        "out": where,
        "seconds": seconds,
        "patterns": sink.listed(),
        "warnings": WARNINGS,
    }
    if json:
        emit(fields)
    _report(fields, json)
    if not complete:
        raise typer.Exit(stopped.status)


class _Archive:
    """Patterns into a file."""

    def __init__(self, out: Path, n_examples: int):
        from zonofit.data.patterns import PatternWriter

        self._writer = PatternWriter(out, n_examples)
        if self._writer.leftover:
            say(f"zonofit: {self._writer.leftover}")

    @property
    def found(self) -> int:
        return self._writer.n_patterns

    def write(self, block) -> None:
        self._writer.write(block)

    def close(self) -> None:
        self._writer.close()

    def finish(self, complete: bool) -> str:
        return str(self._writer.finish(complete=complete))

    def listed(self) -> None:
        return None


class _Lines:
    """Patterns to standard output as lines of 0 and 1, or kept for the JSON object while they are few."""

    def __init__(self, n_examples: int, as_json: bool):
        self._n = n_examples
        self._kept: list[str] | None = [] if as_json else None
        self._as_json = as_json
        self._room = ON_SCREEN if sys.stdout.isatty() and not as_json else None
        self.found = 0

    def write(self, block) -> None:
        self.found += len(block)
        if self._as_json:
            if self._kept is not None and self.found <= IN_JSON:
                self._kept += self._text(block).decode().split()
            else:
                self._kept = None
        elif self._room is None:
            _write_bytes(self._text(block))
        elif self._room > 0:
            _write_bytes(self._text(block[: self._room]))
            self._room -= len(block)

    def close(self) -> None:
        """Nothing is open."""

    def finish(self, complete: bool) -> None:
        if self._room is not None and self.found > ON_SCREEN:
            say(f"... and {self.found - ON_SCREEN:,} more; --out NAME.npz keeps them all.")

    def listed(self) -> list[str] | None:
        return self._kept

    def _text(self, block) -> bytes:
        import numpy as np

        from zonofit.geometry.packing import unpack

        characters = np.full((len(block), self._n + 1), ord("\n"), np.uint8)
        characters[:, :-1] = unpack(block, self._n)
        characters[:, :-1] += ord("0")
        return characters.tobytes()


def _write_bytes(text: bytes) -> None:
    sys.stdout.flush()
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:
        sys.stdout.write(text.decode())
    else:
        stream.write(text)


def _report(fields: dict, as_json: bool) -> None:
    found, seconds = fields["patterns_found"], fields["seconds"]
    what = "pairs of opposite chambers" if fields["half"] else "chambers"
    examples = f"{fields['examples']} example{'s' if fields['examples'] != 1 else ''}"
    if not fields["complete"]:
        kept = f" They are in {fields['out']}." if fields["out"] else ""
        if kept.endswith(".part."):
            kept = f"{kept[:-1]}, because {fields['out'].removesuffix('.part')} is there already."
        say(f"zonofit: interrupted after {found:,} of up to {_half_of(fields):,} {what}.{kept}")
        return
    if as_json:
        return
    if fields["out"] is None:
        say(f"{found:,} {what} of {examples} in {_pace(found, seconds)}")
        return
    general = "as in general position" if fields["chambers"] == fields["bound"] else f"at most {fields['bound']:,}"
    show(
        [
            ("examples", f"{fields['examples']} in dimension {fields['dimension']}, rank {fields['rank']}"),
            ("chambers", f"{count(fields['chambers'])}, {general}"),
            ("written", f"{count(found)} patterns to {fields['out']}"),
            ("time", _pace(found, seconds)),
        ]
    )


def _pace(found: int, seconds: float) -> str:
    """Time and rate; below a million chambers the time is that of loading the kernel."""
    return elapsed(seconds) + (f", {rate(found, seconds)}" if found >= 10**6 else "")


def _half_of(fields: dict) -> int:
    return _half(fields["bound"]) if fields["half"] else fields["bound"]


def _half(number: int) -> int:
    return max(number // 2, 1)


def _whole(found: int, rank: int) -> int:
    """Chambers behind one of each pair; generators that are all zero have one chamber, its own opposite."""
    return 2 * found if rank else found
