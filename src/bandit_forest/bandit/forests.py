"""The policy of a bandit: a forest with parameters that JSON can hold, or another policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any

from bandit_forest.encoding import ContextEncoder
from bandit_forest.errors import InvalidArgumentError, refuse
from bandit_forest.forest import BanditForest
from bandit_forest.forest.rule_codec import rule_from_json, rules_to_json
from bandit_forest.policy import Policy, missing_names

__all__ = [
    "all_parameters",
    "check_other_policy",
    "check_parameters",
    "engine_of",
    "forest_arguments",
    "make_forest",
    "make_other_policy",
    "takes_order",
]

_DEFAULT_RULES = {"growth": "Greedy", "exploration": "InverseGap"}
_ENGINES = {"Elimination": "elimination-1", "Greedy": "greedy-2"}
"""What makes the decisions, by rule of growth. The number grows when the same lessons make other decisions."""


def make_forest(
    parameters: Mapping[str, Any], encoder: ContextEncoder, variable_names: list[str], action_names: list[str]
) -> BanditForest:
    """Return the forest of some parameters for the variables of an encoder."""
    return BanditForest(
        n_variables=encoder.n_variables,
        n_actions=len(action_names),
        thresholds=encoder.thresholds,
        variable_names=variable_names,
        action_names=action_names,
        **forest_arguments(parameters),
    )


def check_parameters(forest: object, owner: str) -> None:
    """Refuse parameters of a forest that are no mapping."""
    if forest is not None and not isinstance(forest, Mapping):
        refuse("forest", owner, "a mapping from parameters of the forest to values, such as {'n_trees': 20}", forest)


def check_other_policy(make: object, forest: Mapping[str, Any] | None) -> None:
    """Refuse what does not make a policy, by a try with one variable and two actions."""
    rule = "a callable that returns a policy, such as the class LinUCB"
    if not callable(make):
        refuse("policy", "Bandit", rule, make)
    if forest is not None:
        refuse("forest", "Bandit", "left out with 'policy', which is used instead of a forest", forest)
    made = make_other_policy(make, ["variable"], ["one", "other"], seed=0)
    if missing := missing_names(made):
        refuse(
            "policy", "Bandit", f"{rule}; subclass CheckedPolicy to have what is missing: {', '.join(missing)}", made
        )


def make_other_policy(
    make: Callable[..., Policy], variable_names: list[str], action_names: list[str], seed: int
) -> Policy:
    """Return a policy that a user makes, with the seed and the names if it takes them."""
    known = signature(make).parameters
    given = {"seed": seed, "variable_names": variable_names, "action_names": action_names}
    taken = {name: value for name, value in given.items() if name in known}
    return make(n_variables=len(variable_names), n_actions=len(action_names), **taken)


def all_parameters(given: Mapping[str, Any], owner: str) -> dict[str, Any]:
    """Return all parameters of a forest as JSON has them, defaults filled in; refuse those that no forest has.

    Examples
    --------
    >>> all_parameters({"n_trees": 3}, "[forest]")["growth"]["rule"]
    'Greedy'
    """
    try:
        forest = BanditForest(n_variables=1, n_actions=2, **forest_arguments(given))
    except TypeError as error:  # an unknown parameter
        known = "n_trees, max_depth, variable_share, max_nodes, seed, growth and exploration"
        raise InvalidArgumentError(f"The parameters of {owner} must be among {known}: {error}.") from None
    own = ("n_variables", "n_actions", "thresholds")  # these come from the features and the actions
    return rules_to_json({name: value for name, value in forest.parameters.items() if name not in own})


def engine_of(parameters: Mapping[str, Any]) -> str:
    """Return the name of what makes the decisions of a forest with all its parameters.

    Examples
    --------
    >>> engine_of({"growth": {"rule": "Elimination"}})
    'elimination-1'
    """
    return _ENGINES[parameters["growth"]["rule"]]


def takes_order(parameters: Mapping[str, Any]) -> bool:
    """Return whether a forest with all its parameters takes ordered variables: only Greedy growth does."""
    return bool(parameters["growth"]["rule"] == "Greedy")


def forest_arguments(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keyword arguments of a forest: lists become ranges, and tables with a 'rule' become rules."""
    return {name: _argument(name, value) for name, value in given.items()}


def _argument(name: str, value: Any) -> Any:
    if isinstance(value, list):
        return tuple(value)
    if not isinstance(value, Mapping):
        return value
    return rule_from_json({"rule": _DEFAULT_RULES.get(name), **value}, f"[forest.{name}]")
