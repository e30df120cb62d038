"""Pictures: the paper's Figure 1 for any data in the plane, zonotopes with named vertices, the engine and searches.

Everything is drawn with Matplotlib's objects on a canvas of its own; pyplot and its global state are left alone.
"""

from zonofit.plots.engine import engine_figure
from zonofit.plots.figure_one import figure_one
from zonofit.plots.labelled import labelled_zonotope, zonotope_figure
from zonofit.plots.network import network_figure
from zonofit.plots.trace import trace_figure

__all__ = ["engine_figure", "figure_one", "labelled_zonotope", "network_figure", "trace_figure", "zonotope_figure"]
