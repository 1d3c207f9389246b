"""A saved bandit over pairs: one file with settings, features of both sides and forest. Versioned, never pickle."""

from __future__ import annotations

import json
from typing import Any

from bandit_forest import archive
from bandit_forest.bandit.features.kinds import Feature, feature_from_json, feature_to_json
from bandit_forest.bandit.pairs.model import PairLesson, PairModel
from bandit_forest.bandit.rewards import RewardRange
from bandit_forest.bandit.saved import check_format
from bandit_forest.errors import DamagedFileError

__all__ = ["parts_of", "unpack"]

FORMAT = "bandit-forest pair bandit"
VERSION = 2  # version 1 had no named actions


def parts_of(model: PairModel, rewards: RewardRange) -> tuple[dict[str, Any], bytes]:
    """Return the header and the arrays of a file: all that must be taken while nobody learns."""
    forest, arrays = (None, b"") if model.forest is None else model.forest.to_parts()
    header = {
        "policy": "PairBandit",
        "format": FORMAT,
        "version": VERSION,
        "reward_range": [rewards.low, rewards.high],
        "warm_up_events": model.warm_up_events,
        "parameters": model.parameters,
        "declared": [_declared(side.features) for side in (model.context, model.action)],
        "sides": [side.to_json() for side in (model.context, model.action)],
        "n_draws": model.n_draws,
        "lessons": json.loads(json.dumps(model.lessons, default=str)),  # a copy, in which moments are texts
        "forest": forest,
    }
    return header, arrays


def unpack(data: bytes, name: str) -> tuple[PairModel, RewardRange]:
    """Return the model and the range of rewards of a file, or refuse it."""
    header, arrays = archive.unpack(data, name)
    check_format(header, FORMAT, name)
    version = header.get("version")
    if version not in (1, VERSION):
        raise DamagedFileError(f"'{name}' has version {version} of a PairBandit: this package reads 1 to {VERSION}.")
    try:
        return _model_of(header, arrays, name), RewardRange(*header["reward_range"])
    except DamagedFileError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DamagedFileError(f"'{name}' is damaged: {str(error).rstrip('.')}.") from error


def _model_of(header: dict[str, Any], arrays: bytes, name: str) -> PairModel:
    context, action = (
        None if saved is None else {feature: feature_from_json(value) for feature, value in saved}
        for saved in header["declared"]
    )
    model = PairModel(
        context_features=context,
        action_features=action,
        warm_up_events=header["warm_up_events"],
        forest={"n_named_actions": 0} | header["parameters"],
    )
    for side, saved in zip((model.context, model.action), header["sides"], strict=True):
        side.restore(saved)
    model.n_draws = header["n_draws"]
    model.lessons = [PairLesson(*lesson) for lesson in header["lessons"]]
    if header["forest"] is not None:
        model.restore(header["forest"], arrays, name)
    return model


def _declared(features: dict[str, Feature] | None) -> list[Any] | None:
    return None if features is None else [[name, feature_to_json(feature)] for name, feature in features.items()]
