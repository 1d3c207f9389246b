"""The identity of a storage folder: its definition, and the engine of the decisions in its journal."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from msgspec import structs

from bandit_forest.bandit.features.kinds import CategoricalFeature, Feature, NumericFeature, feature_to_json
from bandit_forest.bandit.pairs.settings import PairBanditSettings
from bandit_forest.bandit.settings import BanditSettings
from bandit_forest.errors import InvalidArgumentError, shown
from bandit_forest.forest.rule_codec import current_names
from bandit_forest.service.config.project import Project

__all__ = ["StorageIdentity", "adopt", "check_saved"]

_OLD_KINDS: dict[str, dict[str, Any]] = {
    "NumericField": {"kind": "numeric"},
    "CategoricalField": {"kind": "categorical", "other": False},
    "BooleanField": {"kind": "boolean"},
}


@dataclass(frozen=True, kw_only=True)
class StorageIdentity:
    """Everything on which the meaning of a journal depends."""

    settings: BanditSettings | PairBanditSettings
    engine: str
    """Name of the engine that made the decisions: rule of growth and version number."""
    base: str | None = None
    """SHA-256 digest of the saved bandit that the folder began with; None: it began with nothing."""

    @classmethod
    def of(cls, settings: BanditSettings | PairBanditSettings, base: str | None = None) -> StorageIdentity:
        """Return the identity of a folder whose decisions are made by this version of the package."""
        return cls(settings=settings, engine=settings.engine, base=base)

    def to_text(self) -> str:
        """Return the JSON that each file of the journal holds."""
        whole = {"engine": self.engine, "base": self.base, "settings": self.settings.to_json()}
        return json.dumps(whole, sort_keys=True)

    @classmethod
    def from_text(cls, text: str) -> StorageIdentity:
        """Return the identity of a text of `to_text`, or of the text that version 0.1 wrote."""
        saved: dict[str, Any] = json.loads(text)
        if "settings" not in saved:
            return _identity_of_0_1(saved)
        kind = PairBanditSettings if "offered" in saved["settings"] else BanditSettings
        settings = kind.from_json(saved["settings"])
        return cls(settings=settings, engine=saved["engine"], base=saved["base"])


def adopt(project: Project, identity: StorageIdentity) -> StorageIdentity:
    """Return the identity with which a folder continues: its own; refuse a project that contradicts it.

    Decisions of another engine cannot be repeated. Such a folder continues with the forest of the project, which learns
    the lessons of the journal anew.
    """
    stored, is_same_engine = identity.settings, identity.engine == identity.settings.engine
    if isinstance(stored, BanditSettings) and stored.warm_up_rule == "events":
        project = structs.replace(project, context=_as_in_0_1(project.context, stored.features or {}))
    cure = "Change it back, or carry the journal over with 'bandit-forest migrate OLD.toml NEW.toml'"
    compared = [one for one in _compared(project, stored) if is_same_engine or one[0] != "forest"]
    _check_same(compared, "as when the storage folder was made", cure)
    if is_same_engine:
        return identity
    return StorageIdentity.of(replace(stored, forest=project.settings.forest), identity.base)


def check_saved(project: Project, settings: BanditSettings | PairBanditSettings, name: str) -> None:
    """Refuse a project that contradicts the settings of the saved bandit with which its folder is to begin."""
    cure = f"'bandit-forest init --from {name} NEW.toml' writes a project file that fits"
    _check_same(_compared(project, settings), f"as in the saved bandit '{name}'", cure)


def _check_same(compared: Iterable[tuple[str, Any, Any]], rule: str, cure: str) -> None:
    differing = [one for one in compared if one[1] != one[2]]
    if differing:
        told = "; ".join(text for one in differing for text in _differences(*one))
        error = InvalidArgumentError(f"The '{differing[0][0]}' of the project must be {rule}: {told}. {cure}.")
        error.parameter = differing[0][0]
        raise error


def _offered(settings: BanditSettings | PairBanditSettings) -> dict[str, Feature] | None:
    return settings.offered if isinstance(settings, PairBanditSettings) else None


def _json(features: Mapping[str, Feature] | None) -> dict[str, Any]:
    return {name: feature_to_json(feature) for name, feature in (features or {}).items()}


def _compared(project: Project, stored: BanditSettings | PairBanditSettings) -> list[tuple[str, Any, Any]]:
    """Return the values of the project that must not change, and the stored values."""
    ours, theirs = ("fixed" if features is None else "offered" for features in (project.offered, _offered(stored)))
    if ours != theirs:
        return [("actions", ours, theirs)]
    compared: list[tuple[str, Any, Any]] = [
        ("context", _json(project.context), _json(stored.features)),
        ("offered", _json(project.offered), _json(_offered(stored))),
        ("warm_up_events", project.warm_up_events, stored.warm_up_events),
        ("reward range", asdict(project.reward.range), asdict(stored.rewards)),
    ]
    if isinstance(stored, BanditSettings) and project.actions is not None and project.actions.capacity is not None:
        compared.append(("capacity", project.actions.capacity, stored.capacity))
    plain = current_names(json.loads(json.dumps(project.forest)))
    compared += [("forest", plain, _common(current_names(stored.forest), plain))]
    return compared


def _differences(name: str, ours: Any, theirs: Any) -> Iterator[str]:
    """Return where two values differ, each place in a few words."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted({*ours, *theirs}):
            yield from _differences(f"{name}.{key}", ours.get(key), theirs.get(key))
    elif ours != theirs:
        yield f"{name} is {_in_words(ours)} and was {_in_words(theirs)}"


def _in_words(value: Any) -> str:
    if value is None:
        return "absent"
    return f"a {value['kind']} feature" if isinstance(value, dict) and "kind" in value else shown(value)


def _common(stored: Any, given: Any) -> Any:
    """Return the stored values of the names that are given."""
    if not (isinstance(stored, dict) and isinstance(given, dict)):
        return list(stored) if isinstance(stored, tuple) else stored
    return {name: _common(stored.get(name), value) for name, value in given.items()}


def _as_in_0_1(context: Mapping[str, Feature], stored: Mapping[str, Feature]) -> dict[str, Feature]:
    """Return the features as a folder of version 0.1 has them: numbers in bins, other values without a variable."""
    features = dict(context)
    for name, feature in context.items():
        known = stored.get(name)
        if isinstance(feature, NumericFeature) and isinstance(known, NumericFeature):
            if feature.thresholds is None and feature.n_bins is None:
                features[name] = replace(feature, n_bins=known.n_bins)
        elif isinstance(feature, CategoricalFeature):
            features[name] = replace(feature, other=False)
    return features


def _identity_of_0_1(saved: dict[str, Any]) -> StorageIdentity:
    """Return the identity of a folder of version 0.1, whose settings differ in their features and in the warm-up."""
    context, growth = saved["context"], saved["forest"]["growth"]
    number = 1 if growth.pop("clock", "path") == "path" else 0  # there is no other clock any more
    features = [(name, context[name] | _OLD_KINDS[context[name]["kind"]]) for name in saved.get("order", context)]
    settings = BanditSettings.from_json(saved | {"features": features, "warm_up_rule": "events"})
    return StorageIdentity(settings=settings, engine=f"{growth['rule'].lower()}-{number}")
