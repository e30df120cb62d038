"""Raw images in IDX files, plain or compressed, each checked before a number of it is used.

A checksum is that of the uncompressed file, so that it says the same of a plain file, a compressed one, and arrays
that came over the network, once they are written down as IDX would.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from zonofit.errors import InputError

_UNSIGNED_BYTES = 8  # the code of the only type of entry that these files have
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class RawImages:
    """The training split of a data set of images: where it may be, and how to know it.

    Attributes
    ----------
    name : str
        Also of the folder that is looked for in ``$ZONOFIT_DATA`` and in /usr/share/datasets.
    openml : str
        Name at openml.org.
    images, labels : str
        MD5 of the uncompressed IDX files, which is what their publishers give.
    """

    name: str
    openml: str
    images: str
    labels: str


MNIST = RawImages("mnist", "mnist_784", "6bbc9ace898e44ae57da46a324031adb", "a25bea736e30d166cdddb491f175f624")
FASHION = RawImages(
    "fashion-mnist", "Fashion-MNIST", "f4a8712d7a061bf5bd6d2ca38dc4d50a", "9018921c3c673c538a1fc5bad174d6f9"
)
_FILES = {"images": "train-images-idx3-ubyte", "labels": "train-labels-idx1-ubyte"}
_TRAINING = 60_000  # openml.org keeps both splits in one table, training examples first
_SIDE = 28  # pixels


def read_idx(path) -> np.ndarray:
    """The array of unsigned bytes in an IDX file, plain or compressed by gzip.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    ndarray of uint8
    """
    return _parse(Path(path), _content(Path(path)))


def find_raw(raw: RawImages, folder=None) -> Path | None:
    """The folder with the IDX files of a data set, or None.

    Parameters
    ----------
    raw : RawImages
    folder : str or Path, optional
        Where to look; by default ``$ZONOFIT_DATA/NAME``, then /usr/share/datasets/NAME.
    """
    if folder is not None:
        places = [Path(folder)]
    else:
        own = os.environ.get("ZONOFIT_DATA")
        places = [Path(own) / raw.name] if own else []
        places.append(Path("/usr/share/datasets") / raw.name)
    return next((place for place in places if all(_file(place, kind) is not None for kind in _FILES)), None)


def read_raw(raw: RawImages, folder=None) -> tuple[np.ndarray, np.ndarray]:
    """Pixels (N, 784) and labels (N,) of the training split, in their original order.

    Parameters
    ----------
    raw : RawImages
    folder : str or Path, optional
        As for `find_raw`.

    Raises
    ------
    InputError
        Where there are no files, or others than the published ones.
    """
    place = find_raw(raw, folder)
    if place is None:
        where = f"{folder} has not both" if folder is not None else f"no folder {raw.name} has both"
        raise InputError(
            f"folder: {where} {_FILES['images']} and {_FILES['labels']}, plain or .gz; "
            f"pass the folder that has them, or download=True."
        )
    arrays = []
    for kind, expected in (("images", raw.images), ("labels", raw.labels)):
        path = _file(place, kind)
        assert path is not None
        content = _content(path)
        _check(str(path), content, expected)
        arrays.append(_parse(path, content))
    return arrays[0].reshape(len(arrays[0]), -1), arrays[1]


def download_raw(raw: RawImages) -> tuple[np.ndarray, np.ndarray]:
    """The same from openml.org, through scikit-learn, which keeps a copy of what it has downloaded."""
    from sklearn.datasets import fetch_openml

    found = fetch_openml(raw.openml, version=1, as_frame=False, parser="liac-arff")
    pixels = np.asarray(found.data, float)[:_TRAINING].astype(np.uint8)
    labels = np.asarray(found.target)[:_TRAINING].astype(np.uint8)
    # the order of the examples decides which 700 are taken: only the published order has the published checksum
    _check(f"openml.org, {raw.openml}", _as_idx(pixels.reshape(-1, _SIDE, _SIDE)), raw.images)
    _check(f"openml.org, {raw.openml}", _as_idx(labels), raw.labels)
    return pixels, labels


def _file(folder: Path, kind: str) -> Path | None:
    name = _FILES[kind]
    names = [name, name + ".gz", name.replace("-idx", ".idx"), name.replace("-idx", ".idx") + ".gz"]
    return next((folder / one for one in names if (folder / one).is_file()), None)


def _content(path: Path) -> bytes:
    data = path.read_bytes()
    if not data.startswith(_GZIP):
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path}: is damaged ({error}); fetch it again.") from None


def _check(name: str, content: bytes, expected: str) -> None:
    found = hashlib.md5(content, usedforsecurity=False).hexdigest()
    if found != expected:
        raise InputError(f"{name}: has the checksum {found} and not {expected}; fetch the published file again.")


def _parse(path: Path, content: bytes) -> np.ndarray:
    rank = content[3] if len(content) >= 4 else 0
    begin = 4 + 4 * rank
    if content[:3] != bytes([0, 0, _UNSIGNED_BYTES]) or rank == 0 or len(content) < begin:
        raise InputError(f"{path}: is no IDX file of unsigned bytes; pass the file as it was published.")
    shape = struct.unpack(f">{rank}I", content[4:begin])
    entries = np.frombuffer(content, np.uint8, offset=begin)
    if entries.size != int(np.prod(shape, dtype=object)):
        raise InputError(f"{path}: holds {entries.size} bytes, not the {shape} that it announces; fetch it again.")
    return entries.reshape(shape)


def _as_idx(array: np.ndarray) -> bytes:
    head = bytes([0, 0, _UNSIGNED_BYTES, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return head + np.ascontiguousarray(array).tobytes()
