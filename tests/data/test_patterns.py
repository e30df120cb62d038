import numpy as np
import pytest

import zonofit
from zonofit.data import PatternWriter, load_patterns
from zonofit.errors import InputError
from zonofit.geometry.packing import pack


def random_patterns(V, N, seed=0):
    return np.random.default_rng(seed).random((V, N)) < 0.5


@pytest.mark.parametrize("N", [1, 7, 8, 9, 63, 64, 65, 130])
def test_what_is_written_is_read(tmp_path, N):
    bits = random_patterns(200, N)
    writer = PatternWriter(tmp_path / "p.npz", N)
    for start in range(0, 200, 64):
        writer.write(pack(bits[start : start + 64]))
    assert writer.leftover == ""
    assert writer.part.exists() and not writer.path.exists()
    assert writer.finish(complete=True) == tmp_path / "p.npz"
    assert [path.name for path in tmp_path.iterdir()] == ["p.npz"]

    patterns = load_patterns(tmp_path / "p.npz")
    assert (len(patterns), patterns.n_examples, patterns.complete) == (200, N, True)
    assert patterns.version == zonofit.__version__
    assert np.array_equal(patterns.bits(), bits)
    assert np.array_equal(patterns.bits([3, 5]), bits[[3, 5]])
    assert np.array_equal(np.vstack(list(patterns.blocks(17))), bits)

    with np.load(tmp_path / "p.npz", allow_pickle=False) as archive:
        assert set(archive.files) == {"patterns", "n_examples", "complete", "version"}
        assert archive["patterns"].shape == (200, -(-N // 8))
        assert np.array_equal(np.unpackbits(archive["patterns"], axis=1, count=N, bitorder="little"), bits)
        assert archive["n_examples"] == N and archive["complete"].dtype == bool


def test_patterns_are_mapped_not_read(tmp_path):
    writer = PatternWriter(tmp_path / "p.npz", 9)
    writer.write(pack(random_patterns(50, 9)))
    writer.finish(complete=True)
    assert isinstance(load_patterns(tmp_path / "p.npz").packed, np.memmap)


def test_recompressed_and_empty_files_are_read(tmp_path):
    bits = random_patterns(20, 11)
    packed = np.packbits(bits, axis=1, bitorder="little")
    np.savez_compressed(tmp_path / "c.npz", patterns=packed, n_examples=11, complete=True, version="0")
    assert np.array_equal(load_patterns(tmp_path / "c.npz").bits(), bits)
    PatternWriter(tmp_path / "e.npz", 11).finish(complete=False)
    empty = load_patterns(tmp_path / "e.npz")
    assert (len(empty), empty.complete, empty.bits().shape) == (0, False, (0, 11))


def test_killed_run_leaves_raw_patterns_and_the_next_one_says_so(tmp_path):
    bits = random_patterns(30, 20)
    writer = PatternWriter(tmp_path / "p.npz", 20)
    writer.write(pack(bits))
    writer.close()
    part = tmp_path / "p.npz.part"
    assert part.read_bytes() == np.packbits(bits, axis=1, bitorder="little").tobytes()
    left = load_patterns(part, n_examples=20)
    assert not left.complete and np.array_equal(left.bits(), bits)
    with pytest.raises(InputError, match="n_examples"):
        load_patterns(part)

    again = PatternWriter(tmp_path / "p.npz", 20)
    assert "90 bytes, 30 patterns if they were of 20 examples" in again.leftover
    assert part.stat().st_size == 0
    again.close()


def test_half_a_pattern_is_cut_off(tmp_path):
    writer = PatternWriter(tmp_path / "p.npz", 20)
    writer.write(pack(random_patterns(4, 20)))
    writer._file.write(b"\1\2")
    writer.finish(complete=False)
    assert len(load_patterns(tmp_path / "p.npz")) == 4


def test_incomplete_patterns_do_not_replace_an_archive(tmp_path):
    first = PatternWriter(tmp_path / "p.npz", 5)
    first.write(pack(random_patterns(8, 5)))
    first.finish(complete=True)
    second = PatternWriter(tmp_path / "p.npz", 5)
    second.write(pack(random_patterns(3, 5)))
    assert second.finish(complete=False) == tmp_path / "p.npz.part"
    assert len(load_patterns(tmp_path / "p.npz")) == 8
    assert len(load_patterns(tmp_path / "p.npz.part", n_examples=5)) == 3


def test_two_runs_do_not_write_one_file(tmp_path):
    pytest.importorskip("fcntl")
    first = PatternWriter(tmp_path / "p.npz", 5)
    with pytest.raises(InputError, match="another run is writing it"):
        PatternWriter(tmp_path / "p.npz", 5)
    first.close()
    PatternWriter(tmp_path / "p.npz", 5).close()


def test_equal_patterns_make_equal_files(tmp_path):
    for name in "ab":
        writer = PatternWriter(tmp_path / f"{name}.npz", 12)
        writer.write(pack(random_patterns(10, 12)))
        writer.finish(complete=True)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_bad_names_and_files_are_refused(tmp_path):
    (tmp_path / "folder.npz").mkdir()
    for name, message in [("p.npy", "ends in .npz"), ("folder.npz", "is a folder"), ("no/p.npz", "cannot be written")]:
        with pytest.raises(InputError, match=message):
            PatternWriter(tmp_path / name, 5)
    np.savez(tmp_path / "other.npz", a=np.ones(2))
    (tmp_path / "junk.npz").write_bytes(b"junk")
    np.savez(tmp_path / "shape.npz", patterns=np.zeros((3, 2), np.uint8), n_examples=99, complete=True, version="0")
    for name, message in [
        ("absent.npz", "no such file"),
        ("other.npz", "not a file of patterns"),
        ("junk.npz", "not a file of patterns"),
        ("shape.npz", "are not of 99 examples"),
    ]:
        with pytest.raises(InputError, match=message):
            load_patterns(tmp_path / name)
    writer = PatternWriter(tmp_path / "w.npz", 5)
    with pytest.raises(InputError, match="words"):
        writer.write(np.zeros((3, 2), np.uint64))
    writer.close()
