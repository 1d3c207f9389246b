"""The θ-optimal greedy tree: Algorithm 5 of the paper."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bandit_forest.optimal.distribution import Distribution, Number, check_distribution, first_best
from bandit_forest.randomness import child_key, random_subset, root_key
from bandit_forest.validation import check_contexts, check_int, check_number

__all__ = ["OptimalNode", "OptimalTree"]


@dataclass(frozen=True)
class OptimalNode:
    """A path of an optimal tree: a split if it has children, otherwise a leaf."""

    path: tuple[tuple[int, int], ...]
    """The (variable, value) pairs from the root to here, c."""
    probability: Number
    """The probability of the path, P(c)."""
    action: int
    """The best action on the path, k*|c."""
    mean_reward: Number
    """Mean reward of that action on the path, μ_k*|c; 0 on a path of probability 0."""
    action_gap: Number
    """P(c) (μ_k*|c - μ_k|c) for the second best action k; infinite if there is none."""
    variable_gap: Number = math.inf
    """P(c) (μ^i*|c - μ^i|c) for the second best variable i; infinite if there is none to choose from."""
    variable: int | None = None
    """The variable to split on, i*|c; None at a leaf."""
    children: tuple[OptimalNode, ...] = ()
    """The nodes of the paths that go on with variable = 0 and with variable = 1."""

    def __iter__(self) -> Iterator[OptimalNode]:
        """Go through this node and all below it, parents first."""
        yield self
        for child in self.children:
            yield from child

    def __str__(self) -> str:
        """Draw this node and all below it, a line each."""
        return "\n".join(node._line(len(self.path)) for node in self)

    def _line(self, depth: int) -> str:
        where = f"x{self.path[-1][0]} = {self.path[-1][1]}" if self.path else "always"
        action = "" if self.children else f": action {self.action}, mean reward {float(self.mean_reward):.4g}"
        return "  " * (len(self.path) - depth) + where + action


class OptimalTree:
    """The limit of a tree of a bandit forest without wrong eliminations (θ-OGT, Algorithm 5).

    It has `max_depth` levels of splits, fewer on a path on which one action is best in every row. At each node the
    variables to choose from are those that a forest of the same seed draws for the same path of the same tree. Ties go
    to the lowest variable and to the lowest action.

    Depth 0 is the best action without context, and `action_gap` the Δ2 of Lemma 3. Depth 1 is the optimal stump, and
    `variable_gap` and `action_gap` the Δ1 and Δ2 of Lemma 1 and Theorem 1. At any depth they are those of Theorem 3.

    Parameters
    ----------
    contexts
        Zeros and ones, (rows, M).
    rewards
        The reward of each action in each row, or its expectation, (rows, K).
    weights
        Weight of each row, or its probability, (rows,); the same for all when None.
    max_depth
        Number of levels of splits.
    variable_share
        Share of the variables not yet on a path that a node chooses from.
    seed
        The seed of the forest.
    tree
        The number of the tree in the forest.

    Examples
    --------
    The exclusive or of two variables:

    >>> contexts, rewards = [[0, 0], [0, 1], [1, 0], [1, 1]], [[1, 0], [0, 1], [0, 1], [1, 0]]
    >>> tree = OptimalTree(contexts, rewards, max_depth=2)
    >>> print(tree)
    always
      x0 = 0
        x1 = 0: action 0, mean reward 1
        x1 = 1: action 1, mean reward 1
      x0 = 1
        x1 = 0: action 1, mean reward 1
        x1 = 1: action 0, mean reward 1
    >>> tree.predict(contexts)
    array([0, 1, 1, 0])
    """

    def __init__(
        self,
        contexts: ArrayLike,
        rewards: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        max_depth: int,
        variable_share: float = 1.0,
        seed: int = 0,
        tree: int = 0,
    ) -> None:
        rows = check_distribution(contexts, rewards, weights, "OptimalTree")
        self.n_variables, self.n_actions = rows.contexts.shape[1], rows.rewards.shape[1]
        self.max_depth = check_int(max_depth, "max_depth", "OptimalTree", low=0)
        rule = "a number in (0, 1]"
        share = check_number(variable_share, "variable_share", "OptimalTree", rule, 0.0, 1.0, open_low=True)
        self._share = share
        key = root_key(check_int(seed, "seed", "OptimalTree", low=0), check_int(tree, "tree", "OptimalTree", low=0))
        self.root = self._grow(rows, (), key, range(self.n_variables), 0)

    def __str__(self) -> str:
        """Return a drawing of the tree, one line per node."""
        return str(self.root)

    @property
    def leaves(self) -> list[OptimalNode]:
        """The nodes that have an action to take, from left to right."""
        return [node for node in self.root if not node.children]

    @property
    def expected_reward(self) -> Number:
        """The mean reward of following the tree."""
        return sum(leaf.probability * leaf.mean_reward for leaf in self.leaves)

    @property
    def variable_gap(self) -> Number:
        """Δ1: the smallest P(c) (μ^i*|c - μ^i|c) of all splits; infinite if none had a choice."""
        return min(node.variable_gap for node in self.root)

    @property
    def action_gap(self) -> Number:
        """Δ2: the smallest P(c) (μ_k*|c - μ_k|c) of all leaves; infinite if there is one action."""
        return min(leaf.action_gap for leaf in self.leaves)

    def predict(self, contexts: Any) -> NDArray[np.int64]:
        """Return the action that the tree takes in each context."""
        bits = check_contexts(contexts, "OptimalTree.predict", self.n_variables)
        actions = np.empty(len(bits), dtype=np.int64)
        waiting = [(self.root, np.arange(len(bits)))]
        while waiting:
            node, rows = waiting.pop()
            if not node.children:
                actions[rows] = node.action
                continue
            ones = bits[rows, node.variable] == 1
            waiting += [(node.children[0], rows[~ones]), (node.children[1], rows[ones])]
        return actions

    def _grow(
        self, rows: Distribution, path: tuple[tuple[int, int], ...], key: int, variables: Sequence[int], action: int
    ) -> OptimalNode:
        """Grow the node of a path; `action` is its parent's, which a path of probability 0 keeps."""
        probability = rows.weights.sum()
        if not probability > 0:
            return OptimalNode(path, probability, action, mean_reward=probability, action_gap=0)
        # Lines 1 and 6.
        means = rows.action_means()
        action = first_best(means)
        leaf = OptimalNode(path, probability, action, means[action] / probability, _gap(means))
        if len(path) == self.max_depth or not variables:
            return leaf
        # Lines 2 and 3.
        candidates = random_subset(key, variables, self._share)
        if _one_action_is_best(rows, means[action]):
            return replace(leaf, variable_gap=0 if len(candidates) > 1 else math.inf)  # all are equally good
        gains = rows.variable_gains()[candidates]
        variable = candidates[first_best(gains)]
        # Lines 4 and 5.
        untested = [other for other in variables if other != variable]
        children = tuple(
            self._grow(
                rows.where(variable, value),
                (*path, (variable, value)),
                child_key(key, variable, value),
                untested,
                action,
            )
            for value in (0, 1)
        )
        return replace(leaf, variable_gap=_gap(gains), variable=variable, children=children)


def _gap(values: NDArray[Any]) -> Number:
    """Return the difference between the best value and the second best."""
    if len(values) == 1:
        return math.inf
    second, best = np.sort(values)[-2:]
    return 0 if first_best(np.array([second, best], dtype=values.dtype)) == 0 else best - second


def _one_action_is_best(rows: Distribution, best_mean: Number) -> bool:
    """Return whether knowing the row would not help, so that no split does."""
    return first_best(np.array([best_mean, rows.rewards.max(axis=1).sum()], dtype=rows.rewards.dtype)) == 0
