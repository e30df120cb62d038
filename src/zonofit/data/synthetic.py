"""Synthetic data of appendix H.1: the labels are those of a random network."""

from __future__ import annotations

import numpy as np

from zonofit.errors import InputError


def synthetic(d: int, m_gen: int, rng=None) -> tuple[np.ndarray, np.ndarray]:
    """Standard normal examples with the labels of a random network of `m_gen` units (App. H.1).

    The network g(x) = v·max(0, W x̄) + c has standard normal v, W and c, so that m_gen units can fit every label.

    Parameters
    ----------
    d : int
        Features.
    m_gen : int
        Units of the network that makes the labels; there are N = (d + 1) m_gen examples.
    rng : numpy.random.Generator or int, optional
        Drawn from in this order: X, W, v, c.

    Returns
    -------
    X, y : ndarray (N, d), (N,)
    """
    for name, value in (("d", d), ("m_gen", m_gen)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
            raise InputError(f"{name}: {value!r} will not do; pass a whole number that is at least 1.")
    rng = np.random.default_rng(rng)
    N = (d + 1) * m_gen
    X = rng.standard_normal((N, d))
    W, v, c = rng.standard_normal((m_gen, d + 1)), rng.standard_normal(m_gen), rng.standard_normal()
    return X, np.maximum(np.c_[X, np.ones(N)] @ W.T, 0.0) @ v + c
