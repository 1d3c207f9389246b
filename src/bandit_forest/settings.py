"""The parameters of a forest, as the core takes them and as the header of a file tells them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from bandit_forest import _core
from bandit_forest.rules import (
    Elimination,
    Exploration,
    Greedy,
    Growth,
    InverseGap,
    RoundRobin,
    UniformOverRemaining,
)

__all__ = ["CoreForest", "arguments_of", "header_of", "make_core"]

CoreForest = _core.EliminationForest | _core.GreedyForest

_RULES: dict[str, Callable[..., Growth | Exploration]] = {
    rule.__name__: rule for rule in (Elimination, Greedy, InverseGap, RoundRobin, UniformOverRemaining)
}


def make_core(
    *saved: bytes, growth: Growth, exploration: Exploration, max_depth: int | tuple[int, int], **sizes: Any
) -> CoreForest:
    """Make the core of a forest from its parameters, or make it again with the arrays that it has saved."""
    low, high = max_depth if isinstance(max_depth, tuple) else (max_depth, max_depth)
    settings = _core.Settings(min_max_depth=low, max_max_depth=high, **sizes)
    if isinstance(growth, Greedy):
        assert isinstance(exploration, InverseGap)
        return _core.GreedyForest(_greedy_settings(settings, growth, exploration), *saved)
    assert not isinstance(exploration, InverseGap)
    return _core.EliminationForest(_elimination_settings(settings, growth, exploration), *saved)


def header_of(
    policy: str, parameters: dict[str, Any], variable_names: Sequence[str], action_names: Sequence[str]
) -> dict[str, Any]:
    """Give what makes a forest again, as JSON knows it."""
    rules = {name: _rule_to_json(parameters[name]) for name in ("growth", "exploration")}
    return {
        "policy": policy,
        "parameters": parameters | rules,
        "variable_names": list(variable_names),
        "action_names": list(action_names),
    }


def arguments_of(header: dict[str, Any]) -> dict[str, Any]:
    """Give the arguments that make the forest of a header."""
    parameters: dict[str, Any] = header["parameters"]
    depth = parameters["max_depth"]
    return parameters | {
        "growth": _rule_from_json(parameters["growth"]),
        "exploration": _rule_from_json(parameters["exploration"]),
        "max_depth": tuple(depth) if isinstance(depth, list) else depth,
        "variable_names": header["variable_names"],
        "action_names": header["action_names"],
    }


def _elimination_settings(
    settings: _core.Settings, growth: Elimination, exploration: RoundRobin | UniformOverRemaining
) -> _core.EliminationSettings:
    min_tolerance, max_tolerance = growth.tolerance_range
    kind = "round_robin" if isinstance(exploration, RoundRobin) else f"{exploration.draw}_draw"
    return _core.EliminationSettings(
        settings,
        delta=growth.delta,
        min_tolerance=min_tolerance,
        max_tolerance=max_tolerance,
        test_interval=growth.test_interval,
        quorum=exploration.quorum,
        remaining=_core.Remaining[growth.remaining],
        estimate=_core.Estimate[growth.estimate],
        exploration=_core.Exploration[kind],
    )


def _greedy_settings(settings: _core.Settings, growth: Greedy, exploration: InverseGap) -> _core.GreedySettings:
    numbers = asdict(growth) | {"lifetime": growth.lifetime or 0}
    return _core.GreedySettings(settings, **numbers, **asdict(exploration))


def _rule_to_json(rule: Growth | Exploration) -> dict[str, Any]:
    return {"rule": type(rule).__name__} | asdict(rule)


def _rule_from_json(values: dict[str, Any]) -> Any:
    """Return the rule of a name and values; JSON has turned ranges into lists.

    Some files of version 0.1.0 name a clock. The clock "path" is what every forest has now, others are refused.
    """
    numbers = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    if numbers.pop("clock", "path") != "path":
        raise ValueError("its paths tested together, which this version cannot continue")
    return _RULES[str(numbers.pop("rule"))](**numbers)
