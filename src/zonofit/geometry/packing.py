"""Bit-packed patterns: bit ``i % 64`` of word ``i // 64`` is the activation of example ``i``."""

from __future__ import annotations

import sys

import numpy as np

from zonofit.errors import InputError

WORD = 64


def n_words(n_bits: int) -> int:
    """Number of 64-bit words that hold `n_bits` bits."""
    return -(-n_bits // WORD)


def pack(patterns) -> np.ndarray:
    """Pack boolean patterns of shape ``(..., N)`` into uint64 words of shape ``(..., ceil(N / 64))``."""
    bits = np.ascontiguousarray(patterns, dtype=bool)
    words = n_words(bits.shape[-1])
    octets = np.zeros((*bits.shape[:-1], 8 * words), np.uint8)
    packed = np.packbits(bits, axis=-1, bitorder="little")
    octets[..., : packed.shape[-1]] = packed
    return _native(octets.view("<u8"))


def unpack(words, n_bits: int) -> np.ndarray:
    """Inverse of `pack`: booleans of shape ``(..., n_bits)``."""
    words = np.ascontiguousarray(words, dtype=np.uint64)
    if words.shape[-1] != n_words(n_bits):
        raise InputError(
            f"words: {words.shape[-1]} words cannot hold patterns of {n_bits} examples; "
            f"pass arrays whose last axis has {n_words(n_bits)} words."
        )
    octets = words.astype("<u8").view(np.uint8)
    return np.unpackbits(octets, axis=-1, count=n_bits, bitorder="little").astype(bool)


def mask(n_bits: int) -> np.ndarray:
    """Words with the first `n_bits` bits set: ``words ^ mask`` is the opposite pattern."""
    return pack(np.ones(n_bits, bool))


def _native(words: np.ndarray) -> np.ndarray:
    return words if sys.byteorder == "little" else words.astype(np.uint64)
