"""Batches of a Bandit: learned whole or not at all, with the rows of the caller in every refusal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from bandit_forest import Bandit, InvalidArgumentError
from bandit_forest.bandit import FeatureError

pytestmark = pytest.mark.core

FOREST = {"n_trees": 4}
N_ROWS = 120


def log(n_rows: int = N_ROWS, **columns: Any) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    taken = {"action": ["stay", "go"] * (n_rows // 2), "reward": rng.random(n_rows), "propensity": 0.5}
    return pd.DataFrame({"x": rng.random(n_rows), **taken} | columns)


def new(**others: Any) -> Bandit:
    return Bandit(actions=["stay", "go"], warm_up_events=50, forest=FOREST, **others)


def learn(bandit: Bandit, rows: Any, **others: Any) -> None:
    bandit.learn_many(rows, "action", "reward", propensities="propensity", **others)


@pytest.mark.parametrize("features", [None, {"x": "numeric", "c": "numeric"}], ids=["learned", "declared"])
@pytest.mark.parametrize("n_known", [0, 20, 60], ids=["new", "in the warm-up", "after the warm-up"])
@pytest.mark.parametrize("row", [10, 29, 30, 49, 50, 119])
def test_a_refused_batch_changes_nothing_and_names_the_row_of_the_caller(row: int, n_known: int, features: Any) -> None:
    bandit = new(features=features)
    learn(bandit, log(n_known, c=1.0))
    values: list[object] = [1.0] * N_ROWS
    values[row] = "one"
    before = bandit.to_bytes()
    with pytest.raises(FeatureError, match=rf"The 'c' of the context in row {row} must be .*Got 'one' instead"):
        learn(bandit, log(c=values))
    assert bandit.to_bytes() == before


def test_decisions_that_contradict_one_another_are_refused_together() -> None:
    bandit = new()
    early = bandit.decide_many([{"x": "text" if number == 70 else 1.0} for number in range(90)])
    before = bandit.to_bytes()
    with pytest.raises(FeatureError, match="The 'x' of the context in row 70 must be a finite number"):
        bandit.learn_many(early, rewards=[0.5] * 90)
    assert bandit.to_bytes() == before


def test_a_refused_fit_changes_nothing() -> None:
    bandit = new()
    before = bandit.to_bytes()
    with pytest.raises(FeatureError, match="The 'c' of the context in row 2 must be numeric"):
        bandit.fit([{"c": 1}, {"c": None}, {"c": "one"}])
    assert bandit.to_bytes() == before


def test_rows_of_decisions_are_told_while_features_are_learned() -> None:
    bandit = new()
    learn(bandit, log(10))
    with pytest.raises(FeatureError, match="'x' of the context in row 3 must be numeric"):
        bandit.decide_many([{"x": 1}, {"x": 2}, {"x": 3}, {"x": "four"}])


def test_a_feature_without_a_value_in_the_warm_up_is_a_category_and_the_refusal_has_the_cures() -> None:
    rows = log(400, c=[None] * 100 + [1.5] * 300)
    bandit = new()
    with pytest.raises(
        FeatureError, match=r'row 100 must be a text .* declare it \(features={"c": "numeric"}\), or call'
    ):
        learn(bandit, rows)
    assert bandit.version == len(bandit.model.warm_up_lessons) == 0
    for cured in (new(features={"x": "numeric", "c": "numeric"}), new().fit(rows[["x", "c"]])):
        learn(cured, rows)
        assert cured.version == 400

    learn(bandit, rows.assign(c=[None] * 100 + ["new"] * 300))
    for again in (bandit, Bandit.from_bytes(bandit.to_bytes())):
        assert again.features["c"].kind == "categorical"
        with pytest.raises(FeatureError, match=r'features=\{"c": "boolean"\}'):
            again.decide({"x": 0.5, "c": True})


def test_a_declared_category_is_refused_without_advice() -> None:
    bandit = new(features={"x": "numeric", "c": "categorical"})
    learn(bandit, log(c=[None] * N_ROWS))
    with pytest.raises(InvalidArgumentError, match=r"must be a text or a whole number\. Got 1\.5 instead"):
        bandit.decide({"x": 0.5, "c": 1.5})
