"""Offered actions of formats that hold tags, where we have ids."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from bandit_forest.bandit.pairs.model import ID

__all__ = ["with_ids"]


def with_ids(
    actions: Sequence[dict[str, Any]],
    tags: Sequence[str | int | None],
    refuse: Callable[[int, str, object], NoReturn],
) -> list[dict[str, Any]]:
    """Return the actions of an event with their ids: the tag, or else the feature `id`, or else all that it holds.

    Actions that hold the same are told apart by a number.

    Parameters
    ----------
    actions
        The features of each offered action.
    tags
        The tag of each; None where it has none.
    refuse
        Called with the place of an action, a rule, and the value that breaks it.

    Examples
    --------
    >>> actions = [{"x": 1.0}, {"x": 1.0}, {"id": 7.0, "x": 2.0}, {}]
    >>> [action["id"] for action in with_ids(actions, [None, None, None, "c"], print)]
    ['x=1.0', 'x=1.0 (2)', 7, 'c']
    """
    seen: set[str | int] = set()
    rows = []
    for place, (action, tag) in enumerate(zip(actions, tags, strict=True)):
        given = action.get(ID) if tag is None else tag
        action_id = _text_of(action, seen) if given is None else _plain(given)
        if action_id in seen:
            refuse(place, "different for each action of an event, since it is the action's id", action_id)
        seen.add(action_id)
        rows.append(action | {ID: action_id})
    return rows


def _plain(given: Any) -> str | int:
    if isinstance(given, float) and given.is_integer():
        return int(given)
    return given if isinstance(given, int) else str(given)


def _text_of(action: dict[str, Any], seen: set[str | int]) -> str:
    text = " ".join(f"{name}={value}" for name, value in action.items())
    names = (text if number == 1 else f"{text} ({number})" for number in range(1, len(seen) + 2))
    return next(name for name in names if name not in seen)
