"""Rules that all kernels of the layer keep."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import zonofit.programs

KERNELS = sorted(Path(zonofit.programs.__file__).parent.glob("_*_*.py")) + sorted(
    Path(zonofit.programs.__file__).parent.glob("_*kernel.py")
)


def assigns(node: ast.AST, kind: type) -> set[str]:
    """Names or arrays that are written to inside a node."""
    found = set()
    for part in ast.walk(node):
        targets = [part.target] if isinstance(part, ast.AugAssign) else getattr(part, "targets", [])
        found |= {ast.unparse(target) for target in targets if isinstance(target, kind)}
    return found


def sums(node: ast.AST) -> set[str]:
    """Scalars that a loop adds something other than a whole number to."""
    return {
        part.target.id
        for part in ast.walk(node)
        if isinstance(part, ast.AugAssign)
        and isinstance(part.target, ast.Name)
        and not (isinstance(part.value, ast.Constant) and isinstance(part.value.value, int))
    }


def mixed_loops(source: str) -> list[int]:
    """Lines of innermost loops that sum and write to an array."""
    lines = []
    for loop in ast.walk(ast.parse(source)):
        if isinstance(loop, ast.For) and not any(
            isinstance(p, (ast.For, ast.While)) for p in ast.walk(loop) if p is not loop
        ):
            if sums(loop) and assigns(loop, ast.Subscript):
                lines.append(loop.lineno)
    return lines


@pytest.mark.parametrize("path", sorted(set(KERNELS)), ids=lambda path: path.stem)
def test_no_loop_both_sums_and_writes(path):
    assert mixed_loops(path.read_text("utf8")) == [], "their rounding would depend on where arrays lie"


def test_mixed_loops_are_found():
    assert mixed_loops("for i in x:\n    s += i\n    y[i] = s\n") == [1]
    assert mixed_loops("for i in x:\n    s += i\nfor i in x:\n    y[i] = s\n    k += 1\n") == []
