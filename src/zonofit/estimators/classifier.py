"""`ReLUClassifier`."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

from zonofit.errors import InputError
from zonofit.estimators.base import ShallowEstimator
from zonofit.programs.losses import Logistic, Loss, Squared

_LOSSES: dict[str, type[Loss]] = {"logistic": Logistic, "squared": Squared}


class ReLUClassifier(ClassifierMixin, ShallowEstimator):
    """A one-hidden-layer ReLU network that tells two classes apart, found by searching activation patterns.

    For more classes wrap it: ``OneVsRestClassifier(ReLUClassifier())`` of `sklearn.multiclass` trains a network each.
    A single network for all of them would need a vector of output weights for each unit, whose signs are then no
    longer two cases but a direction that has to be searched too.

    Parameters
    ----------
    loss : {"logistic", "squared"}, default "logistic"
        With "squared" the network is fitted to 0 and 1, and probabilities are its predictions, cut off there.
    alpha : float, list of float or "auto", default "auto"
        As that of `ReLURegressor`; "auto" is six from 1e-4 to 0.1, since classes that a network can
        separate have no minimum without a ridge.
    width, search, max_moves, time_budget, walkers, n_jobs : optional
        As those of `ReLURegressor`.
    early_stopping, validation_fraction, patience, random_state, verbose, warm_start : optional
        As those of `ReLURegressor`.

    Attributes
    ----------
    classes_ : ndarray (2,)
        The second is predicted where ``network_`` is positive.
    network_, trace_, certificate_, loss_, width_, alpha_, validation_losses_
        As those of `ReLURegressor`.
    coefs_, intercepts_, n_features_in_, feature_names_in_
        As those of `ReLURegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from zonofit import ReLUClassifier
    >>> X = np.linspace(-1, 1, 40)[:, None]
    >>> model = ReLUClassifier(width=2, random_state=0).fit(X, np.abs(X[:, 0]) > 0.5)
    >>> model.predict([[0.9], [0.1], [-0.8]])
    array([ True, False,  True])
    """

    _classes = True
    _ridges = (3e-3, 1e-2, 1e-3, 3e-2, 1e-4, 1e-1)

    def __init__(
        self, width=8, *, search="hopping", alpha="auto", loss="logistic", max_moves=None, time_budget=None, walkers=1,
        n_jobs=None, early_stopping=False, validation_fraction=0.2, patience=100, random_state=None, verbose=False,
        warm_start=False,
    ):  # fmt: skip
        self.width = width
        self.search = search
        self.alpha = alpha
        self.loss = loss
        self.max_moves = max_moves
        self.time_budget = time_budget
        self.walkers = walkers
        self.n_jobs = n_jobs
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X, y, sample_weight=None) -> Self:
        """Search for a network.

        Parameters
        ----------
        X : array_like (N, d)
        y : array_like (N,)
            Two different labels of any kind.
        sample_weight : array_like (N,), optional
            Weight 2 is the same as occurring twice.

        Returns
        -------
        ReLUClassifier
            Itself.
        """
        X, y, weights = self._checked(X, y, sample_weight, multi_output=True)
        check_classification_targets(y)
        y = column_or_1d(y, warn=True)
        kind = type_of_target(y, input_name="y")
        used = y if weights is None else y[weights > 0]
        classes = np.unique(used)
        if kind == "multiclass" and len(classes) > 2:
            raise InputError(
                f"y: Only binary classification is supported. The type of the target is {kind}, with {len(classes)} "
                "classes; wrap the estimator, OneVsRestClassifier(ReLUClassifier())."
            )
        if len(classes) < 2:
            raise InputError(f"y: there is one class only, {classes.tolist()[0]!r}; pass examples of two classes.")
        self.classes_ = classes
        rows = slice(None) if weights is None else weights > 0
        labels = (y[rows] == classes[1]).astype(np.float64)
        self._train(X[rows], labels, None if weights is None else weights[rows], tuple(classes.tolist()))
        return self

    def decision_function(self, X) -> np.ndarray:
        """Output (N,) of the network: positive for the second class; with the logistic loss its log-odds."""
        return self._outputs(X)

    def predict(self, X) -> np.ndarray:
        """Predicted class (N,) of each example (N, d)."""
        second = self.decision_function(X) > 0
        return self.classes_[second.astype(int)]

    def predict_proba(self, X) -> np.ndarray:
        """Probabilities (N, 2) of the two classes."""
        u = self.decision_function(X)
        if self.loss == "squared":
            p = np.clip(u + 0.5, 0.0, 1.0)
            return np.c_[1.0 - p, p]
        return np.exp(-np.logaddexp(0.0, np.c_[u, -u]))

    def predict_log_proba(self, X) -> np.ndarray:
        """Their logarithms."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def _shift(self, c: float) -> float:
        return c - 0.5 if self.loss == "squared" else c

    def _loss(self, y: np.ndarray, weights: np.ndarray) -> Loss:
        known: Any = _LOSSES.get(self.loss) if isinstance(self.loss, str) else None
        if known is None:
            raise InputError(f"loss: {self.loss!r} is not for classes; choose one of {', '.join(_LOSSES)}.")
        return known()
