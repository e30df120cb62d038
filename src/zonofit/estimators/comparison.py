"""Ours beside scikit-learn's MLPs, at the same width and in the same seconds, on examples that none of them saw.

An MLP that ends early begins anew from another start until its time is up, and the network with the least training loss
counts: a restart is what anyone would do with the seconds that are left. Features, and labels that are numbers, are
standardised for them as they are for ours.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor

from zonofit.errors import InputError
from zonofit.estimators.classifier import ReLUClassifier
from zonofit.estimators.regressor import ReLURegressor

_EPOCHS, _ITERATIONS = 5, 50  # between two looks at the clock
_SETTLED = 1e-7  # L-BFGS ends where it gained less than this part of its loss in so many iterations
_ADAM_SETTLED, _ADAM_LOOKS = 1e-5, 20  # Adam where it gained less than this part in so many looks
_CONSTANT = 1.0  # a feature without spread is left as it is

Outputs = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Rival:
    """How one method did.

    Attributes
    ----------
    name : str
    training, held_out : float
        Share of the labels' variance that is left, or for two classes the mean logistic loss.
    seconds : float
    fits : int
        Starts that fitted into the time.
    """

    name: str
    training: float
    held_out: float
    seconds: float
    fits: int


def compare(
    X, y, *, width: int = 8, seconds: float = 5.0, classes: bool = False, alpha=None, rival_alpha: float = 1e-4,
    held_out: float = 0.25, seed: int = 0, ceiling: bool = False,
) -> list[Rival]:  # fmt: skip
    """Train ours, Adam, L-BFGS, and gradient boosting as a ceiling that is no small network.

    Parameters
    ----------
    X : array_like (N, d)
    y : array_like (N,)
        Numbers; 0 and 1 if `classes`.
    width : int
    seconds : float
        For each method but the ceiling.
    classes : bool
    alpha : float or list of float, optional
        Ridge of ours; by default the estimator's.
    rival_alpha : float
        That of the MLPs; the default is scikit-learn's.
    held_out : float
        Share of the examples that is kept from all of them.
    seed : int
    ceiling : bool
        Whether to train gradient boosting.

    Returns
    -------
    list of Rival
        The first is ours.
    """
    X, y = np.asarray(X, float), np.asarray(y, float)
    rng = np.random.default_rng(seed)
    test = _drawn(y, held_out, classes, rng)
    train = X[~test], y[~test]
    _warm_up(classes)
    settings: dict[str, Any] = {} if alpha is None else {"alpha": alpha}
    begin = time.perf_counter()
    ours: Any = (ReLUClassifier if classes else ReLURegressor)(
        width, time_budget=seconds, random_state=seed, **settings
    ).fit(*train)
    found: list[tuple[str, Outputs, float, int]] = [
        ("zonofit", ours.network_.predict, time.perf_counter() - begin, 1)
    ]  # fmt: skip
    for solver, name in (("adam", "MLP, adam"), ("lbfgs", "MLP, lbfgs")):
        begin = time.perf_counter()
        outputs, fits = _trained(solver, *train, width, seconds, classes, rival_alpha, seed)
        found.append((name, outputs, time.perf_counter() - begin, fits))
    if ceiling:
        begin = time.perf_counter()
        trees: Any = (HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor)(random_state=seed)
        trees.fit(*train)
        outputs = trees.decision_function if classes else trees.predict
        found.append(("gradient boosting", outputs, time.perf_counter() - begin, 1))
    scale = 1.0 if classes else float(np.var(train[1])) or 1.0
    return [
        Rival(name, _loss(f(train[0]), train[1], classes) / scale, _loss(f(X[test]), y[test], classes) / scale, took, k)
        for name, f, took, k in found
    ]


def _drawn(y: np.ndarray, share: float, classes: bool, rng: np.random.Generator) -> np.ndarray:
    """A random part of the examples, of each class alike."""
    test = np.zeros(len(y), bool)
    for group in [np.flatnonzero(y == k) for k in (0, 1)] if classes else [np.arange(len(y))]:
        number = round(share * len(group))
        if not 0 < number < len(group):
            which = " of each class" if classes else ""
            raise InputError(f"held_out: {share!r} of {len(group)} examples{which} leaves none on one side; pass more.")
        test[rng.permutation(group)[:number]] = True
    return test


def _warm_up(classes: bool) -> None:
    """Compile or load the kernels, which is not taken off anyone's time."""
    X, y = np.linspace(-1, 1, 8)[:, None], np.array([0, 1, 1, 0, 0, 1, 0, 1.0])
    (ReLUClassifier if classes else ReLURegressor)(2, max_moves=2, random_state=0).fit(X, y)


def _loss(u: np.ndarray, y: np.ndarray, classes: bool) -> float:
    if classes:
        return float(np.mean(y * np.logaddexp(0.0, -u) + (1.0 - y) * np.logaddexp(0.0, u)))
    return float(np.mean((u - y) ** 2))


def _trained(solver, X, y, width, seconds, classes, alpha, seed) -> tuple[Outputs, int]:
    """Outputs of the best of the MLPs that could be trained in the time, and how many there were."""
    centre, scale = X.mean(axis=0), X.std(axis=0)
    scale = np.where(scale > 0, scale, _CONSTANT)
    Z = (X - centre) / scale
    mean, unit = (0.0, 1.0) if classes else (float(y.mean()), float(y.std()) or 1.0)
    labels = y.astype(int) if classes else (y - mean) / unit
    end = time.perf_counter() + seconds
    best, kept, fits = np.inf, None, 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it has not converged, which is what the time is for
        while kept is None or time.perf_counter() < end:
            mlp = (MLPClassifier if classes else MLPRegressor)(
                hidden_layer_sizes=(width,), solver=solver, alpha=alpha, random_state=seed + fits, warm_start=True,
                max_iter=_ITERATIONS if solver == "lbfgs" else _EPOCHS, tol=0.0, n_iter_no_change=10**9,
            )  # fmt: skip
            fits += 1
            losses: list[float] = []
            while True:
                mlp.fit(Z, labels)
                losses.append(_loss(_outputs(mlp, Z), y if classes else labels, classes))
                if losses[-1] < best:
                    best, kept = losses[-1], [a.copy() for a in (*mlp.coefs_, *mlp.intercepts_)]
                looks, part = (1, _SETTLED) if solver == "lbfgs" else (_ADAM_LOOKS, _ADAM_SETTLED)
                settled = len(losses) > looks and losses[-1] >= losses[-1 - looks] * (1.0 - part)
                if settled or time.perf_counter() >= end:
                    break
    assert kept is not None
    A, B, a, b = kept
    return (
        lambda points: mean + unit * (np.maximum((points - centre) / scale @ A + a, 0.0) @ B + b)[:, 0],
        fits,
    )


def _outputs(mlp, Z: np.ndarray) -> np.ndarray:
    hidden = np.maximum(Z @ mlp.coefs_[0] + mlp.intercepts_[0], 0.0)
    return (hidden @ mlp.coefs_[1] + mlp.intercepts_[1])[:, 0]
