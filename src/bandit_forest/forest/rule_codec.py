"""Rules of growth and exploration as JSON has them: a table of parameters, and the name of the rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from bandit_forest.errors import InvalidArgumentError, refuse
from bandit_forest.rules import (
    Elimination,
    Exploration,
    Greedy,
    Growth,
    InverseGap,
    RoundRobin,
    UniformOverRemaining,
)

__all__ = ["current_names", "rule_from_json", "rule_to_json", "rules_to_json"]

_RULES: dict[str, Callable[..., Growth | Exploration]] = {
    rule.__name__: rule for rule in (Elimination, Greedy, InverseGap, RoundRobin, UniformOverRemaining)
}


_OLD_NAMES = {("Elimination", "remaining"): "remaining_actions"}
"""Parameters that had another name in version 0.1, by rule."""


def rule_to_json(rule: Growth | Exploration) -> dict[str, Any]:
    """Return the table of a rule.

    Examples
    --------
    >>> rule_to_json(UniformOverRemaining(quorum=0.5))
    {'rule': 'UniformOverRemaining', 'draw': 'union', 'quorum': 0.5}
    """
    return {"rule": type(rule).__name__} | asdict(rule)


def rules_to_json(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a forest with the tables of its rules in their places."""
    return {**parameters, **{name: rule_to_json(parameters[name]) for name in ("growth", "exploration")}}


def rule_from_json(table: Mapping[str, Any], owner: str) -> Any:
    """Return the rule of a table; JSON has turned ranges into lists.

    Examples
    --------
    >>> rule_from_json({"rule": "Elimination", "tolerance": [0.4, 0.8]}, "[forest.growth]").tolerance
    (0.4, 0.8)
    """
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in table.items()}
    name = values.get("rule")
    if not isinstance(name, str) or name not in _RULES:
        refuse("rule", owner, "one of " + ", ".join(_RULES), name)
    values = current_names(values)
    del values["rule"]
    try:
        return _RULES[name](**values)
    except TypeError as error:
        raise InvalidArgumentError(f"The parameters of {owner} do not fit {name}: {error}.") from None


def current_names(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table of a rule, or of a forest with such tables in it, with the names that parameters have now.

    Examples
    --------
    >>> current_names({"growth": {"rule": "Elimination", "remaining": "path"}})
    {'growth': {'rule': 'Elimination', 'remaining_actions': 'path'}}
    """
    rule = table.get("rule")
    return {
        _OLD_NAMES.get((str(rule), name), name): current_names(value) if isinstance(value, Mapping) else value
        for name, value in table.items()
    }
