"""Checks of batches: a call for many events equals one call per event."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np

from bandit_forest.checks.comparing import require_same_decisions, require_same_state
from bandit_forest.checks.streams import decide_one_by_one, learn_one_by_one, play_one_by_one, stream, trained
from bandit_forest.checks.subject import Subject, require

__all__ = [
    "decide_many_equals_decide",
    "empty_batches_change_nothing",
    "learn_many_equals_learn",
    "play_equals_decide_and_learn",
]


def decide_many_equals_decide(subject: Subject) -> None:
    """Require a batch of decisions to equal the single ones, and to leave the policy in the same state."""
    batch, single = trained(subject), trained(subject)
    contexts = stream(100, seed=2).contexts
    for available in (None, [0, 2]):
        many = batch.decide_many(contexts, available_actions=available)
        require_same_decisions(many, decide_one_by_one(single, contexts, available), "decide_many differs from decide")
    require_same_state(batch, single, "the decisions after decide_many differ from those after decide")


def learn_many_equals_learn(subject: Subject) -> None:
    """Require that learning a batch equals learning its events in their order."""
    for fractional, n_events in product((False, True), (1, 2, 3, 5, 8, 500)):
        batch, single = subject.fresh(), subject.fresh()
        log = stream(n_events, seed=3, fractional=fractional).log()
        batch.learn_many(log.contexts, log.actions, log.rewards, propensities=log.propensities)
        learn_one_by_one(single, log)
        require_same_state(batch, single, "the decisions after learn_many differ from those after learn")


def play_equals_decide_and_learn(subject: Subject) -> None:
    """Require that playing a stream, in whatever pieces, equals deciding and learning event by event."""
    for fractional in (False, True):
        batch, single = subject.fresh(), subject.fresh()
        events = stream(500, seed=4, fractional=fractional)
        for start, stop in pairwise((0, 1, 2, 5, 10, 20, 500)):
            piece = events.part(start, stop)
            played, expected = batch.play(*piece), play_one_by_one(single, piece)
            require_same_decisions(played, expected, "play differs from decide and learn")
            require(np.array_equal(played.rewards, expected.rewards), "play earns other rewards than decide and learn")
        require_same_state(batch, single, "the decisions after play differ from those after decide and learn")


def empty_batches_change_nothing(subject: Subject) -> None:
    """Require that a batch without events is taken and changes nothing."""
    policy, untouched = trained(subject), trained(subject)
    nothing = np.empty((0, 5), dtype=np.uint8)
    require(len(policy.decide_many(nothing).actions) == 0, "decide_many decides for an empty batch")
    policy.learn_many(nothing, np.empty(0, np.int64), np.empty(0), propensities=np.empty(0))
    require(len(policy.play(nothing, np.empty((0, 3))).actions) == 0, "play plays an empty batch")
    require_same_state(policy, untouched, "an empty batch changes the decisions")
