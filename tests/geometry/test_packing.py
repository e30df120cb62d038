"""Bits in words and back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zonofit.errors import InputError
from zonofit.geometry.packing import mask, n_words, pack, unpack


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(0, 5), st.integers(0, 200), st.randoms(use_true_random=False))
def test_round_trip(rows, bits, random):
    patterns = np.array([[random.random() < 0.5 for _ in range(bits)] for _ in range(rows)], bool).reshape(rows, bits)
    words = pack(patterns)
    assert words.shape == (rows, n_words(bits)) and words.dtype == np.uint64
    assert np.array_equal(unpack(words, bits), patterns)
    assert np.array_equal(unpack(words ^ mask(bits), bits), ~patterns)


def test_bit_i_is_in_word_i_over_64():
    pattern = np.zeros(130, bool)
    pattern[[0, 63, 64, 129]] = True
    assert pack(pattern).tolist() == [1 + (1 << 63), 1, 2]


def test_wrong_width_is_named():
    with pytest.raises(InputError, match="words"):
        unpack(np.zeros((3, 2), np.uint64), 64)
