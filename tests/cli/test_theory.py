"""``zonofit setcover``, ``stability`` and ``interpolate``: what they print, write and refuse."""

import json

import numpy as np
import pytest

import zonofit
from tests.cli.runner import run
from zonofit.geometry.stability import same_zonotope, stability_radius
from zonofit.search import FacetDescent
from zonofit.theory.covers import SetCover

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((12, 2)), RNG.standard_normal(12)
SETS = {"A": ["a", "b", "c"], "B": ["d", "e", "f"], "C1": ["a", "d"], "C2": ["b", "c", "e"]}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def table(name, rows, header=""):
        lines = [header, *(",".join(map(str, row)) for row in rows)]
        (tmp_path / name).write_text("\n".join(line for line in lines if line) + "\n")

    table("d.csv", np.c_[X, Y].tolist(), "a,b,y")
    table("x.csv", X.tolist())
    table("binary.csv", [(k // 16, k // 4 % 4, k % 4, (5 * k * k + k) % 23) for k in range(48)])
    table("grid.csv", [(i, j, (i * j) % 3) for i in range(4) for j in range(4)])
    table("twice.csv", [(1, 2, 3), (1, 2, 4), (0, 0, 1)])
    table("same.csv", [(1, 2, 3), (1, 2, 3), (0, 0, 1)])
    table("near.csv", [*np.c_[X, Y].tolist(), [*(X[0] + 1e-13), 5.0]])
    table("one.csv", [(1, 2, 3)])
    table("few.csv", RNG.standard_normal((3, 5)).tolist())
    table("text.csv", [("a", 1), (2, 3)])
    table("lonely.csv", [(1,), (2,)])
    table("nan.csv", [(1, 2), ("nan", 3)])
    np.save(tmp_path / "long.npy", RNG.standard_normal((500, 3)))
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "cover.json").write_text(json.dumps({"sets": SETS}))
    (tmp_path / "large.json").write_text(json.dumps({"sets": [[k, k + 1, (7 * k) % 20] for k in range(20)]}))
    (tmp_path / "uncovered.json").write_text(json.dumps({"sets": SETS, "elements": [*"abcdef", "lonely"]}))
    (tmp_path / "bad.json").write_text("{")
    (tmp_path / "list.json").write_text("[]")
    (tmp_path / "latin.json").write_bytes(b'{"sets": {"\xe9": [1]}}')
    (tmp_path / "folder.json").mkdir()
    return tmp_path


def documented(command):
    """Names of the fields that the help lists."""
    text = run(command, "--help").out.split("JSON:")[1].split("Arguments:")[0]
    clauses = [clause.split(":")[0] for clause in text.split(";") if ":" in clause]
    return {name.strip() for clause in clauses for name in clause.split(",")}


@pytest.mark.parametrize(
    "arguments",
    [("setcover", "cover.json"), ("stability", "x.csv"), ("interpolate", "d.csv")],
)
def test_fields_are_those_of_the_help(folder, arguments):
    result = run(*arguments, "--json")
    assert result.status == 0 and result.err == ""
    assert set(result.json) == documented(arguments[0])
    assert result.json["command"] == arguments[0] and result.json["version"] == zonofit.__version__


@pytest.mark.parametrize("extra", [[], ["--original"], ["--seed", "3"]])
def test_setcover(folder, extra):
    fields = run("setcover", "cover.json", "--json", *extra).json
    assert fields["level"] == pytest.approx(2) and fields["cover"] == ["A", "B"] and fields["optimal"]
    assert (fields["elements"], fields["sets"], fields["examples"], fields["dimension"]) == (6, 4, 12, 6)
    assert fields["general"] == ("--original" not in extra) == (fields["noise"] is not None)
    assert fields["loss"] == pytest.approx(2 * fields["gamma"] ** 2 / 12) and fields["gamma"] == 0.01 / 16
    assert fields["answer"] is None
    instance = SetCover.of(SETS)
    assert instance.covers([k for k, w in enumerate(fields["w"][:4]) if w + fields["w"][4] <= 1e-9])
    for size, answer in ((0, False), (1, False), (2, True), (7, True)):
        assert run("setcover", "cover.json", "--json", "--size", size, *extra).json["answer"] is answer


def test_setcover_says_so(folder):
    text = " ".join(run("setcover", "cover.json", "--size", "1").out.split())
    for part in (
        "6 elements, 4 sets",
        "one ReLU on every pattern",
        "= 2 γ²/N",
        "A, B",
        "no cover is smaller",
        "1 set? no",
    ):
        assert part in text
    text = " ".join(run("setcover", "cover.json", "--size", "2").out.split())
    assert "2 sets? yes" in text


def test_setcover_without_proof(folder):
    result = run("setcover", "large.json", "--method", "facet-descent", "--budget", "1s", "--size", "1", "--json")
    fields = result.json
    assert not fields["optimal"] and fields["answer"] is None and fields["cover_size"] == len(fields["cover"])
    instance = SetCover.from_json((folder / "large.json").read_text())
    assert instance.covers([instance.names.index(name) for name in fields["cover"]])


def test_stability(folder):
    fields = run("stability", "x.csv", "--moved", "moved.csv", "--json").json
    found = stability_radius(X)
    assert fields["radius"] == found.radius and fields["tight_radius"] == found.tight_radius
    assert tuple(fields["tight_subset"]) == found.tight_subset and fields["general"]
    assert 0 < fields["proof_radius"] < fields["radius"]
    moved = np.loadtxt("moved.csv", delimiter=",")
    assert np.max(np.linalg.norm(moved - X, axis=1)) == pytest.approx(1.01 * found.tight_radius)
    assert not same_zonotope(X, moved).equal
    for name, data, other in (("lost", X, moved), ("gained", moved, X)):
        pattern = [bit == "1" for bit in fields[name]]
        assert zonofit.Arrangement.from_examples(data).membership(pattern).feasible
        assert not zonofit.Arrangement.from_examples(other).membership(pattern).feasible
    changed = [i for i, (a, b) in enumerate(zip(fields["lost"], fields["gained"], strict=True)) if a != b]
    assert changed == fields["tight_subset"]


def test_stability_in_words(folder):
    text = " ".join(run("stability", "x.csv").out.split())
    parts = "certified", "the set of 134 patterns", "best possible", "come to lie on one hyperplane", "lost", "gained"
    for part in parts:
        assert part in text
    text = " ".join(run("stability", "grid.csv").out.split())
    assert "not in general position" in text and "rows 0, 1 and 2" in text
    fields = run("stability", "grid.csv", "--json").json
    assert fields["radius"] == fields["tight_radius"] == fields["proof_radius"] == 0.0 and not fields["general"]
    assert "become dependent" in " ".join(run("stability", "few.csv").out.split())
    one = run("stability", "one.csv", "--json").json
    assert one["tight_radius"] is None and one["radius"] > 0 and one["general"]
    assert "not bounded" in run("stability", "one.csv").out
    assert run("stability", "x.csv", "--generators", "--json").json["dimension"] == 2


def test_interpolate(folder):
    fields = run("interpolate", "d.csv", "--out", "n.json", "--json").json
    assert fields["width"] == fields["theorem_width"] == 8 and fields["target"] == "y" and fields["residual"] < 1e-12
    network = json.loads((folder / "n.json").read_text())
    assert network["format"] == "zonofit network" and network["features"] == ["a", "b"]
    W, v = np.array(network["W"]), np.array(network["output_weights"])
    assert np.maximum(np.c_[X, np.ones(12)] @ W.T, 0) @ v + network["c"] == pytest.approx(Y)
    paper = run("interpolate", "d.csv", "--printed", "--json").json
    assert paper["condition"] > fields["condition"] and paper["construction"] == "printed"
    assert (folder / "network.json").exists()
    other = run("interpolate", "d.csv", "--target", "a", "--columns", "b", "--json").json
    assert (other["target"], other["features"], other["width"]) == ("a", ["b"], 12)
    along = run("interpolate", "d.csv", "--direction", "0,1", "--json").json
    assert along["direction"] == pytest.approx([0, 1])


def test_interpolate_in_words(folder):
    text = " ".join(run("interpolate", "d.csv").out.split())
    parts = "y from 2 features, 12 examples", "8 units, as Theorem 3 has it", "of the largest label", "network.json"
    for part in parts:
        assert part in text
    assert "Theorem 3 allows 12" in run("interpolate", "grid.csv", "--direction", "0,1").out
    assert "not in general position" in " ".join(run("interpolate", "binary.csv").out.split())
    assert run("interpolate", "same.csv").status == 0 and run("interpolate", "one.csv").status == 0


@pytest.mark.filterwarnings("always")
def test_rounding_is_said(folder):
    near = run("interpolate", "near.csv")
    assert near.status == 0 and "rounding leaves an error" in near.err and near.err.count("\n") == 1


BAD = [
    (["setcover", "absent.json"], "absent.json: no such file"),
    (["setcover", "folder.json"], "is a folder"),
    (["setcover", "bad.json"], "bad.json: instance: this is no JSON"),
    (["setcover", "list.json"], 'no object with "sets"'),
    (["setcover", "latin.json"], "not UTF-8"),
    (["setcover", "uncovered.json"], "elements: lonely is in no set"),
    (["setcover", "large.json"], "pass --method facet-descent"),
    (["setcover", "cover.json", "--method", "magic"], "--method: 'magic' is none of exact, facet-descent"),
    (["setcover", "cover.json", "--budget", "soon"], "--budget: 'soon' is not a length of time"),
    (["setcover", "cover.json", "--size", "-1"], "--size"),
    (["setcover"], "Missing argument 'FILE'"),
    (["stability", "absent.csv"], "no such file"),
    (["stability", "empty.csv"], "the file is empty"),
    (["stability", "text.csv"], "mixes numbers with names"),
    (["stability", "nan.csv"], "is a missing value"),
    (["stability", "long.npy"], "long.npy: 2,573,031,125 subsets of 4 of 500 examples"),
    (["stability", "grid.csv", "--moved", "m.csv"], "--moved: there is no move to write"),
    (["stability", "x.csv", "--moved", "no/m.csv"], "--moved: there is no folder no"),
    (["interpolate", "twice.csv"], "rows 0 and 1 are equal examples with the labels 3 and 4"),
    (["interpolate", "lonely.csv"], "has no column but the target"),
    (["interpolate", "nan.csv"], "is a missing value"),
    (["interpolate", "d.csv", "--target", "z"], "has no column 'z'"),
    (["interpolate", "d.csv", "--direction", "1"], "--direction: 1 numbers for 2 features"),
    (["interpolate", "d.csv", "--direction", "a,b"], "--direction: 'a,b' is not a list of numbers"),
    (["interpolate", "d.csv", "--direction", "0,0"], "not all 0"),
    (["interpolate", "d.csv", "--out", "no/n.json"], "--out: there is no folder no"),
    (["interpolate", "d.csv", "--out", "folder.json"], "is a folder"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD)
def test_refused(folder, arguments, message):
    before = sorted(folder.iterdir())
    plain = run(*arguments)
    assert plain.status == 2 and plain.out == ""
    assert plain.err.startswith("zonofit: ") and plain.err.count("\n") == 1 and message in plain.err
    as_json = run(*arguments, "--json")
    assert as_json.status == 2 and list(as_json.json) == ["error"] and message in as_json.json["error"]
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("as_numba_has_it", [False, True])
def test_setcover_stopped(folder, monkeypatch, as_numba_has_it):
    """A stop gives the best so far, one object, and no claim that it is the smallest."""
    advance, calls = FacetDescent.advance, []

    def stopped(self, walk):
        calls.append(walk)
        if len(calls) < 20:
            return advance(self, walk)
        if as_numba_has_it:
            raise SystemError("returned a result with an exception set") from KeyboardInterrupt()
        raise KeyboardInterrupt

    monkeypatch.setattr(FacetDescent, "advance", stopped)
    result = run("setcover", "cover.json", "--method", "facet-descent", "--budget", "60s", "--json")
    assert result.status == 130 and "interrupted after" in result.err
    assert not result.json["optimal"] and result.json["cover"] is not None
    monkeypatch.setattr(FacetDescent, "advance", lambda self, walk: {}["a bug"])
    with pytest.raises(KeyError):
        run("setcover", "cover.json", "--method", "facet-descent")
