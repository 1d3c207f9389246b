"""Bandit Tree: one tree of the paper, without any randomisation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Required, TypedDict, Unpack

from bandit_forest.errors import refuse
from bandit_forest.forest.bandit_forest import BanditForest
from bandit_forest.forest.presets import PAPER_EXPLORATION, PAPER_MAX_NODES, TREE_GROWTH
from bandit_forest.rules import Elimination, RoundRobin, UniformOverRemaining

__all__ = ["BanditTree"]


class TreeParameters(TypedDict, total=False):
    """Parameters of a tree, all but the sizes with defaults."""

    n_variables: Required[int]
    n_actions: Required[int]
    max_depth: int
    growth: Elimination
    exploration: RoundRobin | UniformOverRemaining
    max_nodes: int
    seed: int
    variable_names: Sequence[str] | None
    action_names: Sequence[str] | None


class BanditTree(BanditForest):
    """A single tree that grows by elimination: every node may split on every variable.

    With the default `growth` it is our reading of the paper's Bandit Tree: all nodes have the same tolerance, so only
    the draws of actions are random.

    Parameters
    ----------
    n_variables
        Number of binary variables of a context.
    n_actions
        Number of actions.
    max_depth
        Depth of the tree; 1 is a decision stump.
    growth
        How the tree grows.
    exploration
        Rule by which actions are drawn until the path has settled.
    max_nodes
        Largest number of nodes, which bounds memory.
    seed
        Seed of all random draws.
    variable_names, action_names
        Names of variables and actions in rules.

    Examples
    --------
    >>> tree = BanditTree(n_variables=3, n_actions=2, max_depth=2)
    >>> tree.n_trees
    1
    """

    _saved_as = "BanditTree"

    def __init__(
        self,
        *,
        n_variables: int,
        n_actions: int,
        max_depth: int = 8,
        growth: Elimination = TREE_GROWTH,
        exploration: RoundRobin | UniformOverRemaining = PAPER_EXPLORATION,
        max_nodes: int = PAPER_MAX_NODES,
        seed: int = 0,
        variable_names: Sequence[str] | None = None,
        action_names: Sequence[str] | None = None,
    ) -> None:
        if not isinstance(growth, Elimination):
            refuse("growth", "BanditTree", "Elimination()", growth)
        super().__init__(
            n_variables=n_variables,
            n_actions=n_actions,
            n_trees=1,
            max_depth=max_depth,
            variable_share=1.0,
            growth=growth,
            exploration=exploration,
            max_nodes=max_nodes,
            seed=seed,
            variable_names=variable_names,
            action_names=action_names,
        )

    @staticmethod
    def paper(**parameters: Unpack[TreeParameters]) -> BanditTree:  # type: ignore[override]  # one tree
        """Return the tree of the paper's experiments, whose parameters are the defaults."""
        return BanditTree(**parameters)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of this tree, without names."""
        return {
            name: value
            for name, value in super().parameters.items()
            if name not in ("n_trees", "thresholds", "variable_share")
        }
