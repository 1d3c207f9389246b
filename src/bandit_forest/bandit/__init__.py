"""Bandit: an encoder, a registry of named actions, a range of rewards and a policy in one object."""

from bandit_forest.bandit.bandit import Bandit
from bandit_forest.bandit.decisions import BanditDecision, BanditDecisions
from bandit_forest.bandit.errors import ActionError, CapacityError, FeatureError, UnknownActionError
from bandit_forest.bandit.features.kinds import (
    BooleanFeature,
    CategoricalFeature,
    Feature,
    LabelsFeature,
    NumericFeature,
    TimeFeature,
)

__all__ = [
    "ActionError",
    "Bandit",
    "BanditDecision",
    "BanditDecisions",
    "BooleanFeature",
    "CapacityError",
    "CategoricalFeature",
    "Feature",
    "FeatureError",
    "LabelsFeature",
    "NumericFeature",
    "TimeFeature",
    "UnknownActionError",
]
