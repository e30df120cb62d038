"""``zonofit stability``: how far the examples may move before the patterns change (Theorem 1)."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zonofit import __version__
from zonofit.cli.options import Columns, File, Generators, Json, check_output, read_arrangement
from zonofit.cli.output import WARNINGS, count, emit, show
from zonofit.cli.progress import Progress
from zonofit.errors import BudgetError, InputError

if TYPE_CHECKING:
    import numpy as np

    from zonofit.geometry.arrangement import Arrangement
    from zonofit.geometry.comparison import Comparison
    from zonofit.geometry.stability import StabilityRadius

COMPARED = 2_000_000
BITS_ON_SCREEN, NUMBERS_ON_SCREEN = 60, 8
BEYOND = 1.01


def stability(
    file: File,
    moved: Annotated[
        Path | None,
        typer.Option(
            "--moved", metavar="NAME.csv", help="Write the examples, moved just beyond the best possible radius."
        ),
    ] = None,
    generators: Generators = False,
    columns: Columns = None,
    json: Json = False,
) -> None:
    """Say how far the examples may move before the patterns change.

    While every example in FILE moves by less than the certified radius, the set of activation patterns stays what it
    is, and the least loss of one unit moves continuously (Theorem 1). Beyond the best possible radius it can change;
    the examples and the pattern are named where it does so first.

    \b
    JSON: command, version, file: str; examples, dimension: int, of the generators (dimension counts the bias);
      general: bool, whether they are in general position; if not, radii are 0;
      radius: float, certified; subset: list of int, where it is attained, rows from 0;
      proof_radius: float or null, of the paper's proof (null: too many chambers);
      tight_radius: float or null, the best possible (null: not bounded, or too many columns);
      tight_subset: list of int, the examples that come to lie on a hyperplane there;
      tight_signs: list of int; direction: list of float: example tight_subset[k] moves along -tight_signs[k] direction;
      patterns: int or null, their number; lost, gained: str of 0 and 1 or null, a pattern that is only there before, or
      only beyond the tight radius (null: none found, or too many patterns to compare);
      moved: str or null, the file; seconds: float;
      warnings: list of str.
    """  # noqa: D301
    from zonofit.geometry.stability import breaking_move

    if moved is not None:
        check_output(moved, "--moved")
    arrangement = read_arrangement(file, generators, columns)
    start = time.perf_counter()
    with Progress("looking at all minors"):
        found = _radius(file, arrangement)
    breaks = found.tight_radius > 0 and len(found.tight_signs) > 0
    proof, comparison, broken = None, None, None
    if breaks:
        broken = breaking_move(arrangement, found, beyond=BEYOND)
        with Progress("comparing patterns"):
            proof, comparison = _proof(arrangement), _compare(arrangement, broken, found)
    elif found.radius == 0:
        proof = 0.0
    if moved is not None:
        if broken is None:
            raise InputError(
                "--moved: there is no move to write, because the tight radius is 0 or not bounded; leave it out."
            )
        _write(moved, broken)
    lost = comparison.pattern if comparison is not None and comparison.owner == "first" else None
    gained = comparison.pattern if comparison is not None and comparison.owner == "second" else None
    if lost is not None or gained is not None:
        lost, gained = _other(arrangement, broken, found, lost, gained)
    fields = {
        "command": "stability",
        "version": __version__,
        "file": str(file),
        "examples": arrangement.n_generators,
        "dimension": arrangement.dimension,
        "general": bool(found.radius > 0 or found.tight_radius > 0),
        "radius": found.radius,
        "subset": found.subset,
        "proof_radius": proof,
        "tight_radius": found.tight_radius,
        "tight_subset": found.tight_subset,
        "tight_signs": found.tight_signs,
        "direction": found.direction,
        "patterns": None if comparison is None else comparison.n_first,
        "lost": _bits(lost),
        "gained": _bits(gained),
        "moved": None if moved is None else str(moved),
        "seconds": time.perf_counter() - start,
        "warnings": WARNINGS,
    }
    if json:
        emit(fields)
    else:
        show(_rows(fields, found))


def _radius(file: Path, arrangement: Arrangement) -> StabilityRadius:
    from zonofit.geometry.stability import stability_radius

    try:
        return stability_radius(arrangement)
    except BudgetError as error:
        reason = str(error).removeprefix("budget: ").partition("; ")[0]
        raise BudgetError(f"{file}: {reason}; take fewer rows, or fewer columns with --columns.") from None


def _proof(arrangement: Arrangement) -> float | None:
    from zonofit.geometry.stability import proof_radius

    try:
        return proof_radius(arrangement)
    except BudgetError:
        return None


def _compare(arrangement: Arrangement, broken: np.ndarray, found: StabilityRadius) -> Comparison | None:
    from zonofit.geometry.arrangement import Arrangement
    from zonofit.geometry.stability import same_zonotope

    try:
        return same_zonotope(arrangement, broken if found.only_features else Arrangement(broken), budget=COMPARED)
    except BudgetError:
        return None


def _other(arrangement, broken, found, lost, gained):
    """The pattern that is lost and the one that is gained: they differ in the examples that cross, no others."""
    from zonofit.geometry.arrangement import Arrangement

    known = lost if gained is None else gained
    partner = known.copy()
    partner[list(found.tight_subset)] ^= True
    home = Arrangement.from_examples(broken) if found.only_features else Arrangement(broken)
    before, after = (known, partner) if gained is None else (partner, known)
    right = arrangement.membership(before).feasible and home.membership(after).feasible
    return (before, after) if right else (lost, gained)


def _write(path: Path, broken: np.ndarray) -> None:
    import numpy as np

    try:
        np.savetxt(path, broken, delimiter=",", fmt="%.17g")
    except OSError as error:
        raise InputError(f"--moved: {path} cannot be written ({error.strerror or error}); pass another name.") from None


def _rows(fields: dict, found: StabilityRadius) -> list[tuple[str, str]]:
    rows = [("examples", f"{count(fields['examples'])} in dimension {fields['dimension']}")]
    if not fields["general"]:
        return [
            *rows,
            ("radius", "0: the examples are not in general position"),
            ("dependent", f"rows {_listed(found.subset)}; moving one of them, however little, can change the patterns"),
        ]
    patterns = (
        "the set of patterns" if fields["patterns"] is None else f"the set of {count(fields['patterns'])} patterns"
    )
    rows.append(("radius", f"{found.radius:.6g}, certified: if every example moves by less, {patterns} stays as it is"))
    if fields["proof_radius"] is not None:
        rows.append(("by the proof", f"{fields['proof_radius']:.6g}, the radius in the paper's proof of Theorem 1"))
    if found.tight_radius == float("inf"):
        return [*rows, ("best possible", "not bounded: no move of these examples changes the patterns")]
    if not len(found.tight_signs):
        return [*rows, ("best possible", "not computed: there are too many columns")]
    few = fields["examples"] < fields["dimension"]  # these are dependent at one length only, and not beyond
    where = "at" if few else "beyond"
    rows.append(("best possible", f"{found.tight_radius:.6g}, {where} which the patterns can change"))
    what = "become dependent" if few else "come to lie on one hyperplane"
    rows.append(("changes first", f"rows {_listed(found.tight_subset)} {what}"))
    if len(found.direction) <= NUMBERS_ON_SCREEN:
        rows.append(("", f"by moves of that length {_ways(found)}"))
    for name, bits in (("lost", fields["lost"]), ("gained", fields["gained"])):
        if bits is not None:
            rows.append((name, bits if len(bits) <= BITS_ON_SCREEN else f"{bits[:BITS_ON_SCREEN]}..."))
    if fields["patterns"] is None:
        rows.append(("patterns", "too many to compare"))
    if fields["moved"] is not None:
        rows.append(("moved", f"{fields['moved']}, the examples {BEYOND:g} times as far"))
    return rows


def _ways(found: StabilityRadius) -> str:
    """Which examples move along the direction, and which against it."""
    along = f"({', '.join(f'{x:.4g}' for x in found.direction)})"
    groups = [[i for i, s in zip(found.tight_subset, found.tight_signs, strict=True) if s == side] for side in (-1, 1)]
    named = [f"of {'row' if len(group) == 1 else 'rows'} {_listed(group)}" for group in groups]
    if not groups[1]:
        return f"along {along} {named[0]}"
    if not groups[0]:
        return f"against {along} {named[1]}"
    return f"along {along} {named[0]}, against it {named[1]}"


def _bits(pattern) -> str | None:
    return None if pattern is None else "".join("01"[int(bit)] for bit in pattern)


def _listed(rows) -> str:
    shown = [str(i) for i in rows[:NUMBERS_ON_SCREEN]]
    if len(rows) > NUMBERS_ON_SCREEN:
        return f"{', '.join(shown)} and {len(rows) - NUMBERS_ON_SCREEN} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
