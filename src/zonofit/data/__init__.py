"""Examples and patterns in files: tables in, patterns out; the bundled example, and the data of the paper's tables."""

from zonofit.data.example import load_example
from zonofit.data.images import load_images, prepare_images
from zonofit.data.patterns import Patterns, PatternWriter, load_patterns
from zonofit.data.synthetic import synthetic
from zonofit.data.tables import Table, read_table

__all__ = [
    "PatternWriter",
    "Patterns",
    "Table",
    "load_example",
    "load_images",
    "load_patterns",
    "prepare_images",
    "read_table",
    "synthetic",
]
