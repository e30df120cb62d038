"""Examples and patterns in files: tables in, patterns out, and the bundled example."""

from zonofit.data.example import load_example
from zonofit.data.patterns import Patterns, PatternWriter, load_patterns
from zonofit.data.tables import Table, read_table

__all__ = ["PatternWriter", "Patterns", "Table", "load_example", "load_patterns", "read_table"]
