"""
Random units
============

Section 4.2: how many random units have independent activations.
"""

# %%
# Twenty-four examples. Solid, W is frozen: no fewer than N units can be independent. Dashed, W is free within its
# chambers: no fewer than N / (d + 1) can.

import numpy as np

from zonofit import Arrangement
from zonofit.plots.theorems import independence_figure
from zonofit.theory.overparameterisation import independence

N = 24
widths = sorted({*range(1, 3 * N, 2), *np.unique(np.geomspace(3 * N, 12 * N, 12).astype(int)).tolist(), N})
found = {}
for d in (1, 2, 8):
    arrangement = Arrangement.from_examples(np.random.default_rng(0).standard_normal((N, d)))
    found[f"d = {d}"] = independence(arrangement, widths, draws=100, rng=1)
    print(f"d = {d}: {found[f'd = {d}'].least_free} units at least with W free, {N} with W frozen")

figure = independence_figure(found)
