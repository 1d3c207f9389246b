"""Checks of what a policy over pairs keeps of actions."""

from __future__ import annotations

from bandit_forest.checks.keeping import require_bounded
from bandit_forest.checks.pairs.events import as_fixed, decide_all, events, play
from bandit_forest.checks.pairs.subject import PairSubject

__all__ = ["memory_is_bounded_although_actions_are_new"]


def memory_is_bounded_although_actions_are_new(subject: PairSubject) -> None:
    """Require the size of a policy to stay what it is after the first events, though no action comes twice.

    Of a policy whose subject is bounded; sizes are those of `memory_is_bounded`.
    """
    if not subject.is_bounded:
        return
    policy = subject.fresh()

    def use(seed: int) -> None:
        play(policy, events(subject.n_events, seed=2 * seed, new=True))
        decide_all(policy, events(subject.n_events // 4, seed=2 * seed + 1, new=True))

    require_bounded(as_fixed(policy), use, subject.n_events)
