"""Rows and claims: kept, shared, given back, and never twice."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tests.experiments.miniature import miniature
from zonofit.errors import InputError
from zonofit.experiments import store as module
from zonofit.experiments.runner import jobs_of, run_tables
from zonofit.experiments.spec import Cell, Job, Method, Table
from zonofit.experiments.store import Claims, Store
from zonofit.experiments.work import Outcome

ORIGIN = {"version": "0", "commit": "", "machine": "here"}
DONE = Outcome(1.0, None, None, "steps", 0.1)
RESULT = ("key", "seed", "spec", "loss", "accuracy", "certificate", "stop_reason")
ROOT = Path(__file__).resolve().parents[2]


def results(store: Store) -> list[tuple]:
    """What must not depend on how often a run was interrupted; losses to ten digits.

    Between processes the last digits of gradient descent have been seen to differ, in one row of some thousand.
    """
    rows = [row | {"loss": f"{row['loss']:.9e}"} for row in store.rows()]
    return [tuple(row[name] for name in RESULT) for row in rows]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The rows of an uninterrupted run."""
    path = tmp_path_factory.mktemp("whole") / "rows.sqlite"
    assert run_tables([miniature()], path) == 0
    return results(Store(path))


def test_every_job_has_one_row(whole):
    jobs = jobs_of([miniature()])
    assert len(jobs) == 27 == len(whole)
    assert {(key, seed) for key, seed, *_ in whole} == {(job.key, job.seed) for job, _ in jobs}
    assert all(np.isfinite(float(row[3])) for row in whole)


def test_a_second_run_has_nothing_to_do(tmp_path, whole, monkeypatch):
    path = tmp_path / "rows.sqlite"
    assert run_tables([miniature(2)], path) == 0
    run_tables([miniature()], path)  # more seeds: the rows of the others stay
    rows = Store(path).rows()
    assert [row[:2] + row[3:] for row in results(Store(path))] == [row[:2] + row[3:] for row in whole]
    monkeypatch.setattr("zonofit.experiments.runner.execute", lambda job: pytest.fail("ran again"))
    assert run_tables([miniature()], path) == 0 and Store(path).rows() == rows


def test_two_claims_never_share_a_job(tmp_path):
    store, jobs = Store(tmp_path / "rows.sqlite"), [job for job, _ in jobs_of([miniature()])]
    with Claims(store) as one, Claims(store) as two:
        taken = [store.claim(jobs, claims)[0][0] for _ in range(5) for claims in (one, two)]
        assert len({(job.key, job.seed) for job in taken}) == 10
        assert store.claim(jobs, one, most=100)[1] == 5
        assert store.finish(taken[0], DONE, one, "spec", ORIGIN)
        assert not store.finish(taken[0], DONE, two, "spec", ORIGIN)
        assert len(store.rows()) == 1
    assert not sqlite3.connect(store.path).execute("SELECT * FROM claims").fetchall()


def test_claims_of_the_dead_are_void(tmp_path, monkeypatch):
    store, jobs = Store(tmp_path / "rows.sqlite"), [job for job, _ in jobs_of([miniature()])][:1]
    dead = subprocess.Popen([sys.executable, "-c", ""])
    claims = Claims(store)
    claims.owner, claims.pid = "dead", dead.pid
    claims.born = module._born(dead.pid) or ""
    assert store.claim(jobs, claims)[0] == jobs
    dead.kill()
    time.sleep(0.1)  # dead, and not yet asked for: a zombie
    with Claims(store) as alive:
        assert store.claim(jobs, alive) == (jobs, 0)
    dead.wait()
    with Claims(store) as alive:
        alive.host = "elsewhere"
        assert store.claim(jobs, alive)[0] == jobs
        with Claims(store) as other:
            assert store.claim(jobs, other) == ([], 1)
            monkeypatch.setattr(module, "LEASE", -1.0)
            assert store.claim(jobs, other) == (jobs, 0)


def test_a_failed_run_leaves_no_claim_and_no_row(tmp_path, monkeypatch):
    path = tmp_path / "rows.sqlite"

    def stop(job):
        raise KeyboardInterrupt

    monkeypatch.setattr("zonofit.experiments.runner.execute", stop)
    with pytest.raises(KeyboardInterrupt):
        run_tables([miniature()], path)
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT COUNT(*) FROM claims").fetchone() == (0,) == (len(Store(path).rows()),)


def test_budget_says_how_much_is_left(tmp_path):
    assert run_tables([miniature()], tmp_path / "rows.sqlite", budget=0.0) == 27


def test_an_infinite_loss_is_a_row(tmp_path):
    store, job = Store(tmp_path / "rows.sqlite"), jobs_of([miniature()])[0][0]
    with Claims(store) as claims:
        store.finish(job, Outcome(float("inf"), None, None, "diverged", 0.1), claims, "spec", ORIGIN)
    assert store.rows()[0]["loss"] == float("inf")


def test_jobs_survive_json_and_keys_say_what_decides():
    job = Job(Cell("mnist_49", 8, 4, 0, 350), Method("gls", (("max_moves", 8),), (("seconds", 2.0),), 3), 1)
    again = Job.from_json(job.to_json())
    assert again == job and again.key == job.key
    cell, method = job.cell, job.method
    assert Job(cell, Method("gls", method.settings, method.budget, 99), 1).key == job.key
    assert Job(cell, Method("gls", method.settings, (("seconds", 3.0),)), 1).key != job.key
    with pytest.raises(InputError, match="twice"):
        Table("table-a1", "smoke", ((cell, (method,)), (cell, ())))


def test_files_that_are_none(tmp_path):
    (tmp_path / "text.sqlite").write_text("no database, but long enough to be taken for one? " * 20)
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE a (b)")
    for path, message in (
        (tmp_path, "is a folder"), (tmp_path / "a" / "b", "no folder"), (tmp_path / "text.sqlite", "cannot be used"),
        (other, "something else"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=message):
            Store(path)


def test_merging_takes_each_row_once(tmp_path, whole):
    one, two = tmp_path / "one.sqlite", tmp_path / "two.sqlite"
    run_tables([miniature(1)], one)
    run_tables([miniature()], two)
    assert Store(one).merge(Store(two)) == 18 and Store(one).merge(Store(two)) == 0
    assert [row[:2] for row in results(Store(one))] == [row[:2] for row in whole]


def start(path, jobs: int, runs: int = 3) -> subprocess.Popen:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}  # for `tests`; zonofit is the one that is installed
    command = [sys.executable, "-m", "tests.experiments.miniature", str(path), str(jobs), str(runs)]
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, start_new_session=True, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def kill_again_and_again(path, whole, kills: int, jobs: int, seed: int, runs: int = 3, most: int = 9) -> None:
    """Kill after so many rows that the last kill still meets work to be done."""
    rng = np.random.default_rng(seed)
    for _ in range(kills):
        process = start(path, jobs, runs)
        # rows come late in a process's life, once kernels are loaded: kill between any two, or before the first
        at, deadline = int(rng.integers(0, most)), time.monotonic() + 60
        before = count(path)
        while count(path) < min(before + at, len(whole)) and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
        time.sleep(float(rng.uniform(0, 0.02)))
        assert process.poll() is None or count(path) == len(whole)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert run_tables([miniature(runs)], path) == 0
    assert results(Store(path)) == whole


def count(path) -> int:
    try:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=60) as connection:
            return connection.execute("SELECT COUNT(*) FROM rows").fetchone()[0]
    except sqlite3.OperationalError:  # not there yet
        return 0


@pytest.mark.skipif(sys.platform == "win32", reason="no kill -9 of a group of processes")
def test_kill_at_any_instant_loses_no_row(tmp_path, whole):
    kill_again_and_again(tmp_path / "rows.sqlite", whole, kills=3, jobs=1, seed=0)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no kill -9 of a group of processes")
@pytest.mark.parametrize("jobs", [1, 2])
def test_twenty_kills(tmp_path, jobs):
    runs = 20  # 180 rows; twenty kills after 7 rows at most leave some to be done
    assert run_tables([miniature(runs)], tmp_path / "whole.sqlite") == 0
    expected = results(Store(tmp_path / "whole.sqlite"))
    kill_again_and_again(tmp_path / "rows.sqlite", expected, kills=20, jobs=jobs, seed=jobs, runs=runs, most=8)


def test_two_processes_share_the_work(tmp_path, whole):
    path = tmp_path / "rows.sqlite"
    processes = [start(path, 1) for _ in range(2)]
    assert [process.wait(timeout=120) for process in processes] == [0, 0]
    assert results(Store(path)) == whole


@pytest.mark.slow
def test_worker_processes_give_the_same_rows(tmp_path, whole):
    path, seen = tmp_path / "rows.sqlite", []
    assert run_tables([miniature()], path, jobs=2, progress=lambda *now: seen.append(now)) == 0
    assert results(Store(path)) == whole and seen[-1] == (27, 27)


@pytest.mark.slow
def test_dask_gives_the_same_rows_though_workers_die(tmp_path, whole):
    distributed = pytest.importorskip("distributed")
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
            killed = []

            def kill(done, total):
                if done > 3 and not killed:
                    killed.append(next(iter(cluster.workers.values())))
                    os.kill(killed[0].pid, signal.SIGKILL)

            address = cluster.scheduler_address
            path = tmp_path / "rows.sqlite"
            assert run_tables([miniature()], path, backend="dask", scheduler=address, progress=kill) == 0
    assert killed and results(Store(path)) == whole


def test_backends_are_refused_by_name(tmp_path):
    path = tmp_path / "rows.sqlite"
    for options, message in (
        ({"jobs": 0}, r"^jobs: "), ({"backend": "threads"}, r"^backend: "), ({"backend": "dask"}, r"^scheduler: "),
        ({"scheduler": "tcp://a:1"}, r"^scheduler: "), ({"methods": ["magic"]}, r"^method: "),
    ):  # fmt: skip
        with pytest.raises(InputError, match=message):
            run_tables([miniature()], path, **options)
