"""The data of the paper's tables: made, shipped, and prepared from raw images."""

import gzip
import struct

import numpy as np
import pytest

from zonofit.data import idx, images, load_images, prepare_images, synthetic
from zonofit.data.idx import RawImages, find_raw, read_idx, read_raw
from zonofit.errors import InputError


def idx_bytes(array):
    return bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()


@pytest.fixture
def raw(tmp_path):
    """A small data set, with its own checksums."""
    import hashlib

    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (900, 5, 5), dtype=np.uint8)
    labels = rng.integers(0, 3, 900, dtype=np.uint8)
    contents = idx_bytes(pixels), idx_bytes(labels)
    (tmp_path / "train-images-idx3-ubyte").write_bytes(contents[0])
    (tmp_path / "train-labels-idx1-ubyte.gz").write_bytes(gzip.compress(contents[1]))
    sums = [hashlib.md5(content).hexdigest() for content in contents]
    return RawImages("small", "small", *sums), tmp_path, pixels, labels


def test_synthetic_labels_are_fitted_by_the_network_that_made_them():
    X, y = synthetic(5, 3, 7)
    assert X.shape == (18, 5) and y.shape == (18,)
    rng = np.random.default_rng(7)
    examples, W, v, c = rng.standard_normal((18, 5)), rng.standard_normal((3, 6)), rng.standard_normal(3), rng.normal()
    assert np.array_equal(X, examples)
    twin = [c + sum(v[j] * max(0.0, W[j, :5] @ x + W[j, 5]) for j in range(3)) for x in X]
    assert np.allclose(y, twin, rtol=1e-13)
    assert np.array_equal(synthetic(5, 3, np.random.default_rng(7))[1], y)


@pytest.mark.parametrize("bad", [0, -1, 2.0, True, "3"])
def test_sizes_are_refused_by_name(bad):
    with pytest.raises(InputError, match=r"^d: "):
        synthetic(bad, 2)
    with pytest.raises(InputError, match=r"^m_gen: "):
        synthetic(2, bad)
    with pytest.raises(InputError, match=r"^n_examples: "):
        load_images("mnist_49", 8, bad)


@pytest.mark.parametrize("task", images.TASKS)
def test_image_tasks_come_with_the_package(task):
    X, y = load_images(task)
    assert X.shape == (700, 16) and set(y) == {0.0, 1.0}
    assert 0.4 < y.mean() < 0.6
    assert np.all(
        np.abs(X.std(axis=0) - 1) < 0.2
    )  # whitened on all examples of the two classes, of which these are some
    part, labels = load_images(task, 8, 350)
    assert np.array_equal(part, X[:350, :8]) and np.array_equal(labels, y[:350])


def test_a_damaged_array_is_refused(monkeypatch):
    from dataclasses import replace

    monkeypatch.setitem(images.TASKS, "mnist_49", replace(images.TASKS["mnist_49"], checksum="0" * 64))
    with pytest.raises(InputError, match="damaged"):
        load_images("mnist_49")
    with pytest.raises(InputError, match="choose one of mnist_49, mnist_59, fashion_24"):
        load_images("mnist_48")


@pytest.mark.parametrize("task", images.TASKS)
def test_raw_images_give_the_arrays_up_to_sign(task):
    if find_raw(images.TASKS[task].raw) is None:
        pytest.skip("no raw images here; $ZONOFIT_DATA names a folder with mnist/ and fashion-mnist/")
    X, y = prepare_images(task)
    expected, labels = load_images(task)
    assert np.array_equal(y, labels)
    signs = np.sign(np.sum(X * expected, axis=0))
    assert np.max(np.abs(X * signs - expected)) < 1e-8


def test_pipeline_on_small_raw_images(raw, monkeypatch):
    known, folder, pixels, labels = raw
    small = images.ImageTask(known, (0, 2), "small", "")
    monkeypatch.setitem(images.TASKS, "small", small)
    monkeypatch.setattr(images, "MOST_EXAMPLES", 40)
    X, y = prepare_images("small", folder)
    mine = pixels[np.isin(labels, (0, 2))].reshape(-1, 25) / 255
    mine = mine - mine.mean(axis=0)
    U, _, _ = np.linalg.svd(mine, full_matrices=False)
    expected = U[:40, :16] * np.sqrt(len(mine) - 1)
    signs = np.sign(np.sum(X * expected, axis=0))
    assert X.shape == (40, 16) and np.allclose(X * signs, expected, atol=1e-10)
    assert np.array_equal(y, (labels[np.isin(labels, (0, 2))] == 2)[:40])


def test_openml_in_another_order_is_refused(raw, monkeypatch):
    known, _, pixels, labels = raw
    sklearn = pytest.importorskip("sklearn.datasets")

    class Found:
        data, target = pixels.reshape(900, 25).astype(float)[::-1], labels.astype(str)[::-1]

    monkeypatch.setattr(sklearn, "fetch_openml", lambda *_, **__: Found)
    monkeypatch.setattr(idx, "_SIDE", 5)
    with pytest.raises(InputError, match=r"openml\.org, small: has the checksum"):
        idx.download_raw(known)
    Found.data, Found.target = Found.data[::-1], Found.target[::-1]
    found = idx.download_raw(known)
    assert np.array_equal(found[0], pixels.reshape(900, 25)) and np.array_equal(found[1], labels)


def test_files_are_found_where_they_are_said_to_be(raw, tmp_path, monkeypatch):
    known, folder, pixels, _ = raw
    home = tmp_path / "home"
    home.mkdir()
    (home / "small").symlink_to(folder, target_is_directory=True)
    monkeypatch.delenv("ZONOFIT_DATA", raising=False)
    assert find_raw(known) is None
    with pytest.raises(InputError, match=r"^folder: no folder small has both"):
        read_raw(known)
    monkeypatch.setenv("ZONOFIT_DATA", str(home))
    assert np.array_equal(read_raw(known)[0], pixels.reshape(900, 25))


def test_bad_idx_files(raw, tmp_path):
    known, folder, pixels, _ = raw
    path = folder / "train-images-idx3-ubyte"
    content = path.read_bytes()
    for damaged, message in (
        (b"", "no IDX file"), (b"\0\0\x0d\1" + content[4:], "no IDX file"), (content[:-1], "that it announces"),
        (gzip.compress(content)[:-9], "is damaged"), (b"\0\0\x08\xff\0\0", "no IDX file"),
    ):  # fmt: skip
        path.write_bytes(damaged)
        with pytest.raises(InputError, match=message):
            read_idx(path)
    path.write_bytes(idx_bytes(pixels[::-1]))
    with pytest.raises(InputError, match="has the checksum"):
        read_raw(known, folder)
