"""Slow, readable twins and independent oracles; nothing here shares code with what it checks."""

from __future__ import annotations

import math
from itertools import product

import numpy as np


def cover_count(n_generators: int, dimension: int) -> int:
    """Cover's number of chambers of generators in general position."""
    return 2 * sum(math.comb(n_generators - 1, k) for k in range(dimension))


def cube(d: int) -> np.ndarray:
    """Vertices of {0,1}^d, with the bias appended: 4, 14, 104, 1882, 94572, 15028134 chambers for d = 1..6."""
    return np.c_[np.array(list(product([0, 1], repeat=d)), float), np.ones(2**d)]


def resonance(n: int) -> np.ndarray:
    """The resonance arrangement: all non-zero 0/1 vectors; 2, 6, 32, 370, 11292, 1066044 chambers for n = 1..6."""
    return np.array([x for x in product([0, 1], repeat=n) if any(x)], float)


def small_instances() -> list[np.ndarray]:
    """220 arrangements, a third drawn from continuous laws, the others with every kind of degeneracy."""
    instances = []
    rng = np.random.default_rng(7)
    for trial in range(220):
        n = int(rng.integers(1, 5))
        N = int(rng.integers(1, 9))
        kind = trial % 6
        if kind == 0:
            G = rng.standard_normal((N, n))
        elif kind == 1:
            G = np.c_[rng.standard_normal((N, max(1, n - 1))), np.ones(N)]
        elif kind == 2:
            G = rng.integers(0, 2, (N, n)).astype(float)
        elif kind == 3:
            G = np.c_[rng.integers(-1, 2, (N, max(1, n - 1))), np.ones(N)].astype(float)
        elif kind == 4:
            G = rng.integers(-2, 3, (N, n)) * rng.choice([1e-6, 1.0, 1e6], N)[:, None]
        else:
            base = rng.standard_normal((max(1, n - 1), n))
            G = rng.integers(-1, 2, (N, len(base))) @ base
        instances.append(G.astype(float))
    return instances


def count_by_restriction(rows) -> int:
    """Chambers of integer generators, exactly: each adds the chambers of those before it on its own hyperplane."""
    lines: list[tuple[int, ...]] = []
    for row in rows:
        if common := math.gcd(*row):
            first = next(x for x in row if x)
            line = tuple(x // common * (1 if first > 0 else -1) for x in row)
            if line not in lines:
                lines.append(line)
    total = 1
    for j, g in enumerate(lines):
        m = next(i for i, x in enumerate(g) if x)
        total += count_by_restriction([[h[i] * g[m] - h[m] * g[i] for i in range(len(g)) if i != m] for h in lines[:j]])
    return total


class FeasibilityLP:
    """max t with s_i g_i·w >= t for the generators fixed so far, -1 <= w <= 1, t <= 1; by HiGHS."""

    def __init__(self, generators: np.ndarray):
        import highspy

        self.rows = generators / np.linalg.norm(generators, axis=1)[:, None]
        n = self.rows.shape[1]
        self.model = highspy.Highs()
        self.model.setOptionValue("output_flag", False)
        self.infinity = highspy.kHighsInf
        for _ in range(n):
            self.model.addVar(-1.0, 1.0)
        self.model.addVar(-1.0, 1.0)
        self.model.changeColCost(n, -1.0)
        self.index = np.arange(n + 1, dtype=np.int32)

    def push(self, i: int, sign: float) -> float:
        """Add the constraint of generator i and return the best margin."""
        self.model.addRow(0.0, self.infinity, len(self.index), self.index, np.append(sign * self.rows[i], -1.0))
        self.model.run()
        return self.model.getSolution().col_value[-1]

    def pop(self) -> None:
        """Take the last constraint back."""
        self.model.deleteRows(1, np.array([self.model.getNumRow() - 1], dtype=np.int32))


def chambers_by_lp(generators: np.ndarray, margin: float = 1e-7) -> set[tuple[bool, ...]]:
    """Every pattern, by a tree over the generators with one linear program a node."""
    generators = np.asarray(generators, float)
    live = np.flatnonzero(np.any(generators != 0, axis=1))
    lp = FeasibilityLP(generators[live]) if len(live) else None
    pattern = np.zeros(len(generators), bool)
    found: set[tuple[bool, ...]] = set()

    def visit(depth: int) -> None:
        if depth == len(live):
            found.add(tuple(pattern.tolist()))
            return
        for bit in (False, True):
            pattern[live[depth]] = bit
            if lp.push(depth, 1.0 if bit else -1.0) > margin:
                visit(depth + 1)
            lp.pop()

    visit(0)
    return found


def chambers_by_bijection(generators: np.ndarray) -> set[tuple[bool, ...]]:
    """Every pattern of unit, pairwise non-parallel generators of full rank, by the readable form of the bijection."""
    from itertools import combinations

    from zonofit.geometry.bijection import chamber_of_subset, frame_coordinates

    coordinates, _ = frame_coordinates(generators)
    M, n = coordinates.shape
    found: set[tuple[bool, ...]] = set()
    for k in range(n):
        for subset in combinations(range(M - 1), k):
            signs = chamber_of_subset(coordinates, subset, 1e-9)
            if signs is not None:
                for row in (signs > 0, signs < 0):
                    pattern = tuple(row.tolist())
                    assert pattern not in found, "two subsets name one chamber"
                    found.add(pattern)
    return found
