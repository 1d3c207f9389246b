"""Answers of the service as Python objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from bandit_forest.errors import BanditForestError

__all__ = [
    "ActionChange",
    "BatchRefusedError",
    "DecidedEvent",
    "Json",
    "LearnedEvent",
    "RankedEvent",
    "RefusedError",
    "RewardedEvent",
    "changed",
    "decided",
    "learned",
    "ranked",
    "rewarded",
]

Json = dict[str, Any]


class DecidedEvent(NamedTuple):
    """A decision of the service: take the action, and send the reward with the event_id."""

    event_id: str
    action: str
    propensity: float
    model_version: int = 0
    """Number of lessons that the forest had learned."""
    forest_action: str | None = None
    """In shadow mode, what the forest would have done."""
    forest_propensity: float | None = None
    forest_value: float | None = None
    """In shadow mode, the estimated reward of `forest_action`."""
    mean_rewards: dict[str, float | None] | None = None
    """The estimates, when they were asked for."""
    durable: bool = True
    """False when the disk refuses and the project says to continue: in memory, not on disk yet."""


class RankedEvent(NamedTuple):
    """A ranking of the service: show the actions in this order, and send the reward of the first with the event_id."""

    event_id: str
    action: str | int
    """The id of the action at the first rank, which is the decision."""
    propensity: float
    """The probability with which it was drawn."""
    actions: list[str | int]
    """The ids of the ranked actions, the first rank first."""
    propensities: dict[str | int, float]
    """The probability with which each ranked action would have had the first rank."""
    model_version: int = 0
    """Number of lessons that the forest had learned."""
    mean_rewards: dict[str | int, float] | None = None
    """The estimates of all offered actions, when they were asked for; None while the features are learned."""
    durable: bool = True
    """False when the disk refuses and the project says to continue: in memory, not on disk yet."""


class RewardedEvent(NamedTuple):
    """A reward that the service has taken."""

    event_id: str
    reward: float
    """The reward that counts: of an ignored one, the first."""
    ignored: bool = False
    """Whether it came second and changed nothing, in a project that ignores such rewards."""
    durable: bool = True
    """False when the disk refuses and the project says to continue: in memory, not on disk yet."""


class LearnedEvent(NamedTuple):
    """An event from elsewhere that the service has learned."""

    event_id: str
    """The event_id that was sent, or the one that the service made."""
    ignored: bool = False
    """Whether it had been learned before and changed nothing, in a project that ignores such events."""
    durable: bool = True
    """False when the disk refuses and the project says to continue: in memory, not on disk yet."""


class ActionChange(NamedTuple):
    """An action and its new state."""

    name: str
    state: str
    """'enabled', 'disabled' or 'removed'."""
    durable: bool = True
    """False when the disk refuses and the project says to continue: in memory, not on disk yet."""


class RefusedError(BanditForestError):
    """The service refused a request, and nothing has changed there.

    Parameters
    ----------
    status
        Status of HTTP.
    code
        A stable name of the reason, such as "late_reward".
    message
        What is wrong.
    path
        The place of the error in the request, such as "$.context.age", or None.
    """

    def __init__(self, status: int, code: str, message: str, path: str | None = None) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.path = status, code, message, path


class BatchRefusedError(RefusedError):
    """Some items of a batch were refused; `results` has all results.

    Other attributes are those of the first refusal; the message begins with the number of refused items.

    Parameters
    ----------
    results
        The result or the refusal of each item, as if it had been sent alone.
    """

    def __init__(self, results: list[Any]) -> None:
        refused = [result for result in results if isinstance(result, RefusedError)]
        first = refused[0]
        message = f"{len(refused)} of {len(results)} refused: {first.message}"
        super().__init__(first.status, first.code, message, first.path)
        self.results = results


def decided(answer: Json, *, durable: bool = True) -> DecidedEvent:
    """Return the decision of an answer."""
    known = {name: answer[name] for name in DecidedEvent._fields if name in answer}
    return DecidedEvent(**known | {"durable": durable and answer.get("durable", True)})


def rewarded(answer: Json, *, durable: bool = True) -> RewardedEvent:
    """Return the reward of an answer."""
    return RewardedEvent(
        answer["event_id"], answer["reward"], answer["ignored"], durable and answer.get("durable", True)
    )


def learned(answer: Json, *, durable: bool = True) -> LearnedEvent:
    """Return the learned event of an answer."""
    return LearnedEvent(answer["event_id"], answer["ignored"], durable and answer.get("durable", True))


def changed(answer: Json) -> ActionChange:
    """Return the changed action of an answer."""
    return ActionChange(answer["name"], answer["state"], answer.get("durable", True))


def ranked(answer: Json, ids: Sequence[Any] = (), *, durable: bool = True) -> RankedEvent:
    """Return the ranking of an answer; estimates get the ids of the actions that were offered."""
    ids = [int(own) if isinstance(own, float) else own for own in ids]  # JSON does not tell 2.0 from 2
    means = answer.get("mean_rewards")
    return RankedEvent(
        event_id=answer["event_id"],
        action=answer["action"],
        propensity=answer["propensity"],
        actions=[rank["id"] for rank in answer["ranking"]],
        propensities={rank["id"]: rank["propensity"] for rank in answer["ranking"]},
        model_version=answer["model_version"],
        mean_rewards=None if means is None else {own: means[str(own)] for own in ids},
        durable=durable and answer.get("durable", True),
    )
