"""Certificates of global optima: what is written is accepted, and what is forged is never believed."""

from __future__ import annotations

import ast
import copy
import json
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from tests.search.instances import tiny
from zonofit.errors import InputError
from zonofit.programs import Problem
from zonofit.search import Branch, Exact, run
from zonofit.search.proof import certify_global, claimed, digest, save_certificate
from zonofit.theory import checker
from zonofit.theory.checker import RefusedError, check_certificate

LIBRARY = Path(__file__).resolve().parents[2] / "results" / "global"
KINDS = (
    {}, {"d": 2, "N": 8}, {"alpha": 0.05}, {"signs": [1.0, 1.0]}, {"signs": [2.0, -0.5]},
    {"signs": [1.0], "d": 2, "N": 9}, {"N": 6, "signs": [1.0, -1.0, 1.0]}, {"loss": "absolute", "N": 4},
)  # fmt: skip


def write_table(problem: Problem, path: Path, header: str = "") -> Path:
    rows = zip(problem.generators[:, :-1].tolist(), problem.labels.tolist(), strict=True)
    lines = [",".join(map(repr, [*row, y])) for row, y in rows]
    path.write_text("\n".join(([header] if header else []) + lines) + "\n")
    return path


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    """A certificate of some leaves with implied signs, and its table."""
    problem = tiny(3, N=9, d=2)
    folder = tmp_path_factory.mktemp("honest")
    table = write_table(problem, folder / "data.csv", "a,b,y")
    certificate = certify_global(problem, run(Branch(gap=5e-7), problem))
    save_certificate(certificate, folder / "honest.cert")
    assert any("implied" in node for tree in certificate["trees"] for node in tree["tree"])
    return certificate, table, folder


@pytest.mark.parametrize("options", KINDS, ids=str)
def test_honest_certificates_are_accepted(options, tmp_path):
    for seed in range(1 if "loss" in options else 2):
        problem = tiny(seed, **options)
        trace = run(Branch(gap=5e-7), problem) if options.get("signs") != [2.0, -0.5] else run(Exact(), problem)
        signs = "problem" if options.get("signs") == [2.0, -0.5] else "all"
        save_certificate(certify_global(problem, trace, signs=signs), tmp_path / "out.cert")
        verdict = check_certificate(tmp_path / "out.cert", write_table(problem, tmp_path / "data.csv"))
        assert trace.loss == pytest.approx(float(verdict.objective), rel=1e-9)
        assert trace.loss - 1.01e-6 * problem.null_objective <= verdict.bound <= verdict.objective
        least = run(Exact(signs=signs), problem).loss
        assert verdict.bound <= least * (1 + 1e-12) and f"{problem.width} ReLU unit" in verdict.sentence


def test_degenerate_data(tmp_path):
    square = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1], [0, 0], [0.5, 0.5], [1, 1]])
    for y in ([1.0, 0, 0, 1, 0.3, 2, 0], np.ones(7), square.sum(axis=1)):
        problem = Problem(square, y, 1)
        save_certificate(certify_global(problem, run(Branch(gap=5e-7), problem)), tmp_path / "out.cert")
        check_certificate(tmp_path / "out.cert", write_table(problem, tmp_path / "data.csv"))


def test_a_network_that_is_not_best_gets_no_certificate():
    problem = tiny(0)
    worse = run(Exact(), problem.with_output_weights([-1.0, -1.0]))
    assert worse.loss > run(Branch(), problem).loss * 1.01
    with pytest.raises(InputError, match="gap: a network with objective"):
        certify_global(problem, worse)


def test_what_cannot_be_certified_is_refused_before_the_work():
    trace = run(Branch(), tiny(0))
    for problem, options, name in (
        (tiny(0, "logistic"), {}, "loss"), (tiny(0, output_bias=0.1), {}, "problem"), (tiny(0), {"gap": 0.0}, "gap"),
        (tiny(0, sample_weight=[1, 2, 1, 1, 1, 1, 1]), {}, "problem"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=f"^{name}: "):
            certify_global(problem, trace, **options)


def test_bounds_are_short_and_below():
    for x, slack in (
        (Fraction(1, 3), Fraction(1, 10**6)),
        (Fraction(10**9, 7), Fraction(3)),
        (Fraction(1), Fraction(0)),
    ):
        bound = claimed(x, slack)
        assert x - slack * Fraction(1001, 1000) <= bound <= x - slack and bound.denominator <= max(
            10**11, x.denominator
        )
    assert claimed(Fraction(1, 10**9), Fraction(1)) == 0


def refused(certificate, table, path, sign: bool = True) -> str:
    """Why a certificate is refused; with a fresh digest, as a forger would have it."""
    if sign:
        certificate["digest"] = digest(certificate)
    path.write_text(json.dumps(certificate))
    with pytest.raises(RefusedError) as caught:
        check_certificate(path, table)
    return str(caught.value)


def test_forgeries(honest, tmp_path):
    certificate, table, _ = honest
    path = tmp_path / "forged.cert"

    def forged(change) -> str:
        copied = copy.deepcopy(certificate)
        change(copied)
        return refused(copied, table, path)

    def leaf(content, part="nu"):
        return next(node for node in content["trees"][1]["tree"] if isinstance(node, dict) and node.get(part))

    def shift(content):
        nu = leaf(content)["nu"]
        k = next(k for k, x in enumerate(nu) if isinstance(x, int) and x)
        nu[k] += 1

    assert "better than its bound" in forged(lambda c: c.update(bound="2"))
    objective = check_certificate(honest[2] / "honest.cert", table).objective
    assert "below the claim" in forged(lambda c: c.update(bound=str(objective)))
    assert "balance" in forged(shift)
    assert "does not follow" in forged(lambda c: leaf(c, "implied")["implied"][0][3][0].__setitem__(1, 1))
    assert "number of plus signs" in forged(lambda c: c["trees"].pop())
    assert "number of plus signs" in forged(lambda c: c["trees"].__setitem__(0, c["trees"][1]))
    assert "not complete" in forged(lambda c: c["trees"][1]["tree"].pop())
    assert "too many" in forged(lambda c: c["trees"][1]["tree"].append(c["trees"][1]["tree"][-1]))
    assert forged(lambda c: c["trees"].__setitem__(0, dict(c["trees"][0], tree=c["trees"][1]["tree"])))
    assert forged(lambda c: c["trees"][1]["tree"].__setitem__(0, leaf(c)))
    assert "other data" in forged(lambda c: c.update(columns=[1, 0, 2]))
    assert "is none" in forged(lambda c: c.update(bound=True))
    for name in certificate:
        assert forged(lambda c, name=name: c.pop(name)) if name != "digest" else True
    foreign = tmp_path / "foreign.csv"
    foreign.write_text(table.read_text().replace("1", "2", 1))
    assert "other data" in refused(copy.deepcopy(certificate), foreign, path)
    assert "changed after" in refused(dict(certificate, bound="0"), table, path, sign=False)


HOSTILE = (
    "", "{", "[]", "null", '"x"', "[" * 100000, '{"a":' * 50000, "\x00",
    '{"format": "zonofit certificate", "version": 1e999}',
    '{"format": "zonofit certificate", "version": ' + "9" * 100000 + "}", '{"a": 1, "a": 2}', '{"version": NaN}',
    '{"format": "zonofit certificate", "version": 2}', "\ud800".encode("utf8", "surrogatepass"),
)  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_files_are_refused(text, honest, tmp_path):
    path = tmp_path / "hostile.cert"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(RefusedError):
        check_certificate(path, honest[1])
    for table in ("", "a,b\n1", "x", "1,2,1e999\n", "1,2,nan\n", "\x00", "1,2,3\n4,5\n"):
        path.write_text(table)
        with pytest.raises(RefusedError):
            check_certificate(honest[2] / "honest.cert", path)


def places(content, at=()):
    """Paths to everything in a certificate."""
    yield at
    entries = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in entries:
        yield from places(value, (*at, key))


WRONG = (None, True, 0, 1, -1, 10**50, -(10**50), "", "0", "1/0", "9" * 3000, [], {}, [0], [[]], [1, 0], "1e400", "-1")


def mutated(certificate, every, rng):
    """A copy with something changed somewhere."""
    copied = copy.deepcopy(certificate)
    at = every[int(rng.integers(1, len(every)))]
    parent = copied
    for key in at[:-1]:
        parent = parent[key]
    old, kind = parent[at[-1]], rng.integers(4)
    if kind == 0:
        del parent[at[-1]]
    elif kind == 1 and isinstance(old, int) and not isinstance(old, bool):
        parent[at[-1]] = old + int(rng.choice([-1, 1])) * 2 ** int(rng.integers(0, 60))
    elif kind == 2 and isinstance(parent, list):
        parent.insert(at[-1], copy.deepcopy(parent[int(rng.integers(len(parent)))]))
    else:
        parent[at[-1]] = WRONG[int(rng.integers(len(WRONG)))]
    return copied


def survive_mutations(honest, folder: Path, number: int) -> None:
    """Mutations are refused; one with a fresh digest may be true still, and then it claims no more."""
    certificate, table, _ = honest
    every, rng, path, refusals = list(places(certificate)), np.random.default_rng(number), folder / "mutated.cert", 0
    original = check_certificate(honest[2] / "honest.cert", table)
    for k in range(number):
        copied = mutated(certificate, every, rng)
        if copied == certificate:
            continue
        if k % 2:
            assert refused(copied, table, path, sign=False)
            continue
        copied["digest"] = digest(copied)
        path.write_text(json.dumps(copied))
        try:
            verdict = check_certificate(path, table)
        except RefusedError:
            refusals += 1
        else:
            assert verdict.bound <= original.bound and verdict.objective >= original.bound
    assert refusals > 0.4 * number


def test_a_hundred_mutations(honest, tmp_path):
    survive_mutations(honest, tmp_path, 100)


@pytest.mark.slow
def test_a_thousand_mutations(honest, tmp_path):
    survive_mutations(honest, tmp_path, 1000)


def test_cut_off_anywhere(honest, tmp_path):
    text = (honest[2] / "honest.cert").read_bytes()
    path = tmp_path / "cut.cert"
    for end in range(0, len(text) - 2, max(len(text) // 25, 1)):
        path.write_bytes(text[:end])
        with pytest.raises(RefusedError, match="cut off"):
            check_certificate(path, honest[1])


@pytest.mark.parametrize("proof", sorted(LIBRARY.glob("*.cert")), ids=lambda path: path.stem)
def test_the_library_holds(proof):
    if proof.stat().st_size > 8e4:
        pytest.skip("takes seconds; zonofit verify checks it")
    verdict = check_certificate(proof, proof.with_suffix(".csv"))
    page = (LIBRARY.parent / "README.md").read_text("utf8")
    line = next(line for line in page.splitlines() if f"`{proof.stem}`" in line)
    assert Fraction(line.split("|")[5].strip()) <= verdict.bound <= verdict.objective


def test_the_checker_is_short_and_stands_alone():
    source = Path(checker.__file__).read_text("utf8")
    assert len(source.splitlines()) <= 300
    names = {
        name.split(".")[0]
        for node in ast.walk(ast.parse(source)) if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in ([node.module] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])
    }  # fmt: skip
    assert names <= sys.stdlib_module_names
