"""
The paper's Figure 1
====================

Five examples in the plane, the chambers that they cut out of the weights of one unit, and the
zonotope that has one vertex for each chamber, in the same colour.
"""

from zonofit.data import load_example
from zonofit.plots import figure_one

X = load_example()
figure = figure_one(X)

# %%
# This slice shows the chambers that hold a weight with bias 1. The others lie opposite: complement
# the pattern, and in the zonotope go through the centre to the other side.

figure = figure_one(X, bias=-1)
