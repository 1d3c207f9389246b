"""What is known of an event with an offer, and how the forest sees the offer now."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bandit_forest.bandit.pairs.explanation import explain
from bandit_forest.bandit.pairs.offer import Offer
from bandit_forest.service.domain.events import Event
from bandit_forest.service.domain.state import ServiceContext
from bandit_forest.service.operations.explain import event_document, find_event
from bandit_forest.validation import key_numbers

__all__ = ["explain_offer"]


def explain_offer(service: ServiceContext, event_id: str) -> Callable[[], dict[str, Any]]:
    """Return a function that makes what is known of an event, ready for JSON; it may be called in a thread.

    That is `event_document`, ranking (the answered ids with their propensities), and explanation: how the forest sees
    the offer now, as `PairExplanation`, with ids as texts where they are keys. It is None while the forest warms up,
    and once the event is over: then the features of its offer are remembered no more.
    """
    event, bandit = find_event(service, event_id), service.state.pairs
    offer = event.offer
    assert offer is not None
    document = event_document(service, event) | {
        "ranking": [{"id": offer.ids[place], "propensity": offer.propensities[place]} for place in offer.ranked]
    }
    if not offer.actions or bandit.model.forest is None:
        return lambda: document | {"explanation": None}
    return lambda: document | {"explanation": _explanation(service, event)}


def _explanation(service: ServiceContext, event: Event) -> dict[str, Any]:
    bandit, offer = service.state.pairs, event.offer
    assert offer is not None
    names = key_numbers(offer.ids, "the service", len(offer.ids))
    assert names is not None
    told = explain(bandit.model, Offer(event.context, offer.ids, offer.actions, names), bandit.rewards)
    return {
        "best": told.best,
        "mean_rewards": {str(name): mean for name, mean in told.mean_rewards.items()},
        "propensities": {str(name): propensity for name, propensity in told.propensities.items()},
        "reasons": [reason._asdict() for reason in told.reasons],
        "changes": [change._asdict() for change in told.changes],
    }
