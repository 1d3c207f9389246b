"""Answers that tell what is stored: the first decision of an event, and the reward that counts."""

from __future__ import annotations

from bandit_forest.service.errors import ServiceError, decided_here, other_request
from bandit_forest.service.journal.entries import EXPIRE, LEARN
from bandit_forest.service.operations.results import Decision, Learned, Rewarded
from bandit_forest.service.operations.reward import count_duplicate
from bandit_forest.service.replica.context import ReplicaContext
from bandit_forest.service.replica.rows import DecisionRow
from bandit_forest.service.replica.writer import Answers

__all__ = ["fill_decision", "fill_learned", "fill_reward", "make_answer"]


def make_answer(row: DecisionRow) -> Decision:
    """Return the answer that tells of a decision."""
    answer = Decision(row.event_id, row.action, row.propensity, row.model_version)
    _tell_forest(answer, row)
    return answer


def fill_decision(answer: Decision, row: DecisionRow, told: Answers) -> None:
    """Fill an answer with the first decision of the event, or refuse it."""
    known = told.known.get(row.event_id)
    if known is not None:
        _check_same(known, row)
        answer.action, answer.propensity, answer.model_version = known.action, known.propensity, known.model_version
        _tell_forest(answer, known)


def fill_reward(service: ReplicaContext, answer: Rewarded, told: Answers) -> None:
    """Fill an answer with the reward that counts, or refuse it."""
    if told.take(answer.event_id):
        return
    event_id = answer.event_id
    if event_id not in told.outcomes:
        message = f"No event '{event_id}' waits: it was never decided here."
        raise ServiceError("unknown_event", message, path="$.event_id")
    kind, first = told.outcomes[event_id]
    if kind in (None, EXPIRE):
        service.late += 1
        seconds = service.project.reward.window_seconds
        message = (
            f"The reward of '{event_id}' came too late: it had to come within {seconds:g} seconds of the decision."
        )
        raise ServiceError("late_reward", message, path="$.event_id")
    count_duplicate(service, event_id, first)
    answer.reward, answer.ignored = first or 0.0, True


def fill_learned(service: ReplicaContext, answer: Learned, row: DecisionRow, told: Answers) -> None:
    """Fill an answer with whether the event is learned now, or refuse it."""
    known = told.known.get(row.event_id)
    if known is not None and known.kind == LEARN:
        _check_same(known, row)
    if told.take(answer.event_id):
        return
    kind, first = told.outcomes[answer.event_id]
    if kind is None:
        raise decided_here(answer.event_id)
    if kind == EXPIRE:
        raise ServiceError("late_reward", f"The event '{answer.event_id}' has expired.", path="$.event_id")
    count_duplicate(service, answer.event_id, first)
    answer.ignored = True


def _tell_forest(answer: Decision, row: DecisionRow) -> None:
    """Fill an answer with what the forest would have done, in shadow mode."""
    if row.forest_action is not None:
        answer.forest_action = row.forest_action
        answer.forest_propensity, answer.forest_value = row.forest_propensity, row.forest_value


def _check_same(known: DecisionRow, row: DecisionRow) -> None:
    """Refuse a request that is not the one which the event is known from."""
    if (known.kind, known.fingerprint) != (row.kind, row.fingerprint):
        raise other_request(known.event_id)
