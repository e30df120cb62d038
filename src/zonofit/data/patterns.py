"""Files of patterns: written block by block, and never more of them in memory than one block.

While an enumeration runs, its patterns go to ``NAME.npz.part``: nothing but ceil(N / 8) bytes a pattern, bit i % 8 of
byte i // 8 being the activation of example i. At the end, or when it is interrupted, they become ``NAME.npz``, a plain
archive that `numpy.load` reads, with arrays ``patterns`` (V, ceil(N / 8)), ``n_examples``, ``complete`` and
``version``. What a killed run leaves is the .part file, which `load_patterns` reads too.
"""

from __future__ import annotations

import os
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from zonofit import __version__
from zonofit.errors import InputError
from zonofit.geometry.packing import n_words

COPY = 1 << 22


class PatternWriter:
    """Writes blocks of packed patterns to ``path + ".part"``, and the archive at the end.

    Parameters
    ----------
    path : str or Path
        Name of the archive, ending in ``.npz``.
    n_examples : int
        Number of bits of a pattern.

    Attributes
    ----------
    part : Path
        The file that grows.
    n_patterns : int
        Patterns written so far.
    leftover : str
        What an earlier run had left in `part` (now written over), in one sentence; empty when nothing.
    """

    def __init__(self, path, n_examples: int):
        self.path = Path(path)
        if self.path.suffix.lower() != ".npz":
            raise InputError(f"{self.path}: patterns are written to a NumPy archive; pass a name that ends in .npz.")
        if self.path.is_dir():
            raise InputError(f"{self.path}: is a folder; pass the name of a file.")
        self.part = self.path.with_name(self.path.name + ".part")
        self.n_examples = n_examples
        self.octets = -(-n_examples // 8)
        self.n_patterns = 0
        try:
            self._file = open(self.part, "ab")
        except OSError as error:
            raise InputError(f"{self.part}: cannot be written ({error.strerror}); pass another --out.") from None
        if not _lock(self._file):
            self._file.close()
            raise InputError(f"{self.part}: another run is writing it; wait for it or pass another name.")
        size = os.fstat(self._file.fileno()).st_size
        self.leftover = ""
        if size:
            self.leftover = (
                f"{self.part} held {size:,} bytes, {size // self.octets:,} patterns if they were of {n_examples} "
                "examples, left by a run that did not finish; they are written over."
            )
        self._file.truncate(0)

    def write(self, words: np.ndarray) -> None:
        """Append packed patterns, uint64 words of shape (B, ceil(N / 64))."""
        if words.shape[-1] != n_words(self.n_examples):
            raise InputError(f"words: blocks of {self.n_examples} examples have {n_words(self.n_examples)} words.")
        octets = np.ascontiguousarray(words, dtype="<u8").view(np.uint8)[:, : self.octets]
        self._file.write(np.ascontiguousarray(octets).data)
        self.n_patterns += len(words)

    def finish(self, *, complete: bool) -> Path:
        """Turn the .part file into the archive and return its path.

        An incomplete enumeration does not replace an archive that is there already: its patterns stay in the .part
        file, whose path is returned.
        """
        self._file.flush()
        # an interrupt may have cut a block in two
        self.n_patterns = os.fstat(self._file.fileno()).st_size // self.octets
        self._file.truncate(self.n_patterns * self.octets)
        if not complete and self.path.exists():
            self.close()
            return self.part
        growing = self.path.with_name(self.path.name + ".tmp")
        try:
            with zipfile.ZipFile(growing, "w", zipfile.ZIP_STORED) as archive:
                _add(archive, "n_examples", np.asarray(self.n_examples))
                _add(archive, "complete", np.asarray(complete))
                _add(archive, "version", np.asarray(__version__))
                with _member(archive, "patterns") as member, open(self.part, "rb") as part:
                    header = {"descr": "|u1", "fortran_order": False, "shape": (self.n_patterns, self.octets)}
                    np.lib.format.write_array_header_1_0(member, header)
                    shutil.copyfileobj(part, member, COPY)
            os.replace(growing, self.path)
        except OSError as error:
            raise InputError(
                f"{self.path}: cannot be written ({error.strerror or error}); the patterns are in {self.part}."
            ) from None
        finally:
            growing.unlink(missing_ok=True)
        self.close()
        self.part.unlink()
        return self.path

    def close(self) -> None:
        """Close the .part file and leave it where it is."""
        self._file.close()


class Patterns:
    """Patterns of a file, mapped into memory rather than read.

    Attributes
    ----------
    packed : ndarray (V, ceil(N / 8)) of uint8
        Bit i % 8 of byte i // 8 is the activation of example i.
    n_examples : int
        N.
    complete : bool
        Whether the enumeration came to its end.
    version : str
        Version of zonofit that wrote the file; empty for a .part file.
    """

    def __init__(self, packed: np.ndarray, n_examples: int, complete: bool, version: str):
        self.packed = packed
        self.n_examples = n_examples
        self.complete = complete
        self.version = version

    def __len__(self) -> int:
        return len(self.packed)

    def __repr__(self) -> str:
        state = "" if self.complete else ", complete=False"
        return f"Patterns({len(self):,} of {self.n_examples} examples{state})"

    def bits(self, rows=slice(None)) -> np.ndarray:
        """Boolean patterns (len(rows), N)."""
        octets = np.ascontiguousarray(self.packed[rows])
        return np.unpackbits(octets, axis=-1, count=self.n_examples, bitorder="little").astype(bool)

    def blocks(self, block_size: int = 65536) -> Iterator[np.ndarray]:
        """Boolean patterns, `block_size` at a time."""
        for start in range(0, len(self), block_size):
            yield self.bits(slice(start, start + block_size))


def load_patterns(path, *, n_examples: int | None = None) -> Patterns:
    """Open a file that ``zonofit chambers --out`` wrote.

    Parameters
    ----------
    path : str or Path
        The ``.npz`` archive, or the ``.npz.part`` file of a run that was killed.
    n_examples : int, optional
        Number of examples; needed for a ``.part`` file, which holds nothing but patterns.

    Returns
    -------
    Patterns
        Mapped, so that opening a large file costs nothing.
    """
    path = Path(path)
    try:
        if path.suffix == ".part":
            return _load_part(path, n_examples)
        with zipfile.ZipFile(path) as archive:
            count, complete, version = (_read(archive, name) for name in ("n_examples", "complete", "version"))
            packed = _map(path, archive, "patterns")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; check the name and the folder.") from None
    except (OSError, KeyError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: not a file of patterns ({error}); write it with zonofit chambers --out.") from None
    n_examples = int(count)
    if packed.dtype != np.uint8 or packed.ndim != 2 or packed.shape[1] != -(-n_examples // 8):
        raise InputError(f"{path}: patterns of shape {packed.shape} are not of {n_examples} examples; write it again.")
    return Patterns(packed, n_examples, bool(complete), str(version))


def _load_part(path: Path, n_examples: int | None) -> Patterns:
    if n_examples is None or n_examples < 1:
        raise InputError(f"n_examples: {path} does not say of how many examples its patterns are; pass their number.")
    octets = -(-n_examples // 8)
    count = path.stat().st_size // octets
    packed = np.memmap(path, np.uint8, "r", shape=(count, octets)) if count else np.zeros((0, octets), np.uint8)
    return Patterns(packed, n_examples, False, "")


def _map(path: Path, archive: zipfile.ZipFile, name: str) -> np.ndarray:
    info = archive.getinfo(f"{name}.npy")
    if info.compress_type != zipfile.ZIP_STORED:
        return _read(archive, name)
    with open(path, "rb") as file:
        # the length of the local header's extra field differs from that in the directory, so it is read here
        file.seek(info.header_offset + 26)
        lengths = np.frombuffer(file.read(4), "<u2")
        file.seek(int(lengths.sum()), os.SEEK_CUR)
        np.lib.format.read_magic(file)
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        if 0 in shape:
            return np.zeros(shape, dtype)
        return np.memmap(path, dtype, "r", file.tell(), shape)


def _read(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    with archive.open(f"{name}.npy") as member:
        return np.lib.format.read_array(member, allow_pickle=False)


def _add(archive: zipfile.ZipFile, name: str, array: np.ndarray) -> None:
    with _member(archive, name) as member:
        np.lib.format.write_array(member, array, allow_pickle=False)


def _member(archive: zipfile.ZipFile, name: str):
    # a fixed date makes equal patterns equal files
    return archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True)


def _lock(file) -> bool:
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
