"""The status: everything that metrics and the page show."""

from __future__ import annotations

from msgspec import Struct

from bandit_forest.service.domain.bandits import forest_of
from bandit_forest.service.domain.state import ServiceContext
from bandit_forest.service.domain.statistics import PROPENSITY_BOUNDS, TimeBucket

__all__ = ["ActionStatus", "Status", "TimeBucketStatus", "status"]


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
    """Number of decisions by action; of offered actions all under 'offered'."""
    rewards: int
    average_reward: float | None
    """In the project's units."""
    uniform_value: float | None
    """What uniform play would have earned, estimated from the same rewards (self-normalised importance weights)."""
    uniform_weight: float
    """The sum of these weights: how much the estimate counts beside those of other stretches."""


class Status(Struct, kw_only=True):
    """Everything that metrics and the page show. Counts go on over restarts, unless 'since start' is said."""

    name: str
    mode: str
    """'decide' or 'shadow'."""
    offers: bool = False
    """Whether each event offers its own actions; then `actions` is empty."""
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
    """Counts over time, oldest first, in at most 240 stretches of equal length; empty ones are left out."""


def status(service: ServiceContext) -> Status:
    """Return the status; takes about a millisecond."""
    state, journal, statistics = service.state, service.journal, service.state.statistics
    model, forest = state.learner.model, forest_of(state.learner)
    offers = service.project.is_offered
    return Status(
        name=service.project.name,
        mode=service.project.mode,
        offers=offers,
        warm_up_left=model.warm_up_left,
        decisions=statistics.decisions,
        rewards=statistics.total.n_rewards,
        learned=statistics.learned,
        expired=statistics.expired,
        waiting=service.n_waiting,
        remembered=len(state.remembered),
        waiting_limit=service.project.limits.waiting_events,
        expired_early=service.expired_early,
        late=service.late,
        duplicates=service.duplicates,
        average_reward=_unscaled(service, statistics.total.average),
        uniform_value=_unscaled(service, statistics.total.uniform_value),
        propensity_bounds=PROPENSITY_BOUNDS,
        propensity_counts=tuple(statistics.propensities.counts),
        propensity_sum=statistics.propensities.sum,
        actions=() if offers else tuple(_action_status(service, *one) for one in service.bandit.actions.items()),
        capacity=0 if offers else state.bandit.registry.capacity,
        model_version=model.version,
        n_nodes=0 if forest is None else forest.n_nodes,
        n_bytes=0 if forest is None else forest.n_bytes,
        seq=state.seq,
        durable_seq=journal.durable_seq,
        queued=journal.queued,
        storage_failing=journal.failure is not None,
        storage_failure=journal.failure,
        journal_bytes=journal.current_bytes,
        snapshot_seq=service.snapshot_seq,
        snapshot_time=service.snapshot_time,
        snapshot_seconds=service.snapshot_seconds,
        staleness=service.staleness,
        is_learner=service.is_learner,
        history=tuple(_bucket_status(service, number, bucket) for number, bucket in statistics.buckets.items()),
    )


def _action_status(service: ServiceContext, name: str, state: str) -> ActionStatus:
    statistics, index = service.state.statistics, service.bandit.registry.indices[name]
    n_rewards = statistics.rewards_of[index]
    return ActionStatus(
        name=name,
        state=state,
        decisions=statistics.total.decisions[index],
        rewards=n_rewards,
        average_reward=_unscaled(service, statistics.reward_sum_of[index] / n_rewards if n_rewards else None),
    )


def _bucket_status(service: ServiceContext, number: int, bucket: TimeBucket) -> TimeBucketStatus:
    seconds = service.state.statistics.seconds
    names = ["offered"] if service.project.is_offered else service.bandit.registry.names
    return TimeBucketStatus(
        time=float(number * seconds),
        seconds=float(seconds),
        decisions={name: n for name, n in zip(names, bucket.decisions, strict=False) if n},
        rewards=bucket.n_rewards,
        average_reward=_unscaled(service, bucket.average),
        uniform_value=_unscaled(service, bucket.uniform_value),
        uniform_weight=bucket.weight_sum,
    )


def _unscaled(service: ServiceContext, reward: float | None) -> float | None:
    return None if reward is None else service.state.learner.rewards.unscale(reward)
