"""Gradient descent of a table in batches: the rows of the compiled one."""

from __future__ import annotations

import importlib.util
import time

import numpy as np
import pytest

from tests.experiments.miniature import miniature
from zonofit.errors import InputError
from zonofit.experiments import batched
from zonofit.experiments.batched import run_batched
from zonofit.experiments.runner import jobs_of, run_tables
from zonofit.experiments.store import Store


def losses(path) -> dict:
    return {(row["key"], row["seed"]): row["loss"] for row in Store(path).rows()}


def test_batches_give_the_rows_of_single_runs(tmp_path):
    pytest.importorskip("jax")
    one, two = tmp_path / "one.sqlite", tmp_path / "two.sqlite"
    run_tables([miniature()], one, methods=["gradient-descent"])
    assert run_tables([miniature()], two, methods=["gradient-descent"], backend="gpu") == 0
    assert losses(one).keys() == losses(two).keys() and len(losses(one)) == 9
    assert np.allclose(list(losses(one).values()), list(losses(two).values()), rtol=1e-6, atol=1e-20)


def test_what_does_not_fit_is_returned_with_its_time(tmp_path, monkeypatch):
    pytest.importorskip("jax")
    monkeypatch.setattr("zonofit.baselines.gradient_batched._CHUNK", 100)
    store = Store(tmp_path / "rows.sqlite")
    left = run_batched(store, jobs_of([miniature()]), time.time(), lambda *_: None)
    assert len(left) == 9 and all(seconds > 0 for _, seconds in left) and not store.rows()


def test_without_jax_it_says_what_to_do(tmp_path, monkeypatch):
    real = importlib.util.find_spec
    monkeypatch.setattr(batched, "find_spec", lambda name: None if name == "jax" else real(name))
    with pytest.raises(InputError, match=r"^backend: gpu needs JAX"):
        run_tables([miniature()], tmp_path / "rows.sqlite", backend="gpu")
