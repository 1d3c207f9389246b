"""Small streams on which policies are checked, and the plain ways to play them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bandit_forest.checks.subject import Subject
from bandit_forest.policy import Decisions, Played, Policy

__all__ = [
    "Log",
    "Stream",
    "decide_one_by_one",
    "easy_stream",
    "learn_one_by_one",
    "play_one_by_one",
    "stream",
    "trained",
]

_EVENTS, _LOG = 1, 2  # first words of seeds: a log whose actions are drawn like its contexts would depend on them


class Stream(NamedTuple):
    """Contexts, and the reward of every action, one row per event."""

    contexts: NDArray[np.uint8]
    rewards: NDArray[np.float64]

    def part(self, start: int, stop: int) -> Stream:
        """Return the events from `start` until before `stop`."""
        return Stream(self.contexts[start:stop], self.rewards[start:stop])

    def log(self, seed: int = 0) -> Log:
        """Return the events as a policy that draws uniformly would have logged them."""
        n_events, n_actions = self.rewards.shape
        actions = np.random.default_rng([_LOG, seed]).integers(n_actions, size=(n_events,))
        earned = self.rewards[np.arange(n_events), actions]
        return Log(self.contexts, actions, earned, np.full(n_events, 1.0 / n_actions))


class Log(NamedTuple):
    """Events that some policy decided."""

    contexts: NDArray[np.uint8]
    actions: NDArray[np.int64]
    rewards: NDArray[np.float64]
    propensities: NDArray[np.float64]


def stream(
    n_events: int, *, n_variables: int = 5, n_actions: int = 3, seed: int = 0, fractional: bool = False
) -> Stream:
    """Return a noisy stream whose best action depends on the first variable.

    Rewards are zeros and ones, or quarters: sums of either are exact in any order, so that policies can be compared
    exactly.
    """
    generator = np.random.default_rng([_EVENTS, seed])
    contexts = generator.integers(2, size=(n_events, n_variables), dtype=np.uint8)
    best = np.arange(n_actions) == contexts[:, :1] % n_actions
    draws = generator.random((n_events, n_actions))
    rewards = np.where(best, draws < 0.9, draws < 0.2).astype(np.float64)
    return Stream(contexts, (rewards + np.floor(4 * draws)) / 4 if fractional else rewards)


def easy_stream(subject: Subject, *, seed: int = 0) -> Stream:
    """Return a stream without noise, of two actions, that the subject should learn; uniform draws earn a half of it.

    The right action is the value of the first variable, so that every fixed action earns a half too, or always the
    second for a policy without contexts.
    """
    contexts = np.random.default_rng([_EVENTS, seed]).integers(2, size=(subject.n_events, 4), dtype=np.uint8)
    right = contexts[:, 0] if subject.uses_contexts else np.ones(subject.n_events, dtype=np.uint8)
    return Stream(contexts, (np.arange(2) == right[:, None]).astype(np.float64))


def trained(subject: Subject, n_events: int = 20, *, n_variables: int = 5, n_actions: int = 3) -> Policy:
    """Make a policy that has played some events: few by default, so that each one counts."""
    policy = subject.fresh(n_variables=n_variables, n_actions=n_actions)
    play_one_by_one(policy, stream(n_events, n_variables=n_variables, n_actions=n_actions, seed=7))
    return policy


def decide_one_by_one(policy: Policy, contexts: NDArray[np.uint8], available: list[int] | None = None) -> Decisions:
    """Decide each context by a call of its own."""
    decisions = [policy.decide(context, available_actions=available) for context in contexts]
    return Decisions(
        np.array([decision.action for decision in decisions], dtype=np.int64),
        np.array([decision.propensity for decision in decisions], dtype=np.float64),
    )


def learn_one_by_one(policy: Policy, log: Log) -> None:
    """Learn each event by a call of its own."""
    for context, action, reward, propensity in zip(*log, strict=True):
        policy.learn(context, int(action), float(reward), propensity=float(propensity))


def play_one_by_one(policy: Policy, events: Stream) -> Played:
    """Decide and learn each event by calls of its own."""
    n_events = len(events.contexts)
    played = Played(np.empty(n_events, np.int64), np.empty(n_events), np.empty(n_events))
    for event, (context, rewards) in enumerate(zip(*events, strict=True)):
        action, propensity = policy.decide(context)
        reward = float(rewards[action])
        policy.learn(context, action, reward, propensity=propensity)
        played.actions[event], played.propensities[event], played.rewards[event] = action, propensity, reward
    return played
