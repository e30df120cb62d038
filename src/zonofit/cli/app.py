"""The commands put together, and what becomes of their exceptions."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from typing import Annotated

import typer

from zonofit import __version__
from zonofit.cli.chambers import chambers
from zonofit.cli.compare import compare
from zonofit.cli.demo import demo
from zonofit.cli.explain import explain
from zonofit.cli.export import export
from zonofit.cli.fit import fit
from zonofit.cli.global_optimum import global_optimum, verify
from zonofit.cli.interpolate import interpolate
from zonofit.cli.output import WARNINGS, emit, say, warning_as_sentence
from zonofit.cli.predict import predict
from zonofit.cli.report import report
from zonofit.cli.reproduce import reproduce
from zonofit.cli.search import search
from zonofit.cli.setcover import setcover
from zonofit.cli.signals import INTERRUPTED, TERMINATED, Terminated
from zonofit.cli.stability import stability
from zonofit.cli.zonotope import zonotope
from zonofit.errors import BudgetError, InputError

BAD_INPUT, FAILED, BROKEN_PIPE = 2, 1, 141

app = typer.Typer(
    name="zonofit",
    help="Small ReLU networks by searching activation patterns: fit them, take them elsewhere, look at their geometry.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for command in (
    demo, fit, predict, explain, export, compare, chambers, zonotope, search, stability, interpolate, setcover,
    reproduce, report,
):  # fmt: skip
    app.command()(command)
app.command("global")(global_optimum)
app.command()(verify)


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
    json: Annotated[bool, typer.Option("--json", help='With --version: {"version": str}.')] = False,
) -> None:
    """Small ReLU networks by searching activation patterns: fit them, take them elsewhere, look at their geometry."""
    if version:
        emit({"version": __version__}) if json else print(f"zonofit {__version__}")
        raise typer.Exit
    if json:
        raise InputError("--json: belongs after the command, as in zonofit chambers data.csv --json.")
    if context.invoked_subcommand is None:
        print(context.get_help())


def run(arguments: list[str]) -> int:
    """Run one command and return its exit status."""
    as_json = "--json" in arguments
    WARNINGS.clear()
    try:
        with warnings.catch_warnings():
            warnings.showwarning = warning_as_sentence
            status = _invoke(arguments)
        sys.stdout.flush()
        return status
    except (InputError, BudgetError) as error:
        return _refuse(str(error), BAD_INPUT, as_json)
    except Terminated:
        return _refuse("terminated.", TERMINATED, as_json)
    except KeyboardInterrupt:
        return _refuse("interrupted.", INTERRUPTED, as_json)
    except BrokenPipeError:
        _silence()
        return BROKEN_PIPE
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        return _refuse(f"{name}{error.strerror or error}.", FAILED, as_json)
    except MemoryError:
        return _refuse("out of memory.", FAILED, as_json)
    except Exception as error:
        if not as_json:
            raise
        traceback.print_exc()
        return _refuse(f"internal error, {type(error).__name__}: {error}", FAILED, as_json)


def _invoke(arguments: list[str]) -> int:
    command = typer.main.get_command(app)
    try:
        with command.make_context("zonofit", arguments) as context:
            command.invoke(context)
    except typer.Exit as end:
        return end.exit_code
    except Exception as error:
        # a usage error, whose class is click's or typer's own, as the version of typer has it
        if not hasattr(error, "format_message"):
            raise
        path = getattr(getattr(error, "ctx", None), "command_path", "zonofit")
        raise InputError(f"{error.format_message().rstrip('.?')}; see {path} --help.") from None
    return 0


def _refuse(sentence: str, status: int, as_json: bool) -> int:
    say(f"zonofit: {sentence}")
    try:
        if as_json:
            emit({"error": sentence})
        sys.stdout.flush()
    except OSError:
        _silence()
    return status


def _silence() -> None:
    """Send what is still to be printed nowhere: the interpreter flushes standard output once more when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
