"""Who takes part: every policy with all its settings, and in which order they play."""

from __future__ import annotations

from contest.game import Contestant
from contest.policies import baselines, forest, light_gbm, vowpal_wabbit

__all__ = ["CONTESTANTS", "POLICIES", "order_of_play"]

CONTESTANTS: dict[str, tuple[Contestant, ...]] = {
    "constant": baselines.CONSTANT,
    "uniform": baselines.UNIFORM,
    "forest": forest.DEFAULT,
    "paper": forest.PAPER,
    "linucb": baselines.LIN_UCB,
    "vw5": vowpal_wabbit.FIVE_BINS,
    "vw20": vowpal_wabbit.TWENTY_BINS,
    "lightgbm": light_gbm.LIGHT_GBM,
    "neuralbandit": baselines.NEURAL_BANDIT,
}
"""Settings of each policy."""
POLICIES = tuple(CONTESTANTS)
LATE = ("lightgbm", "neuralbandit")
"""Policies that take so long that all others play first."""


def order_of_play(contestant: Contestant) -> int:
    """Return the rank of a contestant's round: cheap and important ones first."""
    return 1 + LATE.index(contestant.policy) if contestant.policy in LATE else 0
