"""The command line inside this process, and in one of its own."""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import zonofit
from zonofit.cli import main

SOURCE = str(Path(zonofit.__file__).parents[1])


class Result(NamedTuple):
    status: int
    out: str
    err: str

    @property
    def json(self):
        """The one object on standard output."""
        assert self.out.count("\n") == 1 and self.out.endswith("\n")
        return json.loads(self.out)


def run(*arguments):
    """Run a command here."""
    raw = io.BytesIO()
    out, err = io.TextIOWrapper(raw, "utf-8", write_through=True), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main([str(argument) for argument in arguments])
    return Result(status, raw.getvalue().decode(), err.getvalue())


def start(*arguments, **options):
    """Start a command in a process of its own."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [SOURCE, os.environ.get("PYTHONPATH")]))}
    command = [sys.executable, "-m", "zonofit", *map(str, arguments)]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": environment} | options
    if sys.platform != "win32":  # a test run in the background of a shell ignores Ctrl-C, and so would its children
        options["preexec_fn"] = lambda: signal.signal(signal.SIGINT, signal.default_int_handler)
    return subprocess.Popen(command, **options)


def run_apart(*arguments, **options):
    """Run a command in a process of its own."""
    process = start(*arguments, **options)
    out, err = process.communicate(timeout=120)
    return Result(process.returncode, out, err)
