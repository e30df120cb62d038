"""
Data that are not in general position
=====================================

Binary columns, duplicate rows and collinear points are what tables are made of. They
cost chambers: here the true count beside that of Cover's formula, which holds in general
position.
"""

# %%
# The corners of a square, then with their centre, then with one of the corners twice, and four
# points on a line.

import numpy as np

from zonofit import Arrangement
from zonofit.geometry.chambers import chamber_bound
from zonofit.plots import figure_one

corners = np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
tables = {
    "square": corners,
    "square and centre": np.vstack([corners, [[0.5, 0.5]]]),
    "a corner twice": np.vstack([corners, corners[:1]]),
    "four on a line": np.array([[0, 0], [1, 1], [2, 2], [3, 3]]),
}
for name, X in tables.items():
    arrangement = Arrangement.from_examples(X)
    count, bound = arrangement.n_chambers(), chamber_bound(len(X), 3)
    print(f"{name:>18}: rank {arrangement.rank}, {count:2d} chambers of at most {bound:2d}")

# %%
# What the dependencies are, decided exactly here because the entries are small fractions:

print(Arrangement.from_examples(tables["square and centre"]).position())

# %%
# Where three examples are collinear, three lines of the slice meet in one point, and the zonotope
# has a hexagon instead of three parallelograms.

figure = figure_one(tables["square and centre"])

# %%
# Equal examples share a hyperplane; their bits flip together.

figure = figure_one(tables["a corner twice"])
