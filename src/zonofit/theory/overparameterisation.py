r"""Section 4.2: why many units make training easy. Random features, and the loss of a random vertex.

With W frozen the predictions are linear in the output weights, with the features H = max(0, X̄ Wᵀ). They fit any
labels as soon as the N rows of H are linearly independent, which takes m >= N units at least; "the probability of this
approaches 1". With W free within its chambers the features are the columns of all aⱼ ⊙ X̄, and ⌈N/n⌉ units may do.

Over the weights of given chambers, the rank of H has its largest value but for a set of measure zero, because the
minors are polynomials in W: so it depends on the patterns alone, as the paper says, and one draw of W tells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from zonofit.errors import InputError
from zonofit.tolerances import DEFAULT_TOLERANCES, Tolerances

if TYPE_CHECKING:
    from zonofit.geometry.arrangement import Arrangement

__all__ = [
    "TABLE_A1",
    "TABLE_A2",
    "Independence",
    "accuracy_of_random_vertices",
    "feature_rank",
    "independence",
    "loss_of_random_vertices",
    "vertex_rank",
]

TABLE_A1: dict[int, tuple[float | None, float | None, float | None]] = {
    8: (7.47e-03, 2.45e-02, 3.67e00),
    12: (7.30e-12, 1.69e-04, None),
    16: (5.83e-13, 2.07e-06, 1.77e00),
    32: (None, 8.01e-08, 3.09e-12),
    64: (None, 2.43e-08, 3.15e-13),
}
"""Of the paper, for d = 8 and m_gen = 8: units, and medians of the columns gradient descent, random vertex and GLS."""

TABLE_A2: dict[int, tuple[float, float]] = {
    4: (84.3, 64.8),
    8: (89.1, 68.4),
    16: (93.9, 75.7),
    32: (97.8, 81.4),
    64: (100.0, 85.6),
}
"""Of the paper, Fashion MNIST, d = 16, N = 700: units, and accuracies in % of gradient descent and random vertices."""


@dataclass(frozen=True, eq=False)
class Independence:
    """How often random units have independent activations.

    Attributes
    ----------
    widths : ndarray (K,)
    frozen : ndarray (K,)
        Share of the draws in which the N rows of H are independent.
    free : ndarray (K,)
        The same of the features of the vertex, W free within its chambers.
    dead : ndarray (K,)
        Share of the draws in which some example is active in no unit.
    draws : int
    n_examples, dimension : int
        N and n.
    """

    widths: np.ndarray
    frozen: np.ndarray
    free: np.ndarray
    dead: np.ndarray
    draws: int
    n_examples: int
    dimension: int

    @property
    def least_frozen(self) -> int:
        """N units, fewer than which never do with W frozen."""
        return self.n_examples

    @property
    def least_free(self) -> int:
        """⌈N/n⌉ units, fewer than which never do with W free."""
        return -(-self.n_examples // self.dimension)


def feature_rank(generators, W, tolerances: Tolerances = DEFAULT_TOLERANCES) -> int:
    """Rank of H = max(0, X̄ Wᵀ) for generators (N, n) and weights (m, n)."""
    H = np.maximum(np.asarray(generators, float) @ np.asarray(W, float).T, 0.0)
    size = np.linalg.norm(H, axis=0)
    return int(np.linalg.matrix_rank(H / np.where(size > 0, size, 1.0), rtol=tolerances.rank))


def vertex_rank(generators, patterns, tolerances: Tolerances = DEFAULT_TOLERANCES) -> int:
    """Dimension of the predictions that weights with these patterns (m, N) have, were the signs of no concern."""
    G = np.asarray(generators, float)
    columns = np.concatenate([np.where(a[:, None], G, 0.0) for a in np.asarray(patterns, bool)], axis=1)
    return int(np.linalg.matrix_rank(columns, rtol=tolerances.rank))


def independence(
    arrangement: Arrangement,
    widths: Sequence[int],
    *,
    draws: int = 100,
    rng=None,
    tolerances: Tolerances = DEFAULT_TOLERANCES,
) -> Independence:
    """How often m Gaussian units have independent activations, for each m of `widths`.

    A draw adds units one after another, so that the curves never fall.
    """
    sizes = _widths(widths)
    if draws < 1:
        raise InputError(f"draws: {draws} will not do; pass at least 1.")
    rng = np.random.default_rng(rng)
    G = arrangement.generators
    N, n = G.shape
    counts = np.zeros((3, len(sizes)), np.int64)
    for _ in range(draws):
        drawn = arrangement.sample(int(sizes[-1]), rng)
        done = [False, False]
        for k, m in enumerate(sizes.tolist()):
            patterns = drawn.patterns[:m]
            dead = not np.all(np.any(patterns, axis=0))
            done[0] = done[0] or (m >= N and not dead and feature_rank(G, drawn.witnesses[:m], tolerances) == N)
            done[1] = done[1] or (m * n >= N and not dead and vertex_rank(G, patterns, tolerances) == N)
            counts[:, k] += *done, dead
    frozen, free, dead_share = counts / draws
    return Independence(sizes, frozen, free, dead_share, draws, N, n)


def loss_of_random_vertices(
    X, y, widths: Sequence[int], *, runs: int = 16, seed: int = 0, output_first: bool = False
) -> np.ndarray:
    """Mean squared error (runs, K) of random vertices with m units, for each m of `widths` (Figure 2, left).

    Output weights and W are trained in turn, as in appendix H.1.

    Parameters
    ----------
    X, y : array_like (N, d), (N,)
    widths : sequence of int
    runs : int
    output_first : bool
        Begin with the output weights that are best for the W drawn. Appendix H.1 draws 1 or -1 for each, which the
        training of W and of output weights in turn never changes.
    """
    from zonofit.programs.problem import Problem
    from zonofit.search.budget import Budget
    from zonofit.search.random_vertex import RandomVertex
    from zonofit.search.runner import run

    search = RandomVertex(starts=1, alternate=True, output_first=output_first)
    found = [
        [run(search, Problem(X, y, int(m)), budget=Budget(moves=1), seed=seed + k).loss for m in _widths(widths)]
        for k in range(runs)
    ]
    return np.array(found)


def accuracy_of_random_vertices(X, y, widths: Sequence[int], *, runs: int = 16, seed: int = 0) -> np.ndarray:
    """Share (runs, K) of examples that random vertices of the logistic loss classify right (Figure 2, right).

    Parameters
    ----------
    X, y : array_like (N, d), (N,)
        Labels 0 and 1.
    widths : sequence of int
    runs : int
    """
    from zonofit.programs.problem import Problem
    from zonofit.search.budget import Budget
    from zonofit.search.random_vertex import RandomVertex
    from zonofit.search.runner import run

    found = np.zeros((runs, len(_widths(widths))))
    for k, m in enumerate(widths):
        problem = Problem(X, y, int(m), loss="logistic")
        for r in range(runs):
            trace = run(RandomVertex(starts=1), problem, budget=Budget(moves=1), seed=seed + r)
            found[r, k] = np.mean((problem.predict(trace.W, trace.c) > 0) == (problem.labels > 0.5))
    return found


def _widths(widths) -> np.ndarray:
    array = np.asarray(widths)
    if (
        array.ndim != 1
        or len(array) == 0
        or array.dtype.kind not in "iu"
        or array[0] < 1
        or np.any(np.diff(array) <= 0)
    ):
        raise InputError("widths: pass numbers of units, at least 1 and increasing.")
    return array
