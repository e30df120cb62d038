"""Every command against the library, and its JSON object against its documentation."""

import re
import time
import xml.etree.ElementTree as ET
from math import comb

import numpy as np
import pytest

import zonofit
from tests.cli.runner import run, run_apart
from zonofit.data import load_example, load_patterns
from zonofit.geometry.arrangement import Arrangement
from zonofit.geometry.zonotope import Zonotope

RNG = np.random.default_rng(0)
TABLES = {
    "generic": RNG.standard_normal((9, 3)),
    "equal": [[1, 2], [1, 2], [-1, 1], [0, -2], [0, 0]],
    "on a line": [[1, 0], [2, 0], [3, 0], [4, 0]],
    "few": [[1.0, 2.0, 3.0]],
    "binary": [[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)],
}


def cover(N, n):
    return 2 * sum(comb(N - 1, k) for k in range(n))


@pytest.fixture
def table(tmp_path, request):
    values = np.asarray(TABLES[request.param], float)
    rows = [["a", "b", "c"][: values.shape[1]], *(map(repr, row) for row in values.tolist())]
    (tmp_path / "t.csv").write_text("\n".join(",".join(row) for row in rows))
    return tmp_path / "t.csv", values


def documented(command):
    """Names of the fields that the help of a command lists."""
    text = run(command, "--help").out.split("JSON:")[1].split("Arguments:")[0].split("Options:")[0]
    text = re.sub(r"\([^()]*\)|\{[^{}]*\}", "", re.sub(r"\([^()]*\)", "", text))
    names = set()
    for part in text.split(";"):
        for name in part.split(":")[0].replace(".", ",").split(","):
            names |= {name.strip()} if re.fullmatch(r"[a-z_]+", name.strip()) else set()
    return names


@pytest.mark.parametrize("table", TABLES, indirect=True)
@pytest.mark.parametrize("how", ["examples", "generators"])
def test_chambers(table, how):
    path, values = table
    options = ["--generators"] if how == "generators" else []
    arrangement = Arrangement(values) if options else Arrangement.from_examples(values)
    expected = {"".join("01"[bit] for bit in row) for row in arrangement.patterns().astype(int)}

    result = run("chambers", path, "--json", *options)
    assert result.status == 0 and result.err == ""
    fields = result.json
    assert set(fields) == documented("chambers")
    assert set(fields["patterns"]) == expected and len(fields["patterns"]) == len(expected)
    assert fields["chambers"] == fields["patterns_found"] == len(expected)
    assert fields["bound"] == arrangement.chamber_bound() and fields["complete"] is True and fields["out"] is None
    assert (fields["examples"], fields["dimension"]) == arrangement.generators.shape
    assert fields["rank"] == arrangement.rank and fields["version"] == zonofit.__version__

    lines = run("chambers", path, *options)
    assert lines.status == 0 and set(lines.out.split()) == expected and len(lines.out.split()) == len(expected)
    examples = "1 example" if len(values) == 1 else f"{len(values)} examples"
    assert lines.err.startswith(f"{len(expected)} chambers of {examples} in ")


@pytest.mark.parametrize("table", TABLES, indirect=True)
def test_count(table):
    path, values = table
    number = Arrangement.from_examples(values).n_chambers()
    assert run("chambers", path, "--count").out == f"{number}\n"
    assert run("chambers", path, "--count", "--half").out == f"{number // 2}\n"
    fields = run("chambers", path, "--count", "--json").json
    assert set(fields) == documented("chambers")
    assert fields["chambers"] == number and fields["patterns"] is None and fields["patterns_found"] == 0


@pytest.mark.parametrize("table", TABLES, indirect=True)
def test_half_and_its_opposites_are_all(table):
    path, _ = table
    whole = run("chambers", path, "--json").json
    half = run("chambers", path, "--json", "--half").json
    opposite = ["".join("10"[int(bit)] for bit in pattern) for pattern in half["patterns"]]
    assert sorted(half["patterns"] + opposite) == sorted(whole["patterns"])
    assert half["chambers"] == whole["chambers"] == 2 * half["patterns_found"]


def test_generators_that_are_zero(tmp_path):
    (tmp_path / "z.csv").write_text("0,0\n0,0\n")
    for options in ([], ["--half"]):
        fields = run("chambers", tmp_path / "z.csv", "--generators", "--json", *options).json
        assert (fields["chambers"], fields["patterns"], fields["rank"]) == (1, ["00"], 0)
    fields = run("zonotope", tmp_path / "z.csv", "--generators", "--json").json
    assert fields["f_vector"] == [1] and fields["vertices"] == [{"pattern": "00", "point": [0.0, 0.0]}]


def test_patterns_in_a_file(tmp_path):
    X = np.random.default_rng(5).standard_normal((20, 3))
    np.save(tmp_path / "t.npy", X)
    for options in ([], ["--half"], ["--jobs", "2"]):
        result = run("chambers", tmp_path / "t.npy", "--out", tmp_path / "p.npz", *options)
        assert result.status == 0 and "written" in result.out
        assert sorted(p.name for p in tmp_path.iterdir()) == ["p.npz", "t.npy"]
        patterns = load_patterns(tmp_path / "p.npz")
        assert patterns.complete and patterns.n_examples == 20
        expected = Arrangement.from_examples(X).patterns()
        if "--half" in options:
            assert len(patterns) == cover(20, 4) // 2
            expected = {row.tobytes() for row in expected}
            assert {row.tobytes() for row in np.vstack([patterns.bits(), ~patterns.bits()])} == expected
        else:
            assert np.array_equal(np.unique(patterns.bits(), axis=0), np.unique(expected, axis=0))
    fields = run("chambers", tmp_path / "t.npy", "--out", tmp_path / "p.npz", "--json").json
    assert fields["patterns"] is None and fields["out"] == str(tmp_path / "p.npz")
    assert fields["chambers"] == cover(20, 4)


def test_many_patterns_are_not_put_into_json(tmp_path):
    np.save(tmp_path / "t.npy", np.random.default_rng(5).standard_normal((25, 4)))
    fields = run("chambers", tmp_path / "t.npy", "--json").json
    assert fields["patterns"] is None and fields["patterns_found"] == cover(25, 5)
    assert len(run("chambers", tmp_path / "t.npy").out.split()) == cover(25, 5)


def test_columns(tmp_path):
    (tmp_path / "t.csv").write_text("a,name,b\n1,x,2\n3,y,5\n-1,z,1\n")
    by_name = run("chambers", tmp_path / "t.csv", "--columns", "a,b", "--json").json
    by_place = run("chambers", tmp_path / "t.csv", "--columns", "0,2", "--json").json
    assert by_name["patterns"] == by_place["patterns"] and by_name["dimension"] == 3


@pytest.mark.parametrize("table", TABLES, indirect=True)
def test_zonotope(table, tmp_path):
    path, values = table
    polytope = Zonotope.from_examples(values)
    drawable = values.shape[1] == 2
    options = ["--plot", tmp_path / "z.svg"] if drawable else []
    result = run("zonotope", path, "--json", *options)
    assert result.status == 0 and result.err == ""
    fields = result.json
    assert set(fields) == documented("zonotope")
    assert fields["f_vector"] == list(polytope.f_vector()) and fields["rank"] == polytope.dimension
    assert fields["volume"] == pytest.approx(polytope.volume())
    points, barcodes = polytope.vertices()
    assert np.allclose([v["point"] for v in fields["vertices"]], points)
    assert [v["pattern"] for v in fields["vertices"]] == ["".join("01"[b] for b in row) for row in barcodes.astype(int)]
    report = polytope.arrangement.position()
    assert fields["position"]["general"] == report.is_generic
    assert fields["position"]["circuits"] == list(report.circuit_counts)
    assert fields["plot"] == (str(tmp_path / "z.svg") if drawable else None)
    if drawable:
        assert ET.parse(tmp_path / "z.svg").getroot().tag.endswith("svg")

    text = run("zonotope", path, *options)
    assert text.status == 0 and "general position" in text.out
    assert f"{polytope.f_vector()[0]:,} vertices" in text.out


def test_zonotope_of_generators_in_the_plane(tmp_path):
    np.save(tmp_path / "t.npy", np.random.default_rng(1).standard_normal((7, 2)))
    fields = run("zonotope", tmp_path / "t.npy", "--generators", "--plot", tmp_path / "z.png", "--json").json
    assert fields["f_vector"] == [14, 14, 1] and (tmp_path / "z.png").read_bytes().startswith(b"\x89PNG")


def test_demo(tmp_path):
    result = run("demo", "--out", tmp_path / "new" / "folder", "--json")
    assert result.status == 0 and result.err == ""
    fields = result.json
    assert set(fields) == {"command", "version", "picture", "example", "random", "seconds"}
    example, large = fields["example"], fields["random"]
    assert example["chambers"] == example["bound"] == cover(5, 3) and example["f_vector"] == [22, 40, 20, 1]
    assert large["chambers"] == large["bound"] == cover(40, 5) and large["per_second"] > 0
    pattern = np.array([bit == "1" for bit in example["pattern"]])
    polytope = Zonotope.from_examples(load_example())
    for i in range(5):
        flipped = pattern ^ (np.arange(5) == i)
        assert (i in example["walls"]) == any(np.array_equal(flipped, b) for b in polytope.barcodes())
    assert ET.parse(fields["picture"]).getroot().tag.endswith("svg")

    text = run("demo", "--out", tmp_path)
    assert text.status == 0 and "22 enumerated, 22 by Cover's formula" in text.out
    assert str(tmp_path / "figure-1.svg") in text.out.replace("\n", "") and "Done in" in text.err


def test_version_and_help():
    assert run("--version").out == f"zonofit {zonofit.__version__}\n"
    assert run("--version", "--json").json == {"version": zonofit.__version__}
    for command in ([], ["demo"], ["chambers"], ["zonotope"]):
        result = run(*command, "--help")
        assert result.status == 0 and "--json" in result.out and result.err == ""
    assert run().out == run("--help").out


def test_help_is_quick():
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        assert run_apart("--help").status == 0
        seconds.append(time.perf_counter() - start)
    assert min(seconds) < 0.6


def test_help_imports_nothing_heavy():
    import subprocess
    import sys

    code = (
        "import sys; from zonofit.cli import main; main(['chambers', '--help']); "
        "sys.exit(bool({'numba', 'scipy', 'matplotlib', 'numpy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=False).returncode == 0
