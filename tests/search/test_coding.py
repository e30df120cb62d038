"""Walks and traces as JSON text, to the last bit."""

from __future__ import annotations

import json

import numpy as np
import pytest

from zonofit.search.coding import decode, encode


def again(value):
    return decode(json.loads(json.dumps(encode(value), allow_nan=False)))


def test_arrays_come_back():
    rng = np.random.default_rng(0)
    for array in (
        rng.standard_normal((3, 4)), rng.random((2, 0, 5)) > 0.5, rng.random((4, 7)) > 0.5, np.arange(6).reshape(2, 3),
        np.array([np.inf, -np.inf, np.nan, -0.0, 5e-324, 1e308]), np.array(2.5), np.zeros(0), np.int32([1, 2]),
    ):  # fmt: skip
        found = again(array)
        assert found.shape == array.shape and found.dtype.kind == array.dtype.kind
        assert found.tobytes() == array.astype(found.dtype).tobytes()


def test_numbers_and_what_holds_them():
    value = {"a": [1, 2.5, None, True, "word", {"b": np.float64(0.1)}], "c": (np.int64(3), np.inf, np.bool_(False))}
    assert again(value) == {"a": [1, 2.5, None, True, "word", {"b": 0.1}], "c": [3, np.inf, False]}
    state = np.random.default_rng(5).bit_generator.state
    assert again(state) == state


def test_patterns_take_a_letter_a_bit():
    assert len(json.dumps(encode(np.zeros((50, 100), bool)))) < 5100


def test_what_is_no_data_is_refused():
    with pytest.raises(TypeError, match="object"):
        encode(np.array([None]))
