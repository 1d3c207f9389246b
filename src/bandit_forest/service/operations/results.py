"""What operations answer, typed: the schema of the answers comes from the same types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from msgspec import UNSET, Struct, UnsetType

from bandit_forest.service.errors import ServiceError
from bandit_forest.service.journal.commits import Commit
from bandit_forest.service.operations.requests import EventId, Propensity

__all__ = [
    "ActionChange",
    "ActionStatus",
    "Answer",
    "Decision",
    "DecisionBatch",
    "Evaluation",
    "Learned",
    "LearnedBatch",
    "PolicyValue",
    "Problem",
    "Refusal",
    "Result",
    "Rewarded",
    "RewardedBatch",
    "Status",
    "TimeBucketStatus",
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


class RewardedBatch(Answer):
    """Each a `Rewarded` or a `Refusal`, in their order."""

    rewards: Sequence[Any]


class LearnedBatch(Answer):
    """Each a `Learned` or a `Refusal`, in their order."""

    events: Sequence[Any]


Answered = TypeVar("Answered", bound=Answer)


class Result(NamedTuple, Generic[Answered]):
    """An answer, and what must be durable before anybody is told."""

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


class ActionStatus(Struct, kw_only=True):
    """How one action is doing."""

    name: str
    state: str
    """'enabled', 'disabled' or 'removed'."""
    decisions: int
    rewards: int
    average_reward: float | None
    """In the project's units, None before the first reward."""


class TimeBucketStatus(Struct, kw_only=True):
    """What happened in one stretch of time: decisions are counted when decided, rewards when they came."""

    time: float
    """Where the stretch begins, in seconds since 1970."""
    seconds: float
    decisions: dict[str, int]
    """Number of decisions by action."""
    rewards: int
    average_reward: float | None
    """In the project's units."""
    uniform_value: float | None
    """What uniform play would have earned, estimated from the same rewards (self-normalised importance weights)."""
    uniform_weight: float
    """The sum of these weights: how much the estimate counts beside those of other stretches."""


class PolicyValue(Struct, kw_only=True):
    """What another policy would have earned on the events of this service, in the project's units."""

    policy: str
    """'uniform', or in shadow mode 'forest'."""
    events: int
    """Number of events with a reward."""
    effective_sample_size: float
    """Number of events of the policy's own that these events are worth."""
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


class Status(Struct, kw_only=True):
    """Everything that metrics and the page show. Counts go on over restarts, unless 'since start' is said."""

    name: str
    mode: str
    """'decide' or 'shadow'."""
    warm_up_left: int
    """Lessons still to come before features are learned and the forest is made; 0 when it is there."""
    decisions: int
    rewards: int
    """Rewards of decisions, default ones included."""
    learned: int
    """Events from elsewhere."""
    expired: int
    waiting: int
    remembered: int
    """Finished events that still answer to their event_id."""
    waiting_limit: int
    """Largest number of events that wait."""
    expired_early: int
    """Events that made room for newer ones before their window was over, since start: an alarm."""
    late: int
    """Rewards refused after their window, since start."""
    duplicates: int
    """Second rewards refused or ignored, since start."""
    average_reward: float | None
    """Mean reward of all rewarded decisions, in the project's units."""
    uniform_value: float | None
    """What uniform play would have earned on them, estimated."""
    propensity_bounds: tuple[float, ...]
    """Upper bounds of a histogram of the propensities of decisions; the last is 1."""
    propensity_counts: tuple[int, ...]
    """Decisions in each bar, not accumulated."""
    propensity_sum: float
    actions: tuple[ActionStatus, ...]
    capacity: int
    model_version: int
    """Number of lessons that the forest has learned."""
    n_nodes: int
    n_bytes: int
    """Memory of the forest."""
    seq: int
    """Number of the last operation."""
    durable_seq: int
    """Number of the last operation that is on disk."""
    queued: int
    """Operations that are not on disk yet."""
    storage_failing: bool
    """The alarm: the last commit failed; operations wait in memory and are tried again."""
    storage_failure: str | None
    """What the last commit failed with."""
    journal_bytes: int
    """Size of the current journal file."""
    snapshot_seq: int
    snapshot_time: float | None
    """When the last snapshot was taken, in seconds since 1970."""
    snapshot_seconds: float | None
    """How long the last snapshot held up decisions."""
    staleness: float | None = None
    """Of a replica: seconds since it last knew all lessons."""
    is_learner: bool | None = None
    """Of a replica: whether it makes the lessons."""
    history: tuple[TimeBucketStatus, ...]
    """All that was, oldest first, in at most 240 stretches of equal length; those in which nothing was are left out."""


EventDocument = dict[str, Any]
