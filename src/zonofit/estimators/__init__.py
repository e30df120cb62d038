"""scikit-learn's API: `ReLURegressor` and `ReLUClassifier`.

They hold the settings of a search; `fit` standardises the features, runs it, and leaves a `ShallowReLU` in the
units of the data. Importing this module imports scikit-learn.
"""

from zonofit.estimators.classifier import ReLUClassifier
from zonofit.estimators.regressor import ReLURegressor

__all__ = ["ReLUClassifier", "ReLURegressor"]
