"""scikit-learn's own MLPs, filled: what gurobi-machinelearning, PySCIPOpt-ML, skl2onnx and others read.

They look at the exact class, so no subclass will do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zonofit.errors import InputError
from zonofit.export.model import as_network

if TYPE_CHECKING:
    from sklearn.neural_network import MLPClassifier, MLPRegressor


def to_sklearn(model) -> MLPRegressor | MLPClassifier:
    """The network as a fitted `MLPRegressor`, or, where it tells two classes apart, an `MLPClassifier`.

    Parameters
    ----------
    model : ShallowReLU or fitted estimator

    Returns
    -------
    sklearn.neural_network.MLPRegressor or MLPClassifier
        Ready to predict; a classifier's probabilities are those of the logistic loss.
    """
    from sklearn.neural_network import MLPClassifier, MLPRegressor
    from sklearn.preprocessing import LabelBinarizer

    network = as_network(model)
    if not network.width:
        raise InputError("model: has no units, and scikit-learn wants at least one; its prediction is the constant c.")
    kind = MLPRegressor if network.classes is None else MLPClassifier
    mlp = kind(hidden_layer_sizes=(network.width,), activation="relu", solver="lbfgs")
    mlp.coefs_ = [network.W[:, :-1].T.copy(), network.v[:, None].copy()]
    mlp.intercepts_ = [network.W[:, -1].copy(), np.array([network.c])]
    mlp.n_layers_, mlp.n_outputs_, mlp.n_features_in_ = 3, 1, network.n_features
    mlp.n_iter_, mlp.t_, mlp.loss_ = 0, 0, np.nan
    if network.features is not None:
        mlp.feature_names_in_ = np.array(network.features, dtype=object)
    if network.classes is None:
        mlp.out_activation_ = "identity"
    else:
        mlp.out_activation_ = "logistic"
        mlp._label_binarizer = LabelBinarizer().fit(np.array(network.classes))
        mlp.classes_ = mlp._label_binarizer.classes_
        if list(mlp.classes_) != list(network.classes):
            raise InputError("classes: scikit-learn wants them sorted; exchange them, and the signs of v and c.")
    return mlp
