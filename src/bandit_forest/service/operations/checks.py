"""Checks of typed requests against the project: its features, actions and range of rewards."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import msgspec

from bandit_forest.bandit.action_registry import LONGEST_NAME, REMOVED, Available
from bandit_forest.bandit.errors import FeatureError
from bandit_forest.bandit.model import EncodedContext
from bandit_forest.errors import shown
from bandit_forest.service.domain.state import State, fingerprint
from bandit_forest.service.errors import InvalidRequestError
from bandit_forest.service.operations.requests import DecideItem, invalid

__all__ = [
    "NewEvent",
    "check_action",
    "check_context",
    "check_decide",
    "check_event_id",
    "check_reward",
    "new_event_id",
    "request_fingerprint",
]

_ID_BYTES = 16
_IDS_AT_ONCE = 64

_new_ids: list[str] = []
_encode = msgspec.json.Encoder().encode


class NewEvent(NamedTuple):
    """An event to decide that is not known yet."""

    event_id: str
    context: EncodedContext
    json: str
    available: Available
    available_json: str | None
    """Names of the available actions, as the journal has them; None: all that are enabled."""
    own: tuple[int, float] | None
    """In shadow mode, the index of what the application has chosen, and its propensity."""
    fingerprint: int


def check_decide(state: State, request: DecideItem) -> NewEvent:
    """Check a request whose event_id has been checked already."""
    context, json = check_context(state, request.context)
    names = request.available_actions
    available, available_json = state.bandit.registry.enabled, None
    if names is not None:
        if not all(map(state.bandit.registry.is_enabled, names)):
            raise invalid("$.available_actions", "a list of names of enabled actions, at least one", names)
        available, available_json = state.bandit.registry.available(names), msgspec.json.encode(names).decode()
    own = _check_own(state, request, available)
    name = request.event_id or new_event_id()
    return NewEvent(name, context, json, available, available_json, own, request_fingerprint(request))


def request_fingerprint(request: DecideItem) -> int:
    """Return the fingerprint of a request; in shadow mode a propensity that is left out is 1."""
    own = (
        None if request.action is None else (request.action, 1.0 if request.propensity is None else request.propensity)
    )
    return fingerprint(request.context, request.available_actions, own)


def new_event_id() -> str:
    """Make a name for an event that came without one."""
    if not _new_ids:  # many at a time: asking the system lets go of the interpreter's lock
        drawn = os.urandom(_IDS_AT_ONCE * _ID_BYTES).hex()
        width = 2 * _ID_BYTES
        _new_ids.extend(drawn[start : start + width] for start in range(0, len(drawn), width))
    return _new_ids.pop()


def check_context(state: State, context: dict[str, Any]) -> tuple[EncodedContext, str]:
    """Check a context; return what is to be remembered of it, and its JSON."""
    try:
        encoded = state.bandit.model.read(context)
        json = _encode(context)
    except FeatureError as error:
        raise invalid(_at(error.feature), error.rule, error.value) from None
    except (OverflowError, TypeError, ValueError) as error:  # text with half a character, a number beyond 64 bits
        raise InvalidRequestError(f"'$.context' must be what JSON can hold: {error}.", path="$.context") from None
    most = state.project.limits.context_bytes
    if len(json) > most:
        message = f"'$.context' must have at most {most} bytes as JSON. It has {len(json)}."
        raise InvalidRequestError(message, path="$.context")
    return encoded, json.decode()


def check_event_id(event_id: str) -> str:
    """Check the name of an event."""
    if not event_id.isprintable():
        raise invalid("$.event_id", f"a printable text of 1 to {LONGEST_NAME} characters", event_id)
    return event_id


def check_reward(state: State, reward: float) -> float:
    """Check a reward against the range."""
    rewards = state.bandit.rewards
    if not rewards.low <= reward <= rewards.high:  # nor is NaN
        raise invalid("$.reward", f"a number in [{rewards.low:g}, {rewards.high:g}]", reward)
    return reward


def check_action(state: State, name: str) -> int:
    """Check an action that may have been taken elsewhere, disabled ones included; return its index."""
    if state.bandit.registry.state(name) in (None, REMOVED):
        raise invalid("$.action", "the name of an action", name)
    return state.bandit.registry.indices[name]


def _check_own(state: State, request: DecideItem, available: Available) -> tuple[int, float] | None:
    """Check what the application has chosen: needed in shadow mode, refused otherwise."""
    action, propensity = request.action, request.propensity
    if state.project.mode != "shadow":
        if action is not None or propensity is not None:
            name = "action" if action is not None else "propensity"
            rule = "left out: the project decides itself, and events decided elsewhere are told by 'learn'"
            raise invalid(f"$.{name}", rule, action if action is not None else propensity)
        return None
    index = None if action is None else state.bandit.registry.indices.get(action)
    if index is None or not available.mask[index]:
        raise invalid("$.action", "the available action that the application has chosen (shadow mode)", action)
    return index, 1.0 if propensity is None else propensity


def _at(feature: str | None) -> str:
    if feature is None:
        return "$.context"
    is_plain = feature.isidentifier() and len(feature) < 80
    return f"$.context.{feature}" if is_plain else f"$.context[{shown(feature)}]"
