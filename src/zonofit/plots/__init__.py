"""Pictures of patterns: the paper's Figure 1 for any data in the plane, and zonotopes with named vertices."""

from zonofit.plots.figure_one import figure_one

__all__ = ["figure_one"]
