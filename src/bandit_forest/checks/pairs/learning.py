"""Checks of what is learned of actions: by their features, and by their names."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bandit_forest.checks.learning import require_better
from bandit_forest.checks.pairs.events import N_ACTION, Event, decide_all, events, play
from bandit_forest.checks.pairs.subject import PairSubject

__all__ = ["knows_actions_by_their_names", "new_actions_are_judged_by_their_features"]


def new_actions_are_judged_by_their_features(subject: PairSubject) -> None:
    """Require more than what uniform draws earn, a half, from actions none of which was ever offered before."""
    policy = subject.fresh()
    play(policy, events(subject.n_events, seed=1))
    fresh = list(events(1000, seed=2, new=True))
    decisions = decide_all(policy, iter(fresh))
    earned = np.array([event.rewards[action] for event, action in zip(fresh, decisions.actions, strict=True)])
    require_better(subject.learns, earned, uniform=0.5, margin=0.1)


def knows_actions_by_their_names(subject: PairSubject) -> None:
    """Require more than what uniform draws earn where actions have the same features and only one of them earns."""
    policy = subject.fresh()
    played = play(policy, _same_features(subject.n_events))
    require_better(subject.learns and subject.knows_names, played.rewards, uniform=0.5, margin=0.1)


def _same_features(n_events: int) -> Iterator[Event]:
    generator = np.random.default_rng(3)
    names, rewards = np.array(["good", "bad"]), np.array([1.0, 0.0])
    for event in events(n_events, seed=3):
        order = generator.permutation(2)
        yield Event(event.context, np.zeros((2, N_ACTION), np.uint8), names[order].tolist(), rewards[order])
