"""The optimal random forest: θ-optimal greedy trees that vote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bandit_forest.errors import refuse
from bandit_forest.optimal.distribution import Number
from bandit_forest.optimal.tree import OptimalTree
from bandit_forest.validation import check_contexts, check_int

__all__ = ["OptimalForest"]


class OptimalForest:
    """The limit of a bandit forest without wrong eliminations: the reference of Theorem 3.

    Each tree has one vote; ties go to the lowest action.

    Parameters
    ----------
    contexts
        Zeros and ones, (rows, M).
    rewards
        The reward of each action in each row, or its expectation, (rows, K).
    weights
        Weight of each row, or its probability, (rows,); the same for all when None.
    n_trees
        Number of trees, L.
    max_depth
        Number of levels of splits, one for all trees or one for each, D_θ.
    variable_share
        Share of the variables not yet on a path that a node chooses from.
    seed
        The seed of the forest.

    Examples
    --------
    >>> from bandit_forest.worlds import HiddenTree
    >>> world = HiddenTree(n_variables=8)
    >>> contexts, rewards, weights = world.joint_distribution()
    >>> forest = OptimalForest(contexts, rewards, weights, n_trees=5, max_depth=2, variable_share=0.5, seed=1)
    >>> forest.predict(contexts[:1])
    array([0])
    >>> forest.votes(contexts[:1])
    array([[4, 0, 1, 0, 0, 0, 0]])
    """

    def __init__(
        self,
        contexts: ArrayLike,
        rewards: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        n_trees: int,
        max_depth: int | Sequence[int],
        variable_share: float = 1.0,
        seed: int = 0,
    ) -> None:
        n_trees = check_int(n_trees, "n_trees", "OptimalForest")
        depths = list(max_depth) if isinstance(max_depth, Sequence) else [max_depth] * n_trees
        if len(depths) != n_trees:
            refuse("max_depth", "OptimalForest", f"an int, or {n_trees} of them", max_depth)
        self.trees = [
            OptimalTree(
                contexts, rewards, weights, max_depth=depth, variable_share=variable_share, seed=seed, tree=tree
            )
            for tree, depth in enumerate(depths)
        ]
        self.n_variables, self.n_actions = self.trees[0].n_variables, self.trees[0].n_actions

    @property
    def variable_gap(self) -> Number:
        """Δ1 of Theorem 3: the smallest of all trees."""
        return min(tree.variable_gap for tree in self.trees)

    @property
    def action_gap(self) -> Number:
        """Δ2 of Theorem 3: the smallest of all trees."""
        return min(tree.action_gap for tree in self.trees)

    def votes(self, contexts: Any) -> NDArray[np.int64]:
        """Return the number of trees that vote for each action in each context."""
        bits = check_contexts(contexts, "OptimalForest.votes", self.n_variables)
        rows = np.arange(len(bits))
        votes = np.zeros((len(bits), self.n_actions), dtype=np.int64)
        for tree in self.trees:
            votes[rows, tree.predict(bits)] += 1
        return votes

    def predict(self, contexts: Any) -> NDArray[np.int64]:
        """Return the action that most trees vote for in each context."""
        bits = check_contexts(contexts, "OptimalForest.predict", self.n_variables)
        actions: NDArray[np.int64] = self.votes(bits).argmax(axis=1)
        return actions
