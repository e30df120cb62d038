"""Real tables that come inside scikit-learn and statsmodels, for `bench_tabular.py`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Table = tuple[np.ndarray, np.ndarray, bool]  # examples, labels, whether these are two classes


def _sklearn(name: str, classes: Callable | None = None) -> Callable[[], Table]:
    def load():
        from sklearn import datasets

        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        return X, y.astype(float) if classes is None else classes(y).astype(float), classes is not None

    return load


def _statsmodels(name: str, target: str, drop=(), classes: Callable | None = None) -> Callable[[], Table]:
    def load():
        from statsmodels import datasets

        frame = getattr(datasets, name).load_pandas().data.select_dtypes("number").dropna()
        y = frame[target].to_numpy(float)
        X = frame.drop(columns=[target, *drop]).to_numpy(float)
        return X, y if classes is None else classes(y).astype(float), classes is not None

    return load


def _star98() -> Table:
    from statsmodels import datasets

    frame = datasets.star98.load_pandas().data
    return frame.iloc[:, 2:].to_numpy(float), (frame.iloc[:, 0] / frame.iloc[:, :2].sum(axis=1)).to_numpy(float), False


TABLES: dict[str, Callable[[], Table]] = {
    "diabetes": _sklearn("diabetes"),
    "engel": _statsmodels("engel", "foodexp"),
    "star98": _star98,
    "grunfeld": _statsmodels("grunfeld", "invest"),
    "macrodata": _statsmodels("macrodata", "infl", drop=("realint",)),
    "anes96": _statsmodels("anes96", "PID"),
    "fair": _statsmodels("fair", "affairs"),
    "randhie": _statsmodels("randhie", "mdvis"),
    "breast cancer": _sklearn("breast_cancer", lambda y: y == 1),
    "wine, 1 or not": _sklearn("wine", lambda y: y == 1),
    "digits, odd or even": _sklearn("digits", lambda y: y % 2 == 1),
    "fair, any affair": _statsmodels("fair", "affairs", classes=lambda y: y > 0),
}


def load(name: str) -> Table:
    """Examples without constant features, labels, and whether these are two classes."""
    X, y, classes = TABLES[name]()
    return X[:, np.ptp(X, axis=0) > 0], y, classes
