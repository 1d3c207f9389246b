"""Types of results of operations; the schema of the answers comes from the same types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from msgspec import UNSET, Struct, UnsetType

from bandit_forest.service.errors import ServiceError
from bandit_forest.service.journal.commits import Commit
from bandit_forest.service.operations.requests import EventId, Propensity

__all__ = [
    "ActionChange",
    "Answer",
    "Decision",
    "DecisionBatch",
    "Evaluation",
    "Learned",
    "LearnedBatch",
    "PolicyValue",
    "Problem",
    "Rank",
    "Ranked",
    "RankedBatch",
    "Refusal",
    "Result",
    "Rewarded",
    "RewardedBatch",
    "refusal",
]


class Answer(Struct, gc=False, kw_only=True):  # no cycle can go through it, and collecting garbage takes long
    """An answer that tells of something durable."""

    durable: Literal[False] | UnsetType = UNSET
    """Only there when the disk refuses and the project says to continue: in memory, not on disk yet."""


class Decision(Answer):
    """The decision of an event."""

    event_id: EventId
    action: str
    propensity: Propensity
    model_version: int
    """Number of lessons that the forest had learned when it decided."""
    forest_action: str | UnsetType = UNSET
    """In shadow mode, what the forest would have done."""
    forest_propensity: Propensity | UnsetType | None = UNSET
    forest_value: float | UnsetType | None = UNSET
    """In shadow mode, the estimated reward of `forest_action`, in the project's units; None while warming up."""
    mean_rewards: dict[str, float | None] | UnsetType | None = UNSET
    """The estimates, when they are asked for; None while warming up."""


class Rank(Struct, gc=False):
    """An offered action at its rank."""

    id: str | int
    propensity: Propensity
    """The probability with which it would have had the first rank."""


class Ranked(Answer):
    """The ranking of the actions that an event offers."""

    event_id: EventId
    action: str | int
    """The id of the action at the first rank, which is the decision."""
    propensity: Propensity
    """The probability with which it was drawn."""
    ranking: list[Rank]
    model_version: int
    """Number of lessons that the forest had learned when it decided."""
    mean_rewards: dict[str, float] | UnsetType | None = UNSET
    """The estimates of all offered actions by their id, when they are asked for; None while warming up."""


class Rewarded(Answer):
    """A reward that was learned, or, when `ignored`, one that came second and changed nothing."""

    event_id: EventId
    reward: float
    """The reward that counts: of an ignored one, the first."""
    ignored: bool


class Learned(Answer):
    """An event from elsewhere that was learned, or, when `ignored`, one that had been learned before."""

    event_id: EventId
    ignored: bool


class ActionChange(Answer):
    """An action and its new state: 'enabled', 'disabled' or 'removed'."""

    name: str
    state: str


class Problem(Struct, omit_defaults=True):
    """Why something is refused."""

    code: str
    message: str
    path: str | UnsetType = UNSET


class Refusal(Struct):
    """The one shape of every refusal."""

    error: Problem


class DecisionBatch(Answer):
    """Each a `Decision` or a `Refusal`, in the order of the events."""

    decisions: Sequence[Any]


class RankedBatch(Answer):
    """Each a `Ranked` or a `Refusal`, in the order of the events."""

    rankings: Sequence[Any]


class RewardedBatch(Answer):
    """Each a `Rewarded` or a `Refusal`, in their order."""

    rewards: Sequence[Any]


class LearnedBatch(Answer):
    """Each a `Learned` or a `Refusal`, in their order."""

    events: Sequence[Any]


Answered = TypeVar("Answered", bound=Answer)


class Result(NamedTuple, Generic[Answered]):
    """An answer, and the commit that must be durable before the answer is sent."""

    answer: Answered
    commit: Commit


def refusal(error: ServiceError) -> Refusal:
    """Return the answer of a refusal.

    Examples
    --------
    >>> refusal(ServiceError("invalid_request", "There is no such field.", path="$.context.colour")).error.path
    '$.context.colour'
    """
    return Refusal(Problem(error.code, error.message, UNSET if error.path is None else error.path))


class PolicyValue(Struct, kw_only=True):
    """What another policy would have earned on the events of this service, in the project's units."""

    policy: str
    """'uniform', or in shadow mode 'forest'."""
    events: int
    """Number of events with a reward."""
    effective_sample_size: float
    """Effective sample size: number of events decided by the policy itself that would give the same standard error."""
    value: float | None
    low: float | None
    high: float | None
    """Limits of the value: a 95 % interval for one look."""
    gain: float | None
    """Its value minus the average reward of what was decided."""
    gain_low: float | None
    gain_high: float | None
    """Limits of the gain: a 95 % interval for one look."""
    always_low: float
    always_high: float
    """Limits of the gain that may be looked at every day: they hold at all times at once, with 95 %."""
    verdict: str


class Evaluation(Struct, kw_only=True):
    """What other policies would have earned."""

    average_reward: float | None
    """Of what was decided, in the project's units."""
    policies: tuple[PolicyValue, ...]
