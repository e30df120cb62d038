"""Relaxations against their own duals, recomputed, and against every completion of the signs."""

from __future__ import annotations

import numpy as np
import pytest

from tests.search.instances import LOSSES, brute_force, tiny
from zonofit.programs.relaxation import DecidedRelaxation, QuadraticRelaxation, relaxation_of

KINDS = ({}, {"d": 2}, {"alpha": 0.05}, {"output_bias": 0.2}, {"signs": [1.0, 1.0]}, {"signs": [-2.0, -0.5, -1.0]})


def partial_signs(problem, rng, share: float) -> np.ndarray:
    """Signs of random chambers, some of them forgotten."""
    rows = problem.arrangement.patterns()
    signs = np.where(rows[rng.integers(0, len(rows), problem.width)], 1, -1)
    signs[rng.random(signs.shape) > share] = 0
    return signs


def check_dual(problem, signs, relaxed) -> None:
    nu, kappa, v, X = relaxed.nu, relaxed.kappa, problem.output_weights, problem.generators
    small = 1e-7 * (np.abs(problem.null).sum() or 1.0) * np.abs(v).max()
    upper = v[:, None] * nu
    assert np.all((kappa <= upper + small) | (signs < 0))
    assert np.all((kappa >= -small) | (signs > 0))
    flow = kappa @ X
    value = -problem.weights @ problem.loss.conjugate(nu / problem.weights, problem.labels)
    if problem.alpha > 0:
        value -= np.sum(flow**2) / (2 * problem.alpha)
    else:
        assert np.abs(flow).max() <= small * np.abs(X).max()
    if problem.output_bias is None:
        assert abs(nu.sum()) <= small
    else:
        value += problem.output_bias * nu.sum()
    assert relaxed.bound == pytest.approx(value, rel=1e-6, abs=1e-8 * problem.null_objective)


@pytest.mark.parametrize("options", KINDS, ids=str)
def test_bounds_carry_their_duals_and_hold_for_every_completion(options):
    rng = np.random.default_rng(0)
    for seed in range(4):
        problem = tiny(seed, N=4 if len(options.get("signs", [])) == 3 else 6, **options)
        values = brute_force(problem)
        every = {key: np.frombuffer(key, bool).reshape(problem.width, -1) for key in values}
        relaxation, slow = relaxation_of(problem), DecidedRelaxation(problem)
        for share in (0.0, 0.4, 0.7, 0.9):
            signs = partial_signs(problem, rng, share)
            fast = relaxation.solve(signs)
            check_dual(problem, signs, fast)
            check_dual(problem, signs, slow.solve(signs))
            fits = [values[k] for k, A in every.items() if not np.any((signs != 0) & (A != (signs > 0)))]
            assert slow.solve(signs).bound - 1e-9 <= fast.bound <= min(fits) * (1 + 1e-8) + 1e-10
            cutoff = 0.5 * fast.bound
            if cutoff > 1e-9:
                assert relaxation.solve(signs, cutoff).closed
            assert not relaxation.solve(signs, fast.bound + 1e-6).closed


def test_decided_patterns_give_the_vertex_program():
    rng = np.random.default_rng(1)
    for loss in LOSSES:
        for seed in range(4):
            problem = tiny(seed, loss)
            signs = partial_signs(problem, rng, 1.0)
            expected = problem.solve(signs > 0).objective
            found = relaxation_of(problem).solve(signs)
            assert found.bound == pytest.approx(expected, rel=1e-7, abs=1e-9)
            assert problem.mean_loss(problem.predict(found.W, found.c)) == pytest.approx(expected, rel=1e-5, abs=1e-8)


def test_bounds_never_fall_as_signs_are_decided():
    rng = np.random.default_rng(2)
    for seed in range(5):
        problem = tiny(seed, N=20, d=2)
        relaxation, signs = QuadraticRelaxation(problem), partial_signs(problem, rng, 1.0)
        order, last = rng.permutation(signs.size), 0.0
        for known in range(0, signs.size + 1, 4):
            part = np.zeros(signs.size, np.int64)
            part[order[:known]] = signs.ravel()[order[:known]]
            bound = relaxation.solve(part.reshape(signs.shape)).bound
            assert bound >= last - 1e-9
            last = bound
        assert last == pytest.approx(problem.solve(signs > 0).objective, rel=1e-7)
        assert relaxation.steps > 0
