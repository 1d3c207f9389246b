"""Checks of learning: from prompt, late, lost, foreign and fractional rewards."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bandit_forest.checks.streams import Stream, decide_one_by_one, easy_stream, learn_one_by_one, play_one_by_one
from bandit_forest.checks.subject import Subject, require
from bandit_forest.policy import Policy

__all__ = [
    "beats_uniform_on_an_easy_stream",
    "learns_from_fractional_rewards",
    "learns_from_late_lost_and_reordered_rewards",
    "learns_without_decide",
]


def beats_uniform_on_an_easy_stream(subject: Subject) -> None:
    """Require more than what uniform draws earn, a half, in the second half of an easy stream."""
    policy = subject.fresh(n_variables=4, n_actions=2)
    played = play_one_by_one(policy, easy_stream(subject))
    require_better(subject.learns, played.rewards, uniform=0.5, margin=0.1)


def learns_without_decide(subject: Subject) -> None:
    """Require learning from events that another policy decided."""
    policy = subject.fresh(n_variables=4, n_actions=2)
    learn_one_by_one(policy, easy_stream(subject).log())
    events = easy_stream(subject, seed=1).part(0, 1000)
    decisions = decide_one_by_one(policy, events.contexts)
    earned = events.rewards[np.arange(len(events.contexts)), decisions.actions]
    require_better(subject.learns, earned, uniform=0.5, margin=0.1)


def learns_from_late_lost_and_reordered_rewards(subject: Subject) -> None:
    """Require learning from rewards that come up to 50 decisions late, in another order, and some of them never.

    The order is the one that would mislead most a policy which expects the rewards in the order of its decisions.
    """
    for n_lost in (0, 10):
        policy = subject.fresh(n_variables=4, n_actions=2)
        events = easy_stream(subject)
        blocks = [events.part(start, start + 50) for start in range(0, subject.n_events, 50)]
        earned = np.concatenate([_play_late(policy, block, n_lost) for block in blocks])
        require_better(subject.learns, earned, uniform=0.5, margin=0.1)


def learns_from_fractional_rewards(subject: Subject) -> None:
    """Require learning from the size of rewards, not only from whether there are any.

    Action 1 always earns 0.49, action 0 earns 0.51 in three events of ten and else 0.01: rounded or taken for yes and
    no, they would mislead.
    """
    policy = subject.fresh(n_variables=4, n_actions=2)
    contexts = easy_stream(subject).contexts
    lucky = np.random.default_rng(1).random(len(contexts)) < 0.3
    rewards = np.column_stack([np.where(lucky, 0.51, 0.01), np.full(len(contexts), 0.49)])
    played = play_one_by_one(policy, Stream(contexts, rewards))
    require_better(subject.learns, played.rewards, uniform=0.325, margin=0.02)


def require_better(learns: bool, rewards: NDArray[np.float64], *, uniform: float, margin: float) -> None:
    """Require that the later half of the rewards beats uniform draws, of a policy that learns at all."""
    average = float(rewards[len(rewards) // 2 :].mean())
    require(
        not learns or average > uniform + margin,
        f"an average reward of {average:.3f}, where uniform draws earn {uniform}",
    )


def _play_late(policy: Policy, block: Stream, n_lost: int) -> NDArray[np.float64]:
    """Decide a block of events, then learn all but the lost ones; return all that was earned."""
    actions, propensities = decide_one_by_one(policy, block.contexts)
    earned = block.rewards[np.arange(len(actions)), actions]
    ranked = np.argsort(earned, kind="stable")
    order = np.empty_like(ranked)
    order[ranked] = ranked[::-1]  # where the lowest reward was earned, the highest comes
    for event in order[: len(order) - n_lost].tolist():
        reward, propensity = float(earned[event]), float(propensities[event])
        policy.learn(block.contexts[event], int(actions[event]), reward, propensity=propensity)
    return earned
