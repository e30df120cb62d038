"""Binary tables: .npy, .npz with one array, and Parquet."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from zonofit.data.table import Table, default_names, positions, refuse_non_finite, show
from zonofit.errors import InputError


def read_array(path: Path, columns) -> Table:
    """The table in an .npy file, or in an .npz file with one array."""
    try:
        with open(path, "rb") as file:
            array = np.load(file, allow_pickle=False)
            if isinstance(array, np.lib.npyio.NpzFile):
                if len(array.files) != 1:
                    held = ", ".join(array.files[:8]) or "none"
                    raise InputError(
                        f"{path}: holds {len(array.files)} arrays ({held}); save the table alone, as .npy."
                    )
                array = array[array.files[0]]
    except InputError:
        raise
    except FileNotFoundError:
        raise
    except Exception as error:  # np.load raises ValueError, EOFError, BadZipFile, SyntaxError, ... on junk
        # what is no array at all is taken for a pickle by np.load
        objects = "Object arrays" in str(error)
        reason = "holds Python objects, which are not read" if objects else "damaged or not a NumPy file"
        raise InputError(f"{path}: {reason}; save the table with numpy.save as an array of numbers.") from None
    if array.dtype.kind not in "biuf":
        raise InputError(f"{path}: holds values of type {array.dtype}, not real numbers; convert them to floats.")
    if array.ndim != 2:
        raise InputError(f"{path}: has shape {array.shape}; reshape it to (N, d), one example a row.")
    if 0 in array.shape:
        raise InputError(f"{path}: the table of shape {array.shape} is empty; save at least one row and one column.")
    names = default_names(array.shape[1])
    keep = positions(path, names, columns)
    values = np.ascontiguousarray(array[:, keep], dtype=float)
    names = tuple(names[j] for j in keep)
    refuse_non_finite(path, values, names, keep)
    return Table(names, values, False)


def read_parquet(path: Path, columns) -> Table:
    """The numeric columns of a Parquet file."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise InputError(
            f'{path}: reading Parquet needs pyarrow; run `pip install "zonofit[parquet]"`, or save the table as CSV.'
        ) from None
    try:
        with open(path, "rb") as file:
            table = pq.read_table(file)
    except pa.ArrowException as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{path}: not a readable Parquet file ({show(reason)}); write it again.") from None
    table = table.select([name for name in table.column_names if not name.startswith("__index_level_")])
    names = tuple(table.column_names)
    keep = positions(path, names, columns)
    if table.num_rows == 0 or not keep:
        raise InputError(f"{path}: the table is empty; write at least one row and one column.")
    data = []
    for j in keep:
        column = table.column(j)
        kind = column.type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
            raise InputError(
                f"{path}: column {j + 1} ({names[j]}) holds values of type {kind}, not numbers; "
                "encode it as numbers or leave it out."
            )
        if column.null_count:
            row = int(np.argmax(column.is_null().to_numpy()))
            raise InputError(
                f"{path}: row {row + 1}, column {j + 1} ({names[j]}): a value is missing; drop the row or fill it."
            )
        data.append(column.to_numpy().astype(float))
    values = np.ascontiguousarray(np.stack(data, axis=1))
    kept = tuple(names[j] for j in keep)
    refuse_non_finite(path, values, kept, keep)
    return Table(kept, values, True)
