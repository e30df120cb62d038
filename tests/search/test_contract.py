"""Laws of every search: seeds, resumption, budgets, interrupts, workers, traces, checkpoints."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from tests.search.instances import paper
from zonofit.errors import InputError
from zonofit.programs import Problem
from zonofit.search import GLS, MGLS, Branch, Budget, Exact, FacetDescent, Hopping, RandomVertex, Trace, Walk, run
from zonofit.search.trace import STOP_REASONS
from zonofit.search.walk import COUNTS

SEARCHES = [
    Exact(), Exact(signs="all"),
    RandomVertex(starts=12), RandomVertex(starts=6, how="uniform"), RandomVertex(starts=6, alternate=True),
    RandomVertex(starts=6, alternate=True, output_first=True),
    GLS(), GLS(exclude=False, how="uniform"), MGLS(), MGLS(exclude=False, how="uniform"),
    FacetDescent(starts=6), FacetDescent(starts=6, signs="random"), Hopping(among=20, best=5),
    Hopping(among=20, best=5, crowd=2, patience=2.0),
    Branch(hops=2), Branch(hops=2, order="depth", signs="problem"),
]  # fmt: skip
each_search = pytest.mark.parametrize("search", SEARCHES, ids=lambda search: f"{search.name}-{SEARCHES.index(search)}")
LIMIT = Budget(moves=25)


def problem_for(search, seed=0) -> Problem:
    """Gentle for exhaustion, of some moves for the others; noise, so that nothing fits exactly."""
    rng = np.random.default_rng(seed)
    N, d, m = (6, 1, 2) if search.name == "exact" else (14, 2, 2)
    if search == Hopping(among=20, best=5):
        N = 13  # fewer than two examples for each parameter: no race
    X, y = rng.standard_normal((N, d)), rng.standard_normal(N)
    return Problem(X, y, m)


def same(one: Trace, other: Trace, counts: bool = True) -> None:
    assert one.stop_reason == other.stop_reason
    assert one.loss == pytest.approx(other.loss, rel=1e-12)
    np.testing.assert_allclose(one.W, other.W, rtol=1e-6, atol=1e-9)
    assert one.c == pytest.approx(other.c, rel=1e-6, abs=1e-9)
    assert np.array_equal(one.output_weights, other.output_weights)
    if counts:
        assert one.counts == other.counts
        for name in one.history:
            if name != "seconds":
                np.testing.assert_allclose(one.history[name], other.history[name], rtol=1e-12)


@each_search
def test_same_seed_same_trace(search):
    problem = problem_for(search)
    one, other = (run(search, problem, budget=LIMIT, seed=3) for _ in range(2))
    same(one, other)
    assert one.stop_reason in STOP_REASONS
    if search.name not in ("exact",):
        losses = {run(search, problem, budget=Budget(moves=1), seed=seed).history["loss"][0] for seed in range(6)}
        assert len(losses) > 1


@each_search
def test_the_network_has_the_loss(search):
    problem = problem_for(search)
    trace = run(search, problem, budget=LIMIT, seed=1)
    own = problem.with_output_weights(trace.output_weights)
    assert own.mean_loss(own.predict(trace.W, trace.c)) == pytest.approx(trace.loss, rel=1e-9, abs=1e-13)
    assert np.all(np.diff(trace.history["loss"]) < 0)
    assert trace.history["loss"][-1] == trace.loss
    for name in COUNTS:
        assert np.all(np.diff(trace.history[name]) >= 0) and trace.history[name][-1] <= trace.counts[name]


@each_search
def test_ridge_counts_in_the_objective(search):
    if getattr(search, "alternate", False):
        pytest.skip("has no ridge")
    problem = problem_for(search)
    problem = Problem(problem.generators[:, :-1], problem.labels, 2, alpha=0.1)
    trace = run(search, problem, budget=LIMIT)
    own = problem.with_output_weights(trace.output_weights)
    objective = own.mean_loss(own.predict(trace.W, trace.c)) + 0.05 * np.sum(trace.W**2)
    assert trace.loss == pytest.approx(objective, rel=1e-9)


@each_search
def test_resume_after_any_move(search):
    """Through JSON text after each move, and the end is what it would have been."""
    problem = problem_for(search)
    whole = Walk(problem, np.random.default_rng(7))
    whole.go(search, None, LIMIT, np.inf, np.inf)
    parts, moves = Walk(problem, np.random.default_rng(7)), 0
    while parts.reason is None and moves < 200:
        parts.go(search, None, LIMIT, np.inf, 1)
        text = json.dumps(parts.to_dict(), allow_nan=False)
        parts, moves = Walk.from_dict(problem, json.loads(text)), moves + 1
        assert json.dumps(parts.to_dict(), allow_nan=False) == text
    assert (parts.reason, parts.counts) == (whole.reason, whole.counts)
    assert parts.best.objective == pytest.approx(whole.best.objective, rel=1e-12)
    np.testing.assert_allclose(parts.best.W, whole.best.W, rtol=1e-9, atol=1e-12)
    assert np.array_equal(parts.best.v, whole.best.v)


@each_search
def test_budgets_hold(search):
    problem = problem_for(search)
    free = run(search, problem, budget=LIMIT, seed=2)
    for programs in (1, 5, 20):
        if search.name == "exact":
            continue  # refuses, see test_exact
        trace = run(search, problem, budget=Budget(programs=programs, moves=25), seed=2)
        most = programs if not getattr(search, "alternate", False) else programs + 1  # a turn is two programs
        assert trace.counts["programs"] <= max(most, 1)
        assert trace.stop_reason == "programs" or trace.counts["programs"] == free.counts["programs"]
    trace = run(search, problem, budget=Budget(moves=2), seed=2)
    assert trace.counts["moves"] <= 2
    target = free.history["loss"][len(free.history["loss"]) // 2]
    trace = run(search, problem, budget=Budget(target=target, moves=25), seed=2)
    assert trace.stop_reason == "target" and trace.loss <= target
    assert trace.counts["programs"] <= free.counts["programs"]
    trace = run(search, problem, budget=Budget(seconds=0.0), seed=2)
    assert trace.stop_reason == "seconds" and np.isfinite(trace.loss)


class Interrupting:
    """`solve` and `descend` of a problem, until so many calls."""

    def __init__(self, monkeypatch, calls: int):
        self.left = calls
        for name in ("solve", "descend"):
            monkeypatch.setattr(Problem, name, self._around(getattr(Problem, name)))

    def _around(self, method):
        def call(problem, *arguments, **options):
            self.left -= 1
            if self.left < 0:
                self.left = 10**9
                raise KeyboardInterrupt
            return method(problem, *arguments, **options)

        return call


@each_search
@pytest.mark.parametrize("calls", [1, 2, 4, 9])
def test_interrupt_returns_the_best_and_goes_on_to_the_same_end(search, calls, monkeypatch, tmp_path):
    problem, path = problem_for(search), tmp_path / "checkpoint.json"
    free = run(search, problem, budget=LIMIT, seed=4)
    with monkeypatch.context() as patch:
        Interrupting(patch, calls)
        trace = run(search, problem, budget=LIMIT, seed=4, checkpoint=path)
    if trace.stop_reason != "interrupted":
        same(trace, free)
        return
    assert trace.loss == trace.history["loss"][-1]
    assert trace.counts["programs"] <= (2 * calls + 1 if getattr(search, "alternate", False) else calls)
    again = run(search, problem, budget=LIMIT, seed=4, checkpoint=path)
    same(again, free, counts=False)


@each_search
def test_interrupt_before_anything_is_found(search, monkeypatch):
    problem = problem_for(search)
    with monkeypatch.context() as patch:
        Interrupting(patch, 0)
        with pytest.raises(KeyboardInterrupt):
            run(search, problem, budget=LIMIT)


@each_search
def test_interrupt_in_a_callback(search):
    problem, seen = problem_for(search), []

    def callback(walk):
        seen.append(walk.best.objective)
        if len(seen) == 2:
            raise KeyboardInterrupt

    trace = run(search, problem, budget=LIMIT, seed=2, callback=callback)
    assert seen == sorted(seen, reverse=True)
    assert trace.stop_reason == "interrupted" if len(seen) == 2 else trace.stop_reason != "interrupted"
    assert trace.loss == seen[-1]
    stopped = run(search, problem, budget=LIMIT, seed=2, callback=lambda walk: True)
    assert stopped.stop_reason in ("interrupted", "complete", "local minimum", "moves")


def test_an_interrupt_stops_the_other_walkers_too(monkeypatch):
    problem = problem_for(FacetDescent())
    Interrupting(monkeypatch, 7)
    trace = run(FacetDescent(), problem, walkers=3)
    assert trace.stop_reason == "interrupted" and trace.counts["programs"] == 7


@each_search
def test_workers_change_nothing(search):
    problem = problem_for(search)
    one = run(search, problem, budget=LIMIT, seed=5, walkers=3)
    two = run(search, problem, budget=LIMIT, seed=5, walkers=3, n_jobs=2)
    same(one, two)
    assert set(one.history["walker"]) <= {0, 1, 2} and one.walkers == 3
    alone = run(search, problem, budget=LIMIT, seed=5)
    assert one.loss <= alone.loss * (1 + 1e-12)
    target = one.history["loss"].max()
    one, two = (
        run(search, problem, budget=Budget(target=target, moves=25), seed=5, walkers=3, n_jobs=jobs) for jobs in (1, 2)
    )
    same(one, two)
    assert one.stop_reason == "target"


@each_search
def test_traces_survive_json(search, tmp_path):
    trace = run(search, problem_for(search), budget=LIMIT, walkers=2)
    again = Trace.from_json(trace.to_json())
    assert again.to_json() == trace.to_json()
    same(trace, again)
    assert np.array_equal(trace.W, again.W) and repr(trace) == repr(again)
    for name, value in trace.details.items():
        assert np.array_equal(value, again.details[name])
    trace.save(tmp_path / "trace.json")
    assert (tmp_path / "trace.json").read_text("utf8") == trace.to_json()
    frame = pytest.importorskip("pandas") and trace.to_frame()
    assert list(frame["loss"]) == list(trace.history["loss"])


@each_search
def test_a_start_is_where_it_starts(search):
    if search.name == "exact":
        pytest.skip("looks at everything")
    problem = problem_for(search)
    W = np.random.default_rng(11).standard_normal((2, 3))
    traces = [run(search, problem, W, budget=Budget(moves=1), seed=seed) for seed in range(2)]
    if search.name in ("gls", "mgls") or search == SEARCHES[2]:
        assert traces[0].history["loss"][0] == problem.solve(problem.patterns(W)).objective
    if search.name == "facet_descent":
        assert traces[0].history["loss"][0] == problem.descend(W).objective
    if search.name in ("gls", "mgls", "facet_descent"):
        assert traces[0].history["loss"][0] == traces[1].history["loss"][0]
    for bad in (W[:1], W * np.nan):
        with pytest.raises(InputError, match=r"start|W:"):
            run(search, problem, bad, budget=Budget(moves=1))


def test_descents_round_the_same_wherever_memory_lies():
    """The same call twice, with other things in memory in between, to the last bit; hopping would amplify it."""
    problem, rng, filling = paper(0, 4, 3, 3), np.random.default_rng(0), []
    for _ in range(600):
        W, seen = rng.standard_normal((3, 5)), set()
        for _ in range(3):
            filling.append(np.ones(rng.integers(1, 50)))
            if len(filling) > 50:
                filling.pop(rng.integers(50))
            found = problem.descend(W)
            solution = problem.solve(problem.patterns(W))
            seen.add((found.W.tobytes(), found.steps, found.flips, solution.W.tobytes(), solution.steps))
        assert len(seen) == 1


def test_time_is_shared_by_walkers_on_one_worker():
    begin = time.perf_counter()
    trace = run(FacetDescent(), problem_for(FacetDescent()), walkers=4, budget=Budget(seconds=0.6))
    assert trace.stop_reason == "seconds" and 0.5 < time.perf_counter() - begin < 1.2


def test_a_checkpoint_of_something_else_is_refused(tmp_path):
    path, problem = tmp_path / "checkpoint.json", problem_for(GLS())
    run(GLS(), problem, checkpoint=path)
    other = Problem(problem.generators[:, :-1], problem.labels, 2, alpha=1e-3)
    nearly = Problem(problem.generators[:, :-1], problem.labels, 2, alpha=1.0000001e-3)
    for search, data, options in (
        (MGLS(), problem, {}), (GLS(max_moves=3), problem, {}), (GLS(), other, {}), (GLS(), problem, {"seed": 1}),
        (GLS(), problem, {"walkers": 2}),
    ):  # fmt: skip
        with pytest.raises(InputError, match=r"^checkpoint: .* belongs to another search"):
            run(search, data, checkpoint=path, **options)
    path.unlink()
    run(GLS(), other, checkpoint=path)
    with pytest.raises(InputError, match="belongs to another"):
        run(GLS(), nearly, checkpoint=path)
    for text in ("", "{}", '{"format": "zonofit checkpoint 1"}', "[1]"):
        path.write_text(text)
        with pytest.raises(InputError, match="cannot be read"):
            run(GLS(), other, checkpoint=path)


def test_a_larger_budget_goes_on(tmp_path):
    path, problem = tmp_path / "checkpoint.json", problem_for(FacetDescent())
    whole = run(FacetDescent(), problem, budget=Budget(moves=12), seed=1)
    for moves in (3, 8, 12):
        trace = run(FacetDescent(), problem, budget=Budget(moves=moves), seed=1, checkpoint=path)
        assert trace.counts["moves"] == moves and trace.stop_reason == "moves"
    same(trace, whole)


_VICTIM = """
import sys
import numpy as np
import zonofit.search.runner as runner
from tests.search.instances import paper
from zonofit.search import Branch, Budget, FacetDescent, Hopping, RandomVertex, run
runner._PAUSE = 0.02
problem = paper(0, 4, 4, 3)
search = {one.name: one for one in (FacetDescent(signs="random"), RandomVertex(), Hopping(), Branch())}[sys.argv[2]]
trace = run(search, problem, budget=Budget(moves=int(sys.argv[3])), seed=9, walkers=2, checkpoint=sys.argv[1])
print(trace.loss, trace.counts["programs"], trace.counts["moves"])
"""


@pytest.mark.parametrize("name", ["facet_descent", "random_vertex", "hopping", "branch"])
def test_goes_on_after_a_kill(name, tmp_path):
    path = tmp_path / "checkpoint.json"
    options = {"env": {**os.environ}, "text": True}
    command = [sys.executable, "-c", _VICTIM]
    victim = subprocess.Popen([*command, str(path), name, "100000000"], **options)
    deadline = time.time() + 120
    while not path.exists() and time.time() < deadline:
        time.sleep(0.01)
    time.sleep(0.2)
    victim.send_signal(signal.SIGKILL)
    assert victim.wait() == -signal.SIGKILL
    done = max(walk["counts"]["moves"] for walk in json.loads(path.read_text("utf8"))["walks"])
    assert done > 0
    moves = str(done + (100 if name != "branch" else 3))  # a move of which is a block of nodes
    ends = [
        subprocess.run([*command, str(file), name, moves], check=True, capture_output=True, **options)
        for file in (path, tmp_path / "fresh.json")
    ]
    again, whole = ([float(word) for word in end.stdout.split()] for end in ends)
    assert again == whole


def test_unknown_settings_are_refused():
    for make in (
        lambda: GLS(how="random"), lambda: MGLS(max_moves=-1), lambda: FacetDescent(starts=0),
        lambda: FacetDescent(signs="free"), lambda: Exact(signs="plus"), lambda: RandomVertex(settled=-1.0),
        lambda: Budget(seconds=float("nan")), lambda: Budget(moves=-1),
    ):  # fmt: skip
        with pytest.raises(InputError, match=": "):
            make()
    with pytest.raises(InputError, match="walkers"):
        run(GLS(), paper(0), walkers=0)
    with pytest.raises(InputError, match="alternate"):
        run(RandomVertex(alternate=True), paper(0, alpha=0.1))


@pytest.mark.parametrize("cause", [KeyboardInterrupt(), None, ValueError()], ids=repr)
def test_an_interrupt_that_numba_wraps(cause, monkeypatch):
    """A stop that reaches numba between two kernels comes as a SystemError; any other one is a bug, and stays one."""
    search, descend, calls = FacetDescent(), Problem.descend, []

    def broken(problem, *arguments, **options):
        calls.append(problem)
        if len(calls) < 5:
            return descend(problem, *arguments, **options)
        raise SystemError("returned a result with an exception set") from cause

    monkeypatch.setattr(Problem, "descend", broken)
    if isinstance(cause, KeyboardInterrupt):
        trace = run(search, problem_for(search), budget=LIMIT, seed=0)
        assert trace.stop_reason == "interrupted" and trace.counts["moves"] == 4
        return
    with pytest.raises(SystemError):
        run(search, problem_for(search), budget=LIMIT, seed=0)
