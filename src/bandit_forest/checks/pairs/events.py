"""Small streams of offers on which policies over pairs are checked, and the plain ways to play them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bandit_forest.checks.pairs.offering import Offering
from bandit_forest.checks.pairs.subject import PairPolicy, PairSubject
from bandit_forest.policy import Decisions, Played

__all__ = ["N_ACTION", "N_CONTEXT", "Event", "as_fixed", "decide_all", "events", "play", "trained"]

N_CONTEXT, N_ACTION = 5, 3
"""Number of variables of a context and of an action."""

_N_OFFERED = 3
_KINDS = np.array([[kind >> bit & 1 for bit in range(N_ACTION)] for kind in range(2**N_ACTION)], dtype=np.uint8)


class Event(NamedTuple):
    """A context, the actions that it offers, their names, and the reward of each."""

    context: NDArray[np.uint8]
    actions: NDArray[np.uint8]
    names: list[str]
    rewards: NDArray[np.float64]


def events(n_events: int, *, seed: int = 0, new: bool = False, noise: float = 0.0) -> Iterator[Event]:
    """Return events that offer three of eight kinds of actions, which differ in their features.

    An action earns 1 where its first variable is that of the context, else 0: uniform draws earn a half on average.

    Parameters
    ----------
    n_events
        Number of events.
    seed
        Seed of the events.
    new
        Whether no name comes twice; else actions of one kind have the same name.
    noise
        Share of the rewards that are the opposite.
    """
    generator = np.random.default_rng(seed)
    for event in range(n_events):
        context = generator.integers(2, size=N_CONTEXT, dtype=np.uint8)
        kinds = generator.permutation(len(_KINDS))[:_N_OFFERED]
        names = [f"new {seed} {event} {kind}" if new else f"kind {kind}" for kind in kinds.tolist()]
        right = _KINDS[kinds, 0] == context[0]
        rewards = np.where(generator.random(_N_OFFERED) < noise, ~right, right).astype(np.float64)
        yield Event(context, _KINDS[kinds], names, rewards)


def trained(subject: PairSubject, n_events: int = 20) -> PairPolicy:
    """Make a policy that has played some events."""
    policy = subject.fresh(n_context_variables=N_CONTEXT, n_action_variables=N_ACTION)
    play(policy, events(n_events, seed=7, noise=0.2))
    return policy


def play(policy: PairPolicy, stream: Iterator[Event]) -> Played:
    """Decide and learn each event by calls of its own."""
    played = []
    for context, actions, names, rewards in stream:
        action, propensity = policy.decide(context, actions, names=names)
        reward = float(rewards[action])
        policy.learn(context, actions[action], reward, propensity=propensity, name=names[action])
        played.append((action, propensity, reward))
    return Played(*(np.array(column) for column in zip(*played, strict=True)))


def decide_all(policy: PairPolicy, stream: Iterator[Event]) -> Decisions:
    """Decide each event by a call of its own."""
    decisions = [policy.decide(event.context, event.actions, names=event.names) for event in stream]
    return Decisions(*(np.array(column) for column in zip(*decisions, strict=True)))


def as_fixed(policy: PairPolicy) -> Offering:
    """Return a policy that was made for these events as one over fixed actions, to compare it with another."""
    return Offering(policy, n_variables=N_CONTEXT, n_actions=N_ACTION)
