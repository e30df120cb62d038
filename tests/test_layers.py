"""The tree reads as a table of contents: imports point only upwards in it, and files stay short.

The order below is the project's list of layers. A module may import from its own layer and from earlier ones; imports
inside functions and under TYPE_CHECKING count as well, because they too tie a layer to what comes after it.
"""

from __future__ import annotations

import ast
import re
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SRC = ROOT / "src"

LAYERS: tuple[tuple[str, ...], ...] = (
    ("errors", "tolerances"),
    ("geometry",),
    ("programs",),
    ("search",),
    ("theory",),
    ("baselines",),
    ("network",),
    ("estimators",),
    ("export",),
    ("data",),
    ("plots",),
    ("experiments",),
    ("cli",),
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
FACADES = {"__init__", "__main__"}  # of the package itself: they sit above every layer
LONGEST, MEDIAN = 500, 200


def imported_modules(tree: ast.AST, module: str, is_package: bool) -> Iterator[tuple[int, str]]:
    """Line and dotted name of everything that the module `module` imports, wherever in the file."""
    package = module if is_package else module.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parent = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*parent, base] if base else parent)
            for alias in node.names:
                yield node.lineno, f"{base}.{alias.name}"
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            name = node.args[0].value
            if called in {"import_module", "__import__"} and isinstance(name, str):
                yield node.lineno, name


def layer_violations(source: str, module: str, is_package: bool = False) -> list[str]:
    """Sentences, one for each import of `module` that points downwards in LAYERS."""
    own = module.split(".")[1] if "." in module else "__init__"
    if own in FACADES:
        return []
    if own not in LEVEL:
        return [f"{module}: zonofit.{own} is in no layer; add it to LAYERS in {Path(__file__).name}"]
    found = []
    for line, name in imported_modules(ast.parse(source), module, is_package):
        parts = name.split(".")
        if parts[0] != "zonofit" or parts[1:] == ["__version__"]:
            continue
        target = parts[1] if len(parts) > 1 else "__init__"
        if target not in LEVEL:
            found.append(f"{module}:{line}: imports {name} from the facade; import it from where it is defined")
        elif LEVEL[target] > LEVEL[own]:
            found.append(f"{module}:{line}: {own} imports {name}, but {target} comes later")
    return found


def source_files() -> list[Path]:
    return sorted((SRC / "zonofit").rglob("*.py"))


def module_name(path: Path) -> str:
    parts = path.relative_to(SRC).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_imports_point_only_upwards():
    violations = [
        sentence
        for path in source_files()
        for sentence in layer_violations(path.read_text("utf8"), module_name(path), path.name == "__init__.py")
    ]
    assert not violations, "\n".join(violations)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("zonofit.geometry.planted", "import zonofit.cli"),
        ("zonofit.geometry.planted", "from zonofit.programs.vertex import solve"),
        ("zonofit.geometry.planted", "from zonofit import programs"),
        ("zonofit.geometry.planted", "from zonofit import Arrangement"),
        ("zonofit.geometry.planted", "from ..search import gls"),
        ("zonofit.geometry.planted", "from .. import search"),
        ("zonofit.geometry.planted", "def f():\n    from zonofit.plots import figure_one"),
        ("zonofit.geometry.planted", "if TYPE_CHECKING:\n    from zonofit.network import Network"),
        ("zonofit.geometry.planted", "import importlib\nimportlib.import_module('zonofit.estimators')"),
        ("zonofit.errors", "from zonofit.geometry import packing"),
        ("zonofit.plots.planted", "class A:\n    def f(self):\n        import zonofit.experiments as e"),
        ("zonofit.nowhere", "import math"),
    ],
)
def test_checker_finds_a_planted_violation(module, source):
    assert len(layer_violations(source, module)) == 1


@pytest.mark.parametrize(
    ("module", "is_package", "source"),
    [
        ("zonofit.geometry.fine", False, "import numpy\nfrom zonofit.errors import InputError\nfrom . import packing"),
        ("zonofit.geometry", True, "from .packing import pack\nfrom zonofit.geometry.packing import unpack"),
        ("zonofit.cli.fine", False, "from zonofit import __version__\nfrom zonofit.plots import figure_one"),
        ("zonofit", True, "from zonofit.geometry.arrangement import Arrangement"),
        ("zonofit.__main__", False, "from zonofit.cli import main"),
    ],
)
def test_checker_lets_upward_imports_pass(module, is_package, source):
    assert layer_violations(source, module, is_package) == []


def test_no_source_file_is_long():
    lines = {path: len(path.read_text("utf8").splitlines()) for path in source_files()}
    too_long = {str(path.relative_to(ROOT)): count for path, count in lines.items() if count > LONGEST}
    assert not too_long, f"split these files (at most {LONGEST} lines): {too_long}"
    assert statistics.median(lines.values()) <= MEDIAN


def test_no_pickle_in_source():
    """Files that run code when they are read are no file format."""
    readers = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "shelve", "marshal"}
    found = []
    for path in source_files():
        tree = ast.parse(path.read_text("utf8"))
        for line, name in imported_modules(tree, module_name(path), path.name == "__init__.py"):
            if name.split(".")[0] in readers:
                found.append(f"{path.name}:{line}: {name}")
        for node in ast.walk(tree):
            if isinstance(node, ast.keyword) and node.arg == "allow_pickle" and not _is_false(node.value):
                found.append(f"{path.name}:{node.value.lineno}: allow_pickle")
    assert not found, found


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def test_no_path_of_one_machine():
    """Nothing in the tree names a folder that only the author's machine has."""
    folders = "home", "root", "Users", "work", "opt", "tmp"
    pattern = re.compile(r"(?<![\w./$}-])/(?:" + "|".join(folders) + r")/\w|\.\./" + "shared|[A-Z]:\\\\\\\\?Users")
    kinds = {".py", ".md", ".rst", ".toml", ".yml", ".yaml", ".cff", ".csv"}
    skipped = {"generated", "gallery", "_build", "build", "dist"}
    found = []
    for top in ("src", "tests", "docs", "examples", "benchmarks", "."):
        walk = (ROOT / top).glob("*") if top == "." else (ROOT / top).rglob("*")
        for path in walk:
            if path.suffix not in kinds or skipped & set(path.relative_to(ROOT).parts) or path == Path(__file__):
                continue
            for number, line in enumerate(path.read_text("utf8").splitlines(), 1):
                if pattern.search(line):
                    found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    assert not found, "\n".join(found)
