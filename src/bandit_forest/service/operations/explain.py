"""Stored data of an event, and an explanation of its context or offer by the present forest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bandit_forest.bandit.action_registry import is_name
from bandit_forest.bandit.pairs.offer import Offer
from bandit_forest.service.domain.events import Event
from bandit_forest.service.domain.state import ServiceContext
from bandit_forest.service.errors import ServiceError, invalid
from bandit_forest.service.operations.checks import NAME_RULE

__all__ = ["event_document", "explain", "explain_offer", "recent_events"]

_EXPLAINED_TREES = 10


def explain(service: ServiceContext, event_id: str) -> dict[str, Any]:
    """Return the data of an event that waits or is remembered, ready for JSON.

    The result has the fields of `event_document`, variables (in words), mean_rewards and votes (by action, of the
    present forest) and explanation (`Explanation.as_dict` of the first ten trees). Fields that need the forest are None
    while it warms up.
    """
    event = _find_event(service, event_id)
    document, model = event_document(service, event), service.bandit.model
    if model.policy is None:
        return document | {"variables": [], "mean_rewards": None, "votes": None, "explanation": None}
    registry = service.bandit.registry
    explanation = service.bandit.explain_encoded(event.context, registry.enabled).as_dict(max_trees=_EXPLAINED_TREES)
    enabled = [registry.names[index] for index in registry.enabled.indices.tolist()]
    return document | {
        "variables": service.bandit.variables_in_words(event.context),
        "mean_rewards": {name: explanation["mean_rewards"][name] for name in enabled},
        "votes": {name: explanation["votes"][name] for name in enabled},
        "explanation": explanation,
    }


def explain_offer(service: ServiceContext, event_id: str) -> Callable[[], dict[str, Any]]:
    """Return a function that returns the data of an event, ready for JSON; it may be called in a thread.

    The result has the fields of `event_document`, ranking (the answered ids with their propensities), and explanation
    (`PairExplanation.as_dict` of the offer by the present forest). The explanation is None while the forest warms up,
    and after the end of the event, when the features of its offer are no longer stored.
    """
    event, bandit = _find_event(service, event_id), service.state.pairs
    offer = event.offer
    assert offer is not None
    document = event_document(service, event) | {
        "ranking": [{"id": offer.ids[place], "propensity": offer.propensities[place]} for place in offer.ranked]
    }
    if not offer.actions or bandit.model.forest is None:
        return lambda: document | {"explanation": None}
    checked = Offer.of(event.context, offer.ids, offer.actions)
    return lambda: document | {"explanation": bandit.explain_encoded(checked).as_dict()}


def recent_events(service: ServiceContext) -> list[dict[str, Any]]:
    """Return the last decisions, newest first."""
    events = map(service.state.event, reversed(service.state.recent))
    return [event_document(service, event) for event in events if event is not None]


def event_document(service: ServiceContext, event: Event) -> dict[str, Any]:
    """Return an event, ready for JSON; the forest_* fields are there in shadow mode only."""
    names = service.bandit.registry.names if event.offer is None else event.offer.ids
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


def _find_event(service: ServiceContext, event_id: str) -> Event:
    """Return an event that waits or is remembered, or refuse its name."""
    if not is_name(event_id):
        raise invalid("$.event_id", NAME_RULE, event_id)
    event = service.state.event(event_id)
    if event is None:
        raise ServiceError("unknown_event", f"No event '{event_id}' waits or is remembered.", path="$.event_id")
    return event
