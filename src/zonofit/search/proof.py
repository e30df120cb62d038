r"""A certificate that no network is better than one by more than a gap, for whoever does not trust this library.

The file is JSON. For each number of plus signs of the output weights it has a tree in preorder. An inner node decides
the sign of one example for one unit, together with all units of the same output weight whose signs were decided alike:
its children have the first 0, 1, ..., g units of the group active. A leaf holds a dual point (ν, κ) of
`zonofit.programs.relaxation` in rational numbers, whose value is at least the claimed bound, and, for signs that it
uses and that no node decided, multipliers that show that they follow from the decided ones.

Cones are closed, so the children of a node cover it, and permuting equal units, which changes no loss, brings every
network into one of them. What a checker needs to know is in `docs/guide/global.md`; `zonofit.theory.checker` is one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from zonofit.errors import InputError
from zonofit.programs.relaxation import relaxation_of
from zonofit.search._exact_dual import ExactData, ExactDual, decimal
from zonofit.search.branch import Chambers, children, slack_of
from zonofit.search.exact import turns_of
from zonofit.search.trace import write_whole

if TYPE_CHECKING:
    from zonofit.programs.problem import Problem
    from zonofit.search.trace import Trace

FORMAT, VERSION = "zonofit certificate", 1
_MARGIN = Fraction(1, 1000)  # of the gap, by which leaves are wanted to be better than the claim
_PLACES = 4  # digits of the gap that the claimed bound is rounded down to


def certify_global(
    problem: Problem,
    trace: Trace,
    *,
    gap: float = 1e-6,
    signs: str = "all",
    columns: Sequence[int] | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> dict[str, Any]:
    """The certificate of a network, as what JSON knows.

    Parameters
    ----------
    problem : Problem
        With the squared or the absolute loss, equal sample weights, a free output bias and units with a bias; without
        a ridge any output weights of the network are made ±1.
    trace : Trace
        Whose network is best, or nearly.
    gap : float
        What the claimed bound may be below the network's objective, in units of that of the best constant network.
    signs : {"all", "problem"}
        Whether the claim is about all output weights.
    columns : sequence of int, optional
        Where the features and, last, the labels stand in the table that the claim is about; by default in this order.
    progress : callable (leaves, nodes to do), optional

    Raises
    ------
    InputError
        When a network is better than the claim would say; the message says how good it is.
    """
    check_claim(problem, gap)
    if problem.alpha == 0:
        size = np.where(trace.output_weights == 0, 1.0, np.abs(trace.output_weights))
        W, v = trace.W * size[:, None], np.where(trace.output_weights < 0, -1.0, 1.0)
    else:
        W, v = trace.W, trace.output_weights
    order = np.argsort(-v, kind="stable")  # plus signs come first
    W, v = W[order], v[order]
    problem = problem.with_output_weights(v)
    data = ExactData(problem)
    objective = data.objective(W, trace.c)
    bound = claimed(objective, decimal(slack_of(problem, gap)))
    trees = []
    for turn in turns_of(problem, signs):
        builder = _Builder(turn, bound, (objective - bound) * _MARGIN, progress)
        trees.append({"output_weights": [str(x) for x in builder.data.v], "tree": builder.tree()})
    where = list(range(data.n)) if columns is None else [int(k) for k in columns]
    network = {"W": [[repr(x) for x in w] for w in W.tolist()], "c": repr(float(trace.c))}
    network["output_weights"] = [str(x) for x in data.v]
    certificate = {
        "format": FORMAT, "version": VERSION, "sha256": data_hash(problem), "columns": where,
        "width": problem.width, "loss": "squared" if data.squared else "absolute", "ridge": str(data.alpha),
        "signs": signs,
        "bound": str(bound), "digits": data.digits, "network": network, "trees": trees,
    }  # fmt: skip
    return certificate | {"digest": digest(certificate)}


def check_claim(problem: Problem, gap: float) -> None:
    """Refuse, before the work, what no certificate can be written about."""
    ExactData(problem)
    if not gap > 0:
        raise InputError(f"gap: {gap!r} leaves no room for rounding; certificates want one above 0, such as 1e-6.")


def digest(certificate: dict[str, Any]) -> str:
    """SHA-256 of everything else in a certificate, against accidents; against forgers there is the proof."""
    rest = {key: value for key, value in certificate.items() if key != "digest"}
    return hashlib.sha256(json.dumps(rest, separators=(",", ":"), sort_keys=True).encode()).hexdigest()


def claimed(objective: Fraction, slack: Fraction) -> Fraction:
    """A short decimal that is below the objective by the slack, or a little less; 0 if that is negative."""
    if objective <= slack:
        return Fraction(0)
    unit = Fraction(1)
    while slack > 0 and unit > slack / 10**_PLACES:
        unit /= 10
    return (objective - slack) // unit * unit if slack > 0 else objective


def data_hash(problem: Problem) -> str:
    """SHA-256 of the examples and labels: shortest decimals, a comma between them, a line an example, label last."""
    lines = [
        ",".join(map(repr, [*row[:-1], y]))
        for row, y in zip(problem.generators.tolist(), problem.labels.tolist(), strict=True)
    ]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def save_certificate(certificate: dict[str, Any], path) -> None:
    """Write it, whole or not at all."""
    write_whole(Path(path), json.dumps(certificate, separators=(",", ":"), allow_nan=False) + "\n")


class _Builder:
    """The tree of one choice of output weights."""

    def __init__(self, problem: Problem, bound: Fraction, margin: Fraction, progress):
        self.problem, self.bound, self.progress = problem, bound, progress
        self.data, self.relaxation = ExactData(problem), relaxation_of(problem)
        self.cutoff = float(bound + margin)
        self.chambers = Chambers(problem)
        self.leaves = 0

    def tree(self) -> list:
        """Nodes in preorder: ``[unit, example]`` for inner ones, dictionaries for leaves."""
        if self.bound == 0:  # losses are not negative: ν = 0 says so at the root
            N, m = self.problem.n_examples, self.problem.width
            return [{"nu": [0] * N, "follows": "0" * (N * m), "offsets": []}]
        nodes: list[Any] = []
        todo = [np.zeros((self.problem.width, self.problem.n_examples), np.int64)]
        while todo:
            fixed = todo.pop()
            node, branches = self._node(fixed)
            nodes.append(node)
            todo.extend(reversed(branches))
            if self.progress is not None:
                self.progress(self.leaves, len(todo))
        return nodes

    def _node(self, fixed: np.ndarray) -> tuple[Any, list[np.ndarray]]:
        signs = fixed.copy()
        if not self.chambers.imply(signs):
            signs = fixed.copy()  # no chamber has these signs, but the closed cone has points: go on with what is known
        relaxed = self.relaxation.solve(signs, self.cutoff)
        if relaxed.closed:
            leaf = self._leaf(fixed, signs, self.data.dual(signs, relaxed))
            if leaf is not None:
                self.leaves += 1
                return leaf, []
        unit, example, Z, objective = self.chambers.choose(self.problem, signs, relaxed)
        if unit < 0:  # all signs follow from those decided: decide what only follows
            undecided = np.argwhere(fixed == 0)
            if len(undecided) == 0:
                raise InputError(
                    f"gap: a network with objective {objective:.12g} shows that {float(self.bound):.12g} is no bound, "
                    "or rounding hides that it is one; search for longer, or take a larger gap."
                )
            unit, example = (int(x) for x in undecided[0])
        return [unit, example], list(ordered(children(self.problem, fixed, unit, example, Z)))

    def _leaf(self, fixed: np.ndarray, signs: np.ndarray, dual: ExactDual | None) -> dict[str, Any] | None:
        data = self.data
        if dual is None or data.value(dual) < self.bound:
            return None
        implied = []
        for j, i in np.argwhere((fixed == 0) & (signs != 0)).tolist():
            if data.wants(dual, j, i):
                multipliers = data.implied(fixed[j], i, int(signs[j, i]))
                if multipliers is None:
                    return None
                implied.append([j, i, int(signs[j, i]), [[k, *_pair(x)] for k, x in multipliers.items()]])
        grid = Fraction(2) ** data.digits
        leaf: dict[str, Any] = {
            "nu": [_number(x, grid) for x in dual.nu],
            "follows": "".join("1" if f else "0" for f in dual.follows.ravel().tolist()),
            "offsets": [[j, i, _number(x, grid)] for (j, i), x in dual.offsets.items() if x],
        }  # fmt: skip
        return leaf | {"implied": implied} if implied else leaf


def ordered(branches) -> list[np.ndarray]:
    """Children by how many units of the group are active."""
    return sorted(branches, key=lambda signs: int(np.sum(signs)))


def _number(x: Fraction, grid: Fraction) -> int | list[int]:
    """A multiple of 1/grid as a whole number, another as numerator and denominator."""
    scaled = x * grid
    return int(scaled) if scaled.denominator == 1 else _pair(x)


def _pair(x: Fraction) -> list[int]:
    return [x.numerator, x.denominator]
