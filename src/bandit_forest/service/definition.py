"""What a storage folder was made with: the part of a project on which the meaning of its journal depends."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from bandit_forest import rules
from bandit_forest.errors import InvalidArgumentError, refuse
from bandit_forest.forest import BanditForest
from bandit_forest.service.fields import Field, NumericField
from bandit_forest.service.project import Project

__all__ = ["adopt", "check_forest", "define", "make_forest"]

_RULES = ("Elimination", "Greedy", "InverseGap", "RoundRobin", "UniformOverRemaining")
_OWNER = "[forest]"


def define(project: Project) -> str:
    """Give the definition of a new folder as JSON; what the project leaves open is filled in, to stay as it is.

    Examples
    --------
    >>> from bandit_forest.service.fields import BooleanField
    >>> from bandit_forest.service.project import Actions
    >>> project = Project(actions=Actions(names=("a", "b")), context={"member": BooleanField()})
    >>> json.loads(define(project))["capacity"]
    16
    """
    given = _given(project)
    forest = _all_parameters(project.forest)
    for name, field in project.context.items():
        if isinstance(field, NumericField) and field.is_ordered and forest["growth"]["rule"] != "Greedy":
            refuse("bins", f"[context.{name}]", "a number, since only Greedy growth takes numbers in order", None)
    whole = {
        "capacity": project.actions.places,
        **given,
        "forest": forest,
        "order": list(project.context),  # of the fields: it numbers the variables
    }
    return json.dumps(whole, sort_keys=True)


def adopt(project: Project, definition: str) -> Project:
    """Give back the project with what its folder was made with where it leaves it open; refuse a contradiction."""
    stored: dict[str, Any] = json.loads(definition)
    project = replace(project, context=_with_bins(project.context, stored["context"]))
    given = json.loads(json.dumps(_given(project)))
    given["forest"] = _laid_over(stored["forest"], given["forest"])
    for name, value in given.items():
        if value != stored[name]:
            rule = f"{stored[name]!r}, as when the storage folder was made; else take a new folder"
            refuse(name, "the project", rule, value)
    actions = replace(project.actions, capacity=stored["capacity"])
    context = {name: project.context[name] for name in stored.get("order", project.context)}
    return replace(project, actions=actions, context=context, forest=stored["forest"])


def make_forest(
    project: Project, variable_names: list[str], thresholds: Mapping[int, Sequence[float]], action_names: list[str]
) -> BanditForest:
    """Return the forest of a project; its action names end with those of the places that are not used yet."""
    return BanditForest(
        n_variables=len(variable_names),
        n_actions=len(action_names),
        thresholds=thresholds,
        variable_names=variable_names,
        action_names=action_names,
        **_parameters(project.forest),
    )


def check_forest(forest: Mapping[str, Any]) -> None:
    """Refuse parameters that no forest can be made with."""
    _all_parameters(forest)


def _given(project: Project) -> dict[str, Any]:
    """Give what the project says itself and must go on saying."""
    fields = {name: {"kind": type(field).__name__, **asdict(field)} for name, field in project.context.items()}
    given = {
        "context": fields,
        "warm_up_events": project.warm_up_events,
        "reward_range": [float(project.reward.low), float(project.reward.high)],
        "forest": dict(project.forest),
    }
    return given if project.actions.capacity is None else given | {"capacity": project.actions.capacity}


def _with_bins(fields: Mapping[str, Field], stored: dict[str, dict[str, Any]]) -> dict[str, Field]:
    """Return the fields as a folder has them that was made before numbers were ordered: all of them have bins.

    The stored fields get the thresholds that they did not know of, which is none.
    """
    own = dict(fields)
    for name, values in stored.items():
        if values["kind"] == NumericField.__name__ and "thresholds" not in values:
            values["thresholds"] = None
            field = own.get(name)
            if isinstance(field, NumericField) and field.thresholds is None and field.n_bins is None:
                own[name] = replace(field, n_bins=values["n_bins"])
    return own


def _laid_over(stored: Any, given: Any) -> Any:
    """Give stored values with those that are given in their place."""
    if not (isinstance(stored, dict) and isinstance(given, dict)):
        return given
    return stored | {name: _laid_over(stored.get(name), value) for name, value in given.items()}


def _all_parameters(given: Mapping[str, Any]) -> dict[str, Any]:
    """Give all parameters of a forest as JSON has them."""
    try:
        forest = BanditForest(n_variables=1, n_actions=2, **_parameters(given))
    except TypeError as error:  # an unknown parameter
        known = "n_trees, max_depth, variable_share, max_nodes, seed, growth and exploration"
        raise InvalidArgumentError(f"The parameters of {_OWNER} must be among {known}: {error}.") from None
    own = ("n_variables", "n_actions", "thresholds")  # these come from the context and the actions
    parameters = {name: value for name, value in forest.parameters.items() if name not in own}
    for rule in ("growth", "exploration"):
        parameters[rule] = {"rule": type(parameters[rule]).__name__, **asdict(parameters[rule])}
    return parameters


def _parameters(given: Mapping[str, Any]) -> dict[str, Any]:
    """Make the keyword arguments of a forest: lists become ranges, and tables with a 'rule' become rules."""
    return {name: _value(name, value) for name, value in given.items()}


def _value(name: str, value: Any) -> Any:
    if isinstance(value, list):
        return tuple(value)
    if not isinstance(value, Mapping):
        return value
    values = {part: tuple(number) if isinstance(number, list) else number for part, number in value.items()}
    rule = values.pop("rule", "Greedy" if name == "growth" else "InverseGap")
    if rule not in _RULES:
        refuse("rule", f"[forest.{name}]", "one of " + ", ".join(_RULES), rule)
    try:
        return getattr(rules, rule)(**values)
    except TypeError as error:
        raise InvalidArgumentError(f"The parameters of [forest.{name}] do not fit {rule}: {error}.") from None
