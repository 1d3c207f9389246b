"""What a bandit over pairs is made with: all that its decisions depend on, as JSON can hold it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from bandit_forest.bandit.features.kinds import Feature, feature_from_json, feature_to_json
from bandit_forest.bandit.rewards import RewardRange

__all__ = ["PairBanditSettings"]


@dataclass(frozen=True, kw_only=True)
class PairBanditSettings:
    """Settings of a bandit over pairs, without what it has learned."""

    engine: ClassVar[str] = "pairs-1"
    """Name of the engine that makes the decisions. Its number grows when the same lessons make other decisions."""

    features: dict[str, Feature]
    """Features of a context."""
    offered: dict[str, Feature]
    """Features of an offered action."""
    rewards: RewardRange
    warm_up_events: int
    forest: dict[str, Any]
    """All parameters of the forest, as JSON has them."""

    def to_json(self) -> dict[str, Any]:
        """Return an object that JSON can hold; the order of the features counts, so they are lists."""
        return {
            "features": [[name, feature_to_json(feature)] for name, feature in self.features.items()],
            "offered": [[name, feature_to_json(feature)] for name, feature in self.offered.items()],
            "reward_range": [self.rewards.low, self.rewards.high],
            "warm_up_events": self.warm_up_events,
            "forest": self.forest,
        }

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Self:
        """Return what `to_json` gave."""
        return cls(
            features={name: feature_from_json(feature) for name, feature in saved["features"]},
            offered={name: feature_from_json(feature) for name, feature in saved["offered"]},
            rewards=RewardRange(*saved["reward_range"]),
            warm_up_events=saved["warm_up_events"],
            forest=saved["forest"],
        )
