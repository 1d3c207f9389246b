"""A policy as a learner of coba."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from bandit_forest.adapters.contexts import ContextReader
from bandit_forest.encoding import ContextEncoder
from bandit_forest.errors import refuse
from bandit_forest.forest import BanditForest

__all__ = ["CobaLearner"]


class CobaLearner:
    """A learner of coba with `predict`, `score` and `learn`; it does not import coba.

    The policy is made at the first prediction, when the number of actions is known. Actions are distinguished by their
    values. Later events may offer a subset of the actions of the first event.

    Parameters
    ----------
    features
        A fitted `ContextEncoder` for contexts that are mappings of raw features; or the number of variables of contexts
        that are zeros and ones.
    make
        Callable that makes the policy, as `make(n_variables=..., n_actions=...)`, with `thresholds` if the encoder has
        ordered variables; a forest by default.
    name
        Its name in coba's tables.
    reward_range
        The least and the largest possible reward.
    """

    def __init__(
        self,
        *,
        features: ContextEncoder | int,
        make: Callable[..., Any] = BanditForest,
        name: str = "BanditForest",
        reward_range: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        self._contexts = ContextReader(features, "CobaLearner")
        self._make, self._name, self._range = make, name, reward_range
        self._policy: Any = None
        self._numbers: dict[Hashable, int] = {}

    @property
    def params(self) -> Mapping[str, Any]:
        """Parameters of the learner, as coba shows them."""
        return {"family": self._name}

    def predict(self, context: Any, actions: Sequence[Any]) -> tuple[Any, float]:
        """Return an action and its probability."""
        numbers = self._numbers_of(actions)
        decision = self._policy.decide(self._contexts.read(context), available_actions=self._available(numbers))
        return actions[numbers.index(decision.action)], decision.propensity

    def score(self, context: Any, actions: Sequence[Any], action: Any) -> float:
        """Return the probability of an action."""
        numbers = self._numbers_of(actions)
        bits = self._contexts.read(context)
        table = self._policy.propensities(bits, available_actions=self._available(numbers))
        return float(table[self._number(action)])

    def learn(self, context: Any, action: Any, reward: float, probability: float, **_kwargs: Any) -> None:
        """Learn from the reward of an action."""
        low, high = self._range
        bits = self._contexts.read(context)
        self._policy.learn(bits, self._number(action), (reward - low) / (high - low), propensity=probability)

    def _numbers_of(self, actions: Sequence[Any]) -> list[int]:
        if self._policy is None:
            self._numbers = {_key(action): number for number, action in enumerate(actions)}
            self._policy = self._make(**self._contexts.arguments, n_actions=len(actions))
        return [self._number(action) for action in actions]

    def _number(self, action: Any) -> int:
        number = self._numbers.get(_key(action))
        if number is None:
            refuse("action", "CobaLearner", "one of the actions of the first event", action)
        return number

    def _available(self, numbers: list[int]) -> np.ndarray[Any, np.dtype[np.int64]] | None:
        return None if len(numbers) == len(self._numbers) else np.array(numbers, dtype=np.int64)


def _key(action: Any) -> Hashable:
    """Return what tells actions apart: coba gives some as lists or dicts."""
    if isinstance(action, Mapping):
        return tuple(sorted(action.items()))
    key: Hashable = tuple(action) if isinstance(action, list) else action
    return key
