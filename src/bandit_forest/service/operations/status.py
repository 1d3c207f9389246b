"""The status: everything that metrics and the page show."""

from __future__ import annotations

from typing import Any

from bandit_forest.forest import BanditForest
from bandit_forest.service.domain.state import ServiceContext
from bandit_forest.service.domain.statistics import PROPENSITY_BOUNDS, TimeBucket
from bandit_forest.service.operations.explain import event_document
from bandit_forest.service.operations.results import ActionStatus, Status, TimeBucketStatus

__all__ = ["recent_events", "status"]


def status(service: ServiceContext) -> Status:
    """Return the status; takes about a millisecond."""
    state, journal, statistics = service.state, service.journal, service.state.statistics
    model, registry = state.bandit.model, state.bandit.registry
    forest = model.policy if isinstance(model.policy, BanditForest) else None
    return Status(
        name=service.project.name,
        mode=service.project.mode,
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
        actions=tuple(_action_status(service, index, name) for index, name in enumerate(registry.names)),
        capacity=registry.capacity,
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


def recent_events(service: ServiceContext) -> list[dict[str, Any]]:
    """Return the last decisions, newest first."""
    events = map(service.state.event, reversed(service.state.recent))
    return [event_document(service, event) for event in events if event is not None]


def _action_status(service: ServiceContext, index: int, name: str) -> ActionStatus:
    statistics = service.state.statistics
    n_rewards = statistics.rewards_of[index]
    return ActionStatus(
        name=name,
        state=str(service.bandit.registry.state(name)),
        decisions=statistics.total.decisions[index],
        rewards=n_rewards,
        average_reward=_unscaled(service, statistics.reward_sum_of[index] / n_rewards if n_rewards else None),
    )


def _bucket_status(service: ServiceContext, number: int, bucket: TimeBucket) -> TimeBucketStatus:
    seconds, names = service.state.statistics.seconds, service.bandit.registry.names
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
    return None if reward is None else service.bandit.rewards.unscale(reward)
