import pytest


@pytest.fixture(autouse=True)
def no_progress(monkeypatch):
    """Where kernels are still to be compiled, a quick command may take seconds: that is not what tests look at."""
    monkeypatch.setattr("zonofit.cli.progress.PATIENCE", 1e6)
