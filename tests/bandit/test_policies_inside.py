"""The policy of a Bandit: its own forest, another forest, or any other policy."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from bandit_forest import Bandit, BanditForest, InvalidArgumentError
from bandit_forest.bandit import (
    NumericFeature,
    TimeFeature,
)
from bandit_forest.baselines import LinUCB, Uniform
from visits import ACTIONS, frame, learned, rows

pytestmark = pytest.mark.core


def test_any_policy_may_be_inside() -> None:
    for policy in (LinUCB, Uniform):
        bandit = Bandit(actions=ACTIONS, reward_range=(0, 250), policy=policy, warm_up_events=100)
        bandit.learn_many(frame(300), "action", "revenue", propensities="propensity")
        assert bandit.decide(rows(1)[0]).action in ACTIONS
        assert bandit.features["age"] == NumericFeature(n_bins=5, missing=True)
        assert not bandit.features["time"].is_ordered
        with pytest.raises(InvalidArgumentError, match="with 'policy=' cannot be saved"):
            bandit.to_bytes()


def test_a_bandit_with_another_policy_is_not_saved_either_before_it_is_made() -> None:
    for policy in (LinUCB, BanditForest.paper):
        bandit = Bandit(actions=ACTIONS, policy=policy)
        for save in (Bandit.to_bytes, copy.deepcopy, pickle.dumps):
            with pytest.raises(InvalidArgumentError, match="with 'policy=' cannot be saved"):
                save(bandit)


def test_another_forest_speaks_in_the_names_of_the_user() -> None:
    bandit = Bandit(actions=ACTIONS, reward_range=(0, 250), policy=BanditForest.paper, warm_up_events=100)
    bandit.learn_many(frame(300), "action", "revenue", propensities="propensity")
    told = bandit.explain(rows(1)[0])
    assert told.action_names == tuple(ACTIONS)
    bandit.add_action("fly")
    assert bandit.explain(rows(1)[0]).action_names == (*ACTIONS, "fly")
    assert "action 0" not in bandit.tree(0).to_text()


def test_a_policy_of_binary_variables_refuses_numbers_in_order() -> None:
    elimination = {"growth": {"rule": "Elimination"}, "exploration": {"rule": "RoundRobin"}}
    for others in ({"policy": LinUCB}, {"forest": elimination}):
        with pytest.raises(InvalidArgumentError, match="only Greedy growth takes numbers in order"):
            Bandit(actions=ACTIONS, features={"age": NumericFeature()}, **others)
        for name, feature, sentence in (
            ("age", NumericFeature(), "The 'n_bins' of the NumericFeature of 'age' must be a number, .* Got None"),
            ("when", TimeFeature(), "The 'bins' of the TimeFeature of 'when' must be true, .* Got False instead"),
        ):
            with pytest.raises(InvalidArgumentError, match=sentence):
                Bandit(actions=ACTIONS, features={name: feature}, **others)
        assert Bandit(actions=ACTIONS, features={"age": "numeric"}, warm_up_events=9, **others).policy is None
    bandit = Bandit(actions=ACTIONS, reward_range=(0, 250), forest=elimination)
    bandit.learn_many(frame(300), "action", "revenue", propensities="propensity")
    assert bandit.version == 300


def test_what_makes_no_policy_is_refused_at_once() -> None:
    class Half:
        def __init__(self, *, n_variables: int, n_actions: int) -> None:
            self.n_variables, self.n_actions = n_variables, n_actions

        def decide(self, context: Any) -> None: ...
        def learn(self, context: Any) -> None: ...

    with pytest.raises(InvalidArgumentError, match="'policy' of Bandit must be a callable that returns a policy"):
        Bandit(actions=ACTIONS, policy=LinUCB(n_variables=3, n_actions=2))  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match="what is missing: decide_many, learn_many, play"):
        Bandit(actions=ACTIONS, policy=Half)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match="'forest' of Bandit must be left out with 'policy'"):
        Bandit(actions=ACTIONS, policy=LinUCB, forest={"n_trees": 3})


def test_the_forest_inside_is_the_forest_alone() -> None:
    """What the service writes and what the library learns is one forest."""
    bandit, other = learned(), learned()
    matrix = np.stack([other.model.variables(other.model.read(context)) for context in rows(20, seed=4)])
    bandit.learn_many(rows(20, seed=4), ["go"] * 20, [125.0] * 20, propensities=[0.5] * 20)
    forest = other.forest("the test")
    forest.learn_many(matrix, [1] * 20, [0.5] * 20, propensities=[0.5] * 20)
    assert bandit.forest("the test")._to_bytes() == forest._to_bytes()
