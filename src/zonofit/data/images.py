"""The paper's binary image tasks (App. H.2): two classes, whitened principal components, the first examples.

The arrays come with the package, 700 examples with 16 components for each task, so that everything runs without a
download. `prepare_images` makes them from the raw images.
"""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from zonofit.data.idx import FASHION, MNIST, RawImages, download_raw, read_raw
from zonofit.errors import InputError

__all__ = ["TASKS", "ImageTask", "load_images", "prepare_images"]

MOST_EXAMPLES, MOST_FEATURES = 700, 16
_WHITE = 255.0


@dataclass(frozen=True)
class ImageTask:
    """Two classes of a data set.

    Attributes
    ----------
    raw : RawImages
    classes : tuple of int
        Their labels; y = 1 stands for the second.
    title : str
    checksum : str
        SHA-256 of the file in the package.
    """

    raw: RawImages
    classes: tuple[int, int]
    title: str
    checksum: str


TASKS: dict[str, ImageTask] = {
    "mnist_49": ImageTask(
        MNIST, (4, 9), "MNIST 4/9", "70248926e5f50a1a2f9a47746fdf0301a613e76b4a28f8d64afac668812514b6"
    ),
    "mnist_59": ImageTask(
        MNIST, (5, 9), "MNIST 5/9", "8b55c4cf4d28c801d090ec0aa58444a3be7ca692ae6ca7e9d0773abb416e8bd4"
    ),
    "fashion_24": ImageTask(
        FASHION,
        (2, 4),
        "Fashion MNIST pullover/coat",
        "0b12b74e011a6fb3ecddae05f2998ab97467025a96ff7e25c80f04c568949e82",
    ),
}


def load_images(task: str, d: int = MOST_FEATURES, n_examples: int = MOST_EXAMPLES) -> tuple[np.ndarray, np.ndarray]:
    """One of the paper's image tasks (App. H.2).

    Parameters
    ----------
    task : {"mnist_49", "mnist_59", "fashion_24"}
        The paper's text speaks of the digits 5 and 9, its appendix of 4 and 9.
    d : int
        Whitened principal components, the first d of 16; the paper takes 8 and 16.
    n_examples : int
        The first N of 700 training examples, in their original order; the paper takes 350 and 700.

    Returns
    -------
    X, y : ndarray (N, d), (N,)
        Examples, and labels 0 and 1.
    """
    chosen = _task(task)
    for name, value, most in (("d", d, MOST_FEATURES), ("n_examples", n_examples, MOST_EXAMPLES)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 1 <= value <= most:
            raise InputError(f"{name}: {value!r} will not do; pass a whole number from 1 to {most}.")
    content = (files("zonofit.data") / f"{task}.npz").read_bytes()
    if hashlib.sha256(content).hexdigest() != chosen.checksum:
        raise InputError(f"{task}.npz: the file in the package is damaged; install zonofit again.")
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        X, y = arrays["X"], arrays["y"]
    return np.ascontiguousarray(X[:n_examples, :d]), y[:n_examples].astype(float)


def prepare_images(task: str, folder=None, *, download: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """The arrays of `load_images` from the raw images: 700 examples, 16 components, which are theirs up to sign.

    The components are those of all training examples of both classes.

    Parameters
    ----------
    task : {"mnist_49", "mnist_59", "fashion_24"}
    folder : str or Path, optional
        With the IDX files of the training split; by default a folder ``mnist`` or ``fashion-mnist`` in
        ``$ZONOFIT_DATA`` or in /usr/share/datasets.
    download : bool
        Take them from openml.org instead, through scikit-learn.

    Returns
    -------
    X, y : ndarray (700, 16), (700,)

    Raises
    ------
    InputError
        Also where the files are not the published ones.
    """
    chosen = _task(task)
    pixels, labels = download_raw(chosen.raw) if download else read_raw(chosen.raw, folder)
    mine = np.isin(labels, chosen.classes)
    X = whiten(pixels[mine] / _WHITE, MOST_FEATURES)
    return X[:MOST_EXAMPLES], (labels[mine][:MOST_EXAMPLES] == chosen.classes[1]).astype(float)


def whiten(examples, components: int) -> np.ndarray:
    """The first principal components (N, components) of examples (N, p), each of variance 1; their signs are arbitrary.

    With N far above p the eigenvectors of the covariance take a tenth of the time of a singular value decomposition,
    and the first components have the digits to spare that squaring costs.
    """
    from scipy.linalg import eigh

    X = np.asarray(examples, float)
    N, p = X.shape
    if not 1 <= components <= min(p, N - 1):
        raise InputError(f"components: {components} will not do; pass a number from 1 to {min(p, N - 1)}.")
    X = X - X.mean(axis=0)
    variances, directions = eigh(X.T @ X / (N - 1), subset_by_index=[p - components, p - 1])
    return np.ascontiguousarray((X @ directions / np.sqrt(variances))[:, ::-1])


def _task(name: str) -> ImageTask:
    if name not in TASKS:
        raise InputError(f"task: {name!r} is not one; choose one of {', '.join(TASKS)}.")
    return TASKS[name]
