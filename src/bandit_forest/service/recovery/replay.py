"""From the journal back to the state: every entry is applied again, in order."""

from __future__ import annotations

from collections.abc import Iterable

import orjson

from bandit_forest.service.domain.events import LEARNED, Event
from bandit_forest.service.domain.state import State
from bandit_forest.service.journal.entries import DECIDE, EXPIRE, LEARN, REWARD, Entry

__all__ = ["replay"]


def replay(state: State, entries: Iterable[Entry]) -> int:
    """Apply entries to a state; give how many decisions the forest would now take differently.

    What was decided stands, whatever the forest would do now. A number above zero says that this forest is not the one
    that decided: another version of the package, or another machine's arithmetic.
    """
    return sum(_apply(state, entry) for entry in entries)


def _apply(state: State, entry: Entry) -> bool:
    """Apply one entry; say whether the forest would decide differently."""
    differs = False
    if entry.kind == DECIDE:
        event, differs = _decided(state, entry)
        state.add_decision(event)
    elif entry.kind == REWARD:
        assert entry.event_id is not None
        assert entry.reward is not None
        state.model.learn(state.add_reward(entry.event_id, entry.reward, entry.time))
    elif entry.kind == EXPIRE:
        assert entry.event_id is not None
        lesson = state.add_expiry(entry.event_id, entry.reward, entry.time)
        if lesson is not None:
            state.model.learn(lesson)
    elif entry.kind == LEARN:
        state.model.learn(state.add_foreign(_foreign(state, entry)))
    else:
        assert entry.action is not None
        state.change_action(entry.kind, entry.action)
    state.seq, state.time = entry.seq, entry.time
    return differs


def _decided(state: State, entry: Entry) -> tuple[Event, bool]:
    """Let the forest decide again, so that its draws go on from the same number; what was decided then counts."""
    model, places = state.model, state.actions.places
    assert entry.event_id is not None
    assert entry.context is not None
    assert entry.action is not None
    assert entry.propensity is not None
    context = model.read(orjson.loads(entry.context), "$.context")
    available = state.actions.enabled
    if entry.available is not None:
        available = state.actions.available(orjson.loads(entry.available))
    version = model.version
    drawn = model.decide(context, available)
    forest_action = None if entry.forest_action is None else places[entry.forest_action]
    taken = (places[entry.action], entry.propensity)
    event = Event(
        entry.event_id,
        entry.time,
        context,
        *taken,
        len(available.places),
        version,
        forest_action=forest_action,
        forest_propensity=entry.forest_propensity,
        forest_value=entry.forest_value,
    )
    return event, drawn != (taken if forest_action is None else (forest_action, entry.forest_propensity))


def _foreign(state: State, entry: Entry) -> Event:
    assert entry.event_id is not None
    assert entry.context is not None
    assert entry.action is not None
    assert entry.propensity is not None
    return Event(
        entry.event_id,
        entry.time,
        state.model.read(orjson.loads(entry.context), "$.context"),
        state.actions.places[entry.action],
        entry.propensity,
        len(state.actions.enabled.places),
        0,
        LEARNED,
        entry.reward,
        entry.time,
    )
