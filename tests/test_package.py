"""The package around the library: what README, metadata and documentation promise."""

from __future__ import annotations

import ast
import doctest
import importlib
import importlib.metadata
import os
import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import zonofit

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]
# where the import has another name; llvmlite is a part of numba, which pins it
DISTRIBUTION = {"sklearn": "scikit-learn", "mpl_toolkits": "matplotlib", "llvmlite": "numba"}
USED_BY_THE_LIBRARY = (
    "parquet",
    "gpu",
    "images",
    "distributed",
    "export",
    "frames",
)  # the other extras are for developers
PAGES = [page for folder in ("guide", "theory") for page in sorted((ROOT / "docs" / folder).glob("*.md"))]
EXECUTED = ["README.md", "docs/notes.md", *(str(page.relative_to(ROOT)) for page in PAGES)]


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run this Python in a process of its own, with the same zonofit."""
    path = os.pathsep.join([str(Path(zonofit.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": path.rstrip(os.pathsep)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )


def fenced(page: str, language: str) -> str:
    """The page with everything but its fenced blocks of this language blanked out, so that line numbers stay."""
    lines, inside = [], False
    for line in (ROOT / page).read_text("utf8").splitlines():
        if line.startswith("```"):
            inside = line.strip() == f"```{language}"
            line = ""
        lines.append(line if inside else "")
    return "\n".join(lines)


def requirement_name(requirement: str) -> str:
    match = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert match, requirement
    return match.group().lower()


def test_version_is_the_same_everywhere():
    version = re.escape(zonofit.__version__)
    assert re.search(rf"^version: {version}$", (ROOT / "CITATION.cff").read_text("utf8"), re.MULTILINE)
    assert re.search(rf"^## \[{version}\]", (ROOT / "CHANGELOG.md").read_text("utf8"), re.MULTILINE)
    try:
        installed = importlib.metadata.version("zonofit")
    except importlib.metadata.PackageNotFoundError:
        return  # run from the source tree
    assert installed == zonofit.__version__


def test_import_loads_nothing_heavy():
    heavy = "matplotlib", "networkx", "numba", "highspy", "scipy.optimize", "typer", "rich", "pyarrow", "jax"
    done = python("-c", f"import sys, zonofit; print([name for name in {heavy!r} if name in sys.modules])")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


def test_every_module_imports_and_keeps_its_promises():
    for info in pkgutil.walk_packages(zonofit.__path__, "zonofit."):
        if info.name.rpartition(".")[2] == "__main__":
            continue
        module = importlib.import_module(info.name)
        assert module.__doc__, f"{info.name} has no docstring"
        missing = [name for name in getattr(module, "__all__", ()) if not hasattr(module, name)]
        assert not missing, f"{info.name}.__all__ promises {missing}"
    for name in getattr(zonofit, "__all__", ()):
        assert getattr(zonofit, name) is not None


def test_declared_dependencies_are_the_imported_ones():
    core = {requirement_name(r) for r in PROJECT["dependencies"]}
    optional = PROJECT["optional-dependencies"]
    extras = {requirement_name(r) for name in USED_BY_THE_LIBRARY for r in optional[name]}
    everywhere, at_import = set(), set()
    for path in (ROOT / "src").rglob("*.py"):
        tree = ast.parse(path.read_text("utf8"))
        everywhere |= third_party(ast.walk(tree))
        at_import |= third_party(tree.body)
    assert everywhere - extras <= core, "imported but not declared"
    assert core <= everywhere, "declared but never imported"
    assert not at_import & extras, "an optional dependency must be imported inside the function that needs it"


def third_party(nodes) -> set[str]:
    names = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            names.add(node.module.split(".")[0])
    return {DISTRIBUTION.get(n, n).lower() for n in names - sys.stdlib_module_names - {"zonofit"}}


@pytest.mark.parametrize("page", EXECUTED)
def test_python_in_the_documentation_gives_what_it_shows(page):
    test = doctest.DocTestParser().get_doctest(fenced(page, "python"), {}, page, page, 0)
    assert test.examples, f"{page} shows no Python session"
    options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    report: list[str] = []
    doctest.DocTestRunner(optionflags=options, verbose=False).run(test, out=report.append)
    assert not report, "".join(report)


def test_readme_has_the_two_commands():
    lines = fenced("README.md", "bash").splitlines()
    assert lines.count("pip install . && zonofit demo") == 1
    assert lines.count('pip install ".[test]" && pytest') == 1


def test_module_runs_as_the_command():
    done = python("-m", "zonofit", "--help")
    assert done.returncode == 0, done.stderr
    assert "chambers" in done.stdout


def test_ci_knows_its_stages():
    done = subprocess.run(
        ["bash", str(ROOT / ".ci" / "run"), "nonsense"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    for stage in ("demo", "tests", "lint", "types", "docs"):
        assert stage in done.stderr
