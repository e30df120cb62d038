"""``zonofit search``: its options, its object, what it refuses, and what is left when it is stopped."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import zonofit
from tests.cli.runner import SOURCE, run
from tests.cli.standin import NAMES
from zonofit.cli.options import read_duration
from zonofit.cli.search_progress import SearchProgress
from zonofit.errors import InputError
from zonofit.programs.problem import Problem
from zonofit.search import Budget, Trace, Walk
from zonofit.search.methods import METHODS, find_method
from zonofit.search.trace import STOP_REASONS
from zonofit.search.walk import Network

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 2))
Y = np.maximum(np.c_[X, np.ones(30)] @ RNG.standard_normal((3, 2)), 0) @ [1.0, -1.0]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with tables, in a process that knows the stand-ins."""
    monkeypatch.chdir(tmp_path)
    for name, home in NAMES.items():
        monkeypatch.setitem(METHODS, name, home)

    def write(name, header, rows):
        lines = [header, *(",".join(map(str, row)) for row in rows)]
        (tmp_path / name).write_text("\n".join(line for line in lines if line) + "\n")

    write("d.csv", "a,b,y", np.c_[X, Y].tolist())
    write("bare.csv", "", np.c_[Y, X].tolist())
    write("classes.csv", "a,b,y", np.c_[X, Y > np.median(Y)].astype(float).tolist())
    write("one_class.csv", "a,y", [(1, 1), (2, 1), (3, 1)])
    write("three.csv", "a,y", [(1, 0), (2, 1), (3, 2)])
    write("constant.csv", "a,y", [(1, 4), (2, 4), (3, 4)])
    write("text.csv", "a,name,y", [(1, "x", 3), (2, "z", 4), (4, "x", 4)])
    write("labels.csv", "a,y", [(1, "yes"), (2, "no")])
    write("missing.csv", "a,y", [(1, 2), (2, "")])
    write("nan.csv", "a,y", [(1, 2), (2, "nan")])
    write("inf.csv", "a,y", [(1, 2), ("inf", 3)])
    write("one.csv", "a,b,y", [(1, 2, 3)])
    write("lonely.csv", "y", [(1,), (2,)])
    write("twice.csv", "a,y,y", [(1, 2, 3), (2, 3, 4)])
    write("empty.csv", "", [])
    write("header.csv", "a,y", [])
    np.save(tmp_path / "d.npy", np.c_[X, Y])
    np.save(tmp_path / "vector.npy", Y)
    (tmp_path / "folder").mkdir()
    return tmp_path


def go(*arguments, method="restarts"):
    return run("search", *arguments, "--method", method)


QUICK = ("d.csv", "--target", "y", "--width", "2", "--moves", "3")


def documented():
    """Names of the fields that the help lists."""
    text = run("search", "--help").out.split("JSON:")[1].split("Arguments:")[0]
    parts = [part.split(":")[0] for part in text.split(";")]
    return {name.strip() for part in parts for name in part.split(",")}


def apart(*arguments, **options):
    """Start a search in a process group of its own that knows the stand-ins."""
    paths = [SOURCE, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([*paths, os.environ.get("PYTHONPATH", "")])}
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": environment} | options
    return subprocess.Popen(
        [sys.executable, "-m", "tests.cli.standin", "search", *map(str, arguments)],
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        start_new_session=True,
        **options,
    )


def loss_of(fields, features, labels):
    """Mean squared loss of the network in an object, from its definition."""
    W, v = np.array(fields["W"]), np.array(fields["output_weights"])
    return np.mean((np.maximum(np.c_[features, np.ones(len(features))] @ W.T, 0) @ v + fields["c"] - labels) ** 2)


def test_the_object(folder):
    result = go(*QUICK, "--seed", "5", "--json")
    assert result.status == 0 and result.err == ""
    fields = result.json
    assert set(fields) == documented()
    assert fields["command"] == "search" and fields["version"] == zonofit.__version__
    assert fields["target"] == "y" and fields["features"] == ["a", "b"]
    assert (fields["n_examples"], fields["n_features"], fields["width"]) == (30, 2, 2)
    assert (fields["method"], fields["loss_function"], fields["alpha"], fields["seed"]) == ("restarts", "squared", 0, 5)
    assert fields["stop_reason"] == "moves" and fields["moves"] == 3 and fields["programs"] == 4
    assert fields["steps"] > 0 and fields["flips"] > 0 and fields["seconds"] > 0 and fields["walkers"] == 1
    assert np.shape(fields["W"]) == (2, 3) and np.shape(fields["output_weights"]) == (2,)
    assert fields["loss"] == pytest.approx(loss_of(fields, X, Y), rel=1e-9, abs=1e-25)
    assert fields["checkpoint"] is fields["trace"] is fields["plot"] is None and fields["warnings"] == []


def test_text(folder):
    result = go(*QUICK)
    assert result.status == 0 and result.err == ""
    for part in ("y from 2 features, 30 examples", "as many moves were made as allowed", "max(0, ", "4 programs"):
        assert part in " ".join(result.out.split())
    assert "max(0" not in go("d.csv", "--target", "y", "--width", "9", "--moves", "0").out


def same(first, second, but=()):
    ignored = {"seconds", "file", "features", "target", "trace", "plot", "checkpoint", *but}
    return all(first[name] == second[name] for name in first.keys() - ignored)


def test_same_seed_same_search(folder):
    first, again, other = (go(*QUICK, "--seed", seed, "--json").json for seed in (1, 1, 2))
    assert same(first, again) and first["W"] != other["W"]


def test_jobs_change_nothing_but_time(folder):
    options = (*QUICK, "--walkers", "3", "--json")
    first, second = go(*options).json, go(*options, "--jobs", "2").json
    assert same(first, second) and first["walkers"] == 3 and first["moves"] == 9
    assert go(*QUICK, "--jobs", "2", "--json").json["walkers"] == 2


@pytest.mark.parametrize(
    ("file", "target"), [("d.npy", "2"), ("d.npy", "-1"), ("bare.csv", "0"), ("d.csv", "2"), ("bare.csv", "x1")]
)
def test_the_target_by_position(folder, file, target):
    fields = go(file, "--target", target, *QUICK[3:], "--json").json
    assert same(fields, go(*QUICK, "--json").json)
    assert fields["target"] == {"d.npy": "x3", "bare.csv": "x1", "d.csv": "y"}[file]


def test_parquet(folder):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"a": X[:, 0], "b": X[:, 1], "y": Y}), "d.parquet")
    fields = go("d.parquet", *QUICK[1:], "--json").json
    assert same(fields, go(*QUICK, "--json").json) and fields["features"] == ["a", "b"]


def test_columns(folder):
    fields = go(*QUICK, "--columns", "b", "--json").json
    assert fields["features"] == ["b"] and np.shape(fields["W"]) == (2, 2)
    assert fields["loss"] == pytest.approx(loss_of(fields, X[:, 1:], Y))
    fields = go("text.csv", *QUICK[1:], "--columns", "a", "--json").json
    assert fields["features"] == ["a"]


@pytest.mark.parametrize("loss", ["squared", "logistic", "huber"])
@pytest.mark.parametrize("alpha", [0, 0.25])
def test_losses_and_ridge(folder, loss, alpha):
    options = ("--target", "y", "--width", "2", "--moves", "2", "--loss", loss, "--alpha", alpha, "--json")
    fields = go("classes.csv", *options).json
    labels = (Y > np.median(Y)).astype(float)
    problem = Problem(X, labels, fields["output_weights"], loss=loss)
    W = np.array(fields["W"])
    expected = problem.mean_loss(problem.predict(W, fields["c"])) + alpha / 2 * np.sum(W**2)
    assert fields["loss"] == pytest.approx(expected, rel=1e-9, abs=1e-25)
    assert (fields["loss_function"], fields["alpha"]) == (loss, alpha)


def test_small_tables(folder):
    for file in ("one.csv", "constant.csv"):
        fields = go(file, *QUICK[1:], "--target-loss", "1e-20", "--json").json
        assert fields["loss"] <= 1e-20 and fields["stop_reason"] == "target"


def test_why_it_stopped(folder):
    base = ("d.csv", "--target", "y", "--width", "2", "--json")
    assert go(*base, "--programs", "2").json["stop_reason"] == "programs"
    start = time.perf_counter()
    fields = go(*base, "--budget", "0.5s").json
    assert fields["stop_reason"] == "seconds" and 0.4 < fields["seconds"] < 5 > time.perf_counter() - start
    fields = go(*base, "--target-loss", "0.1", "--budget", "1h").json
    assert fields["stop_reason"] == "target" and fields["loss"] <= 0.1


BAD = [
    (["absent.csv"], "absent.csv: no such file"),
    (["empty.csv"], "the file is empty"),
    (["header.csv"], "a header and no examples"),
    (["text.csv"], "line 2, column 2 (name): 'x' is not a number"),
    (["labels.csv"], "line 2, column 2 (y): 'yes' is not a number"),
    (["missing.csv"], "line 3, column 2 (y): a value is missing"),
    (["nan.csv"], "line 3, column 2 (y): 'nan' is a missing value"),
    (["inf.csv"], "line 3, column 1 (a): inf is not finite"),
    (["lonely.csv"], "no column but the target y"),
    (["twice.csv"], "column 'y' occurs 2 times"),
    (["vector.npy"], "has shape (30,)"),
    (["d.csv", "--target", "z"], "d.csv: has no column 'z'"),
    (["d.csv", "--target", "3"], "d.csv: has no column 3"),
    (["d.csv", "--target", ""], "has no column ''"),
    (["d.csv", "--columns", "a,y"], "--columns: the target y is among the features"),
    (["d.csv", "--columns", "c"], "has no column 'c'"),
    (["d.csv", "--loss", "hinge"], "loss: 'hinge' is not a loss"),
    (["d.csv", "--loss", "logistic"], "the logistic loss wants labels 0 and 1"),
    (["three.csv", "--loss", "logistic"], "the logistic loss wants labels 0 and 1"),
    (["one_class.csv", "--loss", "logistic"], "column 'y' is 1 in every row"),
    (["d.csv", "--method", "newton"], "method: 'newton' is not a search; choose one of hopping"),
    (["d.csv", "--method", "refusing"], "needs 1,000,000 programs"),
    (["d.csv", "--loss", "absolute"], "loss: Absolute has kinks"),
    (["d.csv", "--width", "0"], "--width"),
    (["d.csv", "--width", "two"], "--width"),
    (["d.csv", "--budget", "soon"], "--budget: 'soon' is not a length of time"),
    (["d.csv", "--budget", "-5s"], "--budget: '-5s' is not a length of time"),
    (["d.csv", "--budget", "nan"], "--budget: 'nan' is not a length of time"),
    (["d.csv", "--budget", "5d"], "--budget: '5d' is not a length of time"),
    (["d.csv", "--target-loss", "nan"], "target: nan is not a number"),
    (["d.csv", "--alpha", "-1"], "alpha: -1.0 will not do"),
    (["d.csv", "--alpha", "nan"], "alpha: nan will not do"),
    (["d.csv", "--seed", "-1"], "--seed"),
    (["d.csv", "--jobs", "0"], "--jobs"),
    (["d.csv", "--walkers", "0"], "--walkers"),
    (["d.csv", "--moves", "-1"], "--moves"),
    (["d.csv", "--plot", "p.gif"], "pictures end in"),
    (["d.csv", "--plot", "no/p.svg"], "there is no folder no"),
    (["d.csv", "--trace", "folder"], "--trace: folder is a folder"),
    (["d.csv", "--trace", "no/t.json"], "--trace: there is no folder no"),
    (["d.csv", "--checkpoint", "no/c.json"], "--checkpoint: there is no folder no"),
    (["d.csv", "--checkpoint", "d.csv"], "checkpoint: d.csv cannot be read"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD)
def test_refused_with_one_sentence(folder, arguments, message):
    before = sorted(folder.iterdir())
    defaults = {"--target": "y", "--width": "2", "--method": "restarts", "--moves": "1"}
    for option, value in defaults.items():
        arguments = arguments if option in arguments else [*arguments, option, value]
    plain = run("search", *arguments)
    assert plain.status == 2 and plain.out == ""
    assert plain.err.startswith("zonofit: ") and plain.err.count("\n") == 1 and message in plain.err
    as_json = run("search", *arguments, "--json")
    assert as_json.status == 2 and list(as_json.json) == ["error"] and message in as_json.json["error"]
    assert sorted(folder.iterdir()) == before


def test_what_must_be_given(folder):
    assert "Missing option '--target'" in run("search", "d.csv", "--width", "2").err
    assert "Missing option '--width'" in run("search", "d.csv", "--target", "y").err


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("60", 60), ("60s", 60), ("5m", 300), ("2h", 7200), ("1.5m", 90), (".5s", 0.5), (" 10 S ", 10)],
)
def test_lengths_of_time(text, seconds):
    assert read_duration(text, "--budget") == seconds


@pytest.mark.parametrize("text", ["", "0", "0s", "s", "5 minutes", "1e3", "inf", "1:30", "--5", "9" * 400])
def test_no_lengths_of_time(text):
    with pytest.raises(InputError, match="--budget: "):
        read_duration(text, "--budget")


@pytest.mark.parametrize("name", METHODS)
def test_methods_are_there_or_say_so(folder, name):
    try:
        method = find_method(name)
    except InputError as error:
        assert re.fullmatch(f"method: {name} is not in this version of zonofit; .*", str(error))
        return
    assert find_method(name.replace("-", "_")) is method
    result = run("search", *QUICK, "--method", name, "--budget", "5s", "--json")
    assert result.status == 0, result.err
    fields = result.json
    assert set(fields) == documented() and fields["stop_reason"] in STOP_REASONS
    assert fields["loss"] == pytest.approx(loss_of(fields, X, Y), rel=1e-7, abs=1e-20)


def test_trace_and_plot(folder):
    fields = go(*QUICK, "--walkers", "2", "--trace", "t.json", "--plot", "p.svg", "--json").json
    assert (fields["trace"], fields["plot"]) == ("t.json", "p.svg")
    trace = Trace.from_json((folder / "t.json").read_text())
    assert trace.loss == fields["loss"] and trace.W.tolist() == fields["W"] and trace.seed == fields["seed"]
    assert trace.counts["programs"] == fields["programs"] and trace.search == fields["settings"]
    assert trace.history["loss"].min() == trace.loss and trace.ends["programs"].sum() == fields["programs"]
    assert np.all(
        trace.ends["seconds"] >= [trace.history["seconds"][trace.history["walker"] == k].max() for k in (0, 1)]
    )
    assert ET.parse(folder / "p.svg").getroot().tag.endswith("svg")
    text = go(*QUICK, "--plot", "p.png").out
    assert "p.png" in text and (folder / "p.png").read_bytes().startswith(b"\x89PNG")


def test_a_full_disk_does_not_lose_the_result(folder, monkeypatch):
    def fail(self, path):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(Trace, "save", fail)
    result = go(*QUICK, "--trace", "t.json", "--json")
    assert result.status == 1 and result.err.count("\n") == 1
    assert "t.json was not written (No space left on device)" in result.err
    fields = result.json
    assert set(fields) == documented() and fields["trace"] is None and len(fields["warnings"]) == 1
    assert fields["loss"] == pytest.approx(loss_of(fields, X, Y), rel=1e-9, abs=1e-25)


def test_a_checkpoint_is_gone_on_from(folder):
    base = ("d.csv", "--target", "y", "--width", "3", "--walkers", "2", "--json")
    whole = go(*base, "--moves", "40").json
    part = go(*base, "--moves", "7", "--checkpoint", "c.json").json
    assert part["moves"] == 14 and part["checkpoint"] == "c.json"
    rest = go(*base, "--moves", "40", "--checkpoint", "c.json").json
    assert rest["moves"] == 80 and rest["seconds"] > part["seconds"]
    assert rest["loss"] == whole["loss"] and rest["W"] == whole["W"]
    for other in (["--seed", "1"], ["--alpha", "1"], ["--width", "2"], ["--columns", "a"], ["--method", "slow"]):
        options = [*base, "--moves", "40", "--checkpoint", "c.json", "--method", "restarts", *other]
        result = run("search", *options)
        assert result.status == 2 and "belongs to another search" in result.json["error"]


def stop(process, number, *, after):
    """Signal the whole group, as a terminal does, once a file is there or some seconds have passed."""
    deadline = time.monotonic() + 90
    while process.poll() is None and time.monotonic() < deadline and not after():
        time.sleep(0.02)
    os.killpg(process.pid, number)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


@posix
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_stopped_with_the_best_so_far(folder, jobs, number, status):
    options = ("d.csv", "--target", "y", "--width", "2", "--method", "slow", "--budget", "1h", "--jobs", jobs, "--json")
    process = apart(*options, "--trace", "t.json", "--plot", "p.svg", "--checkpoint", "c.json")
    code, out, err = stop(process, number, after=lambda: (folder / "c.json").exists())
    assert code == status, err
    fields = json.loads(out)
    assert fields["stop_reason"] == "interrupted" and fields["programs"] > 0
    assert fields["loss"] == pytest.approx(loss_of(fields, X, Y), rel=1e-9, abs=1e-25)
    assert "zonofit: interrupted after " in err and "best network so far" in err and "Traceback" not in err
    trace = Trace.from_json((folder / "t.json").read_text())
    assert "The same command goes on from there." in err
    assert trace.stop_reason == "interrupted" and trace.loss == fields["loss"] and (folder / "p.svg").exists()


@posix
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_stopped_before_anything_is_found(folder, monkeypatch, capsys, number, status):
    def interrupt(*_, **__):
        os.kill(os.getpid(), number)
        raise KeyboardInterrupt  # as `run` does when nothing is found

    signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setattr("zonofit.search.runner.run", interrupt)
    result = go(*QUICK, "--json")
    assert result.status == status and list(result.json) == ["error"] and result.err.count("\n") == 1


@posix
@pytest.mark.slow
def test_killed_and_gone_on_from(folder):
    options = ("d.csv", "--target", "y", "--width", "3", "--method", "slow", "--moves", "200", "--json")
    code, *_ = stop(
        apart(*options, "--checkpoint", "c.json"), signal.SIGKILL, after=lambda: (folder / "c.json").exists()
    )
    assert code == -signal.SIGKILL
    done = json.loads((folder / "c.json").read_text())["walks"][0]["counts"]["moves"]
    assert 0 < done < 200
    rest = run("search", *options, "--checkpoint", "c.json").json
    whole = run("search", *options).json
    assert rest["moves"] == whole["moves"] == 200
    assert same(rest, whole)


def test_progress():
    problem = Problem(X, Y, 2)
    walks = [Walk(problem, np.random.default_rng(k)) for k in range(2)]
    progress = SearchProgress("searching", Budget(seconds=40.0, moves=100))
    assert "s" in progress._status()
    progress(walks, 10.0)
    assert progress._status().startswith("no loss yet, 10 s, 30 s left")
    progress._first = (progress._first[0] - 5.0, 0, 0)
    for k, walk in enumerate(walks):
        walk.best = Network(np.zeros((2, 3)), 0.0, np.ones(2), 0.5 - k / 4)
        walk.count(programs=500, moves=50 + k)
    progress(walks, 15.0)
    # 50 moves took 5 seconds, and 50 are left: sooner than the seconds run out
    shown = r"best loss 0\.25, 1,000 programs, (200|199|19\d\.?\d*)/s, 15 s, 5(\.0\d*)? s left"
    assert re.fullmatch(shown, progress._status())
    assert (progress._done, progress._total) == (500, 1000)


def test_progress_in_a_log(folder):
    process = apart("d.csv", "--target", "y", "--width", "2", "--method", "slow", "--budget", "4s", "--json")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0 and json.loads(out)["stop_reason"] == "seconds"
    line = next(line for line in err.splitlines() if "searching" in line)
    assert re.match(r"zonofit: searching: best loss \S+, \d+ programs, \S+/s, \S+ m?s, \S+ m?s left$", line)


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from zonofit.cli import main; main(['search', '--help']); "
        "sys.exit(bool({'numba', 'scipy', 'matplotlib', 'numpy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=False).returncode == 0
