"""Checks of typed requests against the project: its features, actions and range of rewards."""

from __future__ import annotations

import os
from itertools import compress
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET
from msgspec.structs import astuple

from bandit_forest.bandit.action_registry import LONGEST_NAME, REMOVED, Available, is_name
from bandit_forest.bandit.errors import FeatureError
from bandit_forest.bandit.model import EncodedContext, Model
from bandit_forest.bandit.pairs.model import ID
from bandit_forest.bandit.pairs.offer import Offer
from bandit_forest.errors import shown
from bandit_forest.service.domain.events import Event
from bandit_forest.service.domain.state import ServiceContext, State, fingerprint
from bandit_forest.service.errors import (
    InvalidRequestError,
    ServiceError,
    invalid,
    listed,
    other_request,
    too_many_waiting,
)
from bandit_forest.service.operations.expiry import expire_early
from bandit_forest.service.operations.requests import ContextValues, DecideRequest

__all__ = [
    "NAME_RULE",
    "NewEvent",
    "check_action",
    "check_context",
    "check_decide",
    "check_event_id",
    "check_n_ranked",
    "check_offer",
    "check_reward",
    "check_room",
    "check_same",
    "known_event",
    "make_room",
    "new_event_id",
    "request_fingerprint",
]

NAME_RULE = f"a printable text of 1 to {LONGEST_NAME} characters"
_ID_BYTES = 16
_IDS_AT_ONCE = 64
_ID_RANGE = 2**63  # of the id of an offered action that is a number

_new_ids: list[str] = []
_encode = msgspec.json.Encoder().encode
_encode_sorted = msgspec.json.Encoder(order="sorted").encode


class NewEvent(NamedTuple):
    """An event to decide that is not known yet."""

    event_id: str
    context: EncodedContext
    json: str
    available: Available
    available_json: str | None
    """Names of the available actions, as the journal has them; None: all that are enabled."""
    application_choice: tuple[int, float] | None
    """In shadow mode, the index of the action that the application has chosen, and its propensity."""
    fingerprint: int
    request: DecideRequest


def known_event(service: ServiceContext, event_id: str | None) -> Event | None:
    """Check the name of an event, if there is one; return the event when it is known already."""
    return None if event_id is None else service.state.event(check_event_id(event_id))


def check_same(service: ServiceContext, known: NewEvent | Event, crc: int) -> None:
    """Refuse a request whose fingerprint is not that of the request which made the event."""
    if crc != known.fingerprint:
        raise other_request(known.event_id, service.journal.tail)


def check_room(service: ServiceContext, *, n_before: int) -> None:
    """Refuse a new event when `waiting_events` events wait and the project refuses then.

    `n_before` new events of the same batch come before it.
    """
    limits = service.project.limits
    n_kept = 0 if limits.waiting_full == "expire" else len(service.state.waiting)
    if n_kept + n_before >= limits.waiting_events:
        raise too_many_waiting(limits.waiting_events)


def make_room(service: ServiceContext, n_new: int) -> bool:
    """End the wait of the oldest events early when there is no room for new ones; return whether any ended."""
    n_too_many = len(service.state.waiting) + n_new - service.project.limits.waiting_events
    if n_too_many > 0:
        expire_early(service, n_too_many)
    return n_too_many > 0


def check_decide(state: State, request: DecideRequest) -> NewEvent:
    """Check a request whose event_id has been checked already."""
    context, json = check_context(state, request.context)
    names, registry = request.available_actions, state.bandit.registry
    available, available_json = registry.enabled, None
    if names is not None:
        if not all(map(registry.is_enabled, names)):
            wrong = next(name for name in names if not registry.is_enabled(name))
            enabled = listed(compress(registry.names, registry.enabled.mask))
            raise invalid("$.available_actions", f"names of enabled actions, which are {enabled}", wrong)
        available, available_json = registry.available(names), msgspec.json.encode(names).decode()
    choice = _application_choice(state, request, available)
    name, crc = request.event_id or new_event_id(), request_fingerprint(request, json)
    return NewEvent(name, context, json.decode(), available, available_json, choice, crc, request)


def request_fingerprint(request: DecideRequest, context: bytes) -> int:
    """Return the fingerprint of a request with the JSON of its context; in shadow mode a missing propensity is 1."""
    choice = None
    if request.action is not None:
        choice = (request.action, 1.0 if request.propensity is None else request.propensity)
    return fingerprint(msgspec.Raw(context), request.available_actions, choice)


def new_event_id() -> str:
    """Make a name for an event that came without one."""
    if not _new_ids:  # many at a time: asking the system lets go of the interpreter's lock
        drawn = os.urandom(_IDS_AT_ONCE * _ID_BYTES).hex()
        width = 2 * _ID_BYTES
        _new_ids.extend(drawn[start : start + width] for start in range(0, len(drawn), width))
    return _new_ids.pop()


def check_context(state: State, context: dict[str, Any] | ContextValues) -> tuple[EncodedContext, bytes]:
    """Return the encoded context, and its JSON for the journal and the fingerprint."""
    try:
        encoded = _read_context(state.bandit.model, context)
    except FeatureError as error:
        raise invalid(_at("$.context", error.feature), error.rule, error.value) from None
    return encoded, _json(context, "$.context", state.project.limits.context_bytes)


def _read_context(model: Model, context: dict[str, Any] | ContextValues) -> EncodedContext:
    if isinstance(context, dict):
        return model.read(context)
    variables = model.schema.encode_row(astuple(context), UNSET)
    return model.read(context.as_dict()) if variables is None else variables


def check_offer(
    state: State, context: dict[str, Any], actions: list[dict[str, Any]], place: str = "$.actions[{}]"
) -> tuple[Offer, bytes, bytes]:
    """Check a context and the actions that are offered with it; return them, and the JSON of both."""
    limits, path = state.project.limits, place.removesuffix("[{}]")
    if len(actions) > limits.offered_actions:
        message = f"'{path}' must have at most {limits.offered_actions} items. It has {len(actions)}."
        raise InvalidRequestError(message, path=path)
    for number, action in enumerate(actions):
        _check_id(action, place.format(number))
    if len({str(action[ID]) for action in actions}) < len(actions):
        message = f"'{path}' must have different ids, also as texts: one of them is there twice."
        raise ServiceError("action_conflict", message, path=path)
    try:
        offer = state.pairs.read(context, actions, "rank")
    except FeatureError as error:
        where = "$.context" if error.row is None else place.format(error.row)
        raise invalid(_at(where, error.feature), error.rule, error.value) from None
    return offer, _json(context, "$.context", limits.context_bytes), _json(actions, path, limits.offered_bytes)


def check_n_ranked(n_ranked: float | None, n_offered: int) -> int | None:
    """Check how many ranks are asked for; return their number, or None for all."""
    if n_ranked is None:
        return None
    if not n_ranked.is_integer():
        raise invalid("$.n_ranked", "a whole number", n_ranked)
    return min(int(n_ranked), n_offered)


def _check_id(action: dict[str, Any], place: str) -> None:
    """Check the id of an offered action; a whole number becomes an int, since JSON does not tell 2.0 from 2."""
    given = action.get(ID)
    if isinstance(given, str) and is_name(given):
        return
    if isinstance(given, float) and given.is_integer():
        action[ID] = given = int(given)
    if given.__class__ is not int or not -_ID_RANGE <= given < _ID_RANGE:
        raise invalid(f"{place}.{ID}", f"{NAME_RULE}, or an int of 64 bits", given)


def _json(value: object, path: str, most: int) -> bytes:
    """Return a value as JSON whose names are sorted."""
    try:
        json = _encode(value) if isinstance(value, ContextValues) else _encode_sorted(value)
    except (OverflowError, TypeError, ValueError) as error:  # text with half a character, a number beyond 64 bits
        raise InvalidRequestError(f"'{path}' must be what JSON can hold: {error}.", path=path) from None
    if len(json) > most:
        raise InvalidRequestError(f"'{path}' must have at most {most} bytes as JSON. It has {len(json)}.", path=path)
    return json


def check_event_id(event_id: str) -> str:
    """Check the name of an event, whose length its type bounds."""
    if not event_id.isprintable():
        raise invalid("$.event_id", NAME_RULE, event_id)
    return event_id


def check_reward(state: State, reward: float) -> float:
    """Check a reward against the range."""
    rewards = state.learner.rewards
    if not rewards.low <= reward <= rewards.high:  # nor is NaN
        raise invalid("$.reward", f"a number in [{rewards.low:g}, {rewards.high:g}]", reward)
    return reward


def check_action(state: State, name: str) -> int:
    """Check an action that may have been taken elsewhere, disabled ones included; return its index."""
    registry = state.bandit.registry
    if registry.state(name) in (None, REMOVED):
        enabled = listed(compress(registry.names, registry.enabled.mask))
        raise invalid("$.action", f"the name of an action, of which {enabled} are enabled", name)
    return registry.indices[name]


def _application_choice(state: State, request: DecideRequest, available: Available) -> tuple[int, float] | None:
    """Check the action that the application has chosen, and return it: needed in shadow mode, refused otherwise."""
    action, propensity = request.action, request.propensity
    if state.project.mode != "shadow":
        if action is not None or propensity is not None:
            name = "action" if action is not None else "propensity"
            rule = "left out: the project decides itself, and events decided elsewhere are told by 'learn'"
            raise invalid(f"$.{name}", rule, action if action is not None else propensity)
        return None
    index = None if action is None else state.bandit.registry.indices.get(action)
    if index is None or not available.mask[index]:
        choices = listed(compress(state.bandit.registry.names, available.mask))
        raise invalid("$.action", f"the action that the application has chosen (shadow mode), one of {choices}", action)
    return index, 1.0 if propensity is None else propensity


def _at(place: str, feature: str | None) -> str:
    if feature is None:
        return place
    is_plain = feature.isidentifier() and len(feature) < 80
    return f"{place}.{feature}" if is_plain else f"{place}[{shown(feature)}]"
