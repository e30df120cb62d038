"""
Random units and random vertices
================================

Section 4.2: how many random units have independent activations, and what random vertices leave of the loss.
"""

# %%
# Twenty-four examples. Solid, W is frozen: no fewer than N units can be independent. Dashed, W is free within its
# chambers: no fewer than N / (d + 1) can.

import numpy as np

from zonofit import Arrangement
from zonofit.plots.theorems import overparameterisation_figure
from zonofit.theory.overparameterisation import TABLE_A1, independence, loss_of_random_vertices

N = 24
widths = sorted({*range(1, 3 * N, 2), *np.unique(np.geomspace(3 * N, 12 * N, 12).astype(int)).tolist(), N})
found = {}
for d in (1, 2, 8):
    arrangement = Arrangement.from_examples(np.random.default_rng(0).standard_normal((N, d)))
    found[f"d = {d}"] = independence(arrangement, widths, draws=100, rng=1)

# %%
# The paper's synthetic data with d = 8 and m_gen = 8, and the losses of random vertices, eight runs for each width.

rng = np.random.default_rng(0)
X = rng.standard_normal((72, 8))
W, v, c = rng.standard_normal((8, 9)), rng.standard_normal(8), rng.standard_normal()
y = np.maximum(np.c_[X, np.ones(72)] @ W.T, 0) @ v + c
units = list(TABLE_A1)
ours = {
    "random vertex, signs drawn": np.median(loss_of_random_vertices(X, y, units, runs=8), axis=0),
    "output weights first": np.median(loss_of_random_vertices(X, y, units, runs=8, output_first=True), axis=0),
}
for name, losses in ours.items():
    print(f"{name:>26}:", ", ".join(f"{loss:.1e} (m = {m})" for m, loss in zip(units, losses, strict=True)))
heads = ("paper: gradient descent", "paper: “Random Vertex”", "paper: “GLS”")
columns = {head: [np.nan if row[k] is None else row[k] for row in TABLE_A1.values()] for k, head in enumerate(heads)}
figure = overparameterisation_figure(found, units, ours | columns)
