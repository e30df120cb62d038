"""`ReLURegressor`."""

from __future__ import annotations

from typing import Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import column_or_1d

from zonofit.errors import InputError
from zonofit.estimators.base import ShallowEstimator
from zonofit.programs.losses import Huber, Loss, as_loss, spread

_HUBER = 0.5  # standard deviations of the labels


class ReLURegressor(RegressorMixin, ShallowEstimator):
    """A one-hidden-layer ReLU network, found by searching activation patterns.

    Parameters
    ----------
    width : int or list of int, default 8
        Number of units. From a list the width is chosen that predicts held-back examples best.
    search : str or Search, default "hopping"
        How to search: a name (see `zonofit.search.methods`), or an instance with settings of its own.
    alpha : float, list of float or "auto", default "auto"
        Ridge: alpha/2 times the squared weights, in standardised features. A list leaves the choice to validation; half
        of the budget goes into it. "auto" is six from 0 to 0.3, tried while there is time; with fewer than 10
        examples it is 0.01, and with the absolute loss 0. For labels without noise, and for the least training loss,
        pass 0.
    loss : {"squared", "huber", "absolute"} or Loss, default "squared"
        "huber" is squared up to half a standard deviation of the labels; pass ``Huber(delta)`` for another length.
        "absolute" wants a search over vertices such as "gls".
    max_moves : int, optional
        Moves of the search. By default, without a `time_budget`, 10 to 500: as many as take about a second, with the
        choice of a ridge, on a few hundred examples.
    time_budget : float, optional
        Seconds of the search, in place of moves. What is found then depends on the machine.
    walkers : int, default 1
        Searches side by side, the best of which counts.
    n_jobs : int, optional
        Worker processes for them; what is found does not depend on it, unless time runs out.
    early_stopping : bool, default False
        Hold examples back, keep the network that predicts them best, and stop once none is better.
    validation_fraction : float, default 0.2
        Share of the examples to hold back.
    patience : int, default 100
        Moves without a better one after which `early_stopping` stops.
    random_state : int, RandomState instance or None, default None
    verbose : bool, default False
        Print a line whenever the search got better.
    warm_start : bool, default False
        Begin where the last fit ended.

    Attributes
    ----------
    network_ : ShallowReLU
        In the units of the data.
    trace_ : Trace
        What the search did, in standardised features.
    certificate_ : Certificate or None
        That no weights with the same patterns are better, in standardised features; None where examples times weights
        exceed 300,000 (50,000 if the loss is not squared), or after early stopping.
    loss_ : float
        Mean loss of the training examples, without the ridge.
    width_, alpha_ : int, float
        As chosen.
    validation_losses_ : dict
        By width and alpha, where there was a choice.
    coefs_, intercepts_ : list of ndarray
        The same network as scikit-learn's MLPs keep it.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X had names.

    Examples
    --------
    >>> import numpy as np
    >>> from zonofit import ReLURegressor
    >>> X = np.linspace(-1, 1, 50)[:, None]
    >>> model = ReLURegressor(width=2, alpha=0, random_state=0).fit(X, np.abs(X[:, 0]))
    >>> model.network_.breakpoints.round(6)
    array([0.])
    """

    _ridges = (1e-1, 3e-1, 3e-2, 1e-2, 1e-3, 0.0)  # the likelier first, as there may be no time for all

    def __init__(
        self, width=8, *, search="hopping", alpha="auto", loss="squared", max_moves=None, time_budget=None, walkers=1,
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

    def fit(self, X, y, sample_weight=None) -> Self:
        """Search for a network.

        Parameters
        ----------
        X : array_like (N, d)
        y : array_like (N,)
        sample_weight : array_like (N,), optional
            Weight 2 is the same as occurring twice.

        Returns
        -------
        ReLURegressor
            Itself.
        """
        X, y, weights = self._checked(X, y, sample_weight, y_numeric=True, multi_output=True)
        self._train(X, column_or_1d(y, warn=True).astype(np.float64), weights)
        return self

    def predict(self, X) -> np.ndarray:
        """Predictions (N,) for examples (N, d)."""
        return self._outputs(X)

    def _loss(self, y: np.ndarray, weights: np.ndarray) -> Loss:
        if self.loss == "huber":
            share = weights / weights.sum()
            return Huber(_HUBER * spread(y, share, float(share @ y)) or 1.0)
        if self.loss == "logistic":
            raise InputError("loss: the logistic loss is for two classes; use ReLUClassifier, or loss='squared'.")
        return as_loss(self.loss)
