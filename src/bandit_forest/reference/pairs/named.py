"""A forest with fixed actions beside the pairs: while names are few, each of them has an action there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandit_forest.reference.exploration import upper_bounds
from bandit_forest.reference.greedy import GreedyReferenceForest

__all__ = ["NamedForest"]

Codes = NDArray[np.uint8]

_SHRINKAGE = 4.0  # events that the estimate of the pair is worth
_RIDGE = 1.0  # of the regression for the weight


class _FixedActions(GreedyReferenceForest):
    """The forest with fixed actions, with its upper confidence bounds."""

    def bounds(self, context: Codes, n_actions: int, optimism: float, of_line: float) -> list[float]:
        """Return the estimates of the first actions, raised by standard errors of the trees and of the line."""
        means, inverse_counts = self._tree_means(context)[:n_actions], self._inverse_counts(context)[:n_actions]
        bounds = upper_bounds(means, inverse_counts, optimism)
        if self._linear is not None:
            x, line, blend = self._linear.line.terms(context), self._linear.line, self._linear.blend
            for action, bound in enumerate(bounds):
                linear = line.mean(x, action) + of_line * math.sqrt(line.variance(x, action))
                bounds[action] = blend.trees * bound + blend.line * linear
        return bounds


class NamedForest:
    """Estimates of actions by name in a context, and the weight with which those of pairs move towards them.

    A name that is learned for the first time takes the next free action of a forest with fixed actions. When there is
    none left, the forest is closed for good.

    A shift is the estimate of a name less that of the pair, shrunk while the name has few events. The weight of all
    shifts is the coefficient of a regression of the pairs' errors on them: zero where they explain nothing of these.

    Parameters
    ----------
    n_actions
        Number of actions of the forest; 0: it is closed from the beginning.
    forest
        Other parameters of `GreedyReferenceForest`.

    Examples
    --------
    >>> named = NamedForest(2, n_variables=1)
    >>> context = np.array([1], dtype=np.uint8)
    >>> for _ in range(100):
    ...     named.learn(context, 7, 1.0, of_pair=0.5)
    ...     named.learn(context, 8, 0.0, of_pair=0.5)
    >>> [round(estimate, 1) for estimate in named.moved([0.5, 0.5], context, [7, 8])]
    [1.0, 0.0]
    >>> named.learn(context, 9, 0.0, of_pair=0.5)
    >>> named.is_open
    False
    """

    def __init__(self, n_actions: int, **forest: Any) -> None:
        self._n_actions = n_actions
        self._forest = _FixedActions(n_actions=n_actions, **forest) if n_actions > 0 else None
        self._names: list[int] = []
        self._counts: list[int] = []
        self._shift_shift = self._shift_error = 0.0

    @property
    def is_open(self) -> bool:
        """Whether every name so far has an action."""
        return self._forest is not None

    @property
    def weight(self) -> float:
        """Weight of the names' estimates, in [0, 1]; the rest is that of the pairs."""
        return min(max(self._shift_error / (self._shift_shift + _RIDGE), 0.0), 1.0) if self.is_open else 0.0

    def moved(
        self,
        estimates: Sequence[float],
        context: Codes,
        names: Sequence[int],
        optimism: float = 0.0,
        of_line: float = 0.0,
    ) -> list[float]:
        """Return the moved estimates of offered actions; those of pairs and those of names are raised alike."""
        if self._forest is None or not self._names:
            return list(estimates)
        of_names = self._forest.bounds(context, len(self._names), optimism, of_line)
        return [
            of_pair + self.weight * self._shift(name, of_pair, of_names) if name in self._names else of_pair
            for of_pair, name in zip(estimates, names, strict=True)
        ]

    def learn(self, context: Codes, name: int, reward: float, of_pair: float) -> None:
        """Learn the reward of an action, whose estimate as a pair was `of_pair`."""
        if self._forest is None:
            return
        if name not in self._names:
            if len(self._names) == self._n_actions:
                self._forest = None
                return
            self._names.append(name)
            self._counts.append(0)
        shift = self._shift(name, of_pair, self._forest.mean_rewards(context))
        self._shift_shift += shift * shift
        self._shift_error += shift * (reward - of_pair)
        action = self._names.index(name)
        self._forest.learn(context, action, reward, propensity=1.0)
        self._counts[action] += 1

    def _shift(self, name: int, of_pair: float, of_names: Sequence[float]) -> float:
        """Return the estimate of a name less that of the pair, shrunk while the name has few events."""
        action = self._names.index(name)
        n = self._counts[action]
        return (of_names[action] - of_pair) * (n / (n + _SHRINKAGE))
