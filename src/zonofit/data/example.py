"""The bundled example: five examples in the plane, in general position, that the paper's Figure 1 is drawn from."""

from __future__ import annotations

import numpy as np


def load_example() -> np.ndarray:
    """Five examples (5, 2) in general position whose 16 chambers in the slice w₃ = 1 are all large enough to read.

    Every coordinate is a multiple of 1/4, so nothing is rounded. The arrangement has 2 (1 + 4 + 6) = 22 chambers; 16
    of them meet the slice.

    Returns
    -------
    ndarray (5, 2)
        A fresh array.
    """
    from importlib.resources import as_file, files

    from zonofit.data.tables import read_table

    with as_file(files("zonofit.data") / "example.csv") as path:
        return read_table(path).values
