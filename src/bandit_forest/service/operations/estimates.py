"""Estimates of the forest, in the project's units."""

from __future__ import annotations

from bandit_forest.bandit import Bandit
from bandit_forest.bandit.model import EncodedContext
from bandit_forest.forest import BanditForest

__all__ = ["mean_rewards"]


def mean_rewards(bandit: Bandit, context: EncodedContext) -> dict[str, float | None] | None:
    """Return the estimated mean reward of each enabled action; None while warming up."""
    forest = bandit.model.policy
    if not isinstance(forest, BanditForest):
        return None
    means = forest.mean_rewards(bandit.model.variables(context)).tolist()
    names = bandit.registry.names
    enabled = bandit.registry.enabled.indices.tolist()
    return {
        names[index]: bandit.rewards.unscale(means[index]) if means[index] == means[index] else None
        for index in enabled
    }
