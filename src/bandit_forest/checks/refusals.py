"""Checks of refusals: a wrong argument is refused in one sentence, and nothing changes."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from typing import Any

from bandit_forest.checks.comparing import require_same_state
from bandit_forest.checks.streams import stream, trained
from bandit_forest.checks.subject import Subject, require
from bandit_forest.checks.wrong import BAD_SIZES, bad_values
from bandit_forest.errors import InvalidArgumentError

__all__ = ["bad_arguments_are_refused", "bad_sizes_are_refused"]

_SENTENCE = re.compile(r"The '(\w+)' of [\w.]+ must be .+\. Got .+ instead\.")


def bad_sizes_are_refused(subject: Subject) -> None:
    """Require that no policy is made with a wrong number of variables or actions."""
    for parameter in ("n_variables", "n_actions"):
        for value in BAD_SIZES:
            require_refusal(subject.fresh, parameter, {parameter: value})


def bad_arguments_are_refused(subject: Subject) -> None:
    """Require every wrong argument of every call to be refused in the one sentence, and to change nothing."""
    log = stream(20, seed=12).log()
    events = stream(20, seed=12)
    calls: dict[str, dict[str, Any]] = {
        "decide": {"context": [0] * 5, "available_actions": [0, 2]},
        "learn": {"context": [0] * 5, "action": 1, "reward": 1.0, "propensity": 0.5},
        "decide_many": {"contexts": log.contexts, "available_actions": [0, 2]},
        "learn_many": log._asdict(),
        "play": events._asdict(),
    }
    for method, arguments in calls.items():
        for parameter in arguments:
            policy, untouched = trained(subject), trained(subject)
            for value in bad_values(parameter, arguments[parameter], n_actions=policy.n_actions):
                require_refusal(getattr(policy, method), parameter, arguments | {parameter: value})
            what = f"{method} changes the policy although it refuses a wrong '{parameter}'"
            require_same_state(policy, untouched, what)


def require_refusal(
    call: Callable[..., object], parameter: str, arguments: dict[str, Any], *, by_name: bool = True
) -> None:
    """Require that a call refuses the argument of a parameter, and that it names the parameter where `by_name`."""
    value = textwrap.shorten(repr(arguments[parameter]), 80, placeholder="...")
    shown = f"{call.__name__}({parameter}={value})"
    try:
        call(**arguments)
    except InvalidArgumentError as error:
        sentence = _SENTENCE.fullmatch(str(error))
        told = sentence is not None and (sentence[1] == parameter or not by_name)
        require(told, f"{shown} is not refused in the one sentence that names the parameter, but with: {error}")
    except Exception as error:
        require(False, f"{shown} raises {type(error).__name__} ({error}), not InvalidArgumentError")
    else:
        require(False, f"{shown} is accepted")
