"""Rewards: of events that wait, of events whose window is over, and of events decided elsewhere."""

from __future__ import annotations

from itertools import islice
from typing import Any, NoReturn, Protocol, TypeVar

from bandit_forest.service.domain.events import EXPIRED, LEARNED, Event
from bandit_forest.service.domain.model import Lesson
from bandit_forest.service.errors import (
    DuplicateRewardError,
    EventConflictError,
    LateRewardError,
    ServiceError,
    StorageError,
    UnknownEventError,
)
from bandit_forest.service.journal.commits import Commit
from bandit_forest.service.journal.entries import EXPIRE, LEARN, REWARD, Entry
from bandit_forest.service.operations.requests import (
    new_event_id,
    read_batch,
    read_context,
    read_event_id,
    read_item,
    read_known_action,
    read_number,
)
from bandit_forest.service.operations.results import Learned, Rewarded
from bandit_forest.service.operations.service_context import Desk

__all__ = ["LEARN_FIELDS", "REWARD_FIELDS", "expire", "learn", "learn_many", "reward", "reward_many"]

REWARD_FIELDS = frozenset({"event_id", "reward"})
LEARN_FIELDS = frozenset({"context", "action", "reward", "propensity", "event_id"})

_Result = TypeVar("_Result", Rewarded, Learned)
_Given = TypeVar("_Given", Rewarded, Learned, covariant=True)
_Work = list[tuple[Entry, Lesson | None]]
"""What a request or a batch adds up to: entries for the journal, and lessons for the forest."""


class _One(Protocol[_Given]):
    """Check and apply one request at `path`, and add to the work what is to be written and learned."""

    def __call__(self, desk: Desk, request: dict[str, Any], path: str, now: float, work: _Work) -> _Given: ...


def reward(desk: Desk, request: dict[str, Any]) -> Rewarded:
    """Learn the reward of a waiting event."""
    return _alone(desk, request, _reward)


def reward_many(desk: Desk, items: Any) -> list[Rewarded | ServiceError]:
    """Learn a batch of rewards."""
    return _together(desk, items, "$.rewards", REWARD_FIELDS, _reward)


def learn(desk: Desk, request: dict[str, Any]) -> Learned:
    """Learn an event that was decided elsewhere."""
    return _alone(desk, request, _learn)


def learn_many(desk: Desk, items: Any) -> list[Learned | ServiceError]:
    """Learn a batch of events that were decided elsewhere."""
    return _together(desk, items, "$.events", LEARN_FIELDS, _learn)


def expire(desk: Desk, *, limit: int) -> int:
    """End the wait of events whose window is over, oldest first; none while the disk refuses."""
    rule, now = desk.project.reward, desk.now()
    try:
        desk.check_storage()
    except StorageError:
        return 0
    due: list[str] = []
    for event in islice(desk.state.waiting.values(), limit):
        if now <= event.time + rule.window_seconds:
            break
        due.append(event.event_id)
    work: _Work = []
    for event_id in due:
        entry = Entry(_next_seq(desk, work), now, EXPIRE, event_id, reward=rule.default)
        work.append((entry, desk.state.add_expiry(event_id, rule.default, now)))
    _finish(desk, work)
    return len(due)


def _alone(desk: Desk, request: dict[str, Any], one: _One[_Result]) -> _Result:
    desk.check_storage()
    work: _Work = []
    result = one(desk, request, "$", desk.now(), work)
    return result._replace(commit=_finish(desk, work))


def _together(
    desk: Desk, items: Any, path: str, fields: frozenset[str], one: _One[_Result]
) -> list[_Result | ServiceError]:
    """Do a batch: each item is answered or refused on its own, and all share one commit."""
    desk.check_storage()
    now = desk.now()
    work: _Work = []
    results: list[_Result | ServiceError] = []
    try:
        for number, item in enumerate(read_batch(items, desk.project.limits.batch_events, path)):
            where = f"{path}[{number}]"
            try:
                results.append(one(desk, read_item(item, fields, where), where, now, work))
            except ServiceError as error:
                results.append(error)
    finally:  # what has been done is recorded, whatever happens to the rest
        commit = _finish(desk, work)
    return [_with_commit(result, commit) for result in results]


def _with_commit(result: _Result | ServiceError, commit: Commit) -> _Result | ServiceError:
    if not isinstance(result, ServiceError):
        return result._replace(commit=commit)
    if result.commit is not None:
        result.commit = commit  # it tells of what may be in the same batch
    return result


def _finish(desk: Desk, work: _Work) -> Commit:
    """Hand the entries over, and learn the lessons in the same order."""
    commit = desk.record([entry for entry, _ in work])
    desk.state.model.learn_many([lesson for _, lesson in work if lesson is not None])
    return commit


def _reward(desk: Desk, request: dict[str, Any], path: str, now: float, work: _Work) -> Rewarded:
    rule = desk.project.reward
    event_id = read_event_id(request.get("event_id"), path)
    value = read_number(request.get("reward"), rule.low, rule.high, f"{path}.reward")
    event = desk.state.waiting.get(event_id)
    if event is None:
        first = _finished(desk, event_id, path)
        return Rewarded(event_id, first.reward or 0.0, True, desk.journal.tail)
    if now > event.time + rule.window_seconds:
        _refuse_late(desk, event_id, path)
    entry = Entry(_next_seq(desk, work), now, REWARD, event_id, reward=value)
    work.append((entry, desk.state.add_reward(event_id, value, now)))
    return Rewarded(event_id, value, False, desk.journal.tail)


def _learn(desk: Desk, request: dict[str, Any], path: str, now: float, work: _Work) -> Learned:
    get, state, rule = request.get, desk.state, desk.project.reward
    event_id = get("event_id")
    if event_id is not None and state.event(read_event_id(event_id, path)) is not None:
        if event_id in state.waiting:
            message = f"The event '{event_id}' was decided here and waits: send its reward instead."
            raise EventConflictError(message, path=f"{path}.event_id")
        _finished(desk, event_id, path)
        return Learned(event_id, True, desk.journal.tail)
    action = read_known_action(state, get("action"), f"{path}.action")
    propensity = read_number(get("propensity"), 0.0, 1.0, f"{path}.propensity", open_low=True)
    value = read_number(get("reward"), rule.low, rule.high, f"{path}.reward")
    context, json = read_context(state, get("context"), path)
    name = event_id or new_event_id()
    event = Event(name, now, context, action, propensity, len(state.actions.enabled.places), 0, LEARNED, value, now)
    entry = Entry(_next_seq(desk, work), now, LEARN, name, state.actions.names[action], propensity, value, json)
    work.append((entry, state.add_foreign(event)))
    return Learned(name, False, desk.journal.tail)


def _finished(desk: Desk, event_id: str, path: str) -> Event:
    """Give an event that is over, if the project ignores a second reward of it; else refuse."""
    where = f"{path}.event_id"
    event = desk.state.remembered.get(event_id)
    if event is None:
        message = f"No event '{event_id}' waits or is remembered: it was never decided here, or long ago."
        raise UnknownEventError(message, path=where)
    if event.state == EXPIRED:
        _refuse_late(desk, event_id, path)
    desk.duplicates += 1
    if desk.project.reward.second == "refuse":
        message = f"The event '{event_id}' has its reward already, {event.reward}; it is learned once."
        raise DuplicateRewardError(message, path=where, commit=desk.journal.tail)
    return event


def _refuse_late(desk: Desk, event_id: str, path: str) -> NoReturn:
    desk.late += 1
    seconds = desk.project.reward.window_seconds
    message = f"The reward of '{event_id}' came too late: it had to come within {seconds:g} seconds of the decision."
    raise LateRewardError(message, path=f"{path}.event_id")


def _next_seq(desk: Desk, work: _Work) -> int:
    return desk.state.seq + len(work) + 1
