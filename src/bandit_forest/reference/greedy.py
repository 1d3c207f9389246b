"""The default forest in plain Python: its specification.

Trees are grown from the log of all events, again and again, one after the other. Work on a tree is paid for by events;
when it is done, the tree learns the events that came meanwhile and takes the place of the old one. Between, events are
learned in the leaves. A linear part stands beside the trees. The forest draws by inverse gap weighting on upper
confidence bounds of what both estimate together.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add

import numpy as np
from numpy.typing import NDArray

from bandit_forest.policy import CheckedPolicy, Decision
from bandit_forest.randomness import DECISION, draw, draw_depth, root_key
from bandit_forest.reference.change import ChangeDetector
from bandit_forest.reference.exploration import inverse_gap, pick, standard_errors, upper_bounds
from bandit_forest.reference.growing import Event, GreedyNode, Grower
from bandit_forest.reference.linear import LinearPart
from bandit_forest.rules import Greedy, InverseGap
from bandit_forest.validation import check_int, check_number, check_range
from bandit_forest.variables import Variables, check_thresholds

__all__ = ["GreedyReferenceForest", "GreedyReferenceTree"]

Codes = NDArray[np.uint8]

_EVENTS_PER_GROWTH = 64
_TREES_TOGETHER = 4


class GreedyReferenceTree:
    """One tree: the nodes that stand, and how it is grown anew.

    Parameters
    ----------
    forest
        The forest that it belongs to.
    number
        Its number.
    depths
        Range from which its depth is drawn.
    """

    def __init__(self, forest: GreedyReferenceForest, number: int, depths: tuple[int, int]) -> None:
        self._forest, self._number = forest, number
        self.generation = 0
        self.max_depth = draw_depth(forest.seed, number, depths)
        self.root, _, self.nodes = self.grown([], 0)

    def grown(self, events: list[Event], generation: int) -> tuple[GreedyNode, int, list[GreedyNode]]:
        """Return the root of a new tree, what its growth costs, and its nodes in the order in which they were made."""
        forest = self._forest
        grower = Grower(forest.growth, forest.levels, forest.variable_share, self.max_depth, forest.max_nodes)
        key = root_key(forest.seed, self._number + forest.n_trees * generation)
        return grower.grow(events, key, forest.n_actions), grower.cost, grower.nodes


class _EventLog:
    """The last `capacity` events; its length is the number of all events that were ever appended."""

    def __init__(self, capacity: int | None) -> None:
        self._held: deque[Event] = deque(maxlen=capacity)
        self._n_events = 0

    def __len__(self) -> int:
        return self._n_events

    def __getitem__(self, number: int) -> Event:
        return self._held[number - self._n_events]

    def append(self, event: Event) -> None:
        """Remember an event, and forget the oldest one where the log is full."""
        self._held.append(event)
        self._n_events += 1

    def holds(self, number: int) -> bool:
        """Return whether the log still has an event and all events since."""
        return self._n_events - number <= len(self._held)

    def since(self, number: int) -> list[Event]:
        """Return an event and all events since."""
        return [self[later] for later in range(number, self._n_events)]


class _Renewals:
    """The renewals of a group of trees: one tree after the other is grown anew."""

    def __init__(self, forest: GreedyReferenceForest, trees: list[GreedyReferenceTree]) -> None:
        self._forest, self._trees = forest, trees
        self._turn = 0
        self._balance = 0
        self._young: tuple[GreedyNode, list[GreedyNode]] | None = None
        self._first = self._cost = self._learned = 0
        self._change = ChangeDetector()

    @property
    def changed_with(self) -> int:
        """Number of the event with which the world last changed, as far as the group has noticed."""
        return self._change.first

    def notice(self, event: Event) -> None:
        """Compare what the group estimates for an event, before it is learned, with the reward."""
        if self._forest.growth.lifetime is not None:
            means = (float(tree.root.leaf(event.context).means[event.action]) for tree in self._trees)
            self._change.learn(reduce(add, means, 0.0) / len(self._trees), float(event.reward), event.number)

    def advance(self, n_events: int, log: _EventLog) -> None:
        """Work for a number of events."""
        growth = self._forest.growth
        self._balance += n_events * growth.renewal_work * len(self._trees)
        if self._young is not None and (not log.holds(self._first) or self._first < self._change.first):
            self._young, self._balance = None, 0
        for _ in self._trees:
            if self._young is None and not self._start(log):
                break
            if not self._is_grown() or not self._has_caught_up(log):
                return
            tree = self._trees[self._turn]
            assert self._young is not None
            tree.root, tree.nodes = self._young
            tree.generation += 1
            self._young = None
            self._turn = (self._turn + 1) % len(self._trees)
        self._balance = 0

    def _start(self, log: _EventLog) -> bool:
        lifetime = self._forest.growth.lifetime
        self._first = 0 if lifetime is None else max(0, len(log) - lifetime, self._change.first)
        if not log.holds(self._first):
            return False
        tree = self._trees[self._turn]
        root, self._cost, nodes = tree.grown(log.since(self._first), tree.generation + 1)
        self._young, self._learned = (root, nodes), len(log)
        return True

    def _is_grown(self) -> bool:
        """Pay for the growth, as soon as that is possible."""
        if self._balance < self._cost:
            return False
        self._balance -= self._cost
        self._cost = 0
        return True

    def _has_caught_up(self, log: _EventLog) -> bool:
        assert self._young is not None
        root, _ = self._young
        while self._learned < len(log) and self._balance > 0:
            event = log[self._learned]
            root.leaf(event.context).learn(event.action, event.reward, self._forest.growth.shrinkage)
            self._learned += 1
            self._balance -= 1
        return self._learned == len(log)


class GreedyReferenceForest(CheckedPolicy):
    """The default forest in plain Python.

    Parameters
    ----------
    n_variables
        Number of variables of a context.
    n_actions
        Number of actions.
    thresholds
        Thresholds of each ordered variable.
    n_trees
        Number of trees.
    max_depth
        Depth of the trees: an int, or a range from which each tree draws its own.
    variable_share
        Probability with which a variable is among the first that a node tries.
    growth
        How the trees grow.
    exploration
        How actions are drawn.
    max_nodes
        Largest number of nodes of a tree.
    seed
        Seed of all random draws.

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
        thresholds: Mapping[int, Sequence[float]] | None = None,
        n_trees: int = 1,
        max_depth: int | tuple[int, int] = 40,
        variable_share: float = 0.5,
        growth: Greedy | None = None,
        exploration: InverseGap | None = None,
        max_nodes: int = 2**20,
        seed: int = 0,
    ) -> None:
        owner = "GreedyReferenceForest"
        super().__init__(n_variables=n_variables, n_actions=n_actions)
        variables = Variables(None, check_thresholds(thresholds, owner, self.n_variables), owner, self.n_variables)
        self._largest_codes = variables.largest_codes
        self.levels = variables.levels or [2] * self.n_variables
        self.n_trees = check_int(n_trees, "n_trees", owner)
        self.growth = growth or Greedy()
        self.exploration = exploration or InverseGap()
        self.seed = check_int(seed, "seed", owner, low=0, high=2**64 - 1)
        self.variable_share = check_number(
            variable_share, "variable_share", owner, "a number in (0, 1]", 0.0, 1.0, open_low=True
        )
        self.max_nodes = check_int(max_nodes, "max_nodes", owner)
        depths = check_range(max_depth, "max_depth", owner)
        self.trees = [GreedyReferenceTree(self, number, depths) for number in range(self.n_trees)]
        groups = [self.trees[first : first + _TREES_TOGETHER] for first in range(0, self.n_trees, _TREES_TOGETHER)]
        self.renewals = [_Renewals(self, group) for group in groups]
        self._linear = LinearPart(self.levels, self.n_actions, self.growth.lifetime) if self.growth.linear else None
        self._log = _EventLog(self.growth.log_capacity)
        self._n_decisions = 0

    def mean_rewards(self, context: Codes) -> list[float]:
        """Return the estimated mean reward of each action."""
        trees, linear = self._tree_means(context), self._linear
        if linear is None:
            return trees
        x = linear.line.terms(context)
        return [
            min(linear.blend.trees * mean + linear.blend.line * linear.line.mean(x, action), 1.0)
            for action, mean in enumerate(trees)
        ]

    def votes(self, context: Codes) -> list[int]:
        """Return the number of trees for which each action has the highest mean, the first of equals."""
        best = [int(tree.root.leaf(context).means.argmax()) for tree in self.trees]
        return [best.count(action) for action in range(self.n_actions)]

    def probabilities(self, context: Codes, available: list[int] | None = None) -> list[float]:
        """Return the probability of each action."""
        actions = list(range(self.n_actions)) if available is None else available
        age = float(min(len(self._log), self.growth.lifetime or len(self._log)))
        errors = standard_errors(self.exploration, age)
        bounds = upper_bounds(self._tree_means(context), self._inverse_counts(context), errors)
        if self._linear is not None:
            x, line, blend = self._linear.line.terms(context), self._linear.line, self._linear.blend
            for action, bound in enumerate(bounds):
                width = self.exploration.linear_optimism * math.sqrt(line.variance(x, action))
                bounds[action] = blend.trees * bound + blend.line * (line.mean(x, action) + width)
        return inverse_gap(bounds, actions, self.exploration.gamma_scale * math.cbrt(age))

    def _tree_means(self, context: Codes) -> list[float]:
        return _mean_of([tree.root.leaf(context).means for tree in self.trees])

    def _inverse_counts(self, context: Codes) -> list[float]:
        """Return the mean over the trees of 1 / the events behind a mean, inherited ones included, for each action."""
        shrinkage = np.float32(self.growth.shrinkage)
        return _mean_of([np.float32(1) / (tree.root.leaf(context).counts + shrinkage) for tree in self.trees])

    def _decide(self, context: Codes, available: NDArray[np.bool_] | None) -> Decision:
        actions = None if available is None else np.flatnonzero(available).tolist()
        probabilities = self.probabilities(context, actions)
        action = pick(probabilities, draw(self.seed, DECISION, self._n_decisions))
        self._n_decisions += 1
        return Decision(action, probabilities[action])

    def _learn(self, context: Codes, action: int, reward: float, propensity: float) -> None:  # noqa: ARG002
        event = Event(len(self._log), context.copy(), action, np.float32(reward))
        estimate = self._tree_means(context)[action]
        for renewals in self.renewals:
            renewals.notice(event)
        for tree in self.trees:
            tree.root.leaf(context).learn(action, event.reward, self.growth.shrinkage)
        if self._linear is not None:
            self._linear.learn(event.context, action, float(event.reward), event.number, estimate)
        self._log.append(event)
        if len(self._log) % _EVENTS_PER_GROWTH == 0:
            if self._linear is not None:
                self._linear.learn_weights()
            for renewals in self.renewals:
                renewals.advance(_EVENTS_PER_GROWTH, self._log)


def _mean_of(leaves: list[NDArray[np.float32]]) -> list[float]:
    """Return the mean over the trees; groups are added up first, so that threads may share the work."""
    numbers = [leaf.tolist() for leaf in leaves]
    groups = [numbers[start : start + _TREES_TOGETHER] for start in range(0, len(numbers), _TREES_TOGETHER)]
    sums = [[reduce(add, parts, 0.0) for parts in zip(*group, strict=True)] for group in groups]
    return [reduce(add, parts, 0.0) / len(leaves) for parts in zip(*sums, strict=True)]
