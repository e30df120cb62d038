"""
Optima that move, and optima that jump
======================================

Theorem 1 on generic data, and the two data sets of appendix D on which it does not hold.
"""

# %%
# Four examples, one unit with output weight 1. Three of them are moved onto a line and beyond; their labels are
# bent, so that a unit which fits them needs a gradient that grows without bound as they get there.

import numpy as np

from zonofit.geometry.stability import stability_radius
from zonofit.plots import labelled_zonotope
from zonofit.plots.theorems import drift_figure
from zonofit.theory.continuity import drift, towards_the_break
from zonofit.theory.discontinuity import EXAMPLES

X = np.array([[0, 0], [1, 0.25], [2, 0], [1, -4]])
y = np.array([1, 2.5, 2, 0.5])
found = stability_radius(X)
lengths = found.tight_radius * np.r_[np.linspace(0, 0.98, 29), 1.0, np.linspace(1.02, 2, 29)]
path = drift(X, y, towards_the_break(X, found), lengths, output_bias=0.0)
figure = drift_figure(path)
print(f"certified {found.radius:.4f}, best possible {found.tight_radius:.4f}, by the proof {path.proof:.4f}")

# %%
# Appendix D.1: five examples on a line. Each vertex of the zonotope with its least mean absolute loss, computed in
# rational arithmetic, and its active examples.

flat = EXAMPLES["D.1"].jump("1e-8").flat
generators = np.array([[float(x) for x in row] for row in flat.rows])
one = labelled_zonotope(generators, {vertex.pattern: float(vertex.loss) for vertex in flat.vertices})

# %%
# Appendix D.2: no vertex has all four active.

flat = EXAMPLES["D.2"].jump("1e-8").flat
generators = np.array([[float(x) for x in row] for row in flat.rows])
two = labelled_zonotope(generators, {vertex.pattern: float(vertex.loss) for vertex in flat.vertices})

# %%
# With an example lifted by ε, however little, both have a better optimum.

for name, example in EXAMPLES.items():
    for epsilon in ("1", "1e-8", "1e-30"):
        jump = example.jump(epsilon)
        best = jump.lifted.best
        print(f"{name}, ε = {epsilon}: {jump.flat.best.loss} -> {best.loss} at w = ({', '.join(map(str, best.w))})")
