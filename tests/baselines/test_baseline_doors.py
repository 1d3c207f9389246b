"""The door of the compiled baselines refuses what does not fit, which no public call hands over."""

from typing import Any

import numpy as np
import pytest

import doors
from bandit_forest.baselines import LinUCB, NeuralBandit
from doors import N_ACTIONS, N_VARIABLES

pytestmark = pytest.mark.core

POLICIES = {"lin_ucb": LinUCB, "neural_bandit": NeuralBandit}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    ("method", "name", "wrong"), [*doors.WRONG, ("decide_many", "available", doors.mask(doors.N_EVENTS))]
)
def test_what_does_not_fit_is_refused(policy: str, method: str, name: str, wrong: Any) -> None:
    core: Any = POLICIES[policy](n_variables=N_VARIABLES, n_actions=N_ACTIONS)._core
    assert doors.refuses(core, method, doors.FITTING[method], name, wrong)


def test_sizes_whose_sum_is_too_large_are_refused() -> None:
    core: Any = type(NeuralBandit(n_variables=N_VARIABLES, n_actions=N_ACTIONS)._core)
    fitting = {"n_variables": N_VARIABLES, "n_actions": N_ACTIONS, "learning_rates": np.ones(2, np.float32)}
    rest = {"exploration": 0.1, "member_exploration": 0.1, "seed": 0}
    weights = {"weights": np.ones((16, 5), np.float32), "output_weights": np.ones((4, 5), np.float32)}
    core(**fitting, **rest, **weights, sizes=np.array([2, 3], np.uint64)).decide(doors.codes(3), b"")
    with pytest.raises(ValueError, match="too large"):
        core(**fitting, **rest, **weights, sizes=np.array([2**64 - 1, 6], np.uint64)).decide(doors.codes(3), b"")
