"""The door of the compiled baselines refuses what does not fit, which no public call hands over."""

from typing import Any

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
