"""Learning of rewards of waiting events, and of events that were decided elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, NoReturn, TypeVar

import msgspec
from msgspec.structs import replace

from bandit_forest.bandit.model import EncodedContext
from bandit_forest.bandit.pairs.model import ID
from bandit_forest.service.domain.events import EXPIRED, LEARNED, WAITING, Event
from bandit_forest.service.domain.offers import EventOffer, OfferRecord
from bandit_forest.service.domain.state import ServiceContext, State, fingerprint
from bandit_forest.service.errors import InvalidRequestError, ServiceError, decided_here
from bandit_forest.service.journal.commits import Commit
from bandit_forest.service.journal.entries import LEARN, REWARD, Entry
from bandit_forest.service.operations.batches import each
from bandit_forest.service.operations.checks import (
    check_action,
    check_context,
    check_event_id,
    check_offer,
    check_reward,
    known_event,
    new_event_id,
)
from bandit_forest.service.operations.requests import LearnOfferedRequest, LearnRequest, RewardRequest
from bandit_forest.service.operations.results import Learned, LearnedBatch, Result, Rewarded, RewardedBatch
from bandit_forest.service.operations.work import Work

__all__ = ["count_duplicate", "learn", "learn_many", "learn_offered", "learn_offered_many", "reward", "reward_many"]

_Request = TypeVar("_Request", RewardRequest, LearnRequest, LearnOfferedRequest)
_Answer = TypeVar("_Answer", Rewarded, Learned)
_Batch = TypeVar("_Batch", RewardedBatch, LearnedBatch)

_encode = msgspec.json.Encoder().encode


def reward(service: ServiceContext, request: RewardRequest) -> Result[Rewarded]:
    """Learn the reward of a waiting event."""
    return _alone(service, request, _reward)


def reward_many(service: ServiceContext, items: Iterable[RewardRequest | InvalidRequestError]) -> Result[RewardedBatch]:
    """Learn a batch of rewards: each item is answered or refused on its own, and all share one commit."""
    return _together(service, items, "rewards", _reward, RewardedBatch)


def learn(service: ServiceContext, request: LearnRequest) -> Result[Learned]:
    """Learn an event that was decided elsewhere; a known event_id is not learned again."""
    return _alone(service, request, _learn)


def learn_many(service: ServiceContext, items: Iterable[LearnRequest | InvalidRequestError]) -> Result[LearnedBatch]:
    """Learn a batch of events that were decided elsewhere."""
    return _together(service, items, "events", _learn, LearnedBatch)


def learn_offered(service: ServiceContext, request: LearnOfferedRequest) -> Result[Learned]:
    """Learn an offered action that was taken elsewhere; a known event_id is not learned again."""
    return _alone(service, request, _learn)


def learn_offered_many(
    service: ServiceContext, items: Iterable[LearnOfferedRequest | InvalidRequestError]
) -> Result[LearnedBatch]:
    """Learn a batch of offered actions that were taken elsewhere."""
    return _together(service, items, "events", _learn, LearnedBatch)


def count_duplicate(service: ServiceContext, event_id: str, first: float | None, commit: Commit | None = None) -> None:
    """Count a second reward; refuse it if the project says so."""
    service.duplicates += 1
    if service.project.reward.on_duplicate == "refuse":
        message = f"The event '{event_id}' has its reward already, {first}; it is learned once."
        raise ServiceError("duplicate_reward", message, path="$.event_id", commit=commit)


def _alone(
    service: ServiceContext, request: _Request, do: Callable[[ServiceContext, _Request, Work], _Answer]
) -> Result[_Answer]:
    service.check_storage()
    work = Work(service)
    answer = do(service, request, work)
    return Result(answer, work.finish())


def _together(
    service: ServiceContext,
    items: Iterable[_Request | InvalidRequestError],
    field: str,
    do: Callable[[ServiceContext, _Request, Work], _Answer],
    batch: type[_Batch],
) -> Result[_Batch]:
    service.check_storage()
    work = Work(service)
    try:
        done = each(items, field, lambda item: do(service, item, work))
    finally:  # what has been done is recorded, whatever happens to the rest
        commit = work.finish()
    return Result(batch(done), commit)


def _reward(service: ServiceContext, request: RewardRequest, work: Work) -> Rewarded:
    event_id = check_event_id(request.event_id)
    value = check_reward(service.state, request.reward)
    event = service.state.waiting.get(event_id)
    if event is None:
        first = _finished(service, event_id)
        return Rewarded(event_id, first.reward or 0.0, ignored=True)
    if work.now > event.time + service.project.reward.window_seconds:
        _refuse_late(service, event_id)
    entry = Entry(work.next_seq, work.now, REWARD, event_id, reward=value)
    work.add(entry, service.state.add_reward(event_id, value, work.now))
    return Rewarded(event_id, value, ignored=False)


def _learn(service: ServiceContext, request: LearnRequest | LearnOfferedRequest, work: Work) -> Learned:
    state, event_id = service.state, request.event_id
    read = _read(state, request)  # before its fingerprint: a malformed request is refused, whatever it asks for
    crc = fingerprint(msgspec.Raw(read.json), request.action, request.propensity, request.reward)
    known = known_event(service, event_id)
    if known is not None:
        if known.state == WAITING:
            raise decided_here(known.event_id)
        if known.state == LEARNED and known.fingerprint != crc:
            message = f"The event '{event_id}' was learned from another request: give this one an event_id of its own."
            raise ServiceError("event_conflict", message, path="$.event_id", commit=service.journal.tail)
        return Learned(_finished(service, known.event_id).event_id, ignored=True)
    if isinstance(request, LearnRequest):
        action, index = request.action, check_action(state, request.action)
        n_available = len(state.bandit.registry.enabled.indices)
    else:
        action, index, n_available = str(request.action[ID]), 0, 1
    name, value, propensity = event_id or new_event_id(), check_reward(state, request.reward), request.propensity
    event = Event(name, work.now, read.context, index, propensity, n_available, 0, LEARNED, value, work.now)
    event = replace(event, fingerprint=crc, offer=read.offer)
    entry = Entry(work.next_seq, work.now, LEARN, name, action, propensity, value, read.json.decode(), read.available)
    work.add(entry, state.add_foreign(event))
    return Learned(name, ignored=False)


class _Read(NamedTuple):
    """A checked context, and the offered action that was taken, if actions are offered."""

    context: EncodedContext
    json: bytes
    offer: EventOffer | None = None
    available: str | None = None
    """The offer as the journal has it."""


def _read(state: State, request: LearnRequest | LearnOfferedRequest) -> _Read:
    if isinstance(request, LearnRequest):
        return _Read(*check_context(state, request.context))
    offer, json, actions = check_offer(state, request.context, [request.action], "$.action")
    told = EventOffer(offer.ids, offer.actions, [request.propensity], [0])
    record = OfferRecord(msgspec.Raw(actions), told.propensities, told.ranked)
    return _Read(offer.context, json, told, _encode(record).decode())


def _finished(service: ServiceContext, event_id: str) -> Event:
    """Return a finished event if the project ignores its second reward; otherwise refuse the reward."""
    event = service.state.remembered.get(event_id)
    if event is None:
        message = f"No event '{event_id}' waits or is remembered: it was never decided here, or long ago."
        raise ServiceError("unknown_event", message, path="$.event_id")
    if event.state == EXPIRED:
        _refuse_late(service, event_id)
    count_duplicate(service, event_id, event.reward, service.journal.tail)
    return event


def _refuse_late(service: ServiceContext, event_id: str) -> NoReturn:
    service.late += 1
    seconds = service.project.reward.window_seconds
    most = service.project.limits.waiting_events
    message = (
        f"The reward of '{event_id}' came too late: it had to come within {seconds:g} seconds of the decision, and "
        f"before {most} newer events waited."
    )
    raise ServiceError("late_reward", message, path="$.event_id")
