"""Rankings of the actions that an event offers; the first rank is the decision."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from bandit_forest.bandit.pairs.offer import Offer
from bandit_forest.service.domain.events import Event
from bandit_forest.service.domain.offers import EventOffer, OfferRecord
from bandit_forest.service.domain.state import ServiceContext, State, fingerprint
from bandit_forest.service.errors import InvalidRequestError
from bandit_forest.service.journal.entries import DECIDE, Entry
from bandit_forest.service.operations.batches import each
from bandit_forest.service.operations.checks import (
    check_n_ranked,
    check_offer,
    check_room,
    check_same,
    known_event,
    make_room,
    new_event_id,
)
from bandit_forest.service.operations.requests import RankRequest
from bandit_forest.service.operations.results import Rank, Ranked, RankedBatch, Result

__all__ = ["rank", "rank_many"]

_encode = msgspec.json.Encoder().encode


def rank(service: ServiceContext, request: RankRequest) -> Result[Ranked]:
    """Rank the actions that an event offers; a known event gets the same ranking as before."""
    service.check_storage()
    return Result(_rank(service, request), service.journal.tail)


def rank_many(service: ServiceContext, items: Iterable[RankRequest | InvalidRequestError]) -> Result[RankedBatch]:
    """Rank a batch: the same as `rank` for each event. Each item is answered or refused on its own."""
    service.check_storage()
    ranked = each(items, "events", lambda item: _rank(service, item))
    return Result(RankedBatch(ranked), service.journal.tail)


def _rank(service: ServiceContext, request: RankRequest) -> Ranked:
    event = known_event(service, request.event_id)
    offer, context, actions = check_offer(service.state, request.context, request.actions)
    n_ranked = check_n_ranked(request.n_ranked, len(offer.ids))
    crc = fingerprint(msgspec.Raw(context), msgspec.Raw(actions), n_ranked)
    if event is None:
        check_room(service, n_before=0)
        name = request.event_id or new_event_id()
        event = _rank_new(service, name, offer, n_ranked, crc, (context, actions))
    else:
        check_same(service, event, crc)
    answer = _answer(event)
    if request.mean_rewards:
        answer.mean_rewards = _estimates(service.state, offer)
    return answer


def _rank_new(
    service: ServiceContext, name: str, offer: Offer, n_ranked: int | None, crc: int, json: tuple[bytes, bytes]
) -> Event:
    """Draw, apply and record a ranking by the event's name; the oldest event that waits makes room."""
    if make_room(service, 1):
        offer = service.state.pairs.model.encoded(offer)  # events that expired early may have ended the warm-up
    model, now, (context, actions) = service.state.pairs.model, service.now(), json
    order, propensities = model.rank(offer, name)
    first, ranked = order[0], order[:n_ranked]
    event = Event(
        name,
        now,
        offer.context,
        first,
        propensities[first],
        len(offer.ids),
        model.version,
        fingerprint=crc,
        offer=EventOffer(offer.ids, offer.actions, propensities, ranked),
    )
    record = _encode(OfferRecord(msgspec.Raw(actions), propensities, order, n_ranked)).decode()
    chosen, seq = str(offer.ids[first]), service.state.seq + 1
    service.state.add_decision(event)
    service.record([Entry(seq, now, DECIDE, name, chosen, event.propensity, None, context.decode(), record)])
    return event


def _answer(event: Event) -> Ranked:
    offer = event.offer
    assert offer is not None
    ranking = [Rank(offer.ids[place], offer.propensities[place]) for place in offer.ranked]
    return Ranked(event.event_id, offer.ids[event.action], event.propensity, ranking, event.model_version)


def _estimates(state: State, offer: Offer) -> dict[str, float] | None:
    """Return the estimates of the offered actions by their ids as texts; None while warming up."""
    means = state.pairs.mean_rewards_encoded(offer)
    return {str(name): mean for name, mean in means.items() if mean is not None} or None
