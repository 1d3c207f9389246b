"""What a replica does when it is asked: the requests and answers of a service that is alone.

A decision is a function of version, context, available actions and event id, and is stored once. What is stored is what
is answered, so that a request which is repeated at another replica gets the first answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import groupby
from typing import TypeVar

import msgspec

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
)
from bandit_forest.service.operations.decide import estimates_of
from bandit_forest.service.operations.requests import DecideItem, DecideRequest, LearnRequest, RewardRequest
from bandit_forest.service.operations.results import (
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
from bandit_forest.service.replica.answers import check_same, fill_decision, fill_learned, fill_reward
from bandit_forest.service.replica.context import ReplicaContext
from bandit_forest.service.replica.rows import DecisionRow, OutcomeRow
from bandit_forest.service.replica.writer import Answers, Asked

__all__ = ["decide", "decide_many", "learn", "learn_many", "reward", "reward_many"]

_Checked = TypeVar("_Checked")


def decide(service: ReplicaContext, request: DecideRequest) -> Result[Decision]:
    """Decide one event; a known one gets the decision that it got before."""
    service.check_storage()
    new = _check(service, request)
    drawn = service.bandit.model.decide_by_key(new.context, new.available, new.event_id)
    row = _row(service, new, drawn)
    answer = _answer(row)
    if request.mean_rewards:
        answer.mean_rewards = estimates_of(service, new.context)

    def then(answers: Answers) -> None:
        known = answers.known.get(row.event_id)
        if known is not None:
            check_same(known, row)
            fill_decision(answer, known)

    return Result(answer, service.writer.ask(Asked(decisions=[row], then=then)))


def decide_many(service: ReplicaContext, items: Iterable[DecideItem | InvalidRequestError]) -> Result[DecisionBatch]:
    """Decide a batch: what `decide` would do one after the other. Each item is answered or refused on its own."""
    service.check_storage()
    checked = _rows(service, each(items, "events", lambda item: _check(service, item)))
    rows = [row for row in checked if isinstance(row, DecisionRow)]
    answers = [_answer(row) if isinstance(row, DecisionRow) else row for row in checked]

    def then(told: Answers) -> None:
        for number, row in enumerate(checked):
            if isinstance(row, DecisionRow) and (known := told.known.get(row.event_id)) is not None:
                answers[number] = _told(number, "events", partial(_known, known, row))

    return Result(DecisionBatch(answers), service.writer.ask(Asked(decisions=rows, then=then)))


def reward(service: ReplicaContext, request: RewardRequest) -> Result[Rewarded]:
    """Store the reward of a waiting event, to be learned by all replicas."""
    service.check_storage()
    checked = _check_reward(service, request)
    answer = Rewarded(checked.event_id, checked.reward or 0.0, ignored=False)
    asked = Asked(rewards=[checked], then=lambda told: fill_reward(service, answer, told))
    return Result(answer, service.writer.ask(asked))


def reward_many(service: ReplicaContext, items: Iterable[RewardRequest | InvalidRequestError]) -> Result[RewardedBatch]:
    """Store a batch of rewards: each item is answered or refused on its own, and all share one commit."""
    service.check_storage()
    checked = each(items, "rewards", lambda item: _check_reward(service, item))
    answers = [
        Rewarded(one.event_id, one.reward or 0.0, ignored=False) if isinstance(one, OutcomeRow) else one
        for one in checked
    ]

    def then(told: Answers) -> None:
        for number, answer in enumerate(answers):
            if isinstance(answer, Rewarded):
                answers[number] = _told(number, "rewards", partial(fill_reward, service, answer, told))

    rewards = [one for one in checked if isinstance(one, OutcomeRow)]
    return Result(RewardedBatch(answers), service.writer.ask(Asked(rewards=rewards, then=then)))


def learn(service: ReplicaContext, request: LearnRequest) -> Result[Learned]:
    """Learn an event that was decided elsewhere; one with a known event_id is not learned again."""
    service.check_storage()
    row, outcome = _foreign(service, request)
    answer = Learned(row.event_id, ignored=False)
    asked = Asked(decisions=[row], learned=[outcome], then=lambda told: fill_learned(service, answer, row, told))
    return Result(answer, service.writer.ask(asked))


def learn_many(service: ReplicaContext, items: Iterable[LearnRequest | InvalidRequestError]) -> Result[LearnedBatch]:
    """Learn a batch of events that were decided elsewhere."""
    service.check_storage()
    checked = each(items, "events", lambda item: _foreign(service, item))
    answers = [Learned(one[0].event_id, ignored=False) if isinstance(one, tuple) else one for one in checked]

    def then(told: Answers) -> None:
        for number, (answer, one) in enumerate(zip(answers, checked, strict=True)):
            if isinstance(answer, Learned) and isinstance(one, tuple):
                fill = partial(fill_learned, service, answer, one[0], told)
                answers[number] = _told(number, "events", fill)

    pairs = [one for one in checked if isinstance(one, tuple)]
    asked = Asked(decisions=[row for row, _ in pairs], learned=[outcome for _, outcome in pairs], then=then)
    return Result(LearnedBatch(answers), service.writer.ask(asked))


def _told(number: int, field: str, make: Callable[[], _Checked]) -> _Checked | Refusal:
    """Return what the database makes of an item of a batch, or the refusal."""
    try:
        return make()
    except ServiceError as error:
        return refusal(error.within(f"$.{field}[{number}]"))


def _check(service: ReplicaContext, request: DecideItem) -> NewEvent:
    if request.event_id is not None:
        check_event_id(request.event_id)
    limits = service.project.limits
    if limits.waiting_full == "refuse" and service.n_waiting >= limits.waiting_events:
        raise too_many_waiting(limits.waiting_events)
    return check_decide(service.state, request)


def _rows(service: ReplicaContext, checked: list[NewEvent | Refusal]) -> list[DecisionRow | Refusal]:
    """Draw the events of a batch, those together that have the same actions to choose from."""
    model = service.bandit.model
    new = [one for one in checked if isinstance(one, NewEvent)]
    drawn: list[tuple[int, float]] = []
    for _, alike in groupby(new, key=lambda one: one.available_json):
        group = list(alike)
        ids = [one.event_id for one in group]
        drawn += model.decide_many_by_key([one.context for one in group], group[0].available, ids)
    draws = iter(drawn)
    return [_row(service, one, next(draws)) if isinstance(one, NewEvent) else one for one in checked]


def _row(service: ReplicaContext, new: NewEvent, drawn: tuple[int, float]) -> DecisionRow:
    """Return what is stored of a decision; in shadow mode the application's choice is the decision."""
    model, names = service.bandit.model, service.bandit.registry.names
    action, propensity = drawn if new.own is None else new.own
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
    if new.own is None:
        return row
    name, means = names[drawn[0]], estimates_of(service, new.context)
    value = None if means is None else means.get(name)
    return row._replace(forest_action=name, forest_propensity=drawn[1], forest_value=value)


def _answer(row: DecisionRow) -> Decision:
    answer = Decision(row.event_id, row.action, row.propensity, row.model_version)
    fill_decision(answer, row)
    return answer


def _known(known: DecisionRow, row: DecisionRow) -> Decision:
    check_same(known, row)
    return _answer(known)


def _check_reward(service: ReplicaContext, request: RewardRequest) -> OutcomeRow:
    return OutcomeRow(check_event_id(request.event_id), REWARD, check_reward(service.state, request.reward))


def _foreign(service: ReplicaContext, request: LearnRequest) -> tuple[DecisionRow, OutcomeRow]:
    """Check an event that was decided elsewhere."""
    state = service.state
    event_id = new_event_id() if request.event_id is None else check_event_id(request.event_id)
    check_action(state, request.action)
    value = check_reward(state, request.reward)
    _, json = check_context(state, request.context)
    n_available = len(state.bandit.registry.enabled.indices)
    action, propensity = request.action, request.propensity
    mark = fingerprint(msgspec.Raw(json), action, propensity, request.reward)
    row = DecisionRow(event_id, LEARN, state.seq, 0, action, propensity, n_available, mark, json.decode())
    return row, OutcomeRow(event_id, LEARN, value)
