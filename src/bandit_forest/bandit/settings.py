"""What a bandit is made with: all that its meaning depends on, as JSON can hold it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from bandit_forest.bandit.action_registry import ActionRegistry
from bandit_forest.bandit.features.kinds import (
    KINDS,
    CategoricalFeature,
    Feature,
    NumericFeature,
    default_feature,
    feature_from_json,
    feature_to_json,
)
from bandit_forest.bandit.features.learned_kinds import check_names
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
        is_file: bool = True,
    ) -> BanditSettings:
        """Return the settings of checked arguments.

        Parameters
        ----------
        n_actions, features, reward_range, capacity, warm_up_events, forest
            As in `Bandit`.
        owner
            What they were given to.
        is_forest
            Whether a forest decides, not another policy.
        is_file
            Whether they come from a project file, whose names refusals then use.
        """
        parameters = all_parameters(forest, "the forest")
        ordered = is_forest and takes_order(parameters)
        return cls(
            features=declared_features(features, owner, ordered=ordered, is_file=is_file),
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
            capacity=ActionRegistry.capacity_for(0, saved["capacity"], "a saved bandit"),
            warm_up_events=saved["warm_up_events"],
            warm_up_rule=saved["warm_up_rule"],
            forest=saved["forest"],
        )


def declared_features(
    features: Any, owner: str, *, ordered: bool = True, is_file: bool = False
) -> dict[str, Feature] | None:
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
            if isinstance(feature, CategoricalFeature) and not feature.other and not is_file:
                refuse(
                    "other", f"the categorical feature '{name}'", "left out: only folders of version 0.1 have it", False
                )
            if feature.is_ordered and not ordered:
                _refuse_ordered(feature, name, is_file=is_file)
            made[name] = feature
        elif isinstance(feature, str) and feature in KINDS:
            made[name] = default_feature(feature, ordered=ordered)
        else:
            refuse("features", owner, rule, {name: feature})
    check_names({name: feature.kind for name, feature in made.items()})
    return made


def _refuse_ordered(feature: Feature, name: str, *, is_file: bool) -> NoReturn:
    """Refuse a feature in order, in the names of the project file or of Python."""
    is_numeric = isinstance(feature, NumericFeature)
    rule = f"{'a number' if is_numeric else 'true'}, since only Greedy growth takes numbers in order"
    given = None if is_numeric else False
    if is_file:
        refuse("bins", f"[context.{name}]", rule, given)
    refuse("n_bins" if is_numeric else "bins", f"the {type(feature).__name__} of '{name}'", rule, given)
