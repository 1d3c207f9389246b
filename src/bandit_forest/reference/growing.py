"""How a greedy tree is grown from events, in plain Python: which split a node chooses, and what its leaves know."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bandit_forest.randomness import child_key, mix
from bandit_forest.rules import Greedy

__all__ = ["Event", "GreedyNode", "Grower", "Split", "Test"]

Codes = NDArray[np.uint8]
Means = NDArray[np.float32]

_ALL_BITS = (1 << 64) - 1
_SAMPLE_SIZE = 4096


class Event(NamedTuple):
    """One event of the log."""

    number: int
    context: Codes
    action: int
    reward: np.float32


class Test(NamedTuple):
    """A test whether the code of a variable reaches a threshold."""

    variable: int
    threshold: int

    def passes(self, context: Codes) -> bool:
        """Return whether a context passes."""
        return bool(context[self.variable] >= self.threshold)

    @property
    def bits(self) -> int:
        """The test as one number, which is the variable where that is binary."""
        return self.variable | (self.threshold - 1) << 24


class Split(NamedTuple):
    """A test, and the variance of the rewards that it explains, summed over the events."""

    test: Test
    gain: float


@dataclass(eq=False)
class GreedyNode:
    """A node of a tree: a leaf unless it splits. Means and counts are kept in single precision, as in the core."""

    key: int
    depth: int
    means: Means
    counts: Means
    split: Split | None = None
    children: list[GreedyNode] = field(default_factory=list)
    """That of the contexts that fail the test, then that of those that pass."""

    def leaf(self, context: Codes) -> GreedyNode:
        """Return the leaf that a context leads to."""
        node = self
        while node.split is not None:
            node = node.children[node.split.test.passes(context)]
        return node

    def learn(self, action: int, reward: np.float32, shrinkage: float) -> None:
        """Take the mean over the leaf's own events and `shrinkage` inherited ones."""
        self.counts[action] += np.float32(1)
        self.means[action] += (reward - self.means[action]) / (self.counts[action] + np.float32(shrinkage))


class Grower:
    """Grow one tree from events, and add up what that costs.

    Parameters
    ----------
    growth
        The growth rule.
    levels
        Number of codes of each variable.
    variable_share
        Probability with which a variable is among the first that a node tries.
    max_depth, max_nodes
        Bounds of the tree.
    """

    def __init__(
        self, growth: Greedy, levels: Sequence[int], variable_share: float, max_depth: int, max_nodes: int
    ) -> None:
        self._growth, self._levels, self._share = growth, levels, variable_share
        self._max_depth, self._max_nodes = max_depth, max_nodes
        n_ordered = sum(n > 2 for n in levels)
        n_binary = len(levels) - n_ordered
        ordered = variable_share * n_ordered
        self._cost_of_event = 2 + n_binary // 64 + int(ordered)
        self._cost_of_node = 32 + int(variable_share * n_binary + ordered * growth.n_thresholds)
        self.cost = 0
        self.nodes: list[GreedyNode] = []

    def grow(self, events: list[Event], key: int, n_actions: int) -> GreedyNode:
        """Return the root of a tree."""
        root = GreedyNode(key, 0, np.zeros(n_actions, np.float32), np.zeros(n_actions, np.float32))
        self.nodes = [root]
        pending = [(root, events, root.means)]
        while pending:
            node, events, inherited = pending.pop()
            parts = self._visit(node, events, inherited)
            pending += [(child, part, node.means) for child, part in zip(node.children, parts, strict=True)][::-1]
        return root

    def _visit(self, node: GreedyNode, events: list[Event], inherited: Means) -> list[list[Event]]:
        """Split a node, if that is worth while; return the events of its children."""
        sample = events[:: -(-len(events) // _SAMPLE_SIZE)] if events else events
        self.cost += len(sample)
        node.means, node.counts = self._summary(sample, inherited)
        node.split = self._best(node, events, sample)
        if node.split is None:
            if len(sample) < len(events):
                self.cost += len(events)
                node.means, node.counts = self._summary(events, inherited)
            return []
        test = node.split.test
        parts = [[event for event in events if test.passes(event.context) == outcome] for outcome in (False, True)]
        self.cost += len(events) + len(parts[True])
        for outcome in (0, 1):
            empty = np.zeros_like(node.counts)
            node.children.append(GreedyNode(child_key(node.key, test.bits, outcome), node.depth + 1, empty, empty))
        self.nodes += node.children
        return parts

    def _summary(self, events: list[Event], inherited: Means) -> tuple[Means, Means]:
        """Return the means of events, with inherited means worth `shrinkage` events, and the counts."""
        means, counts = inherited.copy(), np.zeros_like(inherited)
        for action, played in plays_by_action(events).items():
            prior = self._growth.shrinkage * float(inherited[action])
            means[action] = np.float32((prior + _total(played)) / (len(played) + self._growth.shrinkage))
            counts[action] = np.float32(len(played))
        return means, counts

    def _best(self, node: GreedyNode, events: list[Event], sample: list[Event]) -> Split | None:
        full = len(self.nodes) + 2 > self._max_nodes
        if node.depth >= self._max_depth or full or len(events) < self._growth.min_events:
            return None
        key = mix(node.key ^ _ALL_BITS, len(events))
        for others in (False, True):  # where the drawn variables are no good, the others are tried
            self.cost += self._cost_of_node + len(sample) * self._cost_of_event
            split = self._best_of(self._candidates(sample, key, others), sample, node.means)
            if split is not None:
                return split
        return None

    def _candidates(self, sample: list[Event], key: int, others: bool) -> list[Test]:
        """Draw variables, f(θ, c, i), or take those that were not drawn; an ordered one has a few random tests."""
        tests = []
        for variable, n_levels in enumerate(self._levels):
            drawn = mix(key, variable // 4) >> 16 * (variable % 4) & 0xFFFF  # a draw serves four variables
            if (drawn < int(self._share * 2.0**16)) == others:
                continue
            if n_levels <= 2:
                tests.append(Test(variable, 1))
                continue
            for number in range(self._growth.n_thresholds):
                draw = mix(mix(key ^ _ALL_BITS, variable), number)
                codes = [int(sample[place % len(sample)].context[variable]) for place in (draw, mix(draw, 0))]
                low, high = sorted(codes)
                if low < high:
                    tests.append(Test(variable, low + 1 + mix(draw, 1) % (high - low)))
        return tests

    def _best_of(self, tests: list[Test], sample: list[Event], means: Means) -> Split | None:
        """Return the split that explains most of the variance of the rewards, if it is more than noise would."""
        played = plays_by_action(sample)
        noise = 0.0
        for action, events in played.items():
            mean, total = float(means[action]), _total(events)
            squares = _add_up(float(event.reward) * float(event.reward) for event in events)
            noise += squares - 2.0 * mean * total + len(events) * mean * mean
        least = self._growth.min_gain * noise / len(sample)
        best: Split | None = None
        for test in tests:
            gain = 0.0
            for action, events in played.items():
                if len(events) >= 2:
                    gain += _explained(float(means[action]), events, test, self._growth.shrinkage)
            varies = len({test.passes(event.context) for event in sample}) == 2
            if gain > (best.gain if best else 0.0) and gain >= least and varies:
                best = Split(test, gain)
        return best


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


def _explained(mean: float, events: list[Event], test: Test, weight: float) -> float:
    """Return the variance of one action's rewards that a test explains, all means shrunk towards the node's."""
    passing = [event for event in events if test.passes(event.context)]
    n1, sum1 = len(passing), _total(passing)
    n0, sum0 = len(events) - n1, _total(events) - sum1
    shift = (_total(events) + weight * mean) / (len(events) + weight) - mean
    shift1 = (sum1 + weight * mean) / (n1 + weight) - mean
    shift0 = (sum0 + weight * mean) / (n0 + weight) - mean
    return n1 * shift1 * shift1 + n0 * shift0 * shift0 - len(events) * shift * shift
