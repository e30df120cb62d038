"""Where rows come from: version and commit of the code, and the machine."""

from __future__ import annotations

import platform
import subprocess
from functools import cache
from pathlib import Path

from zonofit import __version__

__all__ = ["origin"]


@cache
def origin() -> dict[str, str]:
    """`version`, `commit` ("" outside a checkout, "+" where files differ from it) and `machine`, with its processor."""
    return {"version": __version__, "commit": _commit(), "machine": _machine()}


def _commit() -> str:
    root = Path(__file__).resolve().parents[3]
    if not (root / ".git").exists():  # an installed package: what is around it is another project's
        return ""
    try:
        commit = _git(root, "rev-parse", "--short=12", "HEAD")
        return commit + ("+" if _git(root, "status", "--porcelain", "--", "src") else "")
    except (OSError, subprocess.SubprocessError):
        return ""


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(root), *arguments], capture_output=True, text=True, timeout=20, check=True,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return done.stdout.strip()


def _machine() -> str:
    import os

    name = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text("utf8").splitlines()
        name = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), name)
    except OSError:
        pass
    return f"{name}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
