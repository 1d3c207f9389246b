"""The operations of a replica: the same requests and answers as in a single service.

A decision is a function of version, context, available actions and event id, and is stored once. The stored decision is
the answer, so a request that is repeated at another replica gets the first answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import groupby
from typing import Any, TypeVar

import msgspec

from bandit_forest.bandit.model import EncodedContext
from bandit_forest.service.domain.state import fingerprint
from bandit_forest.service.errors import InvalidRequestError, ServiceError, too_many_waiting
from bandit_forest.service.journal.entries import DECIDE, LEARN, REWARD
from bandit_forest.service.operations.batches import each
from bandit_forest.service.operations.checks import (
    NewEvent,
    check_action,
    check_context,
    check_decide,
    check_event_id,
    check_reward,
    new_event_id,
    request_fingerprint,
)
from bandit_forest.service.operations.decide import estimates_of
from bandit_forest.service.operations.requests import DecideRequest, LearnRequest, RewardRequest
from bandit_forest.service.operations.results import (
    Answer,
    Decision,
    DecisionBatch,
    Learned,
    LearnedBatch,
    Refusal,
    Result,
    Rewarded,
    RewardedBatch,
    refusal,
)
from bandit_forest.service.replica.answers import fill_decision, fill_learned, fill_reward, make_answer
from bandit_forest.service.replica.context import ReplicaContext
from bandit_forest.service.replica.rows import DecisionRow, OutcomeRow
from bandit_forest.service.replica.writer import Answers, Asked, Item

__all__ = ["decide", "decide_many", "learn", "learn_many", "reward", "reward_many"]

_Answer = TypeVar("_Answer", bound=Answer)


def decide(service: ReplicaContext, request: DecideRequest) -> Result[Decision]:
    """Decide one event; a known event gets the same decision as before."""
    service.check_storage()
    new = _check(service, request)
    if isinstance(new, Item):
        return _alone(service, new)
    drawn = service.bandit.model.decide_by_key(new.context, new.available, new.event_id)
    return _alone(service, _decided(service, new, drawn))


def decide_many(service: ReplicaContext, items: Iterable[DecideRequest | InvalidRequestError]) -> Result[DecisionBatch]:
    """Decide a batch: the same as `decide` for each event. Each item is answered or refused on its own."""
    service.check_storage()
    checked = each(items, "events", lambda item: _check(service, item))
    return _together(service, _draw(service, checked), "events", DecisionBatch)


def reward(service: ReplicaContext, request: RewardRequest) -> Result[Rewarded]:
    """Store the reward of a waiting event, to be learned by all replicas."""
    service.check_storage()
    return _alone(service, _rewarded(service, request))


def reward_many(service: ReplicaContext, items: Iterable[RewardRequest | InvalidRequestError]) -> Result[RewardedBatch]:
    """Store a batch of rewards: each item is answered or refused on its own, and all share one commit."""
    service.check_storage()
    checked = each(items, "rewards", lambda item: _rewarded(service, item))
    return _together(service, checked, "rewards", RewardedBatch)


def learn(service: ReplicaContext, request: LearnRequest) -> Result[Learned]:
    """Learn an event that was decided elsewhere; a known event_id is not learned again."""
    service.check_storage()
    return _alone(service, _learned(service, request))


def learn_many(service: ReplicaContext, items: Iterable[LearnRequest | InvalidRequestError]) -> Result[LearnedBatch]:
    """Learn a batch of events that were decided elsewhere."""
    service.check_storage()
    checked = each(items, "events", lambda item: _learned(service, item))
    return _together(service, checked, "events", LearnedBatch)


def _alone(service: ReplicaContext, item: Item[_Answer]) -> Result[_Answer]:
    return Result(item.answer, service.writer.ask(Asked(items=[item], then=item.settle)))


def _together(
    service: ReplicaContext, checked: Sequence[Item[Any] | Refusal], field: str, kind: Callable[[list[Any]], _Answer]
) -> Result[_Answer]:
    """Have a batch stored, and return its answer, whose items are settled before its commit ends."""
    answers: list[Answer | Refusal] = [one if isinstance(one, Refusal) else one.answer for one in checked]

    def then(told: Answers) -> None:
        for number, item in enumerate(checked):
            if isinstance(item, Item):
                try:
                    item.settle(told)
                except ServiceError as error:
                    answers[number] = refusal(error.within(f"$.{field}[{number}]"))

    items = [one for one in checked if isinstance(one, Item)]
    return Result(kind(answers), service.writer.ask(Asked(items=items, then=then)))


def _check(service: ReplicaContext, request: DecideRequest) -> NewEvent | Item[Decision]:
    if request.event_id is not None:
        check_event_id(request.event_id)
    limits = service.project.limits
    try:
        if limits.waiting_full == "refuse" and service.n_waiting >= limits.waiting_events:
            raise too_many_waiting(limits.waiting_events)
        return check_decide(service.state, request)
    except ServiceError as refused:
        if request.event_id is None:
            raise
        context, json = check_context(service.state, request.context)
        crc = request_fingerprint(request, json)
        row = DecisionRow(request.event_id, DECIDE, 0, 0, "", 1.0, 0, crc, json.decode())
        answer = _answer(service, row, context, request)
        return _repeated(answer, partial(fill_decision, answer, row), request.event_id, refused)


def _repeated(
    answer: _Answer, fill: Callable[[Answers], object], event_id: str, refused: ServiceError
) -> Item[_Answer]:
    """Return the item of a request that is refused, unless its event is known from before."""

    def settle(told: Answers) -> None:
        if event_id not in told.known:
            raise refused
        fill(told)

    return Item(answer, settle, repeated=event_id)


def _draw(
    service: ReplicaContext, checked: list[NewEvent | Item[Decision] | Refusal]
) -> list[Item[Decision] | Refusal]:
    """Draw the events of a batch; consecutive events with the same available actions are drawn together."""
    model = service.bandit.model
    new = [one for one in checked if isinstance(one, NewEvent)]
    drawn: list[tuple[int, float]] = []
    for _, alike in groupby(new, key=lambda one: one.available_json):
        group = list(alike)
        ids = [one.event_id for one in group]
        drawn += model.decide_many_by_key([one.context for one in group], group[0].available, ids)
    draws = iter(drawn)
    return [_decided(service, one, next(draws)) if isinstance(one, NewEvent) else one for one in checked]


def _decided(service: ReplicaContext, new: NewEvent, drawn: tuple[int, float]) -> Item[Decision]:
    row = _row(service, new, drawn)
    answer = _answer(service, row, new.context, new.request)
    return Item(answer, partial(fill_decision, answer, row), decision=row)


def _answer(service: ReplicaContext, row: DecisionRow, context: EncodedContext, request: DecideRequest) -> Decision:
    answer = make_answer(row)
    if request.mean_rewards:
        answer.mean_rewards = estimates_of(service, context)
    return answer


def _row(service: ReplicaContext, new: NewEvent, drawn: tuple[int, float]) -> DecisionRow:
    """Return the row of a decision to store; in shadow mode the application's choice is the decision."""
    model, names = service.bandit.model, service.bandit.registry.names
    action, propensity = drawn if new.application_choice is None else new.application_choice
    row = DecisionRow(
        new.event_id,
        DECIDE,
        service.state.seq,
        model.version,
        names[action],
        propensity,
        len(new.available.indices),
        new.fingerprint,
        new.json,
        new.available_json,
    )
    if new.application_choice is None:
        return row
    name, means = names[drawn[0]], estimates_of(service, new.context)
    value = None if means is None else means.get(name)
    return row._replace(forest_action=name, forest_propensity=drawn[1], forest_value=value)


def _rewarded(service: ReplicaContext, request: RewardRequest) -> Item[Rewarded]:
    row = OutcomeRow(check_event_id(request.event_id), REWARD, check_reward(service.state, request.reward))
    answer = Rewarded(row.event_id, row.reward or 0.0, ignored=False)
    return Item(answer, partial(fill_reward, service, answer), outcome=row)


def _learned(service: ReplicaContext, request: LearnRequest) -> Item[Learned]:
    state = service.state
    event_id = new_event_id() if request.event_id is None else check_event_id(request.event_id)
    _, json = check_context(state, request.context)
    n_available = len(state.bandit.registry.enabled.indices)
    action, propensity = request.action, request.propensity
    crc = fingerprint(msgspec.Raw(json), action, propensity, request.reward)
    row = DecisionRow(event_id, LEARN, state.seq, 0, action, propensity, n_available, crc, json.decode())
    answer = Learned(event_id, ignored=False)
    fill = partial(fill_learned, service, answer, row)
    try:
        check_action(state, request.action)
        return Item(answer, fill, row, OutcomeRow(event_id, LEARN, check_reward(state, request.reward)))
    except ServiceError as refused:
        if request.event_id is None:
            raise
        return _repeated(answer, fill, event_id, refused)
