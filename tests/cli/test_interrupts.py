"""Ctrl-C, termination, kill -9, closed pipes, and the progress bar."""

import json
import signal
import sys
import time

import numpy as np
import pytest

from tests.cli.runner import run, start
from zonofit.cli.progress import Progress
from zonofit.data import load_patterns
from zonofit.geometry.arrangement import Arrangement

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")


@pytest.fixture(scope="module")
def endless(tmp_path_factory):
    """30 examples in R^14: half a billion chambers of four bytes each."""
    X = np.random.default_rng(0).standard_normal((30, 14))
    path = tmp_path_factory.mktemp("endless") / "t.npy"
    np.save(path, X)
    # whoever runs this file alone has the kernel compiled here, not while a test counts seconds
    next(Arrangement.from_examples(X).chambers(half=True))
    next(Arrangement.from_examples(X).chambers())
    return path, X


def stop_when_writing(process, part, number, *, already=0):
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        if part.exists() and part.stat().st_size > already:
            break
        time.sleep(0.005)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_enumeration_keeps_its_blocks(endless, tmp_path, number, status):
    path, X = endless
    process = start("chambers", path, "--out", tmp_path / "p.npz", "--json")
    code, out, err = stop_when_writing(process, tmp_path / "p.npz.part", number)
    assert code == status
    fields = json.loads(out)
    assert fields["complete"] is False and fields["chambers"] is None
    assert f"interrupted after {fields['patterns_found']:,} of up to 536,870,912 chambers" in err
    assert "Traceback" not in err
    assert [p.name for p in tmp_path.iterdir()] == ["p.npz"]

    patterns = load_patterns(tmp_path / "p.npz")
    assert not patterns.complete and len(patterns) == fields["patterns_found"] > 0
    first = patterns.bits(slice(0, 20_000))
    assert len(np.unique(first, axis=0)) == len(first)
    arrangement = Arrangement.from_examples(X)
    assert all(arrangement.membership(row).feasible for row in first[:: len(first) // 5])


def test_killed_enumeration_leaves_a_part_and_the_next_says_so(endless, tmp_path):
    path, _ = endless
    part = tmp_path / "p.npz.part"
    code, *_ = stop_when_writing(start("chambers", path, "--out", tmp_path / "p.npz"), part, signal.SIGKILL)
    assert code == -signal.SIGKILL and not (tmp_path / "p.npz").exists()
    size = part.stat().st_size
    left = load_patterns(part, n_examples=30)
    assert len(left) == size // 4 and len(np.unique(left.bits(slice(0, 1000)), axis=0)) == 1000
    (tmp_path / "t.csv").write_text("1,2\n3,5\n-1,1\n")
    result = run("chambers", tmp_path / "t.csv", "--out", tmp_path / "p.npz")
    assert result.status == 0 and f"held {size:,} bytes" in result.err
    assert len(load_patterns(tmp_path / "p.npz")) == 8 and not part.exists()


def test_interrupt_does_not_replace_an_archive(endless, tmp_path):
    path, _ = endless
    (tmp_path / "t.csv").write_text("1,2\n3,5\n-1,1\n")
    run("chambers", tmp_path / "t.csv", "--out", tmp_path / "p.npz")
    process = start("chambers", path, "--out", tmp_path / "p.npz")
    code, _, err = stop_when_writing(process, tmp_path / "p.npz.part", signal.SIGINT)
    assert code == 130 and "because" in err and "is there already" in err
    assert load_patterns(tmp_path / "p.npz").complete
    assert len(load_patterns(tmp_path / "p.npz.part", n_examples=30)) > 0


def test_interrupted_count(endless):
    path, _ = endless
    process = start("chambers", path, "--count", "--json")
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130 and out == '{"error": "interrupted."}\n' and err == "zonofit: interrupted.\n"


def test_closed_pipe_ends_quietly(endless):
    path, _ = endless
    process = start("chambers", path)
    lines = [process.stdout.readline() for _ in range(3)]
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) == 141
    assert err == "" and all(set(line.strip()) <= {"0", "1"} and len(line) == 31 for line in lines)


def test_progress_is_a_line_in_a_log(endless, tmp_path):
    path, _ = endless
    process = start("chambers", path, "--half", "--out", tmp_path / "p.npz", "--json")
    time.sleep(3.0)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    line = err.splitlines()[0]
    assert line.startswith("zonofit: enumerating chambers: ")
    assert "%" in line and "/s" in line and line.endswith("left")


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_appears_after_its_patience(monkeypatch, capsys, terminal):
    import zonofit.cli.progress as module

    monkeypatch.setattr(module, "PATIENCE", 0.2)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    with Progress("working", "things") as progress:
        progress(1, 4)
        progress.produced = 3_000_000
        time.sleep(0.05)
        assert capsys.readouterr().err == ""
        time.sleep(0.6)
    shown = capsys.readouterr()
    assert shown.out == "" and "working" in shown.err
    assert "25.0 %" in shown.err and "3,000,000 things" in shown.err and "M/s" in shown.err and "left" in shown.err


def test_quick_work_shows_nothing(capsys):
    with Progress("working") as progress:
        progress(1, 2)
    assert capsys.readouterr().err == ""
