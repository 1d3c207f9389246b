"""The forest over pairs in plain Python: one model of the reward of a context and an action together.

Its trees are those of the default forest with a single action: they split on variables of either side. A bilinear
estimate stands beside them, and what is known of an action by its name is added: in a context while names are few, in
all contexts alike where they are many. The forest draws among the actions
that are offered by inverse gap weighting on upper confidence bounds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandit_forest.policy import Decision
from bandit_forest.randomness import DECISION, KEY, draw, mix
from bandit_forest.reference.exploration import inverse_gap, pick, standard_errors, upper_bounds
from bandit_forest.reference.greedy import GreedyReferenceForest
from bandit_forest.reference.linear import Blend
from bandit_forest.reference.pairs.line import PairLine
from bandit_forest.reference.pairs.named import NamedForest
from bandit_forest.reference.pairs.names import NameTable
from bandit_forest.rules import Greedy, InverseGap

__all__ = ["PairReferenceForest"]

Codes = NDArray[np.uint8]


class _Trees(GreedyReferenceForest):
    """The trees of pairs, which are contexts of a forest with a single action."""

    def estimate(self, pair: Codes) -> tuple[float, float]:
        """Return the mean reward of a pair, and 1 / the number of events behind it."""
        return self._tree_means(pair)[0], self._inverse_counts(pair)[0]


class PairReferenceForest:
    """The forest over pairs in plain Python.

    Parameters
    ----------
    n_context_variables, n_action_variables
        Number of variables of a context and of an action.
    thresholds
        Thresholds of each ordered variable; those of the action are numbered behind those of the context.
    n_names
        Number of entries of the table of names.
    n_named_actions
        Number of names up to which each has an action in a forest with fixed actions.
    growth, exploration
        How the trees grow, and how actions are drawn.
    seed
        Seed of all random draws.
    trees
        Other parameters of `GreedyReferenceForest`.

    Examples
    --------
    >>> forest = PairReferenceForest(n_context_variables=1, n_action_variables=2)
    >>> forest.decide([0], [[0, 1], [1, 0]]).propensity
    0.5
    """

    def __init__(
        self,
        *,
        n_context_variables: int,
        n_action_variables: int,
        thresholds: Mapping[int, Sequence[float]] | None = None,
        n_names: int = 64,
        n_named_actions: int = 32,
        growth: Greedy | None = None,
        exploration: InverseGap | None = None,
        seed: int = 0,
        **trees: Any,
    ) -> None:
        growth = growth or Greedy()
        self.trees = _Trees(
            n_variables=n_context_variables + n_action_variables,
            n_actions=1,
            thresholds=thresholds,
            growth=replace(growth, linear=False),
            seed=seed,
            **trees,
        )
        levels = self.trees.levels
        self.line = PairLine(levels[:n_context_variables], levels[n_context_variables:]) if growth.linear else None
        self.blend = Blend()
        self.names = NameTable(n_names)
        self.named = NamedForest(
            n_named_actions,
            n_variables=n_context_variables,
            thresholds={number: cuts for number, cuts in (thresholds or {}).items() if number < n_context_variables},
            growth=growth,
            seed=seed,
            **trees,
        )
        self._exploration = exploration or InverseGap()
        self._seed = seed
        self.n_events = 0
        self._n_decisions = 0

    def mean_rewards(self, context: Any, actions: Any, names: Sequence[int] | None = None) -> list[float]:
        """Return the estimated mean reward of each action that is offered."""
        return [
            min(max(mean, 0.0), 1.0) for mean in self._estimates(context, actions, names, optimism=0.0, of_line=0.0)
        ]

    def probabilities(self, context: Any, actions: Any, names: Sequence[int] | None = None) -> list[float]:
        """Return the probability of each action that is offered."""
        rule, age = self._exploration, float(self.n_events)
        errors = standard_errors(rule, age)
        bounds = self._estimates(context, actions, names, optimism=errors, of_line=rule.linear_optimism)
        return inverse_gap(bounds, range(len(bounds)), rule.gamma_scale * math.cbrt(age))

    def decide(
        self, context: Any, actions: Any, names: Sequence[int] | None = None, key: int | None = None
    ) -> Decision:
        """Choose one of the actions that are offered."""
        probabilities = self.probabilities(context, actions, names)
        action = pick(probabilities, draw(self._seed, *self._address(key)))
        return Decision(action, probabilities[action])

    def rank(self, context: Any, actions: Any, names: Sequence[int] | None = None, key: int | None = None) -> list[int]:
        """Order the actions that are offered by draws without replacement; the first is `decide`'s."""
        purpose, number = self._address(key)
        left = self.probabilities(context, actions, names)
        order = [pick(left, draw(self._seed, purpose, number))]
        while len(order) < len(left):
            left[order[-1]] = 0.0
            total = _sum(left)
            place = draw(mix(self._seed, len(order)), purpose, number)
            order.append(pick(left, place * total))
        return order

    def learn(self, context: Any, action: Any, reward: float, name: int | None = None) -> None:
        """Learn the reward of a pair."""
        context, action = np.asarray(context, dtype=np.uint8), np.asarray(action, dtype=np.uint8)
        pair, value = np.concatenate([context, action]), float(np.float32(reward))
        mean, _ = self.trees.estimate(pair)
        estimate = mean
        if self.line is not None:
            c, a = self.line.context_terms(context), self.line.action_terms(action)
            linear = self.line.mean(c, a)
            estimate = self.blend.trees * mean + self.blend.line * linear
            self.line.learn(c, a, value)
            self.blend.learn(trees=mean, line=linear, reward=value, memory=float(self.n_events + 1))
            self.blend.solve()
        if name is not None:
            self.names.learn(name, value - estimate)
            self.named.learn(context, name, value, estimate)
        self.trees.learn(pair, 0, reward, propensity=1.0)
        self.n_events += 1

    def _estimates(
        self, context: Any, actions: Any, names: Sequence[int] | None, *, optimism: float, of_line: float
    ) -> list[float]:
        """Return estimates raised by standard errors, of the trees and of the line."""
        context, actions = np.asarray(context, dtype=np.uint8), np.asarray(actions, dtype=np.uint8)
        known = [self.trees.estimate(np.concatenate([context, action])) for action in actions]
        bounds = upper_bounds([mean for mean, _ in known], [inverse for _, inverse in known], optimism)
        for number, action in enumerate(actions):
            bound = bounds[number]
            if self.line is not None:
                c, a = self.line.context_terms(context), self.line.action_terms(action)
                linear = self.line.mean(c, a) + of_line * math.sqrt(self.line.variance(c, a))
                bound = self.blend.trees * bound + self.blend.line * linear
            bounds[number] = bound
        if names is None:
            return bounds
        if self.named.is_open:
            return self.named.moved(bounds, context, names, optimism, of_line)
        return [bound + self.names.estimate(name) for bound, name in zip(bounds, names, strict=True)]

    def _address(self, key: int | None) -> tuple[int, int]:
        """Return purpose and number of the draw of a decision."""
        if key is not None:
            return KEY, key
        self._n_decisions += 1
        return DECISION, self._n_decisions - 1


def _sum(numbers: Sequence[float]) -> float:
    total = 0.0
    for number in numbers:
        total += number
    return total
