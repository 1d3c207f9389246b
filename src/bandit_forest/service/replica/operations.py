"""What a replica does when it is asked: the requests and answers of a service that is alone.

A decision is a function of version, context, available actions and event id, and is stored once. What is stored is what
is answered, so that a request which is repeated at another replica gets the first answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from bandit_forest.service.errors import InvalidRequestError, ServiceError
from bandit_forest.service.journal.entries import DECIDE, LEARN
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
from bandit_forest.service.replica.answers import fill_decision, fill_learned, fill_reward, refuse_foreign
from bandit_forest.service.replica.context import ReplicaContext
from bandit_forest.service.replica.rows import DecisionRow, OutcomeRow
from bandit_forest.service.replica.writer import Answers, Asked

__all__ = ["decide", "decide_many", "learn", "learn_many", "reward", "reward_many"]

_Item = TypeVar("_Item")
_Checked = TypeVar("_Checked")


def decide(service: ReplicaContext, request: DecideRequest) -> Result[Decision]:
    """Decide one event; a known one gets the decision that it got before."""
    service.check_storage()
    new = _check(service, request)
    row = _drawn(service, new)
    answer = _answer(row)
    if request.mean_rewards:
        answer.mean_rewards = estimates_of(service, new.context)

    def then(answers: Answers) -> None:
        known = answers.known.get(row.event_id)
        if known is not None:
            refuse_foreign(known)
            fill_decision(answer, known)

    return Result(answer, service.writer.ask(Asked(decisions=[row], then=then)))


def decide_many(service: ReplicaContext, items: Iterable[DecideItem | InvalidRequestError]) -> Result[DecisionBatch]:
    """Decide a batch: what `decide` would do one after the other. Each item is answered or refused on its own."""
    service.check_storage()
    checked = _each(items, "events", lambda item: _drawn(service, _check(service, item)))
    rows = [row for row in checked if isinstance(row, DecisionRow)]
    answers: list[Decision | Refusal] = [
        _answer(row) if isinstance(row, DecisionRow) else refusal(row) for row in checked
    ]

    def then(told: Answers) -> None:
        for number, row in enumerate(checked):
            known = told.known.get(row.event_id) if isinstance(row, DecisionRow) else None
            if known is not None:
                answers[number] = _told(number, "events", lambda known=known: _known(known))  # type: ignore[misc]

    return Result(DecisionBatch(answers), service.writer.ask(Asked(decisions=rows, then=then)))


def reward(service: ReplicaContext, request: RewardRequest) -> Result[Rewarded]:
    """Store the reward of a waiting event, to be learned by all replicas."""
    service.check_storage()
    event_id, value = _check_reward(service, request)
    answer = Rewarded(event_id, value, ignored=False)
    asked = Asked(rewards=[(event_id, value)], then=lambda told: fill_reward(service, answer, told))
    return Result(answer, service.writer.ask(asked))


def reward_many(service: ReplicaContext, items: Iterable[RewardRequest | InvalidRequestError]) -> Result[RewardedBatch]:
    """Store a batch of rewards: each item is answered or refused on its own, and all share one commit."""
    service.check_storage()
    checked = _each(items, "rewards", lambda item: _check_reward(service, item))
    answers: list[Rewarded | Refusal] = [
        Rewarded(*one, ignored=False) if isinstance(one, tuple) else refusal(one) for one in checked
    ]

    def then(told: Answers) -> None:
        for number, answer in enumerate(answers):
            if isinstance(answer, Rewarded):
                answers[number] = _told(number, "rewards", lambda one=answer: fill_reward(service, one, told))  # type: ignore[misc]

    rewards = [one for one in checked if isinstance(one, tuple)]
    return Result(RewardedBatch(answers), service.writer.ask(Asked(rewards=rewards, then=then)))


def learn(service: ReplicaContext, request: LearnRequest) -> Result[Learned]:
    """Learn an event that was decided elsewhere; one with a known event_id is not learned again."""
    service.check_storage()
    row, outcome = _foreign(service, request)
    answer = Learned(row.event_id, ignored=False)
    asked = Asked(decisions=[row], learned=[outcome], then=lambda told: fill_learned(service, answer, told))
    return Result(answer, service.writer.ask(asked))


def learn_many(service: ReplicaContext, items: Iterable[LearnRequest | InvalidRequestError]) -> Result[LearnedBatch]:
    """Learn a batch of events that were decided elsewhere."""
    service.check_storage()
    checked = _each(items, "events", lambda item: _foreign(service, item))
    answers: list[Learned | Refusal] = [
        Learned(one[0].event_id, ignored=False) if isinstance(one, tuple) else refusal(one) for one in checked
    ]

    def then(told: Answers) -> None:
        for number, answer in enumerate(answers):
            if isinstance(answer, Learned):
                answers[number] = _told(number, "events", lambda one=answer: fill_learned(service, one, told))  # type: ignore[misc]

    pairs = [one for one in checked if isinstance(one, tuple)]
    asked = Asked(decisions=[row for row, _ in pairs], learned=[outcome for _, outcome in pairs], then=then)
    return Result(LearnedBatch(answers), service.writer.ask(asked))


def _each(
    items: Iterable[_Item | InvalidRequestError], field: str, check: Callable[[_Item], _Checked]
) -> list[_Checked | ServiceError]:
    """Check the items of a batch, each on its own."""
    checked: list[_Checked | ServiceError] = []
    for number, item in enumerate(items):
        try:
            if isinstance(item, InvalidRequestError):
                raise item
            checked.append(check(item))
        except ServiceError as error:
            checked.append(error if error is item else error.within(f"$.{field}[{number}]"))
    return checked


def _told(number: int, field: str, make: Callable[[], _Checked]) -> _Checked | Refusal:
    """Return what the database makes of an item of a batch, or the refusal."""
    try:
        return make()
    except ServiceError as error:
        return refusal(error.within(f"$.{field}[{number}]"))


def _check(service: ReplicaContext, request: DecideItem) -> NewEvent:
    if request.event_id is not None:
        check_event_id(request.event_id)
    most = service.project.limits.waiting_events
    if service.n_waiting >= most:
        raise ServiceError(
            "too_many_waiting",
            f"{most} events wait for their reward, as many as [limits] waiting_events allows: send rewards, or wait "
            "until the oldest expire.",
        )
    return check_decide(service.state, request)


def _drawn(service: ReplicaContext, new: NewEvent) -> DecisionRow:
    """Draw an action by the id of its event; in shadow mode the application's choice is the decision."""
    model, names = service.bandit.model, service.bandit.registry.names
    drawn = model.decide_by_key(new.context, new.available, new.event_id)
    action, propensity = drawn if new.own is None else new.own
    row = DecisionRow(
        new.event_id,
        DECIDE,
        service.state.seq,
        model.version,
        names[action],
        propensity,
        len(new.available.indices),
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


def _known(row: DecisionRow) -> Decision:
    refuse_foreign(row)
    return _answer(row)


def _check_reward(service: ReplicaContext, request: RewardRequest) -> tuple[str, float]:
    return check_event_id(request.event_id), check_reward(service.state, request.reward)


def _foreign(service: ReplicaContext, request: LearnRequest) -> tuple[DecisionRow, OutcomeRow]:
    """Check an event that was decided elsewhere."""
    state = service.state
    event_id = new_event_id() if request.event_id is None else check_event_id(request.event_id)
    check_action(state, request.action)
    value = check_reward(state, request.reward)
    _, json = check_context(state, request.context)
    n_available = len(state.bandit.registry.enabled.indices)
    row = DecisionRow(event_id, LEARN, state.seq, 0, request.action, request.propensity, n_available, json)
    return row, OutcomeRow(event_id, LEARN, value)
