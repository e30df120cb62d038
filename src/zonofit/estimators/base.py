"""What the two estimators share: settings, their check, the choice by validation, and the attributes of a fit."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from zonofit.errors import InputError
from zonofit.estimators.examples import Examples
from zonofit.estimators.training import Task, problem_of, train
from zonofit.network import ShallowReLU
from zonofit.programs.losses import Loss
from zonofit.search.methods import METHODS, find_method
from zonofit.search.walk import Search, Walk

_SEEDS = 2**31 - 1
_CHOOSING = 0.5  # of the budget goes into choosing a width and a ridge, where there is a choice
_SPLITS, _PLENTY = 3, 1000  # a choice among few examples is made on so many splits of them
_CHOOSABLE, _MIDDLE = 10, 1e-2  # below so many examples the ridge is not chosen but this one


class ShallowEstimator(BaseEstimator):
    """Base of `ReLURegressor` and `ReLUClassifier`; not to be used by itself."""

    _classes = False
    _ridges: tuple[float, ...] = ()

    def _loss(self, y: np.ndarray, weights: np.ndarray) -> Loss:
        raise NotImplementedError

    def _checked(self, X, y, sample_weight, **options) -> tuple[np.ndarray, Any, np.ndarray | None]:
        X, y = validate_data(self, X, y, dtype=np.float64, **options)
        if sample_weight is None:
            return X, y, None
        weights = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
        if weights.shape != (len(X),):
            raise InputError(f"sample_weight: expected {len(X)} numbers, one an example, got shape {weights.shape}.")
        if np.any(weights < 0):
            raise InputError("sample_weight: holds negative weights; give examples that shall not count weight 0.")
        if not np.any(weights > 0):
            raise InputError("sample_weight: every weight is zero; give the examples that count a positive one.")
        return X, y, weights

    def _train(self, X: np.ndarray, y: np.ndarray, weights: np.ndarray | None, classes=None) -> None:
        """Search, and set what a fitted estimator has; settings are read and never written."""
        search = self._search()
        rng = check_random_state(self.random_state)
        seed = int(rng.randint(_SEEDS))
        examples = Examples.of(X, y, weights)
        loss = self._loss(examples.y, examples.weights)
        widths, alphas = _choices("width", self.width, 1), self._alphas(examples, loss)
        task = self._task(search, loss)
        chosen = len(widths) * len(alphas) > 1
        share = 1.0 - _CHOOSING if chosen else 1.0
        width, alpha = widths[0], alphas[0]
        if chosen:
            width, alpha = self._choose(task, examples, list(product(widths, alphas)), seed)
        rest, held_back = self._split(examples, seed) if self.early_stopping else (examples, None)
        start = self._start(examples, width)
        found = train(task, rest, width, alpha, seed, share=share, start=start, held_back=held_back)
        names = getattr(self, "feature_names_in_", None)
        self.network_ = ShallowReLU(
            examples.to_user(found.W), found.v, self._shift(found.c), None if names is None else tuple(names), None,
            classes,
        )  # fmt: skip
        self.coefs_ = [self.network_.W[:, :-1].T.copy(), self.network_.v[:, None].copy()]
        self.intercepts_ = [self.network_.W[:, -1].copy(), np.array([self.network_.c])]
        self.trace_, self.certificate_, self.loss_ = found.trace, found.certificate, found.loss
        self.width_, self.alpha_ = width, alpha
        if not chosen and hasattr(self, "validation_losses_"):
            del self.validation_losses_

    def _shift(self, c: float) -> float:
        return c

    def _outputs(self, X) -> np.ndarray:
        check_is_fitted(self)
        return self.network_.predict(validate_data(self, X, dtype=np.float64, reset=False))

    def _search(self) -> Search | type[Search]:
        if isinstance(self.search, Search):
            return self.search
        if isinstance(self.search, str):
            return find_method(self.search)
        raise InputError(
            f"search: {self.search!r} is not a search; pass one of {', '.join(METHODS)}, or one such as Hopping()."
        )

    def _task(self, search: Search | type[Search], loss: Loss) -> Task:
        if not loss.smooth and getattr(search, "name", "") in ("hopping", "facet_descent"):
            raise InputError(
                "loss: the absolute loss has no descent; choose search='gls' or another search over vertices, "
                "or loss=Huber(delta) with a small delta."
            )
        seconds = None if self.time_budget is None else _number("time_budget", self.time_budget, 0.0)
        moves = None if self.max_moves is None else _whole("max_moves", self.max_moves, 0)
        return Task(
            search, loss, moves, seconds, _whole("walkers", self.walkers, 1), effective_n_jobs(self.n_jobs),
            _whole("patience", self.patience, 1), self._say if self.verbose else None,
        )  # fmt: skip

    def _say(self, walk: Walk) -> None:
        assert walk.best is not None
        print(f"{type(self).__name__}: loss {walk.best.objective:.6g} after {walk.counts['moves']} moves", flush=True)

    def _split(self, examples: Examples, seed: int) -> tuple[Examples, Examples]:
        fraction = _number("validation_fraction", self.validation_fraction, 0.0)
        if not 0 < fraction < 1:
            raise InputError(f"validation_fraction: pass a share between 0 and 1, not {fraction!r}.")
        least = self._least(examples)
        if least < 2:
            what = "of each class " if self._classes else ""
            raise InputError(
                f"X: holding examples back takes at least 2 different ones {what}and there is {least}; "
                "pass one width and one alpha, and early_stopping=False."
            )
        return examples.split(fraction, np.random.default_rng(seed), self._classes)

    def _alphas(self, examples: Examples, task_loss: Loss) -> list[float]:
        """The ridges to choose from; where there are too few examples to choose by, one in the middle."""
        if not isinstance(self.alpha, str):
            return _choices("alpha", self.alpha, 0.0)
        if self.alpha != "auto":
            raise InputError(f'alpha: {self.alpha!r} will not do; pass a number, a list of numbers, or "auto".')
        if not task_loss.smooth:
            return [0.0]  # programs without a ridge are all that there is
        return [*self._ridges] if self._least(examples) >= _CHOOSABLE else [_MIDDLE]

    def _least(self, examples: Examples) -> int:
        """Examples, of the rarer class where there are two."""
        return int(min(np.unique(examples.y, return_counts=True)[1])) if self._classes else len(examples.y)

    def _choose(self, task: Task, examples: Examples, choices: list[tuple[int, float]], seed: int) -> tuple[int, float]:
        """The width and the ridge whose networks predict best what was held back; of equal ones the first."""
        splits = range(_SPLITS if len(examples.y) < _PLENTY else 1)
        parts = [self._split(examples, seed + k) for k in splits]
        judges = [problem_of(held_back, 1, task.loss, 0.0) for _, held_back in parts]
        task, share = replace(task, callback=None), _CHOOSING / (len(choices) * len(parts))
        end = np.inf if task.time_budget is None else time.perf_counter() + _CHOOSING * task.time_budget
        losses: dict[tuple[int, float], float] = {}
        for width, alpha in choices:
            if losses and time.perf_counter() > end:  # even a first descent may take longer than its share
                break
            total = 0.0
            for (rest, held_back), judge in zip(parts, judges, strict=True):
                stop_on = held_back if self.early_stopping else None
                found = train(task, rest, width, alpha, seed, share=share, held_back=stop_on)
                problem = judge.with_output_weights(found.v)
                total += problem.mean_loss(problem.predict(found.W, found.c))
            losses[width, alpha] = total / len(parts)
        self.validation_losses_ = losses
        return min(losses, key=lambda pair: losses[pair])

    def _start(self, examples: Examples, width: int) -> tuple[np.ndarray, np.ndarray] | None:
        """The network of the last fit, if it is wanted and of the same size."""
        last = getattr(self, "network_", None)
        if not self.warm_start or last is None or last.W.shape != (width, examples.X.shape[1] + 1):
            return None
        return examples.from_user(last.W), last.v


def _choices(name: str, value, least) -> list:
    """The values to choose from: one, or a list."""
    values = list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]
    if not values:
        raise InputError(f"{name}: an empty list; pass a number, or several to choose from by validation.")
    check = _whole if isinstance(least, int) else _number
    return list(dict.fromkeys(check(name, one, least) for one in values))


def _whole(name: str, value, least: int) -> int:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral) or value < least:
        raise InputError(f"{name}: {value!r} will not do; pass a whole number that is at least {least}.")
    return int(value)


def _number(name: str, value, least: float) -> float:
    real = isinstance(value, Real) and not isinstance(value, (bool, np.bool_))
    if not real or not least <= float(value) < np.inf:
        raise InputError(f"{name}: {value!r} will not do; pass a finite number that is at least {least:g}.")
    return float(value)
