"""A project file that fits a saved bandit."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields
from importlib.resources import files
from typing import Any

from bandit_forest.bandit import Bandit
from bandit_forest.bandit.action_registry import REMOVED
from bandit_forest.bandit.features.kinds import KINDS, Feature
from bandit_forest.bandit.pairs import PairBandit
from bandit_forest.errors import InvalidArgumentError, shown
from bandit_forest.service.config.project_file import IN_FILE

__all__ = ["project_for_bandit"]

_HEAD = """\
# A project of bandit-forest, made for a saved bandit.
# Begin with:  bandit-forest serve THIS.toml --from SAVED"""


def project_for_bandit(bandit: Bandit | PairBandit) -> str:
    """Return a project file for the service of a saved bandit: its actions, its features and its range of rewards.

    Examples
    --------
    >>> bandit = Bandit(actions=["stay", "go"], features={"age": "numeric"}, reward_range=(0, 250))
    >>> print(project_for_bandit(bandit).partition("[reward]")[0].rstrip())
    # A project of bandit-forest, made for a saved bandit.
    # Begin with:  bandit-forest serve THIS.toml --from SAVED
    <BLANKLINE>
    [actions]
    names = ["stay", "go"]
    capacity = 16
    <BLANKLINE>
    [context.age]
    kind = "numeric"
    missing = true
    """
    _check_features(bandit)
    low, high = bandit.reward_range
    rest = (files("bandit_forest.service.config") / "example" / "rest.toml").read_text(encoding="utf-8")
    rest = rest.replace("low = 0.0 ", f"low = {_value(low)} ").replace("high = 1.0\n", f"high = {_value(high)}\n")
    return "\n\n".join([_HEAD, *_tables(bandit), rest])


def _check_features(bandit: Bandit | PairBandit) -> None:
    known = bandit.features if isinstance(bandit, Bandit) else bandit.context_features
    if not known:
        raise InvalidArgumentError(
            f"A project file needs the features of the bandit, which are learned after {bandit.model.warm_up_left} "
            "more lessons: learn them first, or call 'fit' with rows."
        )


def _tables(bandit: Bandit | PairBandit) -> Iterator[str]:
    if isinstance(bandit, PairBandit):
        yield from _feature_tables("context", bandit.context_features)
        yield from _feature_tables("offered", bandit.action_features)
        return
    names = [name for name, state in bandit.actions.items() if state != REMOVED]
    yield f"[actions]\nnames = {_value(names)}\ncapacity = {bandit.registry.capacity}"
    yield from _feature_tables("context", bandit.features)


def _feature_tables(table: str, features: Mapping[str, Feature]) -> Iterator[str]:
    for name, feature in features.items():
        usual = KINDS[feature.kind]()
        given = {one.name: getattr(feature, one.name) for one in fields(feature)}
        told = {"kind": feature.kind} | {key: value for key, value in given.items() if value != getattr(usual, key)}
        lines = [f"{IN_FILE.get(key, key)} = {_value(value)}" for key, value in told.items()]
        key = name if name.isascii() and name.replace("_", "").isalnum() else _value(name)
        yield "\n".join([f"[{table}.{key}]", *lines])


def _value(value: Any) -> str:
    """Return a text, a number, a bool or a list of them as TOML, which writes all but a delete as JSON does."""
    text = json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False).replace("\x7f", "\\u007f")
    try:
        text.encode()
    except UnicodeEncodeError:
        told = f"A project file is made of whole characters, and the bandit has {shown(value)}."
        raise InvalidArgumentError(told) from None
    return text
