"""Checks of refusals: a wrong argument is refused in one sentence, and nothing changes."""

from __future__ import annotations

import math
from typing import Any

from bandit_forest.checks.comparing import require_same_state
from bandit_forest.checks.pairs.events import N_CONTEXT, as_fixed, trained
from bandit_forest.checks.pairs.subject import PairSubject
from bandit_forest.checks.refusals import require_refusal
from bandit_forest.checks.wrong import BAD_NUMBERS, BAD_SIZES

__all__ = ["bad_offers_are_refused", "bad_sizes_of_pairs_are_refused"]


def bad_sizes_of_pairs_are_refused(subject: PairSubject) -> None:
    """Require that no policy is made with a wrong number of variables, whatever it calls them itself."""
    for parameter in ("n_context_variables", "n_action_variables"):
        for value in BAD_SIZES:
            require_refusal(subject.fresh, parameter, {parameter: value}, by_name=False)


def bad_offers_are_refused(subject: PairSubject) -> None:
    """Require every wrong argument of `decide` and `learn` to be refused in the one sentence, and to change nothing."""
    rows = [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
    calls: dict[str, dict[str, Any]] = {
        "decide": {"context": [0] * N_CONTEXT, "actions": rows, "names": ["a", "b", "c"]},
        "learn": {"context": [0] * N_CONTEXT, "action": rows[0], "reward": 1.0, "propensity": 0.5, "name": "a"},
    }
    wrong: dict[str, list[Any]] = {
        "context": _bad_features([0] * N_CONTEXT),
        "actions": [[], rows[0], *([rows[0], row] for row in _bad_features(rows[1]))],
        "action": _bad_features(rows[0]),
        "reward": list(BAD_NUMBERS),
        "propensity": [*BAD_NUMBERS, 0.0],
        "names": [["a"], ["a"] * 4] if subject.knows_names else [],
    }
    for method, arguments in calls.items():
        for parameter in [name for name in arguments if name in wrong]:
            policy, untouched = trained(subject), trained(subject)
            for value in wrong[parameter]:
                require_refusal(getattr(policy, method), parameter, arguments | {parameter: value})
            what = f"{method} changes the policy although it refuses a wrong '{parameter}'"
            require_same_state(as_fixed(policy), as_fixed(untouched), what)


def _bad_features(good: list[int]) -> list[Any]:
    """Return what cannot be the features of a context or of an action."""
    numbers: tuple[Any, ...] = (math.nan, math.inf, None, "a", 1j, [0])
    return [
        *(None, "01010", 1, math.nan, {0: 1}, [], good[1:], [*good, 0], [good]),
        *([number, *good[1:]] for number in numbers),
    ]
