"""The protocol of all policies, decide now and learn later, and a base class that checks arguments."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bandit_forest.errors import refuse
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

__all__ = ["CheckedPolicy", "Decision", "Decisions", "Played", "Policy"]


Bits = NDArray[np.uint8]
Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]


class Decision(NamedTuple):
    """An action and the probability with which it was drawn."""

    action: int
    propensity: float


class Decisions(NamedTuple):
    """Decisions of a batch: `actions[i]` was drawn with probability `propensities[i]`."""

    actions: NDArray[np.int64]
    propensities: NDArray[np.float64]


class Played(NamedTuple):
    """Actions of a policy on a stream, their propensities and the rewards they earned."""

    actions: NDArray[np.int64]
    propensities: NDArray[np.float64]
    rewards: NDArray[np.float64]


@runtime_checkable
class Policy(Protocol):
    """A policy: it chooses actions, and learns from the reward of the chosen action alone.

    `learn` may be called late, out of order, never, or for an event that another policy decided.
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


def missing_names(policy: object) -> list[str]:
    """Return the methods and properties of `Policy` that an object does not have.

    Examples
    --------
    >>> missing_names("no policy")
    ['n_variables', 'n_actions', 'decide', 'learn', 'decide_many', 'learn_many', 'play']
    """
    return [name for name in vars(Policy) if not name.startswith("_") and not hasattr(policy, name)]


class CheckedPolicy(ABC):
    """Base class of policies: it checks arguments, and applies the methods of one event to batches.

    A subclass implements `_decide(context, available)`, where `available` is a mask of the actions, or None for all of
    them, and `_learn(context, action, reward, propensity)`. It may also implement `_decide_many`, `_learn_many` and
    `_play` to be faster than one event after the other.

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
        self._largest_codes: NDArray[np.uint8] | None = None  # of the variables; all are binary when None

    @property
    def n_variables(self) -> int:
        """The number of binary variables of a context."""
        return self._n_variables

    @property
    def n_actions(self) -> int:
        """The number of actions."""
        return self._n_actions

    def decide(self, context: ArrayLike, *, available_actions: ArrayLike | None = None) -> Decision:
        """Choose an action for one context.

        Parameters
        ----------
        context
            Zeros and ones, one for each variable.
        available_actions
            The actions that may be taken for this event; all when None.

        Returns
        -------
        Decision
            The action, and the probability with which it was drawn.
        """
        return self._decide(*self._checked(context, available_actions, "decide"))

    def learn(self, context: ArrayLike, action: int, reward: float, *, propensity: float) -> None:
        """Learn from the reward of the action taken in a context.

        Parameters
        ----------
        context
            Zeros and ones, one for each variable.
        action
            The action that was taken.
        reward
            Reward of the action, in [0, 1].
        propensity
            The probability with which the action was drawn, in (0, 1].
        """
        owner = f"{type(self).__name__}.learn"
        bits = check_context(context, owner, self._n_variables, self._largest_codes)
        checked_action = check_action(action, owner, self._n_actions)
        self._learn(bits, checked_action, check_reward(reward, owner), check_propensity(propensity, owner))

    def decide_many(self, contexts: Any, *, available_actions: ArrayLike | None = None) -> Decisions:
        """Choose an action for each context; nothing is learned in between.

        Parameters
        ----------
        contexts
            Rows of zeros and ones; or of packed 64-bit words; or a sparse matrix of rows (CSR).
        available_actions
            The actions that may be taken for these events; all when None.
        """
        owner = f"{type(self).__name__}.decide_many"
        rows = check_contexts(contexts, owner, self._n_variables, self._largest_codes)
        return self._decide_many(rows, check_available(available_actions, owner, self._n_actions))

    def learn_many(self, contexts: Any, actions: ArrayLike, rewards: ArrayLike, *, propensities: ArrayLike) -> None:
        """Learn from a batch of events, in their order: the same as `learn` for each.

        Parameters
        ----------
        contexts
            Rows of zeros and ones; or of packed 64-bit words; or a sparse matrix of rows (CSR).
        actions, rewards, propensities
            One for each event.
        """
        owner = f"{type(self).__name__}.learn_many"
        rows = check_contexts(contexts, owner, self._n_variables, self._largest_codes)
        self._learn_many(
            rows,
            check_actions(actions, owner, self._n_actions, len(rows)),
            check_rewards(rewards, owner, (len(rows),)),
            check_fractions(propensities, "propensities", owner, (len(rows),), open_low=True),
        )

    def play(self, contexts: Any, rewards: ArrayLike) -> Played:
        """Decide and learn event by event on a stream whose rewards of all actions are known, for simulations.

        Parameters
        ----------
        contexts
            Rows of zeros and ones; or of packed 64-bit words; or a sparse matrix of rows (CSR).
        rewards
            The reward of every action, one row per event; only the reward of the chosen action is used.
        """
        owner = f"{type(self).__name__}.play"
        rows = check_contexts(contexts, owner, self._n_variables, self._largest_codes)
        return self._play(rows, check_rewards(rewards, owner, (len(rows), self._n_actions)))

    def propensities_many(self, contexts: Any, *, available_actions: ArrayLike | None = None) -> Floats:
        """Return the probability with which `decide` would draw each action, one row per context.

        Parameters
        ----------
        contexts
            Rows of zeros and ones; or of packed 64-bit words; or a sparse matrix of rows (CSR).
        available_actions
            The actions that may be taken for these events; all when None.
        """
        owner = f"{type(self).__name__}.propensities_many"
        rows = check_contexts(contexts, owner, self._n_variables, self._largest_codes)
        check_available(available_actions, owner, self._n_actions)
        propensities = self._reader("propensities")
        return self._rows([propensities(row, available_actions=available_actions) for row in rows])

    def mean_rewards_many(self, contexts: Any) -> Floats:
        """Return the estimated mean reward of each action, one row per context.

        Parameters
        ----------
        contexts
            Rows of zeros and ones; or of packed 64-bit words; or a sparse matrix of rows (CSR).
        """
        rows = check_contexts(
            contexts, f"{type(self).__name__}.mean_rewards_many", self._n_variables, self._largest_codes
        )
        mean_rewards = self._reader("mean_rewards")
        return self._rows([mean_rewards(row) for row in rows])

    def _reader(self, name: str) -> Callable[..., ArrayLike]:
        """Return the method of this name, which not every policy has."""
        method: Callable[..., ArrayLike] | None = getattr(self, name, None)
        if method is None:
            refuse("policy", f"{name}_many", f"a policy with the method '{name}'", type(self).__name__)
        return method

    def _rows(self, rows: list[ArrayLike]) -> Floats:
        return np.array(rows, dtype=np.float64).reshape(len(rows), self._n_actions)

    @abstractmethod
    def _decide(self, context: Bits, available: Mask | None) -> Decision:
        """Choose an action; `available` is a mask over the actions, or None when all are available."""

    @abstractmethod
    def _learn(self, context: Bits, action: int, reward: float, propensity: float) -> None:
        """Learn from one event whose arguments have been checked."""

    def _decide_many(self, contexts: Bits, available: Mask | None) -> Decisions:
        decisions = [self._decide(row, available) for row in contexts]
        return Decisions(
            np.array([decision.action for decision in decisions], dtype=np.int64),
            np.array([decision.propensity for decision in decisions], dtype=np.float64),
        )

    def _learn_many(self, contexts: Bits, actions: NDArray[np.int64], rewards: Floats, propensities: Floats) -> None:
        events = zip(contexts, actions.tolist(), rewards.tolist(), propensities.tolist(), strict=True)
        for row, action, reward, propensity in events:
            self._learn(row, action, reward, propensity)

    def _play(self, contexts: Bits, rewards: Floats) -> Played:
        n_events = len(contexts)
        played = Played(np.empty(n_events, np.int64), np.empty(n_events), np.empty(n_events))
        for event, row in enumerate(contexts):
            action, propensity = self._decide(row, None)
            reward = float(rewards[event, action])
            self._learn(row, action, reward, propensity)
            played.actions[event], played.propensities[event], played.rewards[event] = action, propensity, reward
        return played

    def _checked(
        self, context: ArrayLike, available_actions: ArrayLike | None, method: str
    ) -> tuple[Bits, Mask | None]:
        owner = f"{type(self).__name__}.{method}"
        bits = check_context(context, owner, self._n_variables, self._largest_codes)
        return bits, check_available(available_actions, owner, self._n_actions)
