"""
How facet descent moves
=======================

A Newton step is right only as long as no preactivation changes its sign. Facet descent takes its
direction anyway, goes along it through the walls, and stops where the objective stops falling.
"""

# %%
# One unit on one feature, its output bias fixed at 0: two weights, so that a picture shows all of
# parameter space. Its generators are (x, 1), its chambers are cones in the plane.

import numpy as np

from zonofit.plots import engine_figure
from zonofit.plots.engine import descent_path
from zonofit.programs import Problem

x = np.array([[-3], [-2], [-1], [1], [2]])
y = np.array([4, 2, -1, 1, -1])
problem = Problem(x, y, [1], output_bias=0)
start = [[3.3, 0.9]]
figure = engine_figure(problem, start)

# %%
# Left, the first step. At the start the unit is active on examples 4 and 5. The dashed curve is the loss
# that the step was made for, the one of a unit active on these two for ever. Its least point is far
# away in another chamber, and there the true loss is another one. Each vertical line is a *breakpoint*, where
# an example becomes active or ceases to be; H₃ is the hyperplane of example 3. The exact line search
# knows them all beforehand, passes three of them, and stops at the least point of the fourth piece. The
# Newton step would end near the loss that it started from.
#
# Right, the same step and those that follow, in the same colours. Level lines bend at every wall. The last
# step ends *on* a wall, H₃, where the loss rises to both sides.
#
# The loss never rises:

weights, biases = descent_path(problem, start)
for W, c in zip(weights, biases, strict=True):
    active = np.flatnonzero(problem.patterns(W)[0]) + 1
    print(f"{problem.mean_loss(problem.predict(W, c)):7.4f}  active on {active}")

# %%
# That the end is a local minimum is said by the descent itself, with the example on whose wall it sits:

found = problem.descend(start, valleys=0)
print(found.status, "on the wall of example", np.flatnonzero(found.on_walls[0]) + 1)

# %%
# A network with several units has too many parameters for the right picture, and more breakpoints: one wherever
# an example and a unit meet, here of four units and thirty examples in the plane. The short strokes at the
# bottom are the breakpoints.

rng = np.random.default_rng(0)
X = rng.standard_normal((30, 2))
labels = Problem(X, np.zeros(30), 4).predict(rng.standard_normal((4, 3)), 0.0)
larger = engine_figure(Problem(X, labels, 4), rng.standard_normal((4, 3)))
