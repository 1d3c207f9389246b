"""What is refused leaves a Bandit as it was."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars
import pytest

from bandit_forest import Bandit, InvalidArgumentError, archive
from bandit_forest.bandit import (
    BooleanFeature,
    CategoricalFeature,
    FeatureError,
    LabelsFeature,
    NumericFeature,
)
from bandit_forest.errors import DamagedFileError
from visits import ACTIONS

pytestmark = pytest.mark.core


def test_a_decision_of_a_bandit_with_other_features_is_refused() -> None:
    small = Bandit(actions=["p", "q"], features={"x": BooleanFeature()})
    number = Bandit(actions=["p", "q"], features={"x": NumericFeature(thresholds=(1, 2, 3))})
    wide = Bandit(actions=["p", "q"], features={"c": CategoricalFeature(values=tuple(range(300)))})
    warming = Bandit(actions=["p", "q"])
    before = small.to_bytes()
    for other in (wide.decide({"c": 3}), number.decide({"x": 5})):
        with pytest.raises(InvalidArgumentError, match=r"The 'decision' of Bandit.learn must be a decision of this"):
            small.learn(other, 1.0)
        with pytest.raises(InvalidArgumentError, match="decisions of this bandit; row 1 is wrong"):
            small.learn_many([small.decide({"x": True}), other], [1.0, 1.0])
        with pytest.raises(InvalidArgumentError, match="a decision of this bandit"):
            warming.learn(other, 1.0)
    with pytest.raises(FeatureError, match="left out, it is unknown"):
        small.learn(warming.decide({"y": 1}), 1.0)
    assert small.version == warming.version == 0
    small.learn(Bandit.from_bytes(before).decide({"x": True}), 1.0)  # what was saved and loaded is the same bandit


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda b: b.decide_many([{"n": 1.0}, {"n": 10**400}]), "row 1 must be a finite number"),
        (lambda b: b.learn_many([{"n": 1.0}], ["p"], [10**400], propensities=[1]), "'rewards' of Bandit.learn_many"),
        (lambda b: b.learn_many([{"n": 1.0}], 5, [1], propensities=[1]), "'actions' of Bandit.learn_many"),
        (lambda b: b.decide_many([{1: 2}], available_actions="p"), "'available_actions' of Bandit.decide_many"),
    ],
)
def test_what_no_batch_can_hold_is_refused_in_a_sentence(call: Any, sentence: str) -> None:
    bandit = Bandit(actions=["p", "q"], features={"n": NumericFeature(thresholds=(1, 2))})
    with pytest.raises(InvalidArgumentError) as refused:
        call(bandit)
    assert sentence in str(refused.value)
    assert bandit.version == 0


def test_arrays_and_frames_are_no_values_and_no_contexts() -> None:
    bandit = Bandit(actions=ACTIONS, features={"age": "numeric", "tags": "labels"})
    bandit.decide({"age": 1, "tags": {"new", "sale"}})
    with pytest.raises(FeatureError, match="one row of a frame"):
        bandit.decide(pd.DataFrame({"age": [1], "tags": [["new"]]}))
    for wrong in (np.ones((1, 2)), polars.Series([1])):
        with pytest.raises(FeatureError, match="The 'age' of the context"):
            bandit.decide({"age": wrong, "tags": []})


@pytest.mark.parametrize(
    ("features", "context", "clash"),
    [
        ({"t": "time", "t hour": "numeric"}, {"t": "2026-01-01T09:00", "t hour": 3}, "t hour"),
        ({"l": LabelsFeature(labels=("x",)), "l has x": "boolean"}, {"l": ["x"], "l has x": True}, "l has x"),
    ],
)
def test_a_feature_is_not_named_like_a_variable_of_another(features: Any, context: Any, clash: str) -> None:
    sentence = f"The '{clash}' of the context must be renamed"
    with pytest.raises(FeatureError, match=sentence):
        Bandit(actions=ACTIONS, features=features)
    bandit = Bandit(actions=ACTIONS)
    before = bandit.to_bytes()
    with pytest.raises(FeatureError, match=sentence):
        bandit.learn(context, "go", 1.0, propensity=0.5)
    assert bandit.to_bytes() == before


def test_the_name_of_all_other_labels_is_not_one_of_them() -> None:
    with pytest.raises(InvalidArgumentError, match="without 'another label'"):
        LabelsFeature(labels=("new", "another label"), open=True)
    bandit = Bandit(actions=ACTIONS, warm_up_events=1)
    bandit.learn({"tags": ["another label", "new"]}, "go", 1.0, propensity=0.5)
    assert bandit.features["tags"] == LabelsFeature(labels=("new",), open=True, missing=True)
    assert bandit.decide({"tags": ["another label"]}).context == bandit.decide({"tags": ["unheard"]}).context


def test_decisions_of_another_bandit_never_spoil_a_warm_up() -> None:
    other = Bandit(actions=ACTIONS, features={"q": "labels"})
    bandit = Bandit(actions=ACTIONS, features={"x": "numeric"}, warm_up_events=3)
    foreign, before = other.decide({"q": ["a"]}), bandit.to_bytes()
    for learn in (lambda: bandit.learn(foreign, 1.0), lambda: bandit.learn_many([foreign], [1.0])):
        with pytest.raises(FeatureError, match=r"The 'q' of the context .*must be left out"):
            learn()
    assert bandit.to_bytes() == before


def test_a_lesson_that_ends_the_warm_up_is_refused_before_it_counts() -> None:
    bandit = Bandit(actions=ACTIONS, warm_up_events=2)
    bandit.learn({}, "go", 1.0, propensity=0.5)
    before = bandit.to_bytes()
    for _ in range(3):
        with pytest.raises(InvalidArgumentError):
            bandit.learn({}, "go", 1.0, propensity=0.5)
    assert bandit.to_bytes() == before


def test_a_list_that_changes_later_changes_nothing() -> None:
    bandit, tags = Bandit(actions=ACTIONS), ["new"]
    bandit.learn({"tags": tags}, "go", 1.0, propensity=0.5)
    before = bandit.to_bytes()
    tags.append(5)  # type: ignore[arg-type]
    assert bandit.to_bytes() == before


def test_mappings_without_a_feature_are_learned_as_one_by_one() -> None:
    lessons = [{"n": 1}, {"n": 2, "z": 5}, {"z": 7}]
    alone, together = Bandit(actions=ACTIONS), Bandit(actions=ACTIONS)
    for context in lessons:
        alone.learn(context, "go", 1.0, propensity=0.5)
    together.learn_many(lessons, ["go"] * 3, [1.0] * 3, propensities=[0.5] * 3)
    assert together.to_bytes() == alone.to_bytes()


@pytest.mark.parametrize("wrong", [np.array(["2024-01-01"], "M8[ns]"), np.array([5], "m8[ns]")])
def test_moments_and_durations_are_no_numbers(wrong: Any) -> None:
    bandit = Bandit(actions=ACTIONS, features={"x": "numeric"})
    with pytest.raises(FeatureError, match="The 'x' of the context must be a finite number"):
        bandit.decide({"x": wrong[0]})
    with pytest.raises(FeatureError, match="The 'x' of the context in row 0 must be a finite number"):
        bandit.decide_many({"x": wrong})


def test_parameters_that_are_no_mapping_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="The 'forest' of Bandit must be a mapping"):
        Bandit(actions=ACTIONS, forest=3)  # type: ignore[arg-type]


def test_a_saved_bandit_with_a_capacity_beyond_all_is_refused() -> None:
    header, arrays = archive.unpack(Bandit(actions=ACTIONS).to_bytes(), "bandit")
    header["settings"]["capacity"] = 2**31
    with pytest.raises(DamagedFileError, match="capacity"):
        Bandit.from_bytes(archive.pack(header, arrays))
    del header["settings"]["forest"]["seed"]
    with pytest.raises(DamagedFileError):
        Bandit.from_bytes(archive.pack(header, arrays))
