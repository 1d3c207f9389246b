"""What the service shows of itself: its status, and what it knows of an event."""

from __future__ import annotations

import math
from typing import Any

from bandit_forest.service.domain.events import Event
from bandit_forest.service.domain.statistics import PROPENSITY_BOUNDS, Stretch
from bandit_forest.service.operations.results import ActionStatus, Moment, Status
from bandit_forest.service.operations.service_context import Desk

__all__ = ["event_document", "explain_event", "overview"]

_EXPLAINED_TREES = 10


def overview(desk: Desk, *, snapshot_seq: int, snapshot_time: float | None, snapshot_seconds: float | None) -> Status:
    """Give everything that metrics and the page show."""
    state, journal, tally = desk.state, desk.journal, desk.state.tally
    forest = state.model.forest
    return Status(
        name=desk.project.name,
        mode=desk.project.mode,
        warm_up_left=state.model.warm_up_left,
        decisions=tally.decisions,
        rewards=tally.total.n_rewards,
        learned=tally.learned,
        expired=tally.expired,
        waiting=len(state.waiting),
        remembered=len(state.remembered),
        late=desk.late,
        duplicates=desk.duplicates,
        average_reward=_unscaled(desk, tally.total.average),
        uniform_value=_unscaled(desk, tally.total.uniform_value),
        propensity_bounds=PROPENSITY_BOUNDS,
        propensity_counts=tuple(tally.propensity_counts),
        propensity_sum=tally.propensity_sum,
        actions=tuple(_action_status(desk, place, name) for place, name in enumerate(state.actions.names)),
        capacity=state.actions.capacity,
        model_version=state.model.version,
        n_nodes=0 if forest is None else forest.n_nodes,
        n_bytes=0 if forest is None else forest.n_bytes,
        seq=state.seq,
        durable_seq=journal.durable_seq,
        queued=journal.queued,
        storage_failing=journal.failure is not None,
        storage_failure=journal.failure,
        journal_bytes=journal.current_bytes,
        snapshot_seq=snapshot_seq,
        snapshot_time=snapshot_time,
        snapshot_seconds=snapshot_seconds,
        history=tuple(_moment(desk, number, stretch) for number, stretch in tally.stretches.items()),
        recent=tuple(_recent(desk)),
    )


def event_document(desk: Desk, event: Event) -> dict[str, Any]:
    """Tell an event, ready for JSON."""
    names = desk.state.actions.names
    document = {
        "event_id": event.event_id,
        "time": event.time,
        "action": names[event.action],
        "propensity": event.propensity,
        "model_version": event.model_version,
        "state": event.state,
        "reward": event.reward,
        "reward_time": event.reward_time,
    }
    if event.forest_action is not None:
        document["forest_action"] = names[event.forest_action]
        document["forest_propensity"] = event.forest_propensity
        document["forest_value"] = event.forest_value
    return document


def explain_event(desk: Desk, event: Event) -> dict[str, Any]:
    """Tell an event, and how the forest sees its context now."""
    model, document = desk.state.model, event_document(desk, event)
    if model.forest is None:
        return document | {"variables": [], "mean_rewards": None, "votes": None, "explanation": None}
    bits = model.bits(event.context)
    explanation = model.forest.explain(bits, available_actions=desk.state.actions.enabled.places)
    variables = [name for name, bit in zip(model.forest.variable_names, bits, strict=True) if bit]
    enabled, names = desk.state.actions.enabled.places.tolist(), desk.state.actions.names
    return document | {
        "variables": variables,
        "mean_rewards": {names[place]: mean_reward(desk, explanation.mean_rewards[place]) for place in enabled},
        "votes": {names[place]: int(explanation.votes[place]) for place in enabled},
        "explanation": explanation.as_dict(max_trees=_EXPLAINED_TREES),
    }


def mean_reward(desk: Desk, mean: float) -> float | None:
    """Give a mean of the forest in the project's units, None when nothing is known."""
    return None if math.isnan(mean) else desk.project.reward.unscale(float(mean))


def _recent(desk: Desk) -> list[dict[str, Any]]:
    events = map(desk.state.event, reversed(desk.state.recent))
    return [event_document(desk, event) for event in events if event is not None]


def _action_status(desk: Desk, place: int, name: str) -> ActionStatus:
    state, tally = desk.state, desk.state.tally
    n_rewards = tally.rewards_of[place]
    return ActionStatus(
        name=name,
        state=str(state.actions.state(name)),
        decisions=tally.total.decisions[place],
        rewards=n_rewards,
        average_reward=_unscaled(desk, tally.reward_sum_of[place] / n_rewards if n_rewards else None),
    )


def _moment(desk: Desk, number: int, stretch: Stretch) -> Moment:
    seconds = desk.state.tally.seconds
    return Moment(
        time=float(number * seconds),
        seconds=float(seconds),
        decisions={name: n for name, n in zip(desk.state.actions.names, stretch.decisions, strict=False) if n},
        rewards=stretch.n_rewards,
        average_reward=_unscaled(desk, stretch.average),
        uniform_value=_unscaled(desk, stretch.uniform_value),
        uniform_weight=stretch.weight_sum,
    )


def _unscaled(desk: Desk, reward: float | None) -> float | None:
    return None if reward is None else desk.project.reward.unscale(reward)
