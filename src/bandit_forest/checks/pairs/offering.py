"""A policy over pairs as one over fixed actions, so that the checks of such policies look at it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandit_forest.checks.subject import require
from bandit_forest.policy import CheckedPolicy, Decision, Decisions

__all__ = ["Offering"]

Bits = NDArray[np.uint8]
Floats = NDArray[np.float64]


class Offering(CheckedPolicy):
    """Offers the same actions to a policy over pairs at each event; an action has one variable, and its number as name.

    It has what the policy has: batches, propensities, `save`, `load` and `n_bytes`.

    Parameters
    ----------
    policy
        A policy over pairs, with a variable for each action.
    n_variables, n_actions
        Number of variables of a context, and of actions.
    """

    def __init__(self, policy: Any, *, n_variables: int, n_actions: int) -> None:
        super().__init__(n_variables=n_variables, n_actions=n_actions)
        self._policy = policy
        self._features = np.eye(self.n_actions, dtype=np.uint8)

    @property
    def n_bytes(self) -> int | None:
        """The memory that the policy takes, where it tells."""
        return getattr(self._policy, "n_bytes", None)

    @property
    def save(self) -> Any:
        """The policy's own way to save, where it has one."""
        return self._policy.save

    @property
    def load(self) -> Callable[[Any], Offering]:
        """The policy's own way to load, where it has one."""
        load = self._policy.load

        def loaded(path: Any) -> Offering:
            policy, kind = load(path), type(self._policy)
            require(type(policy) is kind, f"load gives a {type(policy).__name__}, not a {kind.__name__}")
            return Offering(policy, n_variables=self.n_variables, n_actions=self.n_actions)

        return loaded

    @property
    def propensities(self) -> Callable[..., Floats]:
        """The probability of each action, where the policy tells it."""
        told = self._policy.propensities

        def propensities(context: Bits, *, available_actions: Any = None) -> Floats:
            places = np.arange(self.n_actions) if available_actions is None else np.asarray(available_actions)
            table = np.zeros(self.n_actions)
            table[places] = told(context, self._features[places], names=places.tolist())
            return table

        return propensities

    def _decide(self, context: Bits, available: NDArray[np.bool_] | None) -> Decision:
        places = self._places(available)
        decision = self._policy.decide(context, self._features[places], names=places.tolist())
        return Decision(int(places[decision.action]), decision.propensity)

    def _learn(self, context: Bits, action: int, reward: float, propensity: float) -> None:
        self._policy.learn(context, self._features[action], reward, propensity=propensity, name=action)

    def _decide_many(self, contexts: Bits, available: NDArray[np.bool_] | None) -> Decisions:
        if not hasattr(self._policy, "decide_many"):
            return super()._decide_many(contexts, available)
        places, n_events = self._places(available), len(contexts)
        actions, n_offered = np.tile(self._features[places], (n_events, 1)), np.full(n_events, len(places))
        names = places.tolist() * n_events
        decisions = self._policy.decide_many(contexts, actions, n_offered=n_offered, names=names)
        return Decisions(places[decisions.actions], decisions.propensities)

    def _learn_many(self, contexts: Bits, actions: NDArray[np.int64], rewards: Floats, propensities: Floats) -> None:
        if not hasattr(self._policy, "learn_many"):
            super()._learn_many(contexts, actions, rewards, propensities)
            return
        taken, names = self._features[actions], actions.tolist()
        self._policy.learn_many(contexts, taken, rewards, propensities=propensities, names=names)

    def _places(self, available: NDArray[np.bool_] | None) -> NDArray[np.intp]:
        return np.arange(self.n_actions) if available is None else np.flatnonzero(available)
