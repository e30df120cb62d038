"""``zonofit global`` and ``zonofit verify``."""

import json

import numpy as np
import pytest

from tests.cli.runner import run


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    rows = np.round(rng.standard_normal((9, 4)), 2)
    path = tmp_path / "data.csv"
    path.write_text("a,b,skip,y\n" + "\n".join(",".join(map(str, row)) for row in rows.tolist()) + "\n")
    return path


def test_finds_certifies_and_verifies(table, tmp_path):
    certificate = tmp_path / "out.cert"
    arguments = ("global", table, "--target", "y", "--columns", "b,a", "--width", 1, "--certificate", certificate)
    found = run(*arguments, "--json")
    assert found.status == 0 and found.json["stop_reason"] == "complete" and found.json["warnings"] == []
    assert found.json["gap"] <= 1e-6 and found.json["bound"] <= found.json["loss"]
    assert found.json["certificate"] == str(certificate) and found.json["features"] == ["b", "a"]
    checked = run("verify", certificate, table, "--json")
    assert checked.status == 0 and checked.json["bound"] <= found.json["bound"]
    assert checked.json["loss"] == pytest.approx(found.json["loss"])
    shown = run("verify", certificate, table)
    assert shown.out == checked.json["proved"] + "\n" and shown.out.startswith("No network with 1 ReLU unit has mean")
    text = run(*arguments)
    assert text.status == 0 and "no network with 1 units has less" in text.out and "certificate" in text.out


def test_refusals(table, tmp_path):
    certificate = tmp_path / "out.cert"
    run("global", table, "--target", "y", "--width", 1, "--certificate", certificate)
    content = json.loads(certificate.read_text())
    content["bound"] = "1"
    certificate.write_text(json.dumps(content))
    forged = run("verify", certificate, table)
    assert forged.status == 2 and forged.out == "" and "refused, because it was changed" in forged.err
    assert run("verify", tmp_path / "nothing.cert", table).status == 1
    for options, words in (
        (("--gap", "0", "--certificate", certificate), "gap: "),
        (("--loss", "huber", "--certificate", certificate), "loss: "),
        (("--order", "worst"), "order: "),
        (("--checkpoint", tmp_path / "no" / "file"), "--checkpoint: "),
    ):
        result = run("global", table, "--target", "y", "--width", 2, *options)
        assert result.status == 2 and words in result.err and result.err.count("\n") == 1


def test_stopped_early_it_has_a_bound_and_no_certificate(table, tmp_path):
    certificate, checkpoint = tmp_path / "out.cert", tmp_path / "checkpoint.json"
    arguments = ("global", table, "--target", "y", "--columns", "a,b", "--width", 2, "--checkpoint", checkpoint)
    found = run(*arguments, "--certificate", certificate, "--programs", 100, "--json")
    assert found.status == 0 and found.json["stop_reason"] == "programs" and found.json["certificate"] is None
    assert "no certificate" in found.err and not certificate.exists()
    assert 0 <= found.json["bound"] <= found.json["loss"] and found.json["open_nodes"] > 0
    again = run(*arguments, "--certificate", certificate, "--json")
    assert again.json["stop_reason"] == "complete" and again.json["bound"] > found.json["bound"]
    whole = run(*arguments[:-2], "--gap", "5e-7", "--json")
    assert again.json["loss"] == pytest.approx(whole.json["loss"], rel=1e-9)
    assert run("verify", certificate, table).status == 0
