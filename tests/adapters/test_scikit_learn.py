"""The estimator follows scikit-learn's conventions, and scikit-learn's own functions take it."""

from __future__ import annotations

import numpy as np
import pytest

from bandit_forest import InvalidArgumentError
from bandit_forest.adapters.scikit_learn import ForestEstimator


def taught(n_events: int = 2000) -> tuple[ForestEstimator, np.ndarray]:
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (n_events, 5))
    actions = rng.choice(["go", "stay"], n_events)
    rewards = np.where((actions == "go") == (rows[:, 2] == 1), 0.9, 0.1)
    estimator = ForestEstimator(n_trees=10)
    for part in np.array_split(np.arange(n_events), 4):
        estimator.partial_fit(
            rows[part],
            actions[part],
            rewards=rewards[part],
            propensities=np.full(len(part), 0.5),
            classes=["go", "stay"],
        )
    return estimator, rows


def test_it_learns_and_predicts():
    estimator, rows = taught()
    wanted = np.where(rows[:, 2] == 1, "go", "stay")
    assert np.mean(estimator.predict(rows) == wanted) > 0.95
    assert estimator.predict_proba(rows[:20]).sum(axis=1) == pytest.approx(np.ones(20))
    assert estimator.forest_.n_events == 2000


def test_scikit_learn_clones_and_checks_it():
    base = pytest.importorskip("sklearn.base", reason="needs scikit-learn")
    validation = pytest.importorskip("sklearn.utils.validation", reason="needs scikit-learn")
    estimator, _ = taught(100)
    copy = base.clone(estimator)
    assert copy.get_params() == estimator.get_params()
    assert not hasattr(copy, "forest_")
    validation.check_is_fitted(estimator)
    assert copy.set_params(n_trees=3).n_trees == 3


def test_raw_features_are_encoded():
    rows = {"age": np.arange(100.0), "city": np.array(["x", "y"] * 50)}
    estimator = ForestEstimator(n_trees=3, reward_range=(0, 10))
    estimator.fit(rows, [1, 2] * 50, rewards=[10, 0] * 50, propensities=[0.5] * 100)
    assert estimator.encoder_.variable_names == ["age", "city = y"]
    assert estimator.predict(rows).shape == (100,)
    assert estimator.decision_function(rows).max() <= 10


def test_fit_forgets():
    estimator, rows = taught(100)
    estimator.fit(rows, np.array(["a", "b"] * 50), rewards=np.zeros(100), propensities=np.ones(100))
    assert estimator.classes_.tolist() == ["a", "b"]
    assert estimator.forest_.n_events == 100


def test_refusals():
    with pytest.raises(InvalidArgumentError, match="fitted"):
        ForestEstimator().predict([[0, 1]])
    estimator, rows = taught(100)
    with pytest.raises(InvalidArgumentError, match="'y' of"):
        estimator.partial_fit(rows[:1], ["fly"], rewards=[1], propensities=[1])
    with pytest.raises(InvalidArgumentError, match="parameter"):
        estimator.set_params(colour="red")
