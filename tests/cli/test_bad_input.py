"""Input that cannot be used: status 2, one sentence, no traceback, and an object that says the same."""

import json
import os
import sys

import numpy as np
import pytest

from tests.cli.runner import run, run_apart


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    (tmp_path / "good.csv").write_text("a,b\n1,2\n3,5\n-1,1\n")
    (tmp_path / "text.csv").write_text("a,b\n1,2\n3,x\n")
    (tmp_path / "missing.csv").write_text("a,b\n1,2\n3,\n")
    (tmp_path / "nan.csv").write_text("1,2\n3,inf\n")
    (tmp_path / "ragged.csv").write_text("1,2\n3\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "header.csv").write_text("a,b\n")
    (tmp_path / "junk.npy").write_bytes(b"junk")
    (tmp_path / "table.ods").write_bytes(b"junk")
    (tmp_path / "folder").mkdir()
    np.save(tmp_path / "wide.npy", rng.standard_normal((6, 4)))
    np.save(tmp_path / "large.npy", rng.standard_normal((400, 2)))
    np.save(tmp_path / "huge.npy", rng.standard_normal((300, 60)))
    return tmp_path


BAD = [
    (["chambers", "absent.csv"], "absent.csv: no such file"),
    (["chambers", "folder"], "folder: cannot read a file ending in ''"),
    (["chambers", "text.csv"], "text.csv: line 3, column 2 (b): 'x' is not a number"),
    (["chambers", "missing.csv"], "line 3, column 2 (b): a value is missing"),
    (["chambers", "nan.csv", "--count"], "line 2, column 2 (x2): inf is not finite"),
    (["zonotope", "ragged.csv"], "line 2 has 1 columns"),
    (["zonotope", "empty.csv"], "the file is empty"),
    (["zonotope", "header.csv"], "a header and no examples"),
    (["chambers", "junk.npy"], "not a NumPy file"),
    (["chambers", "table.ods"], "cannot read a file ending in '.ods'"),
    (["chambers", "good.csv", "--columns", "a,c"], "has no column 'c'"),
    (["chambers", "good.csv", "--columns", ","], "choose at least one column"),
    (["chambers", "good.csv", "--out", "p.npy"], "ends in .npz"),
    (["chambers", "good.csv", "--out", "no/p.npz"], "no/p.npz.part: cannot be written"),
    (["chambers", "good.csv", "--out", "p.npz", "--count"], "leave out --out or --count"),
    (["chambers", "good.csv", "--jobs", "0"], "--jobs"),
    (["chambers", "good.csv", "--frobnicate"], "No such option: --frobnicate"),
    (["chambers"], "Missing argument 'FILE'"),
    (["chambers", "good.csv", "text.csv"], "unexpected extra argument"),
    (["chambers", "huge.npy", "--count"], "more than can be counted"),
    (["zonotope", "wide.npy", "--plot", "z.svg"], "in R^2 or R^3, this one is in R^5"),
    (["zonotope", "good.csv", "--plot", "z.gif"], "pictures end in"),
    (["zonotope", "good.csv", "--plot", "no/z.svg"], "there is no folder no"),
    (["zonotope", "large.npy", "--plot", "z.svg"], "too many for a picture"),
    (["demo", "--out", "good.csv"], "cannot be made a folder"),
    (["frobnicate"], "No such command 'frobnicate'"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD)
def test_one_sentence_and_status_2(folder, arguments, message):
    before = sorted(folder.iterdir())
    plain = run(*arguments)
    assert plain.status == 2 and plain.out == ""
    assert plain.err.startswith("zonofit: ") and plain.err.count("\n") == 1 and message in plain.err
    as_json = run(*arguments, "--json")
    assert as_json.status == 2 and as_json.err.count("\n") == 1
    assert list(as_json.json) == ["error"] and message in as_json.json["error"]
    assert sorted(folder.iterdir()) == before


def test_json_belongs_after_the_command(folder):
    result = run("--json", "chambers", "good.csv")
    assert result.status == 2 and "after the command" in result.json["error"]


def test_no_traceback_from_a_process(folder):
    result = run_apart("chambers", "text.csv", "--json")
    assert result.status == 2 and "Traceback" not in result.err
    assert json.loads(result.out) == {"error": result.err.removeprefix("zonofit: ").rstrip("\n")}


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("options", [[], ["--json"], ["--count"]])
def test_full_disk_is_status_1(folder, options):
    with open("/dev/full", "w") as full:
        result = run_apart("chambers", "wide.npy", *options, stdout=full)
    assert result.status == 1 and "No space left on device" in result.err and "Traceback" not in result.err


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write anywhere")
def test_folders_without_permission(folder):
    folder.chmod(0o500)
    try:
        for arguments in (["chambers", "good.csv", "--out", "p.npz"], ["zonotope", "good.csv", "--plot", "z.svg"]):
            result = run(*arguments)
            assert result.status == 2 and "cannot be written" in result.err
    finally:
        folder.chmod(0o700)


def test_an_unforeseen_error_is_still_one_object(folder, monkeypatch):
    from zonofit.geometry.arrangement import Arrangement

    def fail(*_, **__):
        raise RuntimeError("unforeseen")

    monkeypatch.setattr(Arrangement, "chambers", fail)
    result = run("chambers", "good.csv", "--json")
    assert result.status == 1 and result.json == {"error": "internal error, RuntimeError: unforeseen"}
    with pytest.raises(RuntimeError):
        run("chambers", "good.csv")


def test_warnings_are_sentences_and_in_the_object(folder, monkeypatch):
    import warnings

    from zonofit.errors import AmbiguousPositionWarning
    from zonofit.geometry.arrangement import Arrangement

    inner = Arrangement.chambers

    def warn(self, **options):
        warnings.warn("too near to tell.", AmbiguousPositionWarning, stacklevel=2)
        return inner(self, **options)

    monkeypatch.setattr(Arrangement, "chambers", warn)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        result = run("chambers", "good.csv", "--json")
    assert result.status == 0 and result.json["warnings"] == ["too near to tell."]
    assert result.err == "zonofit: warning: too near to tell.\n"
