"""What every policy offers: decide now, learn later; and a base class for policies written in Python."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bandit_forest.validation import (
    check_action,
    check_actions,
    check_available,
    check_context,
    check_contexts,
    check_fractions,
    check_int,
    check_propensity,
    check_reward,
    check_rewards,
)

__all__ = ["Decision", "Decisions", "Played", "Policy", "PythonPolicy"]


class Decision(NamedTuple):
    """An action and the probability with which it was drawn."""

    action: int
    propensity: float


class Decisions(NamedTuple):
    """Decisions of a batch: `actions[i]` was drawn with probability `propensities[i]`."""

    actions: NDArray[np.int64]
    propensities: NDArray[np.float64]


class Played(NamedTuple):
    """What a policy did on a stream: its actions, their propensities and the rewards they earned."""

    actions: NDArray[np.int64]
    propensities: NDArray[np.float64]
    rewards: NDArray[np.float64]


@runtime_checkable
class Policy(Protocol):
    """A way to choose actions that learns from the reward of the chosen action alone.

    `learn` may come late, out of order, never, or for an event that another policy decided.
    """

    @property
    def n_variables(self) -> int:
        """The number of binary variables of a context."""

    @property
    def n_actions(self) -> int:
        """The number of actions."""

    def decide(self, context: ArrayLike, *, available_actions: ArrayLike | None = None) -> Decision:
        """Choose an action for one context."""

    def learn(self, context: ArrayLike, action: int, reward: float, *, propensity: float) -> None:
        """Learn from the reward of the action taken in a context."""

    def decide_many(self, contexts: Any, *, available_actions: ArrayLike | None = None) -> Decisions:
        """Choose an action for each context; nothing is learned in between."""

    def learn_many(self, contexts: Any, actions: ArrayLike, rewards: ArrayLike, *, propensities: ArrayLike) -> None:
        """Learn from a batch of events, in their order."""

    def play(self, contexts: Any, rewards: ArrayLike) -> Played:
        """Decide and learn event by event on a stream whose rewards of all actions are known."""


class PythonPolicy(ABC):
    """A policy that is written in Python: it says how to decide and learn, this class checks and repeats.

    Parameters
    ----------
    n_variables
        Number of binary variables of a context.
    n_actions
        Number of actions.
    """

    def __init__(self, *, n_variables: int, n_actions: int) -> None:
        owner = type(self).__name__
        self._n_variables = check_int(n_variables, "n_variables", owner)
        self._n_actions = check_int(n_actions, "n_actions", owner)

    @property
    def n_variables(self) -> int:
        """The number of binary variables of a context."""
        return self._n_variables

    @property
    def n_actions(self) -> int:
        """The number of actions."""
        return self._n_actions

    @abstractmethod
    def _decide(self, context: NDArray[np.uint8], available: NDArray[np.bool_] | None) -> Decision:
        """Choose an action; `available` is a mask over the actions, or None when all are available."""

    @abstractmethod
    def _learn(self, context: NDArray[np.uint8], action: int, reward: float, propensity: float) -> None:
        """Learn from one event whose arguments have been checked."""

    def decide(self, context: ArrayLike, *, available_actions: ArrayLike | None = None) -> Decision:
        """Choose an action for one context.

        Parameters
        ----------
        context
            Zeros and ones, one for each variable.
        available_actions
            The actions that may be taken for this event; all when None.
        """
        owner = f"{type(self).__name__}.decide"
        bits = check_context(context, owner, self._n_variables)
        return self._decide(bits, check_available(available_actions, owner, self._n_actions))

    def learn(self, context: ArrayLike, action: int, reward: float, *, propensity: float) -> None:
        """Learn from the reward of the action taken in a context.

        Parameters
        ----------
        context
            Zeros and ones, one for each variable.
        action
            The action that was taken.
        reward
            What it earned, in [0, 1].
        propensity
            The probability with which it was drawn, in (0, 1].
        """
        owner = f"{type(self).__name__}.learn"
        bits = check_context(context, owner, self._n_variables)
        checked_action = check_action(action, owner, self._n_actions)
        self._learn(bits, checked_action, check_reward(reward, owner), check_propensity(propensity, owner))

    def decide_many(self, contexts: Any, *, available_actions: ArrayLike | None = None) -> Decisions:
        """Choose an action for each context; nothing is learned in between."""
        owner = f"{type(self).__name__}.decide_many"
        rows = check_contexts(contexts, owner, self._n_variables)
        available = check_available(available_actions, owner, self._n_actions)
        decisions = [self._decide(row, available) for row in rows]
        return Decisions(
            np.array([decision.action for decision in decisions], dtype=np.int64),
            np.array([decision.propensity for decision in decisions], dtype=np.float64),
        )

    def learn_many(self, contexts: Any, actions: ArrayLike, rewards: ArrayLike, *, propensities: ArrayLike) -> None:
        """Learn from a batch of events, in their order."""
        owner = f"{type(self).__name__}.learn_many"
        rows = check_contexts(contexts, owner, self._n_variables)
        n_events = len(rows)
        checked_actions = check_actions(actions, owner, self._n_actions, n_events)
        checked_rewards = check_rewards(rewards, owner, (n_events,))
        checked_propensities = check_fractions(propensities, "propensities", owner, (n_events,), open_low=True)
        for row, action, reward, propensity in zip(
            rows, checked_actions.tolist(), checked_rewards.tolist(), checked_propensities.tolist(), strict=True
        ):
            self._learn(row, action, reward, propensity)

    def play(self, contexts: Any, rewards: ArrayLike) -> Played:
        """Decide and learn event by event on a stream whose rewards of all actions are known.

        Parameters
        ----------
        contexts
            A matrix of contexts, an event a row.
        rewards
            The reward of every action, an event a row; only that of the chosen action is looked at.
        """
        owner = f"{type(self).__name__}.play"
        rows = check_contexts(contexts, owner, self._n_variables)
        table = check_rewards(rewards, owner, (len(rows), self._n_actions))
        played = Played(np.empty(len(rows), np.int64), np.empty(len(rows)), np.empty(len(rows)))
        for event, row in enumerate(rows):
            action, propensity = self._decide(row, None)
            reward = float(table[event, action])
            self._learn(row, action, reward, propensity)
            played.actions[event], played.propensities[event], played.rewards[event] = action, propensity, reward
        return played
