"""Greedy growth in plain Python: the specification of the default forest.

A leaf keeps a mean reward for every action and remembers its events. When it holds enough of them, it splits on the
variable whose two values explain most of the variance of the rewards, if that is more than noise would; its events and
means go on in its children. All trees grow together, now and then. The forest draws by inverse gap weighting on the
mean of the trees' means, raised by what they may be wrong.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import reduce
from operator import add
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
    root_key,
    uniform,
)
from bandit_forest.reference.exploration import inverse_gap, optimistic, pick
from bandit_forest.rules import Greedy, InverseGap
from bandit_forest.validation import check_int, check_number, check_range

__all__ = ["GreedyLeaf", "GreedyReferenceForest", "GreedyReferenceTree", "best_split", "candidates", "child_of"]

Bits = NDArray[np.uint8]
_ALL_BITS = (1 << 64) - 1
_EVENTS_PER_GROWTH = 64


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
    depth: int
    means: NDArray[np.float32]
    counts: NDArray[np.float32]
    events: list[Event] = field(default_factory=list)
    until_test: int | None = None
    """Events until the leaf tries to split when its tree grows next; None when it does not try any more."""
    variable: int | None = None
    gain: float = 0.0
    """Variance that the split explains, summed over the events."""
    children: list[GreedyLeaf] = field(default_factory=list)

    def learn(self, action: int, reward: np.float32, shrinkage: float) -> None:
        """Take the mean over the leaf's own events and `shrinkage` inherited ones."""
        self.counts[action] += np.float32(1)
        self.means[action] += (reward - self.means[action]) / (self.counts[action] + np.float32(shrinkage))


def candidates(leaf: GreedyLeaf, n_variables: int, share: float) -> list[int]:
    """Draw the variables that a leaf may split on, at least one, anew for each try: f(θ, c, i)."""
    key = mix(leaf.key ^ _ALL_BITS, len(leaf.events))
    draws = [uniform(mix(key, variable)) for variable in range(n_variables)]
    return [variable for variable, drawn in enumerate(draws) if drawn < share] or [draws.index(min(draws))]


def best_split(leaf: GreedyLeaf, growth: Greedy, variables: list[int]) -> tuple[int, float] | None:
    """Give the variable that explains most of the variance of a leaf's rewards, and how much, if it is enough."""
    contexts = np.array([event.context for event in leaf.events], dtype=np.int64)
    played = plays_by_action(leaf.events)
    noise = 0.0
    for action, events in played.items():
        mean = float(leaf.means[action])
        total = _total(events)
        squares = _add_up(float(event.reward) * float(event.reward) for event in events)
        noise += squares - 2.0 * mean * total + len(events) * mean * mean
    least = growth.min_gain * noise / len(leaf.events)
    best, best_gain = None, 0.0
    for variable in variables:
        if int(contexts[:, variable].sum()) in (0, len(leaf.events)):
            continue
        gain = 0.0
        for action, events in played.items():
            if len(events) >= 2:
                gain += _explained(float(leaf.means[action]), events, variable, growth.shrinkage)
        if gain > best_gain and gain >= least:
            best, best_gain = variable, gain
    return None if best is None else (best, best_gain)


def plays_by_action(events: list[Event]) -> dict[int, list[Event]]:
    """Sort events by their actions, in the order of the first plays."""
    played: dict[int, list[Event]] = {}
    for event in events:
        played.setdefault(event.action, []).append(event)
    return played


def _total(events: list[Event]) -> float:
    return _add_up(float(event.reward) for event in events)


def _add_up(numbers: Iterable[float]) -> float:
    """Add numbers one after the other, as the core does; `sum` corrects its rounding from Python 3.12 on."""
    return reduce(add, numbers, 0.0)


def _part(events: list[Event], variable: int, value: int) -> tuple[int, float]:
    """Count the events with a value, and add up their rewards: those of value 0 are all but those of value 1."""
    ones = [event for event in events if event.context[variable]]
    if value:
        return len(ones), _total(ones)
    return len(events) - len(ones), _total(events) - _total(ones)


def _explained(mean: float, events: list[Event], variable: int, weight: float) -> float:
    """Give the variance of one action's rewards that a variable explains, all means shrunk towards the leaf's."""
    n1, sum1 = _part(events, variable, 1)
    n0, sum0 = _part(events, variable, 0)
    shift = (_total(events) + weight * mean) / (len(events) + weight) - mean
    shift1 = (sum1 + weight * mean) / (n1 + weight) - mean
    shift0 = (sum0 + weight * mean) / (n0 + weight) - mean
    return n1 * shift1 * shift1 + n0 * shift0 * shift0 - len(events) * shift * shift


def child_of(leaf: GreedyLeaf, variable: int, value: int, growth: Greedy) -> GreedyLeaf:
    """Make a child of a leaf that splits: it takes its events along, and its parent's means, which they correct."""
    child = GreedyLeaf(
        child_key(leaf.key, variable, value), leaf.depth + 1, leaf.means.copy(), np.zeros_like(leaf.counts)
    )
    child.events = [event for event in leaf.events if event.context[variable] == value]
    for action, events in plays_by_action(leaf.events).items():
        n, total = _part(events, variable, value)
        if n > 0:
            inherited = growth.shrinkage * float(leaf.means[action])
            child.means[action] = np.float32((inherited + total) / (n + growth.shrinkage))
            child.counts[action] = np.float32(n)
    child.until_test = growth.min_events - len(child.events)
    return child


class GreedyReferenceTree:
    """One tree: where a context leads, and how it grows."""

    def __init__(self, forest: GreedyReferenceForest, number: int, depths: tuple[int, int]) -> None:
        self._forest = forest
        self._number = number
        self._key = mix(mix(forest.seed, LEARNING), number)
        self.max_depth = draw_depth(forest.seed, number, depths)
        self.plant(0)

    def plant(self, generation: int) -> None:
        """Start from nothing; each generation of the tree draws anew."""
        number = self._number + self._forest.n_trees * generation
        zeros = np.zeros(self._forest.n_actions, np.float32)
        self.root = GreedyLeaf(root_key(self._forest.seed, number), 0, zeros, zeros.copy())
        self.root.until_test = self._forest.growth.min_events
        self.nodes = [self.root]
        self._due: list[GreedyLeaf] = []

    def leaf(self, context: Bits) -> GreedyLeaf:
        """Give the leaf that a context leads to."""
        node = self.root
        while node.variable is not None:
            node = node.children[context[node.variable]]
        return node

    def learn(self, event: Event) -> None:
        """Learn an event, if this tree draws it."""
        growth = self._forest.growth
        if growth.lifetime is not None:
            age = event.number + self._number * growth.lifetime // self._forest.n_trees
            if event.number > 0 and age % growth.lifetime == 0:
                self.plant(age // growth.lifetime)
        if growth.learning_share < 1.0 and not uniform(mix(self._key, event.number)) < growth.learning_share:
            return
        leaf = self.leaf(event.context)
        leaf.learn(event.action, event.reward, growth.shrinkage)
        if leaf.until_test is not None:
            leaf.events.append(event)
            if leaf.until_test == 1:
                self._due.append(leaf)
            leaf.until_test = max(0, leaf.until_test - 1)

    def grow(self, newest: int) -> None:
        """Let the leaves that have enough events try to split; `newest` is the number of the last event."""
        for leaf in self._due:
            self._try_split(leaf, newest)
        self._due.clear()

    def _try_split(self, leaf: GreedyLeaf, newest: int) -> None:
        forest, growth = self._forest, self._forest.growth
        full = len(self.nodes) + 2 > forest.max_nodes
        if leaf.depth >= min(self.max_depth, forest.n_variables) or full:
            leaf.events, leaf.until_test = [], None
            return
        leaf.events = [event for event in leaf.events if newest - event.number < growth.log_capacity]
        found = None
        if leaf.events:
            found = best_split(leaf, growth, candidates(leaf, forest.n_variables, forest.variable_share))
        if found is None:
            leaf.until_test = max(len(leaf.events), growth.min_events)
            return
        leaf.variable, leaf.gain = found
        leaf.children = [child_of(leaf, leaf.variable, value, growth) for value in (0, 1)]
        leaf.events, leaf.until_test = [], None
        self.nodes += leaf.children
        for child in leaf.children:
            if len(child.events) >= growth.min_events:
                self._try_split(child, newest)


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
        return _mean_of([tree.leaf(context).means for tree in self.trees])

    def doubts(self, context: Bits) -> list[float]:
        """Give the mean over the trees of 1 / the events behind a mean, inherited ones included, for each action."""
        shrinkage = np.float32(self.growth.shrinkage)
        return _mean_of([np.float32(1) / (tree.leaf(context).counts + shrinkage) for tree in self.trees])

    def votes(self, context: Bits) -> list[int]:
        """Give the number of trees for which each action has the highest mean, the first of equals."""
        best = [int(tree.leaf(context).means.argmax()) for tree in self.trees]
        return [best.count(action) for action in range(self.n_actions)]

    def probabilities(self, context: Bits, available: list[int] | None = None) -> list[float]:
        """Give the probability of each action."""
        actions = list(range(self.n_actions)) if available is None else available
        age = min(self._n_events, self.growth.lifetime or self._n_events)
        hope = self.exploration.optimism * math.sqrt(math.log1p(age))
        hopes = optimistic(self.mean_rewards(context), self.doubts(context), hope)
        return inverse_gap(hopes, actions, self.exploration.greed * math.sqrt(age))

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
        if self._n_events % _EVENTS_PER_GROWTH == 0:
            for tree in self.trees:
                tree.grow(event.number)


def _mean_of(leaves: list[NDArray[np.float32]]) -> list[float]:
    """Give the mean over the trees; groups of ten are added up first, so that threads may share the work."""
    numbers = [leaf.tolist() for leaf in leaves]
    groups = [numbers[start : start + 10] for start in range(0, len(numbers), 10)]
    sums = [[_add_up(parts) for parts in zip(*group, strict=True)] for group in groups]
    return [_add_up(parts) / len(leaves) for parts in zip(*sums, strict=True)]
