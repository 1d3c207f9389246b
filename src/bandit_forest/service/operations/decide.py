"""Decisions: one, or a batch of them with the same result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from msgspec.structs import replace

from bandit_forest.bandit.model import EncodedContext
from bandit_forest.service.domain.events import Event
from bandit_forest.service.domain.state import ServiceContext
from bandit_forest.service.errors import InvalidRequestError
from bandit_forest.service.journal.entries import DECIDE, Entry
from bandit_forest.service.operations.batches import each
from bandit_forest.service.operations.checks import (
    NewEvent,
    check_context,
    check_decide,
    check_room,
    check_same,
    known_event,
    make_room,
    request_fingerprint,
)
from bandit_forest.service.operations.requests import DecideRequest
from bandit_forest.service.operations.results import Decision, DecisionBatch, Refusal, Result

__all__ = ["decide", "decide_many", "estimates_of"]


def decide(service: ServiceContext, request: DecideRequest) -> Result[Decision]:
    """Decide one event; a known event gets the same decision as before."""
    service.check_storage()
    asked = _check(service, request, {})
    event = asked if isinstance(asked, Event) else _decide_new(service, [asked])[asked.event_id]
    return Result(_answer(service, event, request), service.journal.tail)


def decide_many(service: ServiceContext, items: Iterable[DecideRequest | InvalidRequestError]) -> Result[DecisionBatch]:
    """Decide a batch: the same as `decide` for each event. Each item is answered or refused on its own."""
    service.check_storage()
    new: dict[str | None, NewEvent] = {}
    asked = each(items, "events", lambda item: (_check(service, item, new), item))
    decided = _decide_new(service, list(new.values()))
    answers: list[Decision | Refusal] = []
    for one in asked:
        if isinstance(one, Refusal):
            answers.append(one)
            continue
        event, item = one
        answers.append(_answer(service, event if isinstance(event, Event) else decided[event.event_id], item))
    return Result(DecisionBatch(answers), service.journal.tail)


def _check(service: ServiceContext, request: DecideRequest, new: dict[str | None, NewEvent]) -> NewEvent | Event:
    """Check a request; return its event, which is added to `new` if neither the service nor the batch has it yet."""
    known = new.get(request.event_id) or known_event(service, request.event_id)
    if known is not None:
        _, json = check_context(service.state, request.context)
        check_same(service, known, request_fingerprint(request, json))
        return known
    check_room(service, n_before=len(new))
    asked = check_decide(service.state, request)
    new[asked.event_id] = asked
    return asked


def _decide_new(service: ServiceContext, new: Sequence[NewEvent]) -> dict[str, Event]:
    """Draw, apply and record new decisions, in order; the oldest waiting events make room."""
    make_room(service, len(new))
    now, seq = service.now(), service.state.seq
    events: dict[str, Event] = {}
    entries: list[Entry] = []
    for one, drawn in zip(new, _draw(service, new), strict=True):
        seq += 1
        event, entry = _make(service, one, drawn, seq, now)
        service.state.add_decision(event)
        events[event.event_id] = event
        entries.append(entry)
    service.record(entries)
    return events


def _draw(service: ServiceContext, new: Sequence[NewEvent]) -> Iterator[tuple[int, float]]:
    """Draw in order; consecutive events with the same available actions are drawn together."""
    model = service.bandit.model
    if len(new) <= 1 or isinstance(new[0].context, dict):  # the policy may be made in the midst of a batch
        yield from (model.decide(one.context, one.available) for one in new)
        return
    for _, alike in groupby(new, key=lambda one: one.available_json):
        group = list(alike)
        yield from model.decide_many([one.context for one in group], group[0].available)


def _make(
    service: ServiceContext, new: NewEvent, drawn: tuple[int, float], seq: int, now: float
) -> tuple[Event, Entry]:
    """Make the event and the entry of a decision; in shadow mode the application's choice is the decision."""
    names, version = service.bandit.registry.names, service.bandit.model.version
    action, propensity = drawn if new.application_choice is None else new.application_choice
    n_available = len(new.available.indices)
    context = new.context
    if isinstance(context, dict) and service.bandit.model.policy is not None:  # made in the midst of the batch
        context = service.bandit.model.encoded(context)
    event = Event(new.event_id, now, context, action, propensity, n_available, version, fingerprint=new.fingerprint)
    entry = Entry(seq, now, DECIDE, new.event_id, names[action], propensity, None, new.json, new.available_json)
    if new.application_choice is None:
        return event, entry
    name = names[drawn[0]]
    value = (estimates_of(service, new.context) or {}).get(name)
    event = replace(event, forest_action=drawn[0], forest_propensity=drawn[1], forest_value=value)
    return event, entry._replace(forest_action=name, forest_propensity=drawn[1], forest_value=value)


def _answer(service: ServiceContext, event: Event, request: DecideRequest) -> Decision:
    names = service.bandit.registry.names
    answer = Decision(event.event_id, names[event.action], event.propensity, event.model_version)
    if event.forest_action is not None:
        answer.forest_action = names[event.forest_action]
        answer.forest_propensity, answer.forest_value = event.forest_propensity, event.forest_value
    if request.mean_rewards:
        answer.mean_rewards = estimates_of(service, event.context)
    return answer


def estimates_of(service: ServiceContext, context: EncodedContext) -> dict[str, float | None] | None:
    """Return the estimates of the enabled actions; None while warming up."""
    return None if service.bandit.policy is None else service.bandit.mean_rewards_encoded(context)
