"""scikit-learn's own checks: all of them, with nothing skipped and nothing expected to fail."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from zonofit import ReLUClassifier, ReLURegressor


@pytest.mark.filterwarnings("default")  # scikit-learn's, about what the checks themselves do
@parametrize_with_checks([ReLURegressor(max_moves=10), ReLUClassifier(max_moves=5)])
def test_scikit_learn_accepts_it(estimator, check, monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")  # without it one check skips itself
    check(estimator)
