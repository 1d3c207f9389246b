"""The parameters of a forest, as the core takes them and as the header of a file tells them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, TypeVar

from bandit_forest import _core
from bandit_forest.errors import OutdatedFileError
from bandit_forest.forest.rule_codec import rule_from_json, rules_to_json
from bandit_forest.rules import (
    Elimination,
    Exploration,
    Greedy,
    Growth,
    InverseGap,
    RoundRobin,
    UniformOverRemaining,
)

__all__ = ["CoreForest", "GreedyCore", "PairCore", "arguments_of", "header_of", "make_core", "make_pair_core"]

GreedyCore = _core.GreedyForest
PairCore = _core.PairForest
CoreForest = _core.EliminationForest | GreedyCore

_Settings = TypeVar("_Settings", bound=_core.Settings)

_MOST_LOG_BYTES = 2**29
_MOST_LOG_EVENTS = 2**23
_LEAST_LOG_EVENTS = 2**16


def make_core(
    *saved: bytes,
    growth: Growth,
    exploration: Exploration,
    max_depth: int | tuple[int, int],
    levels: Sequence[int],
    **sizes: int | float,
) -> CoreForest:
    """Return the core of a forest with these parameters, or one made again from the arrays that it has saved."""
    low, high = max_depth if isinstance(max_depth, tuple) else (max_depth, max_depth)
    common = sizes | {"depth_low": low, "depth_high": high}
    if isinstance(growth, Greedy):
        assert isinstance(exploration, InverseGap)
        own = _greedy(growth, exploration, int(sizes["n_variables"]), levels)
        return _core.GreedyForest(_filled(_core.GreedySettings(), common | own), *saved)
    assert not isinstance(exploration, InverseGap)
    return _core.EliminationForest(
        _filled(_core.EliminationSettings(), common | _elimination(growth, exploration)), *saved
    )


def make_pair_core(
    *saved: bytes,
    growth: Greedy,
    exploration: InverseGap,
    max_depth: int | tuple[int, int],
    levels: Sequence[int],
    **sizes: int | float,
) -> PairCore:
    """Return the core of a forest over pairs, or one made again from the arrays that it has saved."""
    low, high = max_depth if isinstance(max_depth, tuple) else (max_depth, max_depth)
    common = sizes | {"depth_low": low, "depth_high": high, "n_actions": 1, "n_threads": 1}
    own = _greedy(growth, exploration, int(sizes["n_variables"]), levels)
    return PairCore(_filled(_core.PairSettings(), common | own), *saved)


def header_of(
    policy: str, parameters: dict[str, Any], variable_names: Sequence[str], action_names: Sequence[str]
) -> dict[str, Any]:
    """Return the header of a saved forest, as JSON can hold it."""
    thresholds = {str(variable): list(numbers) for variable, numbers in parameters["thresholds"].items()}
    return {
        "policy": policy,
        "parameters": rules_to_json(parameters) | {"thresholds": thresholds},
        "variable_names": list(variable_names),
        "action_names": list(action_names),
    }


def arguments_of(header: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of the forest of a header."""
    parameters: dict[str, Any] = header["parameters"]
    depth = parameters["max_depth"]
    return parameters | {
        "growth": rule_from_json(_without_clock(parameters["growth"]), "growth"),
        "exploration": rule_from_json(parameters["exploration"], "exploration"),
        "max_depth": tuple(depth) if isinstance(depth, list) else depth,
        "thresholds": {int(variable): numbers for variable, numbers in parameters.get("thresholds", {}).items()},
        "variable_names": header["variable_names"],
        "action_names": header["action_names"],
    }


def _filled(settings: _Settings, values: dict[str, Any]) -> _Settings:
    for name, value in values.items():
        setattr(settings, name, value)
    return settings


def _greedy(growth: Greedy, exploration: InverseGap, n_variables: int, levels: Sequence[int]) -> dict[str, Any]:
    capacity = growth.log_capacity or _capacity(n_variables, levels, growth.lifetime)
    own = asdict(growth) | asdict(exploration)
    return own | {"log_capacity": capacity, "lifetime": growth.lifetime or 0, "levels": list(levels)}


def _elimination(growth: Elimination, exploration: RoundRobin | UniformOverRemaining) -> dict[str, Any]:
    min_tolerance, max_tolerance = growth.tolerance_range
    kind = "round_robin" if isinstance(exploration, RoundRobin) else f"{exploration.draw}_draw"
    return {
        "delta": growth.delta,
        "min_tolerance": min_tolerance,
        "max_tolerance": max_tolerance,
        "test_interval": growth.test_interval,
        "quorum": exploration.quorum,
        "remaining": _core.Remaining[growth.remaining_actions],
        "estimate": _core.Estimate[growth.estimate],
        "exploration": _core.Exploration[kind],
    }


def _capacity(n_variables: int, levels: Sequence[int], lifetime: int | None) -> int:
    """Return the number of events that a log holds by default: a power of two."""
    n_ordered = sum(level > 2 for level in levels)
    words = -(-(n_variables - n_ordered) // 64) + -(-n_ordered // 8) + 1
    fitting = _MOST_LOG_BYTES // (8 * words)
    wanted = _MOST_LOG_EVENTS if lifetime is None else max(_LEAST_LOG_EVENTS, 2 * lifetime)
    capacity = 1 << (min(wanted, fitting).bit_length() - 1)
    return capacity if lifetime is None else max(capacity, 1 << (2 * lifetime - 1).bit_length())


def _without_clock(growth: dict[str, Any]) -> dict[str, Any]:
    """Return a rule of growth without what files of version 0.1.0 may hold of it, or refuse what is gone since.

    The clock "path" is what every forest has now, others are gone. So is the greedy growth of that version, which split
    leaves for good.
    """
    if growth.get("clock", "path") != "path" or "learning_share" in growth:
        raise OutdatedFileError(
            "holds a forest whose trees grew by a rule of version 0.1 that is gone: "
            "learn its events anew, or read it with bandit-forest 0.1."
        )
    return {name: value for name, value in growth.items() if name != "clock"}
