"""What one more unit would gain, for many units: kernel of `zonofit.programs.proposals`.

One pass over the examples a unit, so that a unit's predictions stay in the cache; and, unlike a matrix product of a
library, the same sums in the same order whatever the number of threads, so that the same seed takes the same path.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from zonofit.programs._frame_kernel import KERNEL, apply, dot, sum_of, weighted


@njit(**KERNEL)
def rate(XT, U, h, nu, centred, pull, spread):
    """``Σ ν φ`` and ``Σ h φ²`` of the units ``φ = max(0, u·x)``, the second about the weighted mean if `centred`."""
    line = np.empty(h.size)
    total = sum_of(h)
    for k in range(U.shape[0]):
        apply(XT, U[k], line)
        for i in range(h.size):
            line[i] = max(line[i], 0.0)
        pull[k] = dot(line, nu)
        spread[k] = weighted(h, line, line)
        if centred:
            s = dot(line, h)
            spread[k] -= s * s / total
