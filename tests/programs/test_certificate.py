"""The certificate: recomputed another way, refuted by every kind of error, and a bound on all feasible points."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.programs.instances import LOSSES, random_program
from zonofit.programs import Huber, Problem
from zonofit.programs.certificate import Certificate, certify

each_loss = pytest.mark.parametrize("loss", LOSSES)
OPTIONS = [{}, {"alpha": 0.05}, {"output_bias": 0.3}, {"alpha": 0.05, "output_bias": 0.3}, {"sample_weight": True}]
SPREAD = 1.7  # of labels: nothing may rely on their being of size 1


def instance(seed, loss, options):
    """A program with its patterns, and weights inside its chambers."""
    rng = np.random.default_rng(seed)
    N, d, m = int(rng.integers(6, 25)), int(rng.integers(1, 4)), int(rng.integers(1, 5))
    options = dict(options)
    if "sample_weight" in options:
        options["sample_weight"] = rng.exponential(size=N) * (rng.random(N) < 0.8) + 1e-3
    X, y = rng.standard_normal((N, d)), SPREAD * rng.standard_normal(N) + 0.5
    if loss == "logistic":
        y = (y > 0.5).astype(float)
        y[:2] = 0.0, 1.0
    if loss == "absolute":
        options.pop("alpha", None)
    v = rng.choice([-1.0, 1.0, 2.0], m)
    problem = Problem(X, y, v, loss=Huber(0.5) if loss == "huber" else loss, **options)
    W = rng.standard_normal((m, d + 1))
    return problem, problem.patterns(W), W


def instances(loss, seeds=range(4)):
    for seed in seeds:
        for options in OPTIONS:
            problem, patterns, W = instance(seed, loss, options)
            solution = problem.solve(patterns)
            if solution.status != "separable" and solution.loss > 1e-12:
                yield problem, patterns, W, solution


def parts(solution):
    return solution.W.copy(), solution.c, solution.nu.copy(), solution.multipliers.copy()


def dual(problem, patterns, nu, multipliers):
    """The value of the dual, one sum after another, for the losses as the docstring states them."""
    total = 0.0
    for s, y, p in zip(nu, problem.labels, problem.weights, strict=True):
        if p == 0:
            assert s == 0
            continue
        r = s / p
        if isinstance(problem.loss, Huber) or problem.loss.quadratic:
            conjugate = r * r / 4 + r * y
        elif problem.loss.smooth:
            conjugate = sum(q * np.log(q) for q in (y + r, 1 - y - r) if q > 0)
        else:
            conjugate = r * y
        total -= p * conjugate
    rest = 0.0
    for j, v in enumerate(problem.output_weights):
        q = np.zeros(problem.generators.shape[1])
        for i, x in enumerate(problem.generators):
            q += x * (v * nu[i] if patterns[j, i] else 0.0) - (1 if patterns[j, i] else -1) * multipliers[j, i] * x
        rest += q @ q
    if problem.alpha > 0:
        total -= rest / (2 * problem.alpha)
    else:
        assert rest <= 1e-18
    if problem.output_bias is None:
        assert abs(nu.sum()) <= 1e-9
    else:
        total += problem.output_bias * nu.sum()
    return total


@each_loss
def test_certificates_recomputed(loss):
    count = 0
    for problem, patterns, _, solution in instances(loss):
        certificate = solution.certificate
        count += 1
        assert solution.is_optimal() and certificate.holds()
        assert certificate.objective == pytest.approx(solution.objective, rel=1e-12)
        expected = dual(problem, patterns, solution.nu, solution.multipliers)
        assert certificate.bound == pytest.approx(max(expected, 0.0), abs=1e-11)
        assert certificate.bound == pytest.approx(certificate.objective, abs=1e-9)
        assert certificate.gap == certificate.objective - certificate.bound
        assert certificate.relative_gap == pytest.approx(abs(certificate.gap) / certificate.scale)
        constant = problem.constant if problem.output_bias is None else problem.output_bias
        flat = np.full(problem.n_examples, constant)
        assert certificate.scale == pytest.approx(problem.mean_loss(flat), rel=1e-9)
        # ν is the slope of the loss wherever it has one
        if problem.loss.smooth:
            nu = problem.weights * problem.loss.slope(solution.predictions, problem.labels)
            assert np.allclose(solution.nu, nu, atol=1e-9)
    assert count >= 8


@each_loss
def test_the_bound_is_below_all_feasible_points(loss):
    rng = np.random.default_rng(0)
    for problem, patterns, W, solution in instances(loss):
        bound = solution.certificate.bound
        assert bound <= solution.objective + 1e-10
        for _ in range(40):
            # positive multiples of points of a cone, their sums, and noise that is small enough to stay inside
            w = rng.exponential(size=(len(W), 1)) * W + rng.exponential(size=(len(W), 1)) * solution.W
            w += 1e-3 * rng.standard_normal(W.shape)
            if not np.array_equal(problem.patterns(w), patterns):
                continue
            c = problem.output_bias if problem.output_bias is not None else solution.c + rng.standard_normal()
            objective = problem.mean_loss(problem.predict(w, c)) + problem.alpha / 2 * np.sum(w**2)
            assert objective >= bound - 1e-9


@each_loss
def test_any_dual_values_give_a_bound(loss):
    """Weak duality: with a ridge and a fixed bias every (ν, λ) is dual feasible, however far from the optimum."""
    if loss == "absolute":  # which knows no ridge
        return
    rng = np.random.default_rng(1)
    positive = 0
    for seed in range(6):
        problem, patterns, _ = instance(seed, loss, {"alpha": 0.05, "output_bias": 0.3})
        solution = problem.solve(patterns)
        W, c, nu, multipliers = parts(solution)
        for _ in range(30):
            size = 10.0 ** rng.integers(-6, 1)
            away = nu * (1 - size * rng.random(len(nu)))  # towards 0, which no conjugate refuses
            noise = rng.random((2, *multipliers.shape))
            more = multipliers * (1 + size * noise[0]) + 0.01 * size * noise[1]
            bound = certify(problem, patterns, W, c, away, more).bound
            assert bound <= solution.objective * (1 + 1e-12)
            positive += bound > 0
    assert positive > 20


@each_loss
def test_wrong_weights_are_refuted(loss):
    rng = np.random.default_rng(2)
    for problem, patterns, _, solution in instances(loss, range(3)):
        W, c, nu, multipliers = parts(solution)
        if not W.any():
            continue
        assert certify(problem, patterns, W, c, nu, multipliers).holds(1e-9)
        step = rng.standard_normal(W.shape) * np.abs(W).max()
        for size in (1e-4, 1e-2, 1.0):
            if not np.allclose(problem.predict(W + size * step, c), problem.predict(W, c), atol=1e-6):
                assert not certify(problem, patterns, W + size * step, c, nu, multipliers).holds(1e-9)
        if problem.output_bias is None:
            assert not certify(problem, patterns, W, c + 0.1, nu, multipliers).holds(1e-9)


@each_loss
def test_weights_on_the_wrong_side_are_refuted(loss):
    for problem, patterns, _, solution in instances(loss, range(3)):
        W, c, nu, multipliers = parts(solution)
        for j in range(len(W)):
            if W[j].any():
                turned = W.copy()
                turned[j] *= -1
                certificate = certify(problem, patterns, turned, c, nu, multipliers)
                Z = turned[j] @ problem.generators.T
                worst = np.max(np.where(patterns[j], -Z, Z) / (np.abs(turned[j]) @ np.abs(problem.generators).T).max())
                assert worst > 1e-6
                assert certificate.primal_residual >= worst * (1 - 1e-12)
                assert not certificate.holds(1e-9)


@each_loss
def test_negative_multipliers_are_refuted(loss):
    """An example and its double are one wall: what one λ loses the other gains, and only the sign counts."""
    for problem, patterns, _, _ in instances(loss, range(3)):
        X, y, p = problem.generators[:, :-1], problem.labels, problem.weights
        options = {"alpha": problem.alpha, "output_bias": problem.output_bias, "loss": problem.loss}
        twice = Problem(
            np.r_[X, X[:1]], np.r_[y, y[0]], problem.output_weights, sample_weight=np.r_[p, p[0]], **options
        )
        both = np.c_[patterns, patterns[:, 0]]
        solution = twice.solve(both)
        if solution.status == "separable" or solution.loss < 1e-12:
            continue
        W, c, nu, multipliers = parts(solution)
        shifted = multipliers.copy()
        shifted[0, 0] -= multipliers[0, 0] + 1e-3
        shifted[0, -1] += multipliers[0, 0] + 1e-3
        certificate = certify(twice, both, W, c, nu, shifted)
        assert certificate.stationarity <= 1e-9 and certificate.relative_gap <= 1e-9
        assert certificate.dual_residual > 1e-6
        assert not certificate.holds(1e-9)


@each_loss
def test_wrong_multipliers_are_refuted(loss):
    held = 0
    for problem, patterns, _, solution in instances(loss):
        W, c, nu, multipliers = parts(solution)
        for j, i in np.argwhere(multipliers > 1e-4):
            held += 1
            less = multipliers.copy()
            less[j, i] *= 0.99
            assert not certify(problem, patterns, W, c, nu, less).holds(1e-9)
        more = multipliers.copy()
        more[0, 0] += 1e-3
        assert not certify(problem, patterns, W, c, nu, more).holds(1e-9)
    assert held > 5


@each_loss
def test_wrong_nu_is_refuted(loss):
    rng = np.random.default_rng(3)
    for problem, patterns, _, solution in instances(loss, range(3)):
        W, c, nu, multipliers = parts(solution)
        used = problem.weights > 0
        wrong = nu + np.where(used, 1e-3 * np.abs(nu).max() * rng.standard_normal(len(nu)), 0.0)
        assert not certify(problem, patterns, W, c, wrong, multipliers).holds(1e-9)
        for factor in (0.0, -1.0, 1.001):
            if np.abs(factor * nu - nu).max() > 1e-6:
                assert not certify(problem, patterns, W, c, factor * nu, factor * multipliers).holds(1e-9)


def test_beyond_the_domain_of_the_conjugate_the_bound_is_nothing():
    for loss in ("logistic", "huber", "absolute"):
        problem, patterns, _ = instance(0, loss, {"output_bias": 0.3})
        solution = problem.solve(patterns)
        W, c, nu, multipliers = parts(solution)
        certificate = certify(problem, patterns, W, c, 1e3 + nu, multipliers)
        assert certificate.bound == 0.0 and not certificate.holds(1e-3)


def test_patterns_of_another_vertex_are_refuted():
    for problem, patterns, _, solution in instances("squared"):
        assert not certify(problem, ~patterns, *parts(solution)).holds(1e-9) or not solution.W.any()


def test_the_worst_number_decides():
    fine = Certificate(0.0, 0.0, 0.0, 2.0, 2.0, 4.0)
    assert fine.holds(0.0) and fine.gap == 0.0 and fine.relative_gap == 0.0
    for change in ({"primal_residual": 1e-8}, {"stationarity": 1e-8}, {"dual_residual": 1e-8}, {"bound": 2.0 - 4.1e-8}):
        other = dataclasses.replace(fine, **change)
        assert not other.holds(9e-9) and other.holds(2e-8)
    above = dataclasses.replace(fine, bound=2.1)  # a bound above the objective is no bound
    assert above.gap < 0 and not above.holds(1e-3)
    for name in ("primal_residual", "stationarity", "dual_residual", "objective"):
        assert not dataclasses.replace(fine, **{name: np.nan}).holds(1e-3)


def test_certificates_know_no_units():
    for seed in range(6):
        problem, patterns, _, _ = random_program(seed, loss="squared", shape="generic")
        X, y, v = problem.generators[:, :-1], problem.labels, problem.output_weights
        perturbed = []
        for features, labels in ((1.0, 1.0), (2.0**-20, 1.0), (1.0, 2.0**20), (2.0**20, 2.0**-20)):
            solution = Problem(features * X, labels * y, v).solve(patterns)
            W, c, nu, multipliers = parts(solution)
            W *= 1.01
            perturbed.append(certify(solution.problem, patterns, W, c, nu, multipliers))
        first = perturbed[0]
        for other in perturbed[1:]:
            assert other.relative_gap == pytest.approx(first.relative_gap, rel=1e-6, abs=1e-12)
            assert other.primal_residual == pytest.approx(first.primal_residual, abs=1e-12)
