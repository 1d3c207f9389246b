"""A saved bandit: one file with settings, actions, schema and forest. Versioned, with a checksum, never pickle."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bandit_forest import archive
from bandit_forest.bandit.features.kinds import feature_from_json, feature_to_json
from bandit_forest.bandit.features.schema import Schema
from bandit_forest.bandit.model import Lesson, Model
from bandit_forest.bandit.saved import check_format
from bandit_forest.bandit.settings import BanditSettings
from bandit_forest.encoding import ContextEncoder
from bandit_forest.errors import DamagedFileError, InvalidArgumentError
from bandit_forest.forest import BanditForest
from bandit_forest.forest.file import forest_parts, restore_forest

if TYPE_CHECKING:
    from bandit_forest.bandit.bandit import Bandit

__all__ = ["bandit_parts", "restore_bandit", "unpack_bandit"]

FORMAT = "bandit-forest bandit"
VERSION = 1

Parts = tuple[dict[str, Any], bytes]


def bandit_parts(bandit: Bandit) -> Parts:
    """Return the header and the arrays of a file: all that must be taken while nobody learns."""
    model = bandit.model
    if bandit.has_other_policy:
        raise InvalidArgumentError(
            "A Bandit with 'policy=' cannot be saved: its file would not say how that policy is made. The parameters "
            "of a forest are saved when they are given by 'forest='."
        )
    assert model.policy is None or isinstance(model.policy, BanditForest)
    forest, arrays = (None, b"") if model.policy is None else forest_parts(model.policy)
    header = {
        "policy": "Bandit",
        "format": FORMAT,
        "version": VERSION,
        "settings": bandit.settings.to_json(),
        "actions": bandit.registry.to_json(),
        "model": _model_header(model),
        "forest": forest,
    }
    return header, arrays


def unpack_bandit(data: bytes, name: str) -> Parts:
    """Return the header and the arrays of the bytes of a file, or refuse them."""
    header, arrays = archive.unpack(data, name)
    check_format(header, FORMAT, name)
    if header.get("version") != VERSION:
        raise DamagedFileError(
            f"'{name}' has version {header.get('version')} of a Bandit, and this package reads {VERSION}."
        )
    return header, arrays


def restore_bandit(bandit: Bandit, parts: Parts, name: str) -> None:
    """Restore the actions, the schema and the forest of a file into a new bandit."""
    header, arrays = parts
    saved = header["model"]
    bandit.registry.restore(header["actions"])
    model = bandit.model
    model.warm_up_draws = saved["warm_up_draws"]
    model.kinds.restore(saved["kinds"])
    model.warm_up_contexts = saved["contexts"]
    model.warm_up_lessons = [Lesson(*lesson) for lesson in saved["lessons"]]
    if header["forest"] is not None:
        forest = restore_forest(BanditForest, header["forest"], arrays, name=name)
        features = {name: feature_from_json(feature) for name, feature in saved["features"]}
        encoder = ContextEncoder.from_json(saved["encoder"])
        schema = Schema(features, encoder.columns_, never_seen=model.kinds.never_seen)
        model.restore(forest, schema, forest.n_events)


def settings_of(parts: Parts, name: str) -> BanditSettings:
    """Return the settings of a file."""
    try:
        return BanditSettings.from_json(parts[0]["settings"])
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedFileError(f"'{name}' is damaged: {str(error).rstrip('.')}.") from error


def _model_header(model: Model) -> dict[str, Any]:
    encoder = model.schema.encoder
    header = {
        "features": [[name, feature_to_json(feature)] for name, feature in model.schema.features.items()],
        "encoder": None if encoder is None else encoder.to_json(),
        "kinds": model.kinds.to_json(),
        "warm_up_draws": model.warm_up_draws,
        "contexts": model.warm_up_contexts,
        "lessons": [list(lesson) for lesson in model.warm_up_lessons],
    }
    copied: dict[str, Any] = json.loads(json.dumps(header, default=str))  # moments become texts
    return copied
