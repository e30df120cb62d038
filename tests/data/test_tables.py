import builtins

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from zonofit.data import load_example, read_table
from zonofit.errors import InputError
from zonofit.geometry.arrangement import Arrangement


@pytest.mark.parametrize(
    ("text", "names", "values"),
    [
        ("1,2\n3,4\n", ("x1", "x2"), [[1, 2], [3, 4]]),
        ("a,b\n1,2\n3,4", ("a", "b"), [[1, 2], [3, 4]]),
        ("a;b\r\n1.5;-2e3\r\n", ("a", "b"), [[1.5, -2000]]),
        ("a\tb\n1\t2\n", ("a", "b"), [[1, 2]]),
        ('"first, and","second ""b"""\n"1", 2\n', ("first, and", 'second "b"'), [[1, 2]]),
        ("# a comment, here\n\n1,2\n\n # more\n3,4\n\n", ("x1", "x2"), [[1, 2], [3, 4]]),
        ("only\n1\n2\n", ("only",), [[1], [2]]),
        ("1\n2\n", ("x1",), [[1], [2]]),
        ("  1.0e+00   2\n3 4\n", ("x1", "x2"), [[1, 2], [3, 4]]),
        ("sepal length\n1\n2\n", ("sepal length",), [[1], [2]]),
        ("\ufeffa,b\n1,2\n", ("a", "b"), [[1, 2]]),
        ("x 1, x 2\n1,2\n", ("x 1", "x 2"), [[1, 2]]),
    ],
)
def test_text_is_read(tmp_path, text, names, values):
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode())
    table = read_table(path)
    assert table.names == names
    assert table.has_header == (names[0] != "x1")
    assert table.values.dtype == np.float64 and table.values.flags.c_contiguous
    assert np.array_equal(table.values, np.array(values, float))


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    arrays(
        float,
        st.tuples(st.integers(1, 6), st.integers(1, 4)),
        elements=st.floats(allow_nan=False, allow_infinity=False),
    ),
    st.sampled_from([",", ";", "\t", " "]),
)
def test_text_keeps_every_bit(tmp_path_factory, X, separator):
    path = tmp_path_factory.mktemp("t") / "t.csv"
    path.write_text("\n".join(separator.join(map(repr, row)) for row in X.tolist()))
    assert np.array_equal(read_table(path).values, X)


@pytest.mark.parametrize("suffix", ["npy", "npz", "parquet"])
def test_binary_is_read(tmp_path, suffix):
    X = np.array([[1.5, -2.0], [0.0, 1e300], [3.0, 4.0]])
    path = tmp_path / f"t.{suffix}"
    if suffix == "npy":
        np.save(path, X)
    elif suffix == "npz":
        np.savez(path, X)
    else:
        pa = pytest.importorskip("pyarrow")
        import pyarrow.parquet as pq

        index = pa.array([7, 8, 9])
        pq.write_table(pa.table({"a": X[:, 0], "b": X[:, 1], "__index_level_0__": index}), path)
    table = read_table(path)
    assert np.array_equal(table.values, X)
    assert table.names == (("a", "b") if suffix == "parquet" else ("x1", "x2"))


def test_integers_and_truth_values_become_floats(tmp_path):
    np.save(tmp_path / "i.npy", np.array([[1, 2]], np.uint8))
    np.save(tmp_path / "b.npy", np.array([[True, False]]))
    assert np.array_equal(read_table(tmp_path / "i.npy").values, [[1.0, 2.0]])
    assert np.array_equal(read_table(tmp_path / "b.npy").values, [[1.0, 0.0]])


def test_columns_are_chosen_by_name_and_position(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,name,b\n1,x,2\n3,y,4\n")
    assert np.array_equal(read_table(path, columns=["b", 0]).values, [[2, 1], [4, 3]])
    assert read_table(path, columns=[-1]).names == ("b",)
    with pytest.raises(InputError, match=r"line 2, column 2 \(name\): 'x' is not a number"):
        read_table(path, columns=["b", "name"])
    with pytest.raises(InputError, match=r"no column 'c'; its 3 columns are a, name, b"):
        read_table(path, columns=["c"])


BAD_TEXT = [
    ("", "the file is empty"),
    ("\n \n", "the file is empty"),
    ("# only this\n", "holds comments only"),
    ("a,b\n", "a header and no examples"),
    ("a,b\n1,2\n3,oops\n", r"line 3, column 2 \(b\): 'oops' is not a number"),
    ("a,b\n1,2\n3,\n", r"line 3, column 2 \(b\): a value is missing"),
    ("a,b\nNA,2\n", r"line 2, column 1 \(a\): 'NA' is a missing value"),
    ("1,2\n3,nan\n", r"line 2, column 2 \(x2\): 'nan' is a missing value"),
    ("1,2\n-inf,2\n", r"line 2, column 1 \(x1\): -inf is not finite"),
    ("1,2\n1e999,2\n", r"line 2, column 1 \(x1\): 1e999 is not finite"),
    ("1,2\n3\n", "line 2 has 1 columns where the first has 2"),
    ("a,b\n\n1,2,3\n", "line 3 has 3 columns where the first has 2"),
    ("1,x,3\n4,5,6\n", "line 1 mixes numbers with names such as 'x'"),
    ("a;b\n1,5;2,5\n", r"line 2, column 1 \(a\): '1,5' has a decimal comma"),
    ("a,b\n1_000,2\n", r"line 2, column 1 \(a\): '1_000' is not a number"),
    (",a\n0,1\n", "column 1 has no name, as when pandas writes its index"),
    ('a,b\n1,"2\n', "is not CSV"),
    ("a,b\n" + "z" * 99 + ",2\n", "'zzzzzzzzzzzzzzzzzzzzz...' is not a number"),
]


@pytest.mark.parametrize(("text", "message"), BAD_TEXT)
def test_bad_text_is_refused_with_its_place(tmp_path, text, message):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        read_table(path)
    sentence = str(caught.value)
    assert sentence.startswith(str(path)) and sentence.endswith(".") and "\n" not in sentence


def _bad_files(folder):
    def save(name, array, **options):
        np.save(folder / name, array, **options)
        return folder / name

    def write(name, raw):
        (folder / name).write_bytes(raw)
        return folder / name

    whole = save("whole.npy", np.ones((50, 2))).read_bytes()
    np.savez(folder / "two.npz", a=np.ones((2, 2)), b=np.ones((2, 2)))
    (folder / "folder.csv").mkdir()
    return [
        (folder / "absent.csv", "no such file"),
        (folder / "absent.npy", "no such file"),
        (folder / "absent.parquet", "no such file"),
        (folder / "folder.csv", "is a folder"),
        (write("t.xlsx", b"x"), "cannot read a file ending in '.xlsx'"),
        (write("t", b"1,2"), "cannot read a file ending in ''"),
        (write("junk.csv", bytes(range(256))), "is not UTF-8 text"),
        (write("nul.csv", b"1,2\n3,\0\n"), "binary data"),
        (write("wide.csv", "1,2\n".encode("utf-16")), "is not UTF-8 text"),
        (write("junk.npy", b"not an array"), "damaged or not a NumPy file"),
        (write("junk.npz", b"PK\x03\x04 no"), "damaged or not a NumPy file"),
        (write("cut.npy", whole[:200]), "damaged or not a NumPy file"),
        (write("empty.npy", b""), "damaged or not a NumPy file"),
        (save("object.npy", np.array([[1, None]], object), allow_pickle=True), "holds Python objects"),
        (save("text.npy", np.array([["a", "b"]])), "holds values of type <U1"),
        (save("complex.npy", np.array([[1j]])), "holds values of type complex128"),
        (save("flat.npy", np.ones(3)), r"has shape \(3,\)"),
        (save("none.npy", np.ones((0, 3))), "is empty"),
        (save("nan.npy", np.array([[1, 2], [np.nan, np.inf]])), r"row 2, column 1 \(x1\): nan is not finite \(2 such"),
        (folder / "two.npz", r"holds 2 arrays \(a, b\)"),
        (write("junk.parquet", b"PAR1 no PAR1"), "not a readable Parquet file"),
    ]


def test_bad_files_are_refused(tmp_path):
    pytest.importorskip("pyarrow")
    for path, message in _bad_files(tmp_path):
        with pytest.raises(InputError, match=message) as caught:
            read_table(path)
        assert str(caught.value).startswith(str(path)) and "\n" not in str(caught.value)


def test_bad_parquet_is_refused_with_its_place(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    for name, columns, message in [
        ("text", {"a": [1.0], "b": ["x"]}, r"column 2 \(b\) holds values of type string"),
        ("missing", {"a": [1.0, 2.0], "b": [1, None]}, r"row 2, column 2 \(b\): a value is missing"),
        ("infinite", {"a": [1.0, float("inf")]}, r"row 2, column 1 \(a\): inf is not finite"),
        ("empty", {"a": pa.array([], pa.float64())}, "the table is empty"),
    ]:
        path = tmp_path / f"{name}.parquet"
        pq.write_table(pa.table(columns), path)
        with pytest.raises(InputError, match=message):
            read_table(path)
    assert read_table(tmp_path / "text.parquet", columns=["a"]).values == 1.0


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **options):
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r'pip install "zonofit\[parquet\]"'):
        read_table(path)


def test_example_is_in_general_position():
    X = load_example()
    assert X.shape == (5, 2)
    assert np.array_equal(X, np.round(4 * X) / 4)
    assert Arrangement.from_examples(X).n_chambers() == 22
    X[0] = 0
    assert load_example()[0].any()
