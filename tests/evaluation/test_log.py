"""A log refuses what cannot be true, by the number of the event, and is cut into parts of itself."""

from __future__ import annotations

import numpy as np
import pytest

from bandit_forest import InvalidArgumentError
from bandit_forest.encoding import ContextEncoder
from bandit_forest.evaluation import Log, Source

GOOD = {"actions": [0, 1, 1], "rewards": [0.0, 1.0, 0.5], "propensities": [0.5, 0.5, 1.0], "action_names": 2}


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"actions": [0, 2, 1]}, r"'actions\[1\]'"),
        ({"actions": [0.0, 1.0, 1.0]}, "'actions'"),
        ({"rewards": [0.0, 1.7, 0.5]}, r"'rewards\[1\]'"),
        ({"rewards": [0.0, 1.0]}, "'rewards'"),
        ({"propensities": [0.5, 1.3, 1.0]}, r"'propensities\[1\]'"),
        ({"propensities": [0.5, 0.0, 1.0]}, r"'propensities\[1\]'"),
        ({"propensities": [0.5, float("nan"), 1.0]}, r"'propensities\[1\]'"),
        ({"probabilities": [[0.5, 0.5]] * 2}, "'probabilities'"),
        ({"probabilities": [[0.5, 0.5], [1.5, -0.5], [1, 0]]}, r"'probabilities\[1\]'"),
        ({"available": [[True, True], [True, False], [True, True]]}, r"'available\[1\]'"),
        ({"contexts": [[0, 1], [1, 2], [0, 0]]}, "'contexts'"),
        ({"contexts": [[0, 1]]}, "'contexts'"),
        ({"features": {"age": np.array([1, 2])}}, "age"),
        ({"times": ["now", "then", "later"]}, "'times'"),
        ({"action_names": ["a", "a"]}, "'action_names'"),
        ({"reward_range": (1, 0)}, "'reward_range'"),
    ],
)
def test_refusals(wrong, named):
    with pytest.raises(InvalidArgumentError, match=named):
        Log(**(GOOD | wrong))


def test_unknown_rewards_and_other_ranges():
    log = Log(**(GOOD | {"rewards": [np.nan, -3, 7], "reward_range": (-3, 7)}))
    assert np.isnan(log.rewards[0])
    assert log.reward_range == (-3.0, 7.0)


def test_parts():
    log = Log(**GOOD, contexts=np.eye(3, dtype=np.uint8), columns={"other": np.array(["x", "y", "z"])}, times=[1, 2, 3])
    assert isinstance(log, Source)
    assert [len(part) for part in log.batches(2)] == [2, 1]
    part = log[np.array([2, 0])]
    assert part.actions.tolist() == [1, 0]
    assert part.columns["other"].tolist() == ["z", "x"]
    assert part.contexts.tolist() == [[0, 0, 1], [1, 0, 0]]
    assert part.probabilities is None


def test_features_are_encoded_and_absent_columns_are_missing():
    log = Log(**GOOD, features={"city": np.array(["Paris", "Lannion", "Paris"])})
    encoder = ContextEncoder().fit([{"city": "Paris", "age": 1}, {"city": "Lannion", "age": None}])
    names = encoder.variable_names
    bits = log.encoded(encoder)
    assert bits[:, names.index("city = Paris")].tolist() == [1, 0, 1]


def test_what_cannot_be_encoded_is_refused():
    with pytest.raises(InvalidArgumentError, match="without contexts"):
        Log(**GOOD).encoded(None)
    with pytest.raises(InvalidArgumentError, match="without features"):
        Log(**GOOD).encoded(ContextEncoder().fit([{"a": 1}, {"a": 2}]))
