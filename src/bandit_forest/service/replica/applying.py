"""Lessons are applied to the state of a replica: the one way in which it changes."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

import msgspec
from msgspec.structs import replace

from bandit_forest.bandit.errors import ActionError, CapacityError, UnknownActionError
from bandit_forest.service.domain.events import LEARNED, Event
from bandit_forest.service.domain.state import State
from bandit_forest.service.journal.entries import EXPIRE, FILE, LEARN, REWARD
from bandit_forest.service.replica.rows import LessonRow

__all__ = ["apply_lessons"]


def apply_lessons(state: State, lessons: Iterable[LessonRow]) -> None:
    """Apply lessons in their order. An event enters the state when it has ended; until then the database has it."""
    for lesson in lessons:
        assert lesson.version == state.seq + 1, "a lesson is missing"
        _apply(state, lesson)
        state.seq, state.time = lesson.version, lesson.time


def _apply(state: State, lesson: LessonRow) -> None:
    model, learned = state.bandit.model, None
    if lesson.kind == REWARD:
        event = _decided(state, lesson)
        assert lesson.reward is not None
        learned = state.add_reward(event.event_id, lesson.reward, lesson.time)
    elif lesson.kind == EXPIRE:
        event = _decided(state, lesson)
        learned = state.add_expiry(event.event_id, lesson.reward, lesson.time)
    elif lesson.kind == LEARN:
        event = _event(state, lesson)
        learned = state.add_foreign(replace(event, state=LEARNED, reward=lesson.reward, reward_time=lesson.time))
    elif lesson.kind == FILE:
        state.file_actions = msgspec.json.decode(lesson.available or "[]")
    else:
        with suppress(ActionError, CapacityError, UnknownActionError):  # two replicas may have been told the same
            state.change_action(lesson.kind, lesson.action or "")
    if learned is not None:
        model.learn(learned)


def _decided(state: State, lesson: LessonRow) -> Event:
    event = _event(state, lesson)
    state.add_decision(event)
    return event


def _event(state: State, lesson: LessonRow) -> Event:
    assert lesson.event_id is not None
    assert lesson.action is not None
    indices = state.bandit.registry.indices
    return Event(
        lesson.event_id,
        lesson.decided,
        state.bandit.model.read(msgspec.json.decode(lesson.context)),
        indices[lesson.action],
        lesson.propensity,
        lesson.n_available,
        lesson.model_version,
        forest_action=None if lesson.forest_action is None else indices[lesson.forest_action],
        forest_propensity=lesson.forest_propensity,
        forest_value=lesson.forest_value,
        fingerprint=lesson.fingerprint,
    )
