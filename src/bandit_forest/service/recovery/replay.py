"""From the journal back to the state: every entry is applied again, in order."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from bandit_forest.bandit.pairs.offer import Offer
from bandit_forest.errors import DamagedFileError
from bandit_forest.service.domain.events import LEARNED, Event
from bandit_forest.service.domain.offers import EventOffer, OfferRecord
from bandit_forest.service.domain.state import State, fingerprint
from bandit_forest.service.journal.entries import DECIDE, EXPIRE, FILE, LEARN, REWARD, Entry

__all__ = ["replay"]


def replay(state: State, entries: Iterable[Entry], *, recomputed_from: int = 1) -> int:
    """Apply entries to a state; return the number of decisions that the forest would now make differently.

    The recorded decisions are kept. A number above zero means that this forest differs from the one that decided:
    another version of the package, or the arithmetic of another machine.

    Parameters
    ----------
    state
        The state before the first of the entries.
    entries
        Entries of the journal, in order.
    recomputed_from
        Number of the first entry that was made by the engine of this forest; decisions before it are not drawn again.
    """
    n_differing = 0
    for entry in entries:
        try:
            n_differing += _apply(state, entry, is_recomputed=entry.seq >= recomputed_from)
        except (ArithmeticError, AssertionError, LookupError, TypeError, ValueError) as error:
            raise DamagedFileError(f"Entry {entry.seq} of the journal is damaged: {error!r}.") from error
    return n_differing


def _apply(state: State, entry: Entry, *, is_recomputed: bool) -> bool:
    """Apply one entry; return whether the forest would decide differently."""
    model, differs = state.learner.model, False
    if entry.kind == DECIDE:
        decided = _ranked if state.project.is_offered else _decided
        event, differs = decided(state, entry, is_recomputed=is_recomputed)
        state.add_decision(event)
    elif entry.kind == REWARD:
        assert entry.reward is not None
        model.learn(state.add_reward(_text(entry.event_id), entry.reward, entry.time))
    elif entry.kind == EXPIRE:
        lesson = state.add_expiry(_text(entry.event_id), entry.reward, entry.time)
        if lesson is not None:
            model.learn(lesson)
    elif entry.kind == LEARN:
        foreign = _foreign_offered if state.project.is_offered else _foreign
        model.learn(state.add_foreign(foreign(state, entry).ended(LEARNED, entry.reward, entry.time)))
    elif entry.kind == FILE:
        state.file_actions = msgspec.json.decode(_text(entry.available))
    else:
        state.change_action(entry.kind, _text(entry.action))
    state.seq, state.time = entry.seq, entry.time
    return differs


def _decided(state: State, entry: Entry, *, is_recomputed: bool) -> tuple[Event, bool]:
    """Return the event of a decision, and whether the forest would decide differently."""
    registry = state.bandit.registry
    available, names = registry.enabled, None
    if entry.available is not None:
        names = msgspec.json.decode(entry.available)
        available = registry.available(names)
    own = None if entry.forest_action is None else (entry.action, entry.propensity)
    event = replace(
        _event(state, entry, names, own),
        n_available=len(available.indices),
        model_version=state.bandit.model.version,
        forest_action=None if entry.forest_action is None else registry.indices[entry.forest_action],
        forest_propensity=entry.forest_propensity,
        forest_value=entry.forest_value,
    )
    if not is_recomputed:
        return event, False
    taken = event.action, event.propensity
    known = taken if event.forest_action is None else (event.forest_action, event.forest_propensity)
    return event, state.bandit.model.decide(event.context, available) != known  # draws go on from the same number


def _ranked(state: State, entry: Entry, *, is_recomputed: bool) -> tuple[Event, bool]:
    """Return the event of a ranking, and whether the forest would rank differently."""
    record, model = OfferRecord.from_text(_text(entry.available)), state.pairs.model
    context, actions = msgspec.json.decode(_text(entry.context)), record.offered
    offer = state.pairs.read(context, actions, "rank")
    crc = fingerprint(context, actions, record.n_ranked)
    event = replace(_event_with_offer(entry, offer, record), model_version=model.version, fingerprint=crc)
    known = record.order, record.propensities
    return event, is_recomputed and model.rank(offer, event.event_id) != known


def _foreign(state: State, entry: Entry) -> Event:
    """Return the event of a lesson from elsewhere."""
    return _event(state, entry, entry.action, entry.propensity, entry.reward)


def _foreign_offered(state: State, entry: Entry) -> Event:
    """Return the event of a lesson from elsewhere about an offered action."""
    record = OfferRecord.from_text(_text(entry.available))
    context, actions = msgspec.json.decode(_text(entry.context)), record.offered
    event = _event_with_offer(entry, state.pairs.read(context, actions, "learn"), record)
    return replace(event, fingerprint=fingerprint(context, actions[0], entry.propensity, entry.reward))


def _event_with_offer(entry: Entry, offer: Offer, record: OfferRecord) -> Event:
    """Return the event that an entry with an offer begins."""
    assert entry.propensity is not None
    told = EventOffer(offer.ids, offer.actions, record.propensities, record.order[: record.n_ranked])
    place = told.ranked[0]
    return Event(
        _text(entry.event_id), entry.time, offer.context, place, entry.propensity, len(offer.ids), 0, offer=told
    )


def _event(state: State, entry: Entry, *asked: object) -> Event:
    """Return the event that an entry begins; `asked` is what its request held beside the context."""
    assert entry.propensity is not None
    registry, context = state.bandit.registry, msgspec.json.decode(_text(entry.context))
    return Event(
        _text(entry.event_id),
        entry.time,
        state.bandit.model.read(context),
        registry.indices[_text(entry.action)],
        entry.propensity,
        len(registry.enabled.indices),
        0,
        fingerprint=fingerprint(context, *asked),
    )


def _text(text: str | None) -> str:
    """Return a text that entries of this kind always have."""
    assert text is not None
    return text
