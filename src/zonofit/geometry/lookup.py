"""A set of bit-packed patterns in lexicographic order, searched many at a time."""

from __future__ import annotations

import numpy as np

from zonofit.errors import InputError

_REVERSED = np.packbits(np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)[:, ::-1], axis=1)[:, 0]


def pattern_keys(words: np.ndarray) -> np.ndarray:
    """One comparable scalar per row of packed patterns (V, W), ordered as the bits are, bit 0 first."""
    octets = _REVERSED[np.ascontiguousarray(words).astype("<u8").view(np.uint8)]
    if octets.shape[-1] == 8:
        return octets.view(">u8")[..., 0].astype(np.uint64)
    return octets.view(f"S{octets.shape[-1]}")[..., 0]


class PatternSet:
    """Distinct patterns, sorted lexicographically.

    Parameters
    ----------
    words : ndarray of uint64 (V, W)
        Patterns packed as by `zonofit.geometry.packing.pack`, in any order, each once.

    Attributes
    ----------
    words : ndarray of uint64 (V, W)
        The same rows, sorted.
    """

    def __init__(self, words: np.ndarray):
        keys = pattern_keys(words)
        order = np.argsort(keys)
        self.words = words[order]
        self._keys = keys[order]
        if len(keys) > 1 and np.any(self._keys[1:] == self._keys[:-1]):
            raise InputError("words: some pattern appears twice; pass each once.")

    def __len__(self) -> int:
        """Count the patterns."""
        return len(self._keys)

    def find(self, words: np.ndarray) -> np.ndarray:
        """Place of each packed pattern (..., W) in the sorted order, -1 for those that are not in the set."""
        keys = pattern_keys(words)
        place = np.minimum(np.searchsorted(self._keys, keys), len(self) - 1)
        return np.where(self._keys[place] == keys, place, -1)
