"""
Set cover by training one ReLU
==============================

Theorem 2: the least losses of the vertices are counts of sets, with a gap behind them; and the data
that are not in general position, on which the optimum jumps.
"""

# %%
# Five sets and six elements give thirteen examples in seven dimensions. The convex problem of each pattern is solved. A
# vertex with loss t γ²/N, t at most 5, is a cover of t sets; 6 is all of them, and the example e_γ given up too.

import numpy as np
from matplotlib import pyplot as plt

from zonofit.plots.theorems import jump_figure
from zonofit.theory.covers import partition, random_cover, smallest_cover
from zonofit.theory.discontinuity import EXAMPLES
from zonofit.theory.set_cover import least_norm_weights, nudge, reduce_to_relu, train_cover

instance = random_cover(5, 6, 2)
reduction = reduce_to_relu(instance, rng=0)
problem = reduction.problem
patterns = problem.arrangement.patterns()
levels = np.sort([problem.solve(pattern[None], check=False).loss for pattern in patterns]) / reduction.unit
print(f"{len(levels)} vertices; the smallest cover has {len(smallest_cover(instance))} sets")
for t in range(1, 7):
    print(f"loss {t} γ²/N: {np.sum(np.abs(levels - t) < 1e-6)} vertices")
print(f"the next one: {np.min(levels[levels > 6.5]):.0f} γ²/N")

axes = plt.subplots(figsize=(6.4, 3.4), layout="constrained")[1]
axes.plot(np.arange(1, len(levels) + 1), levels, ".", color="#0b5a8a", markersize=4)
axes.set(xscale="log", yscale="log", xlabel="vertices, the best first", ylabel="least loss, in γ²/N")
for t in range(len(smallest_cover(instance)), 6):
    axes.axhline(t, color="#b8390e", linewidth=0.7, alpha=0.6)
axes.annotate("covers of 2, 3, 4 and 5 sets", (1.2, 9), color="#b8390e", fontsize=8)
axes.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# On the data of Goel et al., which are not in general position, a perturbation of any size ε makes one set do for
# all elements, with weights of length 1/ε. The same for the examples of appendix D, where everything is rational.

epsilons = 10.0 ** -np.arange(1, 8)
original = reduce_to_relu(partition(3), general=False)
before = train_cover(original).trace.loss
losses, lengths = [], []
for epsilon in epsilons:
    moved = nudge(original, 0, float(epsilon))
    losses.append(train_cover(moved).trace.loss)
    chosen = np.r_[False, np.ones(4, bool), np.zeros(3, bool)]
    lengths.append(np.linalg.norm(least_norm_weights(moved, chosen)))
curves = {"App. E.2": (epsilons, losses, before, lengths)}
for name, example in EXAMPLES.items():
    jumps = [example.jump(f"1e-{k}") for k in range(1, 8)]
    weights = [[float(x) for x in jump.lifted.best.w] for jump in jumps]
    losses = [float(jump.lifted.best.loss) for jump in jumps]
    curves[f"App. {name}"] = epsilons, losses, float(example.before), np.linalg.norm(weights, axis=1)
jumping = jump_figure(curves)
