"""What a bandit is made with: all that its meaning depends on, as JSON can hold it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bandit_forest.bandit.action_registry import ActionRegistry
from bandit_forest.bandit.features.kinds import KINDS, Feature, default_feature, feature_from_json, feature_to_json
from bandit_forest.bandit.forests import all_parameters, engine_of, takes_order
from bandit_forest.bandit.model import WarmUpRule
from bandit_forest.bandit.rewards import RewardRange
from bandit_forest.errors import refuse
from bandit_forest.validation import check_int

__all__ = ["BanditSettings", "declared_features"]

_MOST_WARM_UP = 1_000_000


@dataclass(frozen=True, kw_only=True)
class BanditSettings:
    """Everything but the actions' names and what was learned."""

    features: dict[str, Feature] | None
    rewards: RewardRange
    capacity: int
    warm_up_events: int
    forest: dict[str, Any]
    """All parameters of the forest, as JSON has them."""
    warm_up_rule: WarmUpRule = "lessons"

    @classmethod
    def of(
        cls,
        *,
        n_actions: int,
        features: Any,
        reward_range: Any,
        capacity: int | None,
        warm_up_events: int,
        forest: Mapping[str, Any],
        owner: str,
        is_forest: bool = True,
    ) -> BanditSettings:
        """Return the settings of checked arguments; `is_forest` is False when another policy decides."""
        parameters = all_parameters(forest, "the forest")
        ordered = is_forest and takes_order(parameters)
        return cls(
            features=declared_features(features, owner, ordered=ordered),
            rewards=RewardRange.of(reward_range, owner),
            capacity=ActionRegistry.capacity_for(n_actions, capacity, owner),
            warm_up_events=check_int(warm_up_events, "warm_up_events", owner, high=_MOST_WARM_UP),
            forest=parameters,
        )

    @property
    def engine(self) -> str:
        """Name of the engine that makes the decisions."""
        return engine_of(self.forest)

    def to_json(self) -> dict[str, Any]:
        """Return an object that JSON can hold; the order of the features counts, so they are a list."""
        features = self.features
        return {
            "features": None if features is None else [[name, feature_to_json(f)] for name, f in features.items()],
            "reward_range": [self.rewards.low, self.rewards.high],
            "capacity": self.capacity,
            "warm_up_events": self.warm_up_events,
            "warm_up_rule": self.warm_up_rule,
            "forest": self.forest,
        }

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> BanditSettings:
        """Return what `to_json` gave."""
        features = saved["features"]
        return cls(
            features=None if features is None else {name: feature_from_json(feature) for name, feature in features},
            rewards=RewardRange(*saved["reward_range"]),
            capacity=saved["capacity"],
            warm_up_events=saved["warm_up_events"],
            warm_up_rule=saved["warm_up_rule"],
            forest=saved["forest"],
        )


def declared_features(features: Any, owner: str, *, ordered: bool = True) -> dict[str, Feature] | None:
    """Return declared features; the name of a kind stands for the feature with its defaults, and may be missing."""
    if features is None:
        return None
    rule = "a mapping from names to features, or to one of " + ", ".join(f"'{kind}'" for kind in KINDS)
    if not isinstance(features, Mapping) or not features:
        refuse("features", owner, rule, features)
    made: dict[str, Feature] = {}
    for name, feature in features.items():
        if not isinstance(name, str):
            refuse("features", owner, rule, name)
        if isinstance(feature, Feature):
            if feature.is_ordered and not ordered:
                what = "a number" if feature.kind == "numeric" else "true"
                refuse("bins", f"[context.{name}]", f"{what}, since only Greedy growth takes numbers in order", None)
            made[name] = feature
        elif isinstance(feature, str) and feature in KINDS:
            made[name] = default_feature(feature, ordered=ordered)
        else:
            refuse("features", owner, rule, {name: feature})
    return made
