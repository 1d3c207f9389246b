"""Greedy growth in plain Python: the specification of the default forest.

A leaf keeps a mean reward for every action and remembers its events. When it holds enough of them, it splits on the
variable whose two values explain most of the variance of the rewards, if that is more than noise would; its events and
means go on in its children. The forest draws by inverse gap weighting on the mean of the trees' means.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bandit_forest.policy import CheckedPolicy, Decision
from bandit_forest.randomness import (
    DECISION,
    LEARNING,
    child_key,
    draw,
    draw_depth,
    mix,
    random_subset,
    root_key,
    uniform,
)
from bandit_forest.reference.exploration import inverse_gap, pick
from bandit_forest.rules import Greedy, InverseGap
from bandit_forest.validation import check_int, check_number, check_range

__all__ = ["GreedyLeaf", "GreedyReferenceForest", "GreedyReferenceTree", "best_split"]

Bits = NDArray[np.uint8]


class Event(NamedTuple):
    """One event of the log."""

    number: int
    context: Bits
    action: int
    reward: np.float32


@dataclass(eq=False)
class GreedyLeaf:
    """A node of a tree: a leaf until it splits. Means and counts are kept in single precision, as in the core."""

    key: int
    free_variables: list[int]
    """The variables that are not on its path."""
    means: NDArray[np.float32]
    counts: NDArray[np.float32]
    events: list[Event] = field(default_factory=list)
    until_test: int | None = None
    """Events until the leaf tries to split; None when it does not try any more."""
    variable: int | None = None
    gain: float = 0.0
    """Variance that the split explains, summed over the events."""
    children: list[GreedyLeaf] = field(default_factory=list)

    def learn(self, action: int, reward: np.float32, shrinkage: float) -> None:
        """Take the mean over the leaf's own events and `shrinkage` inherited ones."""
        self.counts[action] += np.float32(1)
        self.means[action] += (reward - self.means[action]) / (self.counts[action] + np.float32(shrinkage))

    def keep(self, events: list[Event], min_events: int) -> None:
        """Hold events; try to split when there are `min_events` of them."""
        self.events = events
        self.until_test = min_events - min(len(events), min_events - 1)


def best_split(leaf: GreedyLeaf, growth: Greedy, variable_share: float) -> tuple[int, float] | None:
    """Give the variable that explains most of the variance of a leaf's rewards, and how much, if it is enough."""
    contexts = np.array([event.context for event in leaf.events], dtype=np.int64)
    actions = np.array([event.action for event in leaf.events])
    rewards = [float(event.reward) for event in leaf.events]
    rows = [(action, np.flatnonzero(actions == action)) for action in dict.fromkeys(actions.tolist())]
    noise = 0.0
    for action, played in rows:
        mean = float(leaf.means[action])
        total = sum((rewards[position] for position in played), 0.0)
        squares = sum((rewards[position] * rewards[position] for position in played), 0.0)
        noise += squares - 2.0 * mean * total + len(played) * mean * mean
    least = growth.min_gain * noise / len(leaf.events)
    best, best_gain = None, 0.0
    for variable in random_subset(leaf.key, leaf.free_variables, variable_share):
        if int(contexts[:, variable].sum()) in (0, len(leaf.events)):
            continue
        gain = 0.0
        for action, played in rows:
            if len(played) >= 2:
                gain += _explained(leaf, action, played, contexts[:, variable], rewards, growth.shrinkage)
        if gain > best_gain and gain >= least:
            best, best_gain = variable, gain
    return None if best is None else (best, best_gain)


def _explained(
    leaf: GreedyLeaf,
    action: int,
    played: NDArray[np.intp],
    values: NDArray[np.int64],
    rewards: list[float],
    weight: float,
) -> float:
    """Give the variance of one action's rewards that a variable explains, its means shrunk towards the leaf's."""
    mean = float(leaf.means[action])
    total = sum((rewards[position] for position in played), 0.0)
    n1 = float(values[played].sum())
    n0 = len(played) - n1
    sum1 = sum((rewards[position] for position in played if values[position]), 0.0)
    shift1 = (sum1 + weight * mean) / (n1 + weight) - mean
    shift0 = (total - sum1 + weight * mean) / (n0 + weight) - mean
    return n1 * shift1 * shift1 + n0 * shift0 * shift0


class GreedyReferenceTree:
    """One tree: where a context leads, and how it grows."""

    def __init__(self, forest: GreedyReferenceForest, number: int, depths: tuple[int, int]) -> None:
        self._forest = forest
        self._key = mix(mix(forest.seed, LEARNING), number)
        self.max_depth = draw_depth(forest.seed, number, depths)
        n_actions = forest.n_actions
        self.root = GreedyLeaf(
            root_key(forest.seed, number),
            list(range(forest.n_variables)),
            np.zeros(n_actions, np.float32),
            np.zeros(n_actions, np.float32),
        )
        self.root.keep([], forest.growth.min_events)
        self.nodes = [self.root]

    def leaf(self, context: Bits) -> GreedyLeaf:
        """Give the leaf that a context leads to."""
        node = self.root
        while node.variable is not None:
            node = node.children[context[node.variable]]
        return node

    def learn(self, event: Event) -> None:
        """Learn an event, if this tree draws it."""
        growth = self._forest.growth
        if growth.learning_share < 1.0 and not uniform(mix(self._key, event.number)) < growth.learning_share:
            return
        leaf = self.leaf(event.context)
        leaf.learn(event.action, event.reward, growth.shrinkage)
        if leaf.until_test is not None:
            leaf.events.append(event)
            leaf.until_test -= 1
            if leaf.until_test == 0:
                self._try_split(leaf, event.number)

    def _try_split(self, leaf: GreedyLeaf, newest: int) -> None:
        growth = self._forest.growth
        depth = self._forest.n_variables - len(leaf.free_variables)
        full = len(self.nodes) + 2 > self._forest.max_nodes
        if depth >= min(self.max_depth, self._forest.n_variables) or full:
            leaf.events, leaf.until_test = [], None
            return
        leaf.events = [event for event in leaf.events if newest - event.number < growth.log_capacity]
        found = best_split(leaf, growth, self._forest.variable_share)
        if found is None:
            leaf.until_test = max(len(leaf.events), growth.min_events)
        else:
            self._split(leaf, *found)

    def _split(self, leaf: GreedyLeaf, variable: int, gain: float) -> None:
        growth = self._forest.growth
        leaf.variable, leaf.gain = variable, gain
        for value in (0, 1):
            key = child_key(leaf.key, variable, value)
            free = [other for other in leaf.free_variables if other != variable]
            child = GreedyLeaf(key, free, leaf.means.copy(), np.zeros_like(leaf.counts))
            events = [event for event in leaf.events if event.context[variable] == value]
            for event in events:
                child.learn(event.action, event.reward, growth.shrinkage)
            child.keep(events, growth.min_events)
            leaf.children.append(child)
        self.nodes += leaf.children
        leaf.events, leaf.until_test = [], None


class GreedyReferenceForest(CheckedPolicy):
    """The default forest in plain Python.

    Parameters
    ----------
    n_variables
        Number of binary variables of a context.
    n_actions
        Number of actions.
    n_trees
        Number of trees.
    max_depth
        Depth of the trees: an int, or a range from which each tree draws its own.
    variable_share
        Probability with which a leaf may split on a variable.
    growth
        How the trees grow.
    exploration
        How actions are drawn.
    max_nodes
        Most nodes of a tree.
    seed
        Of all draws.

    Examples
    --------
    >>> forest = GreedyReferenceForest(n_variables=4, n_actions=2, n_trees=3)
    >>> forest.decide([0, 1, 1, 0]).propensity
    0.5
    """

    def __init__(
        self,
        *,
        n_variables: int,
        n_actions: int,
        n_trees: int = 1,
        max_depth: int | tuple[int, int] = 40,
        variable_share: float = 0.5,
        growth: Greedy | None = None,
        exploration: InverseGap | None = None,
        max_nodes: int = 2**20,
        seed: int = 0,
    ) -> None:
        super().__init__(n_variables=n_variables, n_actions=n_actions)
        self.n_trees = check_int(n_trees, "n_trees", "GreedyReferenceForest")
        self.growth = growth or Greedy()
        self.exploration = exploration or InverseGap()
        self.seed = check_int(seed, "seed", "GreedyReferenceForest", low=0, high=2**64 - 1)
        self.variable_share = check_number(
            variable_share, "variable_share", "GreedyReferenceForest", "a number in (0, 1]", 0.0, 1.0, open_low=True
        )
        self.max_nodes = check_int(max_nodes, "max_nodes", "GreedyReferenceForest")
        depths = check_range(max_depth, "max_depth", "GreedyReferenceForest")
        self.trees = [GreedyReferenceTree(self, number, depths) for number in range(self.n_trees)]
        self._n_decisions = 0
        self._n_events = 0

    def mean_rewards(self, context: Bits) -> list[float]:
        """Give the mean of the trees' means, for each action."""
        means = [0.0] * self.n_actions
        for tree in self.trees:
            for action, mean in enumerate(tree.leaf(context).means.tolist()):
                means[action] += mean
        return [mean / self.n_trees for mean in means]

    def votes(self, context: Bits) -> list[int]:
        """Give the number of trees for which each action has the highest mean, the first of equals."""
        best = [int(tree.leaf(context).means.argmax()) for tree in self.trees]
        return [best.count(action) for action in range(self.n_actions)]

    def probabilities(self, context: Bits, available: list[int] | None = None) -> list[float]:
        """Give the probability of each action."""
        actions = list(range(self.n_actions)) if available is None else available
        greed = self.exploration.greed * math.sqrt(self._n_events)
        return inverse_gap(self.mean_rewards(context), actions, greed)

    def _decide(self, context: Bits, available: NDArray[np.bool_] | None) -> Decision:
        actions = None if available is None else np.flatnonzero(available).tolist()
        probabilities = self.probabilities(context, actions)
        action = pick(probabilities, draw(self.seed, DECISION, self._n_decisions))
        self._n_decisions += 1
        return Decision(action, probabilities[action])

    def _learn(self, context: Bits, action: int, reward: float, propensity: float) -> None:  # noqa: ARG002
        event = Event(self._n_events, context.copy(), action, np.float32(reward))
        self._n_events += 1
        for tree in self.trees:
            tree.learn(event)
