"""
Gaussian and uniform chambers
=============================

A Gaussian w, the paper's way to start, finds a chamber with the probability of its solid angle.
Drawn uniformly from the list of all chambers, most are narrow and have fewer walls.
"""

# %%
# Thirty examples in four dimensions, and 300 chambers drawn in either way.

import numpy as np
from matplotlib import pyplot as plt

from zonofit import Arrangement

rng = np.random.default_rng(0)
arrangement = Arrangement.from_examples(rng.standard_normal((30, 4)))
print(f"{arrangement.n_chambers():,} chambers")

walls = {}
for how in ("gaussian", "uniform"):
    patterns = arrangement.sample(300, rng, how=how).patterns
    walls[how] = [len(arrangement.walls(pattern)) for pattern in patterns]
    print(f"{how:>8}: {np.mean(walls[how]):.1f} walls on average")

# %%
# The walls of a chamber are its neighbours, so a search that starts from Gaussian weights has more
# moves to choose from than one that starts anywhere.

figure, axes = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
bins = np.arange(3.5, max(map(max, walls.values())) + 1.5)
for (how, counts), colour in zip(walls.items(), ("#0072B2", "#E69F00"), strict=True):
    axes.hist(counts, bins, color=colour, alpha=0.65, label=how)
axes.set(xlabel="walls of the chamber", ylabel="chambers of 300")
axes.locator_params(axis="x", integer=True)
axes.spines[["top", "right"]].set_visible(False)
axes.legend(frameon=False)
plt.show()
