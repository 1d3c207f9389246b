"""Requests as they come, checked: everything that could be wrong is found before anything changes."""

from __future__ import annotations

import os
from typing import Any, NamedTuple, NoReturn

import orjson

from bandit_forest.errors import shown
from bandit_forest.service.config.checks import LONGEST_NAME, is_name
from bandit_forest.service.domain.action_registry import REMOVED, Available
from bandit_forest.service.domain.model import Known
from bandit_forest.service.domain.state import State
from bandit_forest.service.errors import InvalidRequestError

__all__ = [
    "Wanted",
    "new_event_id",
    "read_batch",
    "read_context",
    "read_decide",
    "read_event_id",
    "read_item",
    "read_known_action",
    "read_number",
]

_NAME_BYTES = 12
_NAMES_AT_ONCE = 1024
_new_names: list[str] = []


class Wanted(NamedTuple):
    """A decision that is asked for."""

    event_id: str
    context: Known
    json: str
    available: Available
    available_json: str | None
    """Their names, as the journal has them; None: all that are enabled."""
    own: tuple[int, float] | None
    """In shadow mode, the place of what the application has chosen, and its propensity."""


def read_decide(state: State, request: dict[str, Any], path: str) -> Wanted:
    """Check a request for a decision, whose event_id has been checked already.

    Parameters
    ----------
    state
        Of the service; it is only looked at.
    request
        As it came.
    path
        Its place, for refusals.
    """
    get = request.get
    known, json = read_context(state, get("context"), path)
    names = get("available_actions")
    available, available_json = (state.actions.enabled, None) if names is None else _read_available(state, names, path)
    own = _read_own(state, get("action"), get("propensity"), available, path)
    return Wanted(get("event_id") or new_event_id(), known, json, available, available_json, own)


def new_event_id() -> str:
    """Make a name for an event that came without one."""
    if not _new_names:  # many at a time: asking the system lets go of the interpreter's lock
        drawn = os.urandom(_NAMES_AT_ONCE * _NAME_BYTES).hex()
        width = 2 * _NAME_BYTES
        _new_names.extend(drawn[start : start + width] for start in range(0, len(drawn), width))
    return _new_names.pop()


def read_context(state: State, context: Any, path: str) -> tuple[Known, str]:
    """Check a context; give what is to be remembered of it, and its JSON."""
    where = f"{path}.context"
    known = state.model.read(context, where)
    try:
        json = orjson.dumps(context)
    except TypeError as error:  # text with half a character, a number beyond 64 bits
        raise InvalidRequestError(f"'{where}' must be what JSON can hold: {error}.", path=where) from None
    most = state.project.limits.context_bytes
    if len(json) > most:
        message = f"'{where}' must have at most {most} bytes as JSON. It has {len(json)}."
        raise InvalidRequestError(message, path=where)
    return known, json.decode()


def read_event_id(event_id: Any, path: str) -> str:
    """Check the name of an event."""
    if not isinstance(event_id, str) or not is_name(event_id):
        _refuse(f"{path}.event_id", f"a printable text of 1 to {LONGEST_NAME} characters", event_id)
    return event_id


def read_number(value: Any, low: float, high: float, path: str, *, open_low: bool = False) -> float:
    """Check a number in [low, high], or in (low, high] when `open_low`."""
    if value.__class__ is not float and value.__class__ is not int:
        _refuse(path, _interval(low, high, open_low), value)
    if not low <= value <= high or (open_low and value == low):
        _refuse(path, _interval(low, high, open_low), value)
    return float(value)


def read_known_action(state: State, name: Any, path: str) -> int:
    """Check an action that may have been taken elsewhere, disabled ones included; give its place."""
    if not isinstance(name, str) or state.actions.state(name) in (None, REMOVED):
        _refuse(path, "the name of an action", name)
    return state.actions.places[name]


def read_batch(items: Any, most: int, path: str) -> list[Any]:
    """Check that a batch is a list, and not too long."""
    if not isinstance(items, list):
        _refuse(path, "a list of objects", items)
    if len(items) > most:
        raise InvalidRequestError(f"'{path}' must have at most {most} items. It has {len(items)}.", path=path)
    return items


def read_item(item: Any, fields: frozenset[str], path: str) -> dict[str, Any]:
    """Check that an item of a batch is an object with known fields."""
    if not isinstance(item, dict):
        _refuse(path, "an object", item)
    if not item.keys() <= fields:
        unknown = next(name for name in item if name not in fields)
        _refuse(path, f"an object with the fields {', '.join(sorted(fields))}", unknown)
    return item


def _read_available(state: State, names: Any, path: str) -> tuple[Available, str]:
    if not isinstance(names, list) or not names or not all(map(state.actions.is_enabled, names)):
        _refuse(f"{path}.available_actions", "a list of names of enabled actions, at least one", names)
    return state.actions.available(names), orjson.dumps(names).decode()


def _read_own(state: State, action: Any, propensity: Any, available: Available, path: str) -> tuple[int, float] | None:
    """Check what the application has chosen: needed in shadow mode, refused otherwise."""
    if state.project.mode != "shadow":
        if action is not None or propensity is not None:
            name = "action" if action is not None else "propensity"
            rule = "left out: the project decides itself, and events decided elsewhere are told by 'learn'"
            _refuse(f"{path}.{name}", rule, action if action is not None else propensity)
        return None
    place = state.actions.places.get(action) if isinstance(action, str) else None
    if place is None or not available.mask[place]:
        _refuse(f"{path}.action", "the available action that the application has chosen (shadow mode)", action)
    if propensity is None:
        return place, 1.0
    return place, read_number(propensity, 0.0, 1.0, f"{path}.propensity", open_low=True)


def _interval(low: float, high: float, open_low: bool) -> str:
    return f"a number in {'(' if open_low else '['}{low:g}, {high:g}]"


def _refuse(path: str, rule: str, value: object) -> NoReturn:
    raise InvalidRequestError(f"'{path}' must be {rule}. Got {shown(value)} instead.", path=path)
