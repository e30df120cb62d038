"""``zonofit global``: the best network there is, with a certificate; ``zonofit verify`` checks one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zonofit import __version__
from zonofit.cli.options import (
    Columns,
    File,
    Json,
    Labelled,
    Target,
    check_output,
    read_duration,
    read_labelled,
)
from zonofit.cli.output import WARNINGS, count, elapsed, emit, say, show
from zonofit.cli.progress import Progress
from zonofit.cli.search import FEATURES_ON_SCREEN, UNITS_ON_SCREEN, formula, make_problem, warm_up
from zonofit.cli.search_progress import SearchProgress
from zonofit.cli.signals import sigterm_interrupts
from zonofit.errors import InputError

_SHARE = 0.5  # of the gap that the search may leave; the rest is for rounding in the certificate


def global_optimum(
    file: File,
    target: Target,
    width: Annotated[int, typer.Option("--width", min=1, metavar="M", help="Number of units.")],
    gap: Annotated[
        float,
        typer.Option("--gap", min=0, metavar="G", help="Stop within G times the loss of the best constant network."),
    ] = 1e-6,
    loss: Annotated[
        str, typer.Option("--loss", metavar="NAME", help="What to minimise: squared, logistic, huber, absolute.")
    ] = "squared",
    alpha: Annotated[float, typer.Option("--alpha", metavar="A", help="Ridge: add A/2 times the squared weights.")] = 0,
    budget: Annotated[
        str | None, typer.Option("--budget", metavar="TIME", help="Stop after 60, 60s, 5m or 2h; by default never.")
    ] = None,
    programs: Annotated[
        int | None, typer.Option("--programs", min=0, metavar="K", help="Stop after K convex programs.")
    ] = None,
    order: Annotated[
        str, typer.Option("--order", metavar="NAME", help="best: raise the bound soonest; depth: need little memory.")
    ] = "best",
    seed: Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same search.")] = 0,
    columns: Columns = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option("--checkpoint", metavar="NAME.json", help="Written every few seconds; if there, go on from it."),
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option("--certificate", metavar="NAME.cert", help="Write a proof that zonofit verify checks."),
    ] = None,
    json: Json = False,
) -> None:
    """Find a global minimum over all weights, and prove it.

    The column --target of FILE holds the labels, every other one (or those of --columns) is a feature. The network is
    f(x) = c + sum over units j of output_weights[j] max(0, W[j] . (x, 1)), with output weights 1 and -1 in every
    number, which loses nothing. Branch and bound over activation patterns ends when no network can be better by more
    than the gap. Ctrl-C ends it with the best network and the bound so far, and exits with status 130.

    \b
    JSON: command, version, file, target: str; features: list of str;
      n_examples, n_features, width: int; loss_function: str; alpha: float; seed: int; settings: str;
      loss: float, that of the best network, ridge included; bound: float, no network has less;
      gap: float, loss minus bound in units of the loss of the best constant network;
      stop_reason: str, one of complete, seconds, programs, interrupted;
      seconds: float; programs, nodes, open_nodes: int;
      W: list of width lists of n_features + 1 float, the bias last; c: float; output_weights: list of float;
      checkpoint, certificate: str or null, the files;
      warnings: list of str.
    """  # noqa: D301
    from zonofit.search import Branch, Budget, run

    search = Branch(gap=_SHARE * gap if certificate is not None else gap, order=order)
    for path, option in ((checkpoint, "--checkpoint"), (certificate, "--certificate")):
        if path is not None:
            check_output(path, option)
    limits: dict[str, float] = {} if budget is None else {"seconds": read_duration(budget, "--budget")}
    limit = Budget(**limits | ({} if programs is None else {"programs": float(programs)}))
    labelled = read_labelled(file, target, columns)
    problem = make_problem(file, labelled, width, loss, alpha)
    if certificate is not None:
        from zonofit.search.proof import check_claim

        check_claim(problem, gap)
    with sigterm_interrupts() as stopped:
        with Progress("loading kernels; after an installation they are compiled"):
            warm_up(search, loss)
        with _BoundProgress("searching", limit) as progress:
            result = run(search, problem, budget=limit, seed=seed, progress=progress, checkpoint=checkpoint)
        written = None
        if certificate is not None and result.stop_reason == "complete":
            written = _certify(problem, result, gap, file, labelled, certificate)
    details = result.details
    fields = {
        "command": "global",
        "version": __version__,
        "file": str(file),
        "target": labelled.target,
        "features": labelled.features,
        "n_examples": problem.n_examples,
        "n_features": len(labelled.features),
        "width": width,
        "loss_function": loss,
        "alpha": alpha,
        "seed": seed,
        "settings": result.search,
        "loss": result.loss,
        "bound": details.get("bound", 0.0),
        "gap": details.get("gap", result.loss / (problem.null_objective or 1.0)),
        "stop_reason": result.stop_reason,
        "seconds": result.seconds,
        "programs": result.counts["programs"],
        "nodes": details.get("nodes", 0),
        "open_nodes": details.get("open_nodes", width + 1),
        "W": result.W,
        "c": result.c,
        "output_weights": result.output_weights,
        "checkpoint": None if checkpoint is None else str(checkpoint),
        "certificate": written,
        "warnings": WARNINGS,
    }
    if json:
        emit(fields)
    else:
        _report(result, fields)
    if certificate is not None and written is None:
        say("zonofit: no certificate was written: the search did not come to its end; give it more time.")
    if result.stop_reason == "interrupted":
        say(f"zonofit: interrupted after {elapsed(result.seconds)}; this is the best network so far, and its bound.")
        raise typer.Exit(stopped.status)


def verify(
    certificate: Annotated[
        Path, typer.Argument(metavar="CERTIFICATE", help="What zonofit global --certificate wrote.")
    ],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The table that it is about, as delimited text.")],
    json: Json = False,
) -> None:
    """Check a certificate in exact arithmetic, and say what it proves.

    The checker is one file of Python that shares nothing with the search. A certificate that is damaged, forged, or
    about other data is refused with exit status 2.

    \b
    JSON: command, version, certificate, file: str; proved: str, the sentence;
      bound, loss: float, no network has less than the bound, and that of the certificate has the loss;
      nodes, leaves: int; seconds: float.
    """  # noqa: D301
    import time

    from zonofit.theory.checker import RefusedError, check_certificate

    begin = time.perf_counter()
    try:
        with Progress("checking"):
            verdict = check_certificate(certificate, file)
    except RefusedError as error:
        raise InputError(f"{certificate}: refused, because {error}; nothing is proved.") from None
    fields = {
        "command": "verify",
        "version": __version__,
        "certificate": str(certificate),
        "file": str(file),
        "proved": verdict.sentence,
        "bound": float(verdict.bound),
        "loss": float(verdict.objective),
        "nodes": verdict.nodes,
        "leaves": verdict.leaves,
        "seconds": time.perf_counter() - begin,
    }
    if json:
        emit(fields)
    else:
        print(verdict.sentence)
        say(f"zonofit: {count(verdict.leaves)} leaves checked in {elapsed(time.perf_counter() - begin)}.")


class _BoundProgress(SearchProgress):
    """`SearchProgress` that shows the bound, too."""

    def _status(self) -> str:
        details = self._walks[0].state.get("details", {}) if self._walks else {}
        if "bound" not in details:
            return super()._status()
        return f"bound {details['bound']:.6g}, {count(details['open_nodes'])} nodes open, {super()._status()}"


def _certify(problem, result, gap: float, file: Path, labelled: Labelled, path: Path) -> str:
    from zonofit.data.tables import read_table
    from zonofit.search.proof import certify_global, save_certificate

    names = read_table(file).names
    where = [names.index(name) for name in (*labelled.features, labelled.target)]
    with Progress("writing the certificate"):
        save_certificate(certify_global(problem, result, gap=gap, columns=where), path)
    return str(path)


def _report(result, fields: dict) -> None:
    from zonofit.search.trace import STOP_REASONS

    rows = [
        ("task", f"{fields['target']} from {', '.join(fields['features'])}, {count(fields['n_examples'])} examples"),
        ("loss", f"{result.loss:.10g}"),
        ("bound", f"{fields['bound']:.10g}: no network with {fields['width']} units has less, up to rounding"),
        ("stopped", f"{STOP_REASONS[result.stop_reason]}, after {elapsed(result.seconds)}; gap {fields['gap']:.3g}"),
        ("work", f"{count(fields['programs'])} convex programs, {count(fields['nodes'])} nodes"),
    ]
    if fields["width"] <= UNITS_ON_SCREEN and fields["n_features"] <= FEATURES_ON_SCREEN:
        rows += [("network" if k == 0 else "", line) for k, line in enumerate(formula(result, fields["features"]))]
    rows += [(name, fields[name]) for name in ("checkpoint", "certificate") if fields[name]]
    show(rows)
