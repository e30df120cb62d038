"""What the estimators promise beyond scikit-learn's checks."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from zonofit import ReLUClassifier, ReLURegressor
from zonofit.errors import InputError
from zonofit.programs import Huber, Problem
from zonofit.search import FacetDescent

RNG = np.random.default_rng(0)
X = RNG.standard_normal((80, 3))
Y = np.maximum(X @ [1.0, -2.0, 0.5] + 0.3, 0) - np.maximum(X @ [0.5, 1.0, 1.0], 0) + 0.1 * RNG.standard_normal(80)
CLASS = np.where(Y + 0.2 * RNG.standard_normal(80) > np.median(Y), "warm", "cold")
QUICK = {"width": 3, "alpha": 1e-3, "max_moves": 20, "random_state": 0}


def test_the_network_is_the_estimator():
    model = ReLURegressor(**QUICK).fit(X, Y)
    assert (model.predict(X) == model.network_.predict(X)).all()
    assert model.loss_ == pytest.approx(np.mean((model.predict(X) - Y) ** 2))
    assert model.loss_ < model.certificate_.objective <= model.trace_.loss * (1 + 1e-9)
    assert model.certificate_.holds()
    assert model.score(X, Y) > 0.9


def test_layout_is_that_of_scikit_learn():
    model, theirs = ReLURegressor(**QUICK).fit(X, Y), MLPRegressor(hidden_layer_sizes=3, max_iter=1, solver="lbfgs")
    with pytest.warns(Warning):
        theirs.fit(X, Y)
    for ours, other in ((model.coefs_, theirs.coefs_), (model.intercepts_, theirs.intercepts_)):
        assert [a.shape for a in ours] == [a.shape for a in other]
    hidden = np.maximum(X @ model.coefs_[0] + model.intercepts_[0], 0)
    assert (hidden @ model.coefs_[1] + model.intercepts_[1])[:, 0] == pytest.approx(model.predict(X))


@pytest.mark.parametrize("estimator", [ReLURegressor(**QUICK), ReLUClassifier(**QUICK)])
def test_same_state_same_network_in_any_order_of_rows(estimator):
    y = Y if isinstance(estimator, ReLURegressor) else CLASS
    order = np.random.default_rng(1).permutation(80)
    first, again, shuffled = (clone(estimator).fit(X[rows], y[rows]) for rows in (slice(None), slice(None), order))
    assert (first.network_.W == again.network_.W).all() and (first.network_.W == shuffled.network_.W).all()


def test_weights_are_repetitions_to_the_last_bit():
    weights = np.random.default_rng(2).integers(0, 4, 80)
    weighted = ReLURegressor(**QUICK).fit(X, Y, weights)
    repeated = ReLURegressor(**QUICK).fit(np.repeat(X, weights, axis=0), np.repeat(Y, weights))
    assert (weighted.network_.W == repeated.network_.W).all()


@pytest.mark.parametrize("alpha", [0.0, 1e-2])
def test_badly_scaled_features_just_work(alpha):
    factor, shift = np.array([1e-9, 1.0, 1e7]), np.array([1e-7, -1e3, 1e9])
    plain = ReLURegressor(**(QUICK | {"alpha": alpha})).fit(X, Y)
    scaled = ReLURegressor(**(QUICK | {"alpha": alpha})).fit(X * factor + shift, 1e6 * Y + 1e6)
    assert scaled.score(X * factor + shift, 1e6 * Y + 1e6) == pytest.approx(plain.score(X, Y), abs=0.02)


def test_settings_stay_what_they_were():
    settings = {"width": [2, 3], "alpha": (0.0, 1e-2), "search": FacetDescent(starts=2), "random_state": 0}
    model = ReLURegressor(**settings).fit(X, Y)
    assert all(getattr(model, name) is value for name, value in settings.items())


def test_width_and_ridge_are_chosen_by_validation():
    model = ReLURegressor(width=[1, 4], alpha=[0.0, 10.0], max_moves=10, random_state=0).fit(X, Y)
    assert (model.width_, model.alpha_) == (4, 0.0)
    assert set(model.validation_losses_) == {(1, 0.0), (1, 10.0), (4, 0.0), (4, 10.0)}
    assert model.network_.W.shape == (4, 4)
    assert not hasattr(model.set_params(width=2, alpha=0).fit(X, Y), "validation_losses_")


@pytest.mark.parametrize("estimator", [ReLURegressor, ReLUClassifier])
def test_early_stopping_keeps_what_predicts_best(estimator):
    y = Y if estimator is ReLURegressor else CLASS
    model = estimator(alpha=1e-4, early_stopping=True, patience=5, max_moves=200, random_state=0).fit(X, y)
    best = model.trace_.details["validation"]
    assert model.trace_.stop_reason == "validation" and model.trace_.counts["moves"] == best["moves"] + 5
    assert model.certificate_ is None and model.score(X, y) > 0.7
    chosen = estimator(width=[2, 3], early_stopping=True, max_moves=5, random_state=0).fit(X, y)
    assert chosen.width_ in (2, 3) and "validation" in chosen.trace_.details


def test_ridge_by_default_is_chosen_where_there_is_enough_to_choose_by():
    model = ReLURegressor(width=2, max_moves=5, random_state=0).fit(X, Y)
    assert len(model.validation_losses_) == 6 and (2, model.alpha_) in model.validation_losses_
    assert ReLURegressor(width=2, max_moves=5, random_state=0).fit(X[:9], Y[:9]).alpha_ == 1e-2


def test_warm_start_is_never_worse():
    model = ReLURegressor(**QUICK).fit(X, Y)
    first = model.trace_.loss
    model.set_params(warm_start=True, max_moves=0).fit(X, Y)
    assert model.trace_.loss <= first * (1 + 1e-9)
    assert model.set_params(width=5).fit(X, Y).network_.width == 5


def test_workers_change_nothing():
    one, two = (ReLURegressor(walkers=2, n_jobs=jobs, **QUICK).fit(X, Y) for jobs in (1, 2))
    assert (one.network_.W == two.network_.W).all()


def test_time_budget_is_kept():
    model = ReLURegressor(width=8, alpha=0, time_budget=0.3, random_state=0).fit(X, Y)
    assert model.trace_.stop_reason in ("seconds", "target") and model.trace_.seconds < 3


@pytest.mark.parametrize("loss", ["huber", Huber(0.1)])
def test_huber_does_not_follow_an_outlier(loss):
    y = Y.copy()
    y[3] += 1000.0
    model = ReLURegressor(loss=loss, **QUICK).fit(X, y)
    assert np.median(np.abs(model.predict(X) - Y)) < 1.0


def test_absolute_loss_by_a_search_over_vertices():
    model = ReLURegressor(width=1, loss="absolute", alpha=0, search="random-vertex", max_moves=3, random_state=0)
    assert model.fit(X[:20], Y[:20]).loss_ < np.mean(np.abs(Y[:20] - np.median(Y[:20])))


def test_classifier_gives_probabilities():
    model = ReLUClassifier(**QUICK).fit(X, CLASS)
    p = model.predict_proba(X)
    assert p.sum(axis=1) == pytest.approx(1) and (p >= 0).all()
    assert ((p[:, 1] > 0.5) == (model.predict(X) == "warm")).all()
    assert list(model.classes_) == ["cold", "warm"] and model.network_.classes == ("cold", "warm")
    problem = Problem(X, (CLASS == "warm").astype(float), 1, loss="logistic")
    assert model.loss_ == pytest.approx(problem.mean_loss(model.decision_function(X)))
    squared = ReLUClassifier(loss="squared", **QUICK).fit(X, CLASS)
    assert squared.score(X, CLASS) > 0.8 and np.all((squared.predict_proba(X) >= 0) & (squared.predict_proba(X) <= 1))


def test_more_classes_by_wrapping():
    y = np.digitize(Y, np.quantile(Y, [1 / 3, 2 / 3]))
    with pytest.raises(InputError, match=r"Only binary .* with 3 classes; wrap the estimator, OneVsRestClassifier"):
        ReLUClassifier().fit(X, y)
    assert OneVsRestClassifier(ReLUClassifier(**QUICK)).fit(X, y).score(X, y) > 0.7


def test_in_pipelines_grids_and_cross_validation():
    pipeline = make_pipeline(StandardScaler(), ReLURegressor(**QUICK))
    assert cross_val_score(pipeline, X, Y, cv=3).mean() > 0.8
    search = GridSearchCV(pipeline, {"reluregressor__width": [1, 3]}, cv=2).fit(X, Y)
    assert search.best_params_ == {"reluregressor__width": 3}


def test_frames_give_names():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    pipeline = make_pipeline(StandardScaler(), ReLURegressor(**QUICK)).set_output(transform="pandas").fit(frame, Y)
    assert pipeline[-1].network_.features == ("a", "b", "c")
    with pytest.warns(UserWarning, match="feature names"):
        pipeline[-1].predict(X)


def test_verbose_says_how_it_goes(capsys):
    ReLURegressor(verbose=True, **QUICK).fit(X, Y)
    assert "ReLURegressor: loss" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"width": 0}, "width: 0 will not do"),
        ({"width": []}, "width: an empty list"),
        ({"width": 2.5}, "width: 2.5 will not do"),
        ({"alpha": "much"}, "alpha: 'much' will not do"),
        ({"alpha": -1}, "alpha: -1 will not do"),
        ({"alpha": np.nan}, "alpha: nan will not do"),
        ({"search": "magic"}, "'magic' is not a search"),
        ({"search": 3}, "search: 3 is not a search"),
        ({"loss": "hinge"}, "loss: 'hinge' is not"),
        ({"loss": "logistic"}, "use ReLUClassifier"),
        ({"loss": "absolute", "alpha": 0}, "has no descent"),
        ({"max_moves": -1}, "max_moves: -1 will not do"),
        ({"time_budget": "1s"}, "time_budget: '1s' will not do"),
        ({"walkers": 0}, "walkers: 0 will not do"),
        ({"patience": 0}, "patience: 0 will not do"),
        ({"validation_fraction": 1.0, "early_stopping": True}, "validation_fraction: pass a share"),
    ],
)
def test_one_sentence_for_settings_that_are_none(settings, message):
    with pytest.raises(InputError, match=message):
        ReLURegressor(**settings).fit(X, Y)


def test_one_sentence_for_labels_that_are_none():
    with pytest.raises(InputError, match="one class only, 'a'"):
        ReLUClassifier().fit(X, ["a"] * 80)
    with pytest.raises(InputError, match="every weight is zero"):
        ReLURegressor().fit(X, Y, np.zeros(80))
    with pytest.raises(InputError, match="at least 2 different ones of each class"):
        ReLUClassifier(width=[1, 2], alpha=1).fit(X[:3], [0, 0, 1])
    with pytest.raises(InputError, match="'hinge' is not for classes"):
        ReLUClassifier(loss="hinge").fit(X, CLASS)
