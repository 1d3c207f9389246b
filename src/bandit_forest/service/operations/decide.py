"""Decisions: one, or a batch of them with the same result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from bandit_forest.service.domain.events import Event
from bandit_forest.service.errors import ServiceError, WaitingLimitError
from bandit_forest.service.journal.commits import Commit
from bandit_forest.service.journal.entries import DECIDE, Entry
from bandit_forest.service.operations.requests import (
    Wanted,
    read_batch,
    read_context,
    read_decide,
    read_event_id,
    read_item,
)
from bandit_forest.service.operations.results import Decided
from bandit_forest.service.operations.service_context import Desk

__all__ = ["DECIDE_FIELDS", "decide", "decide_many"]

DECIDE_FIELDS = frozenset({"context", "available_actions", "event_id", "action", "propensity"})


def decide(desk: Desk, request: dict[str, Any], path: str = "$") -> Decided:
    """Decide one event; a known one gets the decision that it got before."""
    desk.check_storage()
    asked = _ask(desk, request, path, n_before=0)
    if isinstance(asked, Event):
        return _decided(desk, asked, desk.journal.tail)
    drawn = desk.state.model.decide(asked.context, asked.available)
    event, entry = _settle(desk, asked, drawn, desk.state.seq + 1, desk.now())
    desk.state.add_decision(event)
    return _decided(desk, event, desk.record([entry]))


def decide_many(desk: Desk, items: Any) -> list[Decided | ServiceError]:
    """Decide a batch: what `decide` would do one after the other."""
    desk.check_storage()
    batch = read_batch(items, desk.project.limits.batch_events, "$.events")
    if desk.state.model.forest is None:  # the forest may be made in the midst of the batch
        return [_one_of(desk, item, f"$.events[{number}]") for number, item in enumerate(batch)]
    asked: list[Wanted | Event | ServiceError] = []
    fresh: dict[str, Wanted] = {}
    for number, item in enumerate(batch):
        try:
            asked.append(_ask_item(desk, item, "$", fresh))
        except ServiceError:
            asked.append(_refusal(desk, item, f"$.events[{number}]", fresh))
    events = _settle_all(desk, list(fresh.values()))
    commit = desk.journal.tail
    settled = (events[request.event_id] if isinstance(request, Wanted) else request for request in asked)
    return [result if isinstance(result, ServiceError) else _decided(desk, result, commit) for result in settled]


def _one_of(desk: Desk, item: Any, path: str) -> Decided | ServiceError:
    try:
        return decide(desk, read_item(item, DECIDE_FIELDS, path), path)
    except ServiceError as error:
        return error


def _ask_item(desk: Desk, item: Any, path: str, fresh: dict[str, Wanted]) -> Wanted | Event:
    """Check an item of a batch; an event that is new to the service is noted as fresh, once."""
    request = read_item(item, DECIDE_FIELDS, path)
    event_id = request.get("event_id")
    if isinstance(event_id, str) and event_id in fresh:
        return fresh[event_id]
    asked = _ask(desk, request, path, n_before=len(fresh))
    if isinstance(asked, Wanted):
        fresh[asked.event_id] = asked
    return asked


def _refusal(desk: Desk, item: Any, path: str, fresh: dict[str, Wanted]) -> ServiceError:
    """Give the refusal of an item once more, with its place: which is not made for all that are not refused."""
    try:
        _ask_item(desk, item, path, fresh)
    except ServiceError as error:
        return error
    raise AssertionError("what is refused once is refused twice")


def _ask(desk: Desk, request: dict[str, Any], path: str, *, n_before: int) -> Wanted | Event:
    """Check a request; give the event when it is known already. Before it, `n_before` more will be waiting."""
    get, state = request.get, desk.state
    event_id = get("event_id")
    if event_id is not None:
        known = state.event(read_event_id(event_id, path))
        if known is not None:
            read_context(state, get("context"), path)  # a malformed request is refused, whatever it asks for
            return known
    most = desk.project.limits.waiting_events
    if len(state.waiting) + n_before >= most:
        raise WaitingLimitError(
            f"{most} events wait for their reward, as many as [limits] waiting_events allows: send rewards, or wait "
            "until the oldest expire."
        )
    return read_decide(state, request, path)


def _settle_all(desk: Desk, wanted: Sequence[Wanted]) -> dict[str, Event]:
    """Draw and record the fresh decisions of a batch, in order."""
    now, first = desk.now(), desk.state.seq + 1
    settled = [
        _settle(desk, one, drawn, first + number, now)
        for number, (one, drawn) in enumerate(zip(wanted, _draw_all(desk, wanted), strict=True))
    ]
    for event, _ in settled:
        desk.state.add_decision(event)
    desk.record([entry for _, entry in settled])
    return {event.event_id: event for event, _ in settled}


def _draw_all(desk: Desk, wanted: Sequence[Wanted]) -> Iterator[tuple[int, float]]:
    """Draw in order, those together that have the same actions to choose from."""
    for _, alike in groupby(wanted, key=lambda one: one.available_json):
        group = list(alike)
        yield from desk.state.model.decide_many([one.context for one in group], group[0].available)


def _settle(desk: Desk, wanted: Wanted, drawn: tuple[int, float], seq: int, now: float) -> tuple[Event, Entry]:
    """Make the event and the entry of a decision; in shadow mode the application's choice is the decision."""
    names, model = desk.state.actions.names, desk.state.model
    action, propensity = drawn if wanted.own is None else wanted.own
    shadow: tuple[int | None, float | None, float | None] = (None, None, None)
    if wanted.own is not None:
        shadow = (*drawn, _value(desk, wanted, drawn[0]))
    event = Event(
        wanted.event_id,
        now,
        wanted.context,
        action,
        propensity,
        len(wanted.available.places),
        model.version,
        "waiting",
        None,
        None,
        *shadow,
    )
    forest_action = None if shadow[0] is None else names[shadow[0]]
    entry = Entry(
        seq,
        now,
        DECIDE,
        wanted.event_id,
        names[action],
        propensity,
        None,
        wanted.json,
        wanted.available_json,
        forest_action,
        *shadow[1:],
    )
    return event, entry


def _value(desk: Desk, wanted: Wanted, action: int) -> float | None:
    """Give the estimated reward of the forest's choice, in the project's units."""
    forest = desk.state.model.forest
    if forest is None:
        return None
    mean = float(forest.mean_rewards(desk.state.model.bits(wanted.context))[action])
    return desk.project.reward.unscale(mean) if mean == mean else None


def _decided(desk: Desk, event: Event, commit: Commit) -> Decided:
    names = desk.state.actions.names
    return Decided(
        event.event_id,
        names[event.action],
        event.propensity,
        event.model_version,
        None if event.forest_action is None else names[event.forest_action],
        event.forest_propensity,
        event.forest_value,
        commit,
    )
