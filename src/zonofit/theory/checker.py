r"""Check a certificate of a global optimum, trusting nobody: exact arithmetic, and not a line shared with the search.

This file needs Python alone. It proves, for examples xᵢ with labels yᵢ and p = 1/N,

    Σᵢ p ℓ(ŷᵢ, yᵢ) + (alpha/2) ‖W‖² >= B   for all weights, ŷᵢ = c + Σⱼ vⱼ max(0, x̄ᵢ·wⱼ),  x̄ = (x, 1),

as follows. Every network lies in a leaf of the tree: the children of a node that decides the sign of x̄ᵢ·wⱼ are closed
and cover it, up to exchanging units with equal v and equal decided signs, which changes nothing. In a leaf there are ν
and κ with Σᵢ νᵢ = 0, and Σᵢ κⱼᵢ x̄ᵢ = qⱼ, which is 0 if alpha = 0. Where κⱼᵢ <= vⱼνᵢ unless the unit is inactive, and
κⱼᵢ >= 0 unless it is active, vⱼνᵢ max(0, z) >= κⱼᵢ z for all z that the signs allow, so Σᵢ νᵢŷᵢ >= Σⱼ qⱼ·wⱼ, and with
ℓ(u, y) >= s u - ℓ*(s) the objective is at least -Σᵢ p ℓ*(νᵢ/p) - Σⱼ ‖qⱼ‖²/(2 alpha). A sign that follows from decided
ones, s x̄ = Σ μₖ sₖ x̄ₖ with μ >= 0, counts as decided.

Examples are taken for the shortest decimals that name their floating-point numbers.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import lcm
from pathlib import Path
from typing import Any, NoReturn

LOSSES = {"squared": "mean squared error", "absolute": "mean absolute error"}
_MOST_BYTES, _MOST_UNITS, _MOST_DIGITS = 2**30, 64, 4000  # what an honest certificate never needs
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")
_RATIO = re.compile(r"-?\d+(/\d+)?")


class RefusedError(ValueError):
    """The certificate proves nothing; the message says why."""


@dataclass(frozen=True)
class Verdict:
    """What has been proved.

    Attributes
    ----------
    sentence : str
    bound, objective : Fraction
        No network's objective is below the bound; that of the network in the certificate is the objective.
    nodes, leaves : int
    """

    sentence: str
    bound: Fraction
    objective: Fraction
    nodes: int
    leaves: int


def check_certificate(certificate, data) -> Verdict:
    """Check the certificate in one file about the table in another; a `RefusedError` unless every step holds."""
    try:
        return _Checker(_load(Path(certificate)), _table(Path(data)), Path(data).name).verdict()
    except (RecursionError, OverflowError, MemoryError) as error:
        raise RefusedError(f"it is built to break its reader ({type(error).__name__})") from None


def _need(holds: object, reason: str) -> None:
    if not holds:
        raise RefusedError(reason)


def _load(path: Path) -> dict[str, Any]:
    _need(path.stat().st_size <= _MOST_BYTES, "it is too large")
    try:
        text = path.read_bytes().decode("utf-8")
        content = json.loads(text, object_pairs_hook=_pairs, parse_float=_no, parse_constant=_no)
    except RefusedError:
        raise
    except ValueError:  # neither UTF-8, nor JSON, nor with numbers of a sane length
        raise RefusedError("it is not a JSON file, or is cut off") from None
    _need(type(content) is dict and content.get("format") == "zonofit certificate", "it is no zonofit certificate")
    _need(type(content.get("version")) is int and content["version"] == 1, "it is of another version")
    rest = json.dumps({k: x for k, x in content.items() if k != "digest"}, separators=(",", ":"), sort_keys=True)
    _need(content.get("digest") == hashlib.sha256(rest.encode()).hexdigest(), "it was changed after it was written")
    return content


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    _need(len(content) == len(pairs), "a name stands in it twice")
    return content


def _no(text: str) -> NoReturn:
    raise RefusedError(f"{text[:20]} in it is not a whole number")


def _table(path: Path) -> list[list[str]]:
    """Cells of the rows of a table, its header left out."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
        lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
        mark = next((mark for mark in "\t;," if lines and mark in lines[0]), ",")
        rows = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO("\n".join(lines)), delimiter=mark)]
    except (ValueError, csv.Error):
        raise RefusedError(f"{path.name} is not a table of delimited text") from None
    if rows and not any(_NUMBER.fullmatch(cell) for cell in rows[0]):
        del rows[0]
    _need(rows and all(len(row) == len(rows[0]) for row in rows), f"{path.name} has no rows of equal length")
    return rows


def _float(text: object) -> float:
    _need(type(text) is str and len(text) <= 400 and _NUMBER.fullmatch(text), "a decimal number is none")
    return float(str(text))


def _decimal(x: float) -> Fraction:
    _need(abs(x) < float("inf"), "a number is infinite")
    return Fraction(repr(x))


def _ratio(text: object) -> Fraction:
    _need(type(text) is str and len(text) <= _MOST_DIGITS and _RATIO.fullmatch(text), "a fraction is none")
    top, _, bottom = str(text).partition("/")
    _need(not bottom or int(bottom) > 0, "a denominator is 0")
    return Fraction(int(top), int(bottom or 1))


def _whole(x: object, below: int | None = None) -> int:
    _need(type(x) is int and (below is None or 0 <= x < below), "a whole number is none, or out of range")
    return x  # type: ignore[return-value]


def _rows(x: object, length: int | None = None) -> list:
    _need(type(x) is list and (length is None or len(x) == length), "a list is none, or of the wrong length")
    return x  # type: ignore[return-value]


class _Checker:
    def __init__(self, content: dict[str, Any], table: list[list[str]], name: str):
        self.content, self.name = content, name
        self.m = _whole(content.get("width"), _MOST_UNITS + 1)
        _need(self.m > 0, "it is about no units")
        loss = content.get("loss")
        _need(type(loss) is str and loss in LOSSES, "it is about an unknown loss")
        self.loss = str(loss)
        self.alpha, self.bound = _ratio(content.get("ridge")), _ratio(content.get("bound"))
        _need(self.alpha >= 0, "its ridge is negative")
        self.digits = _whole(content.get("digits"))
        _need(abs(self.digits) <= 2000, "its numbers are out of range")
        self.grid = Fraction(2) ** self.digits
        self._read(table)
        self.nodes = self.leaves = 0

    def _read(self, table: list[list[str]]) -> None:
        columns = [_whole(k, len(table[0])) for k in _rows(self.content.get("columns"))]
        _need(len(columns) >= 2 and len(set(columns)) == len(columns), "it names no features, or a column twice")
        cells = [[_float(row[k]) for k in columns] for row in table]
        _need(all(abs(x) < float("inf") for row in cells for x in row), "the data are not finite")
        digest = hashlib.sha256("\n".join(",".join(map(repr, row)) for row in cells).encode()).hexdigest()
        _need(self.content.get("sha256") == digest, f"it belongs to other data than {self.name}")
        self.N, self.n = len(cells), len(columns)
        self.X = [[*map(_decimal, row[:-1]), Fraction(1)] for row in cells]
        y = [_decimal(row[-1]) for row in cells]
        # whole numbers: a column times its common denominator, likewise the labels
        self.units = [lcm(*(row[k].denominator for row in self.X)) for k in range(self.n)]
        self.Z = [[int(x * u) for x, u in zip(row, self.units, strict=True)] for row in self.X]
        self.label_unit = lcm(*(label.denominator for label in y))
        self.y, self.labels = [int(label * self.label_unit) for label in y], y

    def verdict(self) -> Verdict:
        v, objective = self._network()
        _need(objective >= self.bound, "its own network is better than its bound")
        trees = [_part(tree) for tree in _rows(self.content.get("trees"))]
        weights = [[_ratio(x) for x in _rows(tree.get("output_weights"), self.m)] for tree in trees]
        which = self.content.get("signs")
        if which == "all":
            size = abs(v[0])
            _need(size > 0 and (self.alpha == 0 or all(abs(x) == size for x in v)), "output weights differ in size")
            wanted = [[size] * k + [-size] * (self.m - k) for k in range(self.m + 1)]
            _need(sorted(weights) == sorted(wanted), "a number of plus signs is missing")
            whose = "" if self.alpha == 0 else f" and output weights of size {float(size):g}"
        else:
            _need(which == "problem" and weights == [v], "its output weights are not those of its network")
            whose = f" and output weights {', '.join(f'{float(x):g}' for x in v)}"
            whose += "" if self.alpha else " (times any positive factors)"
        for tree, signs in zip(trees, weights, strict=True):
            self._tree(_rows(tree.get("tree")), signs)
        units = "1 ReLU unit" if self.m == 1 else f"{self.m} ReLU units"
        what = LOSSES[self.loss] + (f" plus {float(self.alpha / 2):g} |W|^2" if self.alpha else "")
        sentence = (
            f"No network with {units}{whose} has {what} below {_below(self.bound)} on the {self.N} examples of "
            f"{self.name}; the one in the certificate has {float(objective):.10g}."
        )
        return Verdict(sentence, self.bound, objective, self.nodes, self.leaves)

    def _network(self) -> tuple[list[Fraction], Fraction]:
        network = _part(self.content.get("network"))
        v = [_ratio(x) for x in _rows(network.get("output_weights"), self.m)]
        W = [[_decimal(_float(x)) for x in _rows(w, self.n)] for w in _rows(network.get("W"), self.m)]
        c, total = _decimal(_float(network.get("c"))), Fraction(0)
        for row, y in zip(self.X, self.labels, strict=True):
            u = c - y
            for x, w in zip(v, W, strict=True):
                u += x * max(sum(a * b for a, b in zip(row, w, strict=True)), Fraction(0))
            total += u * u if self.loss == "squared" else abs(u)
        return v, total / self.N + self.alpha / 2 * sum(x * x for w in W for x in w)

    def _tree(self, nodes: list, v: list[Fraction]) -> None:
        """Walk a tree in preorder; `todo` holds the decided signs of nodes whose turn will come."""
        todo = [[[0] * self.N for _ in v]]
        for node in nodes:
            _need(todo, "a tree has nodes too many")
            signs = todo.pop()
            self.nodes += 1
            if type(node) is dict:
                self._leaf(node, signs, v)
                self.leaves += 1
                continue
            j, i = (_whole(x, most) for x, most in zip(_rows(node, 2), (self.m, self.N), strict=True))
            _need(signs[j][i] == 0, "a node decides what is decided")
            group = [k for k in range(self.m) if v[k] == v[j] and signs[k] == signs[j]]
            for active in range(len(group), -1, -1):
                child = [list(row) for row in signs]
                for place, k in enumerate(group):
                    child[k][i] = 1 if place < active else -1
                todo.append(child)
        _need(not todo, "a tree is not complete")

    def _leaf(self, leaf: dict[str, Any], signs: list[list[int]], v: list[Fraction]) -> None:
        _need(set(leaf) <= {"nu", "follows", "offsets", "implied"}, "a leaf has an unknown part")
        known = [list(row) for row in signs]
        for entry in _rows(leaf.get("implied", [])):
            j, i, sign, combination = _rows(entry, 4)
            j, i = _whole(j, self.m), _whole(i, self.N)
            _need(known[j][i] == 0 and type(sign) is int and sign in (1, -1), "a sign is implied that is known")
            self._follows(i, sign, _rows(combination), signs[j])
            known[j][i] = sign
        nu = [self._exact(x) for x in _rows(leaf.get("nu"), self.N)]
        follows = leaf.get("follows")
        _need(type(follows) is str and len(follows) == self.m * self.N and set(follows) <= {"0", "1"}, "a leaf is odd")
        offsets: dict[tuple[int, int], Fraction] = {}
        for entry in _rows(leaf.get("offsets")):
            j, i, x = _rows(entry, 3)
            place = _whole(j, self.m), _whole(i, self.N)
            _need(place not in offsets, "an offset stands twice")
            offsets[place] = self._exact(x)
        # everything over one denominator D, so that the rest is in whole numbers
        D = lcm(*(x.denominator for x in [*nu, *offsets.values()])) * lcm(*(x.denominator for x in v))
        a = [int(x * D) for x in nu]
        _need(sum(a) == 0, "a leaf's multipliers do not balance")
        flow = Fraction(0)
        for j in range(self.m):
            kappa = []
            for i in range(self.N):
                top = v[j] * a[i]
                x = (top if str(follows)[j * self.N + i] == "1" else 0) + D * offsets.get((j, i), Fraction(0))
                _need(known[j][i] > 0 or x >= 0, "a leaf's multiplier is negative")
                _need(known[j][i] < 0 or x <= top, "a leaf's multiplier is too large")
                kappa.append(x)
            for k, unit in enumerate(self.units):
                q = sum(x * row[k] for x, row in zip(kappa, self.Z, strict=True) if x)
                _need(q == 0 or self.alpha > 0, "a leaf's multipliers do not cancel")
                flow += Fraction(q, D * unit) ** 2
        value = -Fraction(sum(x * y for x, y in zip(a, self.y, strict=True)), D * self.label_unit)
        if self.loss == "squared":
            value -= Fraction(self.N * sum(x * x for x in a), 4 * D * D)
        else:
            _need(all(abs(x) * self.N <= D for x in a), "a leaf's multiplier exceeds the slope of the loss")
        value -= flow / (2 * self.alpha) if self.alpha else 0
        _need(value >= self.bound, "a leaf's bound is below the claim")

    def _follows(self, i: int, sign: int, combination: list, decided: list[int]) -> None:
        total = [Fraction(0)] * self.n
        for entry in combination:
            k, top, bottom = (_whole(x) for x in _rows(entry, 3))
            _need(0 <= k < self.N and decided[k] != 0 and top >= 0 and bottom > 0, "an implied sign has no reason")
            total = [t + Fraction(top, bottom) * decided[k] * x for t, x in zip(total, self.Z[k], strict=True)]
        _need(total == [sign * x for x in self.Z[i]], "an implied sign does not follow")

    def _exact(self, x: object) -> Fraction:
        if type(x) is int:
            return x / self.grid
        top, bottom = (_whole(part) for part in _rows(x, 2))
        _need(bottom > 0, "a denominator is not positive")
        return Fraction(top, bottom)


def _part(x: object) -> dict[str, Any]:
    _need(type(x) is dict, "a part is missing")
    return x  # type: ignore[return-value]


def _below(x: Fraction) -> Decimal:
    """Ten digits, rounded down."""
    return Context(prec=10, rounding=ROUND_FLOOR).divide(Decimal(x.numerator), Decimal(x.denominator))
