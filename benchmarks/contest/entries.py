"""Who takes part: every policy with all its settings."""

from __future__ import annotations

from contest.game import Contestant
from contest.policies import baselines, forest, light_gbm, vowpal_wabbit

__all__ = ["CONTESTANTS", "LAST", "POLICIES"]

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
LAST = "lightgbm"
"""The policy that takes longest, and plays when all others have played."""
