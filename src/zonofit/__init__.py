"""zonofit: train one-hidden-layer ReLU networks by searching activation patterns."""

__version__ = "0.1.0"
