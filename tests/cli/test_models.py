"""fit, predict, explain, export and compare: from a table to a network and out of Python."""

import json

import numpy as np
import pytest

from tests.cli.runner import run
from zonofit.export import load

RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, (60, 2))
Y = np.abs(X[:, 0]) - X[:, 1]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(name, columns):
        table = np.column_stack(list(columns.values()))
        np.savetxt(tmp_path / name, table, fmt="%.17g", delimiter=",", header=",".join(columns), comments="")

    write("data.csv", {"a": X[:, 0], "b": X[:, 1], "y": Y})
    write("one.csv", {"a": X[:, 0], "y": np.abs(X[:, 0] - 0.5)})
    write("flat.csv", {"a": X[:, 0], "b": np.ones(60), "y": Y})
    write("dull.csv", {"a": X[:, 0], "y": np.ones(60)})
    write("still.csv", {"b": np.ones(60), "y": Y})
    write("classes.csv", {"a": X[:, 0], "b": X[:, 1], "y": np.where(Y > 0, 2, 1)})
    (tmp_path / "text.csv").write_text("a,y\n1,2\nred,3\n")
    (tmp_path / "hole.csv").write_text("a,y\n1,2\n,3\n")
    return tmp_path


def fit(*arguments):
    result = run("fit", *arguments, "--json")
    assert result.status == 0, result.err
    return result


def test_fit_predict_export(folder):
    fields = fit("data.csv", "--target", "y", "--width", "3", "--alpha", "0", "-o", "m.json").json
    assert fields["score"] > 0.999 and fields["width"] == 3 and fields["features"] == ["a", "b"]
    network = load("m.json")
    assert network.target == "y"
    printed = run("predict", "m.json", "data.csv")
    assert printed.out.splitlines()[0] == "y"
    assert np.array(printed.out.splitlines()[1:], float) == pytest.approx(network.predict(X))
    assert run("predict", "m.json", "data.csv", "--json").json["predictions"] == network.predict(X).tolist()
    written = run("predict", "m.json", "data.csv", "--out", "p.csv")
    assert written.out == "" and (folder / "p.csv").read_text() == printed.out
    for name, what in (("m.c", "double network("), ("again.json", "zonofit network")):
        assert run("export", "m.json", "--out", name).status == 0
        assert what in (folder / name).read_text()
    exported = run("export", "m.json", "-o", "m.onnx", "--float", "--json").json
    assert exported["format"] == "ONNX" and exported["bytes"] == (folder / "m.onnx").stat().st_size
    assert run("export", "m.json", "-o", "m.c", "--float", "--name", "tiny").status == 0
    assert "float tiny(" in (folder / "m.c").read_text()
    simple = run("export", "m.json", "-o", "s.json", "--simplify", "--within", "data.csv", "--json").json
    assert simple["width"] <= 3 and load("s.json").predict(X) == pytest.approx(network.predict(X), abs=1e-9)


def test_same_seed_same_file(folder):
    for name in ("m.json", "n.json"):
        fit("data.csv", "--target", "y", "--width", "2,3", "--alpha", "0.01", "--seed", "3", "-o", name)
    assert (folder / "m.json").read_bytes() == (folder / "n.json").read_bytes()


def test_fit_for_people(folder):
    text = run("fit", "data.csv", "--target", "y", "--width", "3", "--alpha", "0").out
    for part in (
        "y from 2 features, 60 examples",
        "3 units, ridge 0",
        "of the variance explained",
        "max(0,",
        "model.json",
    ):
        assert part in text


def test_classes(folder):
    fields = fit("classes.csv", "--target", "y", "--width", "3", "--classify", "--alpha", "0.001").json
    assert fields["score"] > 0.95 and json.loads((folder / "model.json").read_text())["classes"] == [1, 2]
    lines = run("predict", "model.json", "classes.csv").out.splitlines()
    assert lines[0] == "y,decision"
    labels, decision = np.array([line.split(",") for line in lines[1:]], float).T
    assert ((decision > 0) == (labels == 2)).all()
    assert "2 where y > 0, else 1" in run("explain", "model.json").out


def test_explain_lists_the_pieces(folder):
    fit("one.csv", "--target", "y", "--width", "2", "--alpha", "0")
    fields = run("explain", "model.json", "--data", "one.csv", "--plot", "n.svg", "--json").json
    pieces = fields["pieces"]
    # the hyperplane of a unit may pass through the outermost row, which is then on a piece of its own
    assert {round(piece["slopes"][0], 6) for piece in pieces if piece["rows"] > 1} == {-1, 1}
    assert sum(piece["rows"] for piece in pieces) == 60
    assert pieces[0]["left"] is None and (folder / "n.svg").stat().st_size > 5000
    assert "for a from -inf to " in run("explain", "model.json").out


def test_explain_counts_rows_on_pieces(folder):
    fit("data.csv", "--target", "y", "--width", "3", "--alpha", "0")
    network = load("model.json")
    assert "pass --data" in run("explain", "model.json").out
    fields = run("explain", "model.json", "--data", "data.csv", "--json").json
    assert sum(piece["rows"] for piece in fields["pieces"]) == 60
    slopes = {tuple(np.round(row, 6)) for row in network.affine_at(X)[0]}
    assert {tuple(np.round(piece["slopes"], 6)) for piece in fields["pieces"]} == slopes


@pytest.mark.parametrize(("table", "more"), [("data.csv", ()), ("classes.csv", ("--classify", "--ceiling"))])
def test_compare(folder, table, more):
    arguments = "compare", table, "--target", "y", "--width", "2", "--budget", "0.2s", "--alpha", "0.001", *more
    fields = run(*arguments, "--plot", "c.png", "--json").json
    assert [method["name"] for method in fields["methods"]][:3] == ["zonofit", "MLP, adam", "MLP, lbfgs"]
    assert all(0 <= method["training"] and method["fits"] >= 1 for method in fields["methods"])
    assert (folder / "c.png").stat().st_size > 5000


@pytest.mark.filterwarnings("default")
def test_constant_features_are_named(folder):
    result = fit("flat.csv", "--target", "y", "--width", "2", "--alpha", "0")
    assert result.json["warnings"] == ["flat.csv: constant in every row, and of no use to the network: b."]


BAD = [
    (["fit", "text.csv", "--target", "y"], "'red' is not a number"),
    (["fit", "hole.csv", "--target", "y"], "a value is missing"),
    (["fit", "dull.csv", "--target", "y"], "column y is 1 in every row; there is nothing to learn"),
    (["fit", "dull.csv", "--target", "y", "--classify"], "column y is 1 in every row; two classes are needed"),
    (["fit", "data.csv", "--target", "y", "--classify"], "60 different values, and --classify tells two"),
    (["fit", "still.csv", "--target", "y"], "every feature is constant"),
    (["fit", "data.csv", "--target", "z"], "has no column 'z'"),
    (["fit", "data.csv", "--target", "y", "--width", "two"], "--width: 'two' is not a list of whole numbers"),
    (["fit", "data.csv", "--target", "y", "--width", "0"], "width: 0 will not do"),
    (["fit", "data.csv", "--target", "y", "--loss", "hinge"], "loss: 'hinge' is not a loss"),
    (["fit", "data.csv", "--target", "y", "--out", "no/m.json"], "there is no folder no"),
    (["predict", "data.csv", "data.csv"], "data.csv: is not JSON"),
    (["predict", "absent.json", "data.csv"], "absent.json: cannot be read"),
    (["predict", "good.json", "one.csv"], "has no column 'b'"),
    (["export", "good.json", "-o", "m.pt"], "ends in none of .c, .onnx, .json"),
    (["export", "good.json", "-o", "m.c", "--within", "data.csv"], "add --simplify"),
    (["export", "good.json", "-o", "m.json", "--float"], "JSON keeps every digit"),
    (["export", "good.json", "-o", "m.c", "--name", "2"], "is not a name in C"),
    (["explain", "good.json", "--plot", "n.gif"], "pictures end in"),
    (["compare", "data.csv", "--target", "y", "--budget", "soon"], "'soon' is not a length of time"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD)
def test_one_sentence_and_status_2(folder, arguments, message):
    network = {"format": "zonofit network", "version": 1, "features": ["a", "b"]}
    (folder / "good.json").write_text(json.dumps(network | {"W": [[1, 2, 3]], "c": 0, "output_weights": [1]}))
    result = run(*arguments)
    assert result.status == 2 and result.out == ""
    assert result.err.count("\n") == 1 and message in result.err


def test_parquet(folder):
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    pandas.read_csv("data.csv").to_parquet("data.parquet")
    fit("data.parquet", "--target", "y", "--width", "2", "--alpha", "0", "-o", "p.json")
    fit("data.csv", "--target", "y", "--width", "2", "--alpha", "0", "-o", "c.json")
    assert load("p.json").to_dict() == load("c.json").to_dict()
