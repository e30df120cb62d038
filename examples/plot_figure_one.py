"""
The paper's Figure 1
====================

Five examples in the plane, the chambers that they cut out of the weights of one unit, and the
zonotope that has one vertex for each chamber, in the same colour.
"""

import numpy as np

from zonofit.plots import figure_one

X = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 2.0], [2.0, 3.0], [4.0, 2.0]])
figure = figure_one(X)

# %%
# This slice shows the chambers that hold a weight with bias 1. The others lie opposite: complement
# the pattern, and in the zonotope go through the centre to the other side.

figure = figure_one(X, bias=-1)
