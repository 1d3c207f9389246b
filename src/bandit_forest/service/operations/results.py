"""What the decider gives back: plain values, each with the commit that makes it durable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from bandit_forest.service.journal.commits import Commit

__all__ = ["ActionChange", "ActionStatus", "Decided", "Learned", "Moment", "Rewarded", "Status"]


class Decided(NamedTuple):
    """A decision: `await commit` before telling anybody of it."""

    event_id: str
    action: str
    propensity: float
    model_version: int
    """How many events the forest had learned when it decided."""
    forest_action: str | None
    """In shadow mode, what the forest would have done; else None."""
    forest_propensity: float | None
    forest_value: float | None
    """In shadow mode, the estimated reward of `forest_action`, in the project's units; None while warming up."""
    commit: Commit


class Rewarded(NamedTuple):
    """A reward that was learned, or, when `ignored`, one that came second and changed nothing."""

    event_id: str
    reward: float
    """The reward that counts, in the project's units: of an ignored one, the first."""
    ignored: bool
    commit: Commit


class Learned(NamedTuple):
    """An event from elsewhere that was learned, or, when `ignored`, one that had been learned before."""

    event_id: str
    ignored: bool
    commit: Commit


class ActionChange(NamedTuple):
    """An action and its new state: 'enabled', 'disabled' or 'removed'."""

    name: str
    state: str
    commit: Commit


@dataclass(frozen=True, kw_only=True, slots=True)
class ActionStatus:
    """How one action is doing."""

    name: str
    state: str
    """'enabled', 'disabled' or 'removed'."""
    decisions: int
    rewards: int
    average_reward: float | None
    """In the project's units, None before the first reward."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Moment:
    """What happened in one stretch of time, for drawing: decisions are counted when decided, rewards when they came."""

    time: float
    """Where the stretch begins, in seconds since 1970."""
    seconds: float
    decisions: dict[str, int]
    """By action."""
    rewards: int
    average_reward: float | None
    """In the project's units."""
    uniform_value: float | None
    """What uniform play would have earned, estimated from the same rewards (self-normalised importance weights)."""
    uniform_weight: float
    """The sum of these weights: how much the estimate counts beside those of other stretches."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Status:
    """Everything that metrics and the page show. Counts go on over restarts, unless 'since start' is said."""

    name: str
    mode: str
    """'decide' or 'shadow'."""
    warm_up_left: int
    """Contexts still to come before bins are learned and the forest is made; 0 when it is there."""
    decisions: int
    rewards: int
    """Rewards of decisions, default ones included."""
    learned: int
    """Events from elsewhere."""
    expired: int
    waiting: int
    remembered: int
    """Finished events that still answer to their event_id."""
    late: int
    """Rewards refused after their window, since start."""
    duplicates: int
    """Second rewards refused or ignored, since start."""
    average_reward: float | None
    """Of all rewarded decisions, in the project's units."""
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
    """How many events the forest has learned."""
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
    history: tuple[Moment, ...]
    """All that was, oldest first, in at most 240 stretches of equal length; those in which nothing was are left out."""
    recent: tuple[dict[str, Any], ...]
    """The last decisions, newest first: event_id, time, action, propensity, state, reward."""
