"""Batches of a Bandit: learned whole or not at all, with the rows of the caller in every refusal."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pytest

from bandit_forest import Bandit, ContextEncoder, InvalidArgumentError
from bandit_forest.bandit import FeatureError, NumericFeature
from bandit_forest.errors import shown

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


def test_lessons_wait_as_long_as_events_are_what_counts() -> None:
    """Folders of version 0.1 count decided events, which only the service does."""
    bandit = Bandit.from_settings(replace(new().settings, warm_up_rule="events"))
    for action in ("stay", "go"):
        bandit.add_action(action)
    learn(bandit, log())
    assert (bandit.version, len(bandit.model.warm_up_lessons)) == (0, N_ROWS)


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


LISTS = [["stay", "go"], ["go", "gone"]] * (N_ROWS // 2)
FORMS: dict[str, Any] = {
    "all rows": ["go", "stay"],
    "one list per row": LISTS,
    "mask": np.full((N_ROWS, 2), True),
    "column": "available",
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("convert", [lambda rows: rows, polars.from_pandas, lambda rows: rows.to_dict("records")])
def test_available_actions_of_a_log_are_no_feature(form: str, convert: Any) -> None:
    rows = log(available=LISTS) if form == "column" else log()
    bandit, plain = new(), new()
    learn(bandit, convert(rows), available_actions=FORMS[form])
    learn(plain, log())
    assert bandit.to_bytes() == plain.to_bytes()


@pytest.mark.parametrize(
    ("available", "sentence"),
    [
        (["go"], "lists with the action that was taken, which is 'stay' in row 0. Got ['go'] instead"),
        ([*LISTS[:6], ["go"], *LISTS[7:]], "which is 'stay' in row 6. Got ['go'] instead"),
        (np.arange(2 * N_ROWS).reshape(N_ROWS, 2) != 2 * 8, "which is 'stay' in row 8. Got ['go'] instead"),
        ([*LISTS[:6], "stay", *LISTS[7:]], "lists of names; row 6 is wrong. Got 'stay' instead"),
        ([*LISTS[:6], ["stay", 3], *LISTS[7:]], "lists of names; row 6 is wrong. Got ['stay', 3] instead"),
        (LISTS[1:], "lists of names, one for each event, or a mask as an array. Got"),
        (pd.DataFrame({"stay": [True] * N_ROWS, "go": False}), "or a mask as an array. Got"),
        ("may", "one of the columns x, action, reward, propensity. Got 'may' instead"),
        (3, "or a mask as an array. Got 3 instead"),
    ],
)
def test_an_action_that_was_not_available_is_refused_with_its_row(available: Any, sentence: str) -> None:
    bandit = new()
    before = bandit.to_bytes()
    with pytest.raises(InvalidArgumentError) as refusal:
        learn(bandit, log(), available_actions=available)
    assert str(refusal.value).startswith("The 'available_actions' of Bandit.learn_many must be ")
    assert sentence in str(refusal.value)
    assert bandit.to_bytes() == before


@pytest.mark.parametrize("n_rows", [20, N_ROWS], ids=["in the warm-up", "after the warm-up"])
def test_a_column_of_available_actions_that_was_learned_as_a_feature_is_refused(n_rows: int) -> None:
    bandit, rows = new(), log(n_rows, available=LISTS[:n_rows])
    learn(bandit, rows)
    for call in (bandit.decide_many, bandit.propensities_many):
        with pytest.raises(InvalidArgumentError, match=r"must be a column that is not a feature .* learn_many has"):
            call(rows[["x", "available"]], available_actions="available")
    with pytest.raises(InvalidArgumentError, match="must be a column that is not a feature"):
        learn(bandit, rows, available_actions="available")


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"action": "fly"}, "The 'actions' of Bandit.learn_many must be names, each one of stay, go; row 7 is wrong. "),
        ({"action": None}, "The 'actions' of Bandit.learn_many must be names, each one of stay, go; row 7 is wrong. "),
        (
            {"action": ["go"]},
            "The 'actions' of Bandit.learn_many must be names, each one of stay, go; row 7 is wrong. ",
        ),
        ({"reward": 1.5}, "The 'rewards' of Bandit.learn_many must be numbers in [0, 1]; row 7 is wrong. "),
        ({"reward": float("nan")}, "The 'rewards' of Bandit.learn_many must be numbers in [0, 1]; row 7 is wrong. "),
        ({"reward": "much"}, "The 'rewards' of Bandit.learn_many must be numbers in [0, 1]; row 7 is wrong. "),
        ({"reward": None}, "The 'rewards' of Bandit.learn_many must be numbers in [0, 1]; row 7 is wrong. "),
        ({"reward": 2**5000}, "The 'rewards' of Bandit.learn_many must be numbers in [0, 1]; row 7 is wrong. "),
        ({"propensity": 0.0}, "(0, 1]; row 7 is wrong. "),
        ({"propensity": float("nan")}, "(0, 1]; row 7 is wrong. "),
        ({"propensity": None}, "(0, 1]; row 7 is wrong. "),
        ({"propensity": "much"}, "(0, 1]; row 7 is wrong. "),
    ],
)
def test_what_is_wrong_in_a_batch_is_told_with_its_row_and_value(columns: dict[str, Any], sentence: str) -> None:
    rows = log().to_dict("records")
    rows[7] = rows[7] | columns
    bandit = new()
    before = bandit.to_bytes()
    for given in (rows, pd.DataFrame(rows)):
        with pytest.raises(InvalidArgumentError) as refusal:
            learn(bandit, given)
        assert sentence in str(refusal.value)
        value = next(iter(columns.values()))
        assert any(str(refusal.value).endswith(f"Got {shown(one)} instead.") for one in (value, float("nan"), None))
    assert bandit.to_bytes() == before


@pytest.mark.parametrize(
    ("available", "sentence"),
    [
        ([["stay"], []], "must be a list of names of enabled actions, at least one; row 1 is wrong. Got () instead."),
        ([["stay"], ["go", "fly"]], "must be names of enabled actions, which are stay, go; row 1 is wrong. Got 'fly'"),
        (["stay", "fly"], "must be names of enabled actions, which are stay, go. Got 'fly' instead."),
        ([], "must be a list of names of enabled actions, at least one. Got () instead."),
        (np.array([[True, True], [False, False]]), "at least one; row 1 is wrong. Got () instead."),
    ],
)
def test_a_row_without_a_known_available_action_is_told(available: Any, sentence: str) -> None:
    for call in (new().decide_many, new().propensities_many):
        with pytest.raises(InvalidArgumentError) as refusal:
            call({"x": [1.0, 2.0]}, available_actions=available)
        assert sentence in str(refusal.value)


@pytest.mark.parametrize(
    "names",
    [
        np.array(["stay", "go"]),
        pd.Series(["stay", "go", "go"]).unique(),
        pd.Series(["stay", "go"]),
        pd.Series(["stay", "go", "go"], dtype="category").unique(),
        polars.Series(["stay", "go"]),
        iter(["stay", "go"]),
    ],
    ids=["array", "unique", "series", "categories", "polars", "iterator"],
)
def test_actions_are_any_iterable_of_names(names: Any) -> None:
    bandit = Bandit(actions=names)
    assert list(bandit.actions) == ["stay", "go"]
    assert {type(name) for name in bandit.actions} == {str}
    shares = bandit.propensities({"x": 1}, available_actions=pd.Series(["go"]))
    assert shares == {"stay": 0.0, "go": 1.0}


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["stay", float("nan")], "Got nan"),
        (["stay", "go", "stay"], "Got 'stay'"),
        ({"stay", "go"}, "a set has no order, so sort it. Got"),
        ("stay", "Got 'stay'"),
        ({"stay": 1}, "Got {'stay': 1}"),
        (iter([]), "at least one. Got"),
        (3, "Got 3"),
    ],
)
def test_other_actions_are_refused_by_name(names: Any, told: str) -> None:
    with pytest.raises(InvalidArgumentError) as refusal:
        Bandit(actions=names)
    assert told in str(refusal.value)


def test_texts_are_no_rewards_even_where_they_are_those_of_numbers() -> None:
    sentence = "must be numbers in \\[0, 1\\]; row 0 is wrong. Got '1' instead."
    for rewards in (["1", "0"], np.array(["1", "0"]), pd.Series(["1", "0"])):
        with pytest.raises(InvalidArgumentError, match=sentence):
            new().learn_many({"x": [1.0, 2.0]}, ["stay", "go"], rewards, propensities=[0.5, 0.5])


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame([[1.0, 2, 3]], columns=["x", "age", "age"]),
        pa.table([[1.0], [2], [3]], names=["x", "age", "age"]),
    ],
    ids=["pandas", "PyArrow"],
)
def test_a_frame_with_two_columns_of_one_name_is_refused(frame: Any) -> None:
    rule = r"must be a frame whose columns have different names. Got \['age', 'age'\] instead."
    for call in (new().fit, new().decide_many, ContextEncoder().fit):
        with pytest.raises(InvalidArgumentError, match=f"^The 'rows' of [A-Za-z_.]+ {rule}$"):
            call(frame)


def test_masked_values_are_missing_and_masked_rewards_are_refused() -> None:
    bandit = Bandit(actions=["stay", "go"], features={"x": NumericFeature(thresholds=(3,), missing=True)})
    masked = np.ma.array([9.0, 9.0], mask=[True, False])
    assert bandit.decide_many({"x": masked}).contexts == bandit.decide_many({"x": [None, 9.0]}).contexts
    with pytest.raises(InvalidArgumentError, match="numbers without masked ones"):
        bandit.learn_many({"x": [1, 2]}, ["go", "go"], np.ma.array([0.5, 0.5], mask=[True, False]), propensities=[1, 1])
