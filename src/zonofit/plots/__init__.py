"""Pictures of patterns: the paper's Figure 1 for any data in the plane, and zonotopes with named vertices.

Everything is drawn with Matplotlib's objects on a canvas of its own; pyplot and its global state are left alone.
"""

from zonofit.plots.figure_one import figure_one
from zonofit.plots.labelled import labelled_zonotope, zonotope_figure

__all__ = ["figure_one", "labelled_zonotope", "zonotope_figure"]
