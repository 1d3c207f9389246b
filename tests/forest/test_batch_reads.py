"""Propensities and mean rewards of many contexts are those of each, one after the other."""

from __future__ import annotations

import numpy as np
import pytest

from bandit_forest import BanditForest, InvalidArgumentError
from bandit_forest.baselines import Uniform


def learned_forest() -> BanditForest:
    rng = np.random.default_rng(0)
    forest = BanditForest(n_variables=5, n_actions=3, n_trees=4)
    forest.learn_many(
        rng.integers(0, 2, (200, 5)), rng.integers(0, 3, 200), rng.random(200), propensities=np.full(200, 1 / 3)
    )
    return forest


def test_many_are_the_same_as_one_after_the_other():
    forest, contexts = learned_forest(), np.eye(5, dtype=np.uint8)
    assert np.array_equal(forest.mean_rewards_many(contexts), [forest.mean_rewards(row) for row in contexts])
    many = forest.propensities_many(contexts, available_actions=[0, 2])
    assert np.array_equal(many, [forest.propensities(row, available_actions=[0, 2]) for row in contexts])


def test_no_contexts_give_no_rows():
    assert learned_forest().propensities_many(np.empty((0, 5), np.uint8)).shape == (0, 3)


def test_a_policy_without_the_method_is_refused():
    with pytest.raises(InvalidArgumentError, match="'propensities'"):
        Uniform(n_variables=2, n_actions=2).propensities_many([[0, 1]])
