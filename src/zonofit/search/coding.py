"""Arrays and numbers in what JSON knows, and back, to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np

_KINDS = {"b": "bool", "i": "int64", "f": "float64"}


def encode(value: Any) -> Any:
    """JSON's types for arrays, NumPy numbers, infinities and NaN, tuples and dictionaries of these."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in _KINDS:
            raise TypeError(f"arrays of {value.dtype} are not written to JSON")
        if value.dtype.kind == "b":  # patterns: one letter a bit
            bits = "".join("1" if bit else "0" for bit in value.ravel().tolist())
            return {"array": bits, "shape": value.shape, "kind": "b"}
        return {"array": [encode(x) for x in value.ravel().tolist()], "shape": value.shape, "kind": value.dtype.kind}
    if isinstance(value, dict):
        return {key: encode(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [encode(entry) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return {"number": repr(value)}
    return value


def decode(value: Any) -> Any:
    """What `encode` was given; tuples come back as lists."""
    if isinstance(value, dict):
        if set(value) == {"array", "shape", "kind"}:
            entries = [x == "1" for x in value["array"]] if value["kind"] == "b" else map(decode, value["array"])
            flat = np.array(list(entries), dtype=_KINDS[value["kind"]])
            return flat.reshape([int(n) for n in value["shape"]])
        if set(value) == {"number"}:
            return float(value["number"])
        return {key: decode(entry) for key, entry in value.items()}
    return [decode(entry) for entry in value] if isinstance(value, list) else value
