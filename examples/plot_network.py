"""
A network on one feature is a broken line
=========================================

Its kinks are where a unit becomes active or ceases to be. Here is a law with two kinks, and noise.
"""

# %%
# Two units find both kinks. Discs are the breakpoints of the network, and between two of them it is affine.

import numpy as np

from zonofit import ReLURegressor
from zonofit.plots import network_figure

rng = np.random.default_rng(0)
x = rng.uniform(0, 10, 200)
y = np.where(x < 3, 1.0, np.where(x < 6, 1.0 + 2.0 * (x - 3), 7.0 - 0.5 * (x - 6))) + 0.4 * rng.standard_normal(200)
model = ReLURegressor(width=2, alpha=0, random_state=0).fit(x[:, None], y)
line = network_figure(model.network_, x[:, None], y)
for piece in model.network_.pieces:
    print(f"{piece.left:6.2f} to {piece.right:6.2f}: {piece.slope:+.2f} x {piece.intercept:+.2f}")

# %%
# On two features the pieces are polygons. Units are the dashed lines, and colours are the predictions; the discs are
# the examples, filled with their labels.

X = rng.uniform(-2, 2, (300, 2))
z = np.maximum(X[:, 0] + X[:, 1], 0) - np.maximum(X[:, 0] - X[:, 1] - 0.5, 0) + 0.1 * rng.standard_normal(300)
plane = ReLURegressor(width=3, random_state=0).fit(X, z)
polygons = network_figure(plane.network_, X, z)
