"""``zonofit demo``: the bundled example, enumerated and drawn, and a larger one for the rate."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from zonofit import __version__
from zonofit.cli.options import Json
from zonofit.cli.output import count, elapsed, emit, rate, say, show

RANDOM_EXAMPLES, RANDOM_FEATURES = 40, 4
UNIT = (1.0, 0.0, 1.0)


def demo(
    out: Annotated[
        Path, typer.Option("--out", metavar="FOLDER", help="Folder for the picture; made when it is not there.")
    ] = Path("zonofit-demo"),
    json: Json = False,
) -> None:
    """Enumerate and draw the bundled example.

    It is five points in the plane, drawn as the paper's Figure 1; a larger example shows the rate.

    \b
    JSON: command, version: str; picture: str, the paper's Figure 1 for the example;
      example: {examples, features, chambers, bound: int, general: bool, f_vector: list of int,
      pattern: str of 0 and 1, a chamber; walls: list of int, the examples (rows from 0) that bound it};
      random: {examples, features, chambers, bound: int, seconds: float (after a first run that loads the
      kernel), per_second: float}; seconds: float, all of it.
    """  # noqa: D301
    start = time.perf_counter()
    picture = _picture_path(out)
    small = _example()
    large = _random()
    from zonofit.data.example import load_example
    from zonofit.plots import figure_one

    figure_one(load_example(), path=picture)
    seconds = time.perf_counter() - start
    if json:
        emit(
            {
                "command": "demo",
                "version": __version__,
                "picture": str(picture),
                "example": small,
                "random": large,
                "seconds": seconds,
            }
        )
        return
    rows = [
        ("examples", f"{small['examples']} in the plane, in general position: {'yes' if small['general'] else 'no'}"),
        ("chambers", f"{count(small['chambers'])} enumerated, {count(small['bound'])} by Cover's formula"),
        ("zonotope", f"f-vector {tuple(small['f_vector'])}"),
        ("one chamber", f"pattern {small['pattern']}, walls {{{', '.join(str(i + 1) for i in small['walls'])}}}"),
    ]
    show(rows, "The bundled example, Figure 1 of the paper")
    print()
    rows = [
        ("examples", f"{large['examples']} in R^{large['features']}"),
        ("chambers", f"{count(large['chambers'])} enumerated, {count(large['bound'])} by Cover's formula"),
        ("time", f"{elapsed(large['seconds'])} on one thread, {rate(large['chambers'], large['seconds'])}"),
    ]
    show(rows, "Random examples")
    print()
    print(f"Picture: {picture}")
    say(f"Done in {elapsed(seconds)}. Next: zonofit chambers data.csv --count")


def _picture_path(out: Path) -> Path:
    from zonofit.errors import InputError

    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--out: {out} cannot be made a folder ({error.strerror}); pass another name.") from None
    return out / "figure-1.svg"


def _example() -> dict:
    import numpy as np

    from zonofit.data.example import load_example
    from zonofit.geometry.zonotope import Zonotope

    X = load_example()
    polytope = Zonotope.from_examples(X)
    arrangement = polytope.arrangement
    pattern = arrangement.pattern(np.array(UNIT))
    # edges at a vertex are walls of its chamber; with all vertices at hand no kernel has to be compiled for them
    ends, flips = polytope.edges()
    walls = flips[(ends == polytope.index(pattern)).any(axis=1)]
    return {
        "examples": len(X),
        "features": X.shape[1],
        "chambers": polytope.n_vertices,
        "bound": arrangement.chamber_bound(),
        "general": polytope.n_vertices == arrangement.chamber_bound(),
        "f_vector": list(polytope.f_vector()),
        "pattern": "".join("01"[bit] for bit in pattern.astype(int).tolist()),
        "walls": sorted(int(polytope.classes[k][0]) for k in walls),
    }


def _random() -> dict:
    import numpy as np

    from zonofit.geometry.arrangement import Arrangement

    X = np.random.default_rng(0).standard_normal((RANDOM_EXAMPLES, RANDOM_FEATURES))
    arrangement = Arrangement.from_examples(X)
    sum(len(block) for block in Arrangement.from_examples(X[:6]).chambers())
    start = time.perf_counter()
    number = sum(len(block) for block in arrangement.chambers())
    seconds = time.perf_counter() - start
    return {
        "examples": len(X),
        "features": X.shape[1],
        "chambers": number,
        "bound": arrangement.chamber_bound(),
        "seconds": seconds,
        "per_second": number / seconds,
    }
