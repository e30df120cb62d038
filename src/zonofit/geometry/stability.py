r"""Theorem 1: how far the examples may move before the zonotope changes, and whether two zonotopes are equal.

The patterns of a data set depend only on the signs of its n×n minors det X̄_S. While every example moves by at most ε,
X̄_S moves by at most √n ε in the spectral norm, so no minor reaches zero for

    ε < min_S σ_min(X̄_S) / √n,

a certified radius. The proof of Theorem 1 has ε < δ / 2N instead, where δ is the least over chambers of
max_{|w|=1} minᵢ |w·x̄ᵢ|. The best possible radius has a closed form too: the n examples of S can be moved onto one
hyperplane by moves of at most ε exactly when some w with unit feature part has |w·x̄ᵢ| ≤ ε on S, and for given signs
s of w·x̄ᵢ the least such ε is 1 / |features of X̄_S⁻¹ s|; so it is

    min_S min_{s ∈ {±1}ⁿ} 1 / |features of X̄_S⁻¹ s|.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from zonofit.errors import BudgetError, InputError
from zonofit.geometry.arrangement import Arrangement, as_points

if TYPE_CHECKING:
    from zonofit.geometry.membership import Membership

_EPS = float(np.finfo(float).eps)
_SIGNS_LIMIT = 20  # 2^(n-1) sign vectors are tried for a subset of n examples
_CHAMBERS = 20_000
