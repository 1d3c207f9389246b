"""Bandit Forest (Algorithm 6) with NewPath, and the practical variant of section 5, in plain Python.

This is the specification of the compiled forests that grow by elimination, which make the same decisions some thousand
times faster.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bandit_forest.policy import CheckedPolicy, Decision
from bandit_forest.randomness import (
    DECISION,
    TOLERANCE,
    child_key,
    draw,
    draw_depth,
    mix,
    random_subset,
    root_key,
    uniform,
)
from bandit_forest.reference.exploration import Plan, pick, plan
from bandit_forest.reference.node import Bounds, Node, Tally
from bandit_forest.rules import Elimination, RoundRobin, UniformOverRemaining
from bandit_forest.validation import check_int, check_number, check_range

__all__ = ["ReferenceForest", "ReferenceTree"]

Bits = NDArray[np.uint8]

MAX_WEIGHT = 1e9  # no draw is that rare: a smaller propensity is a mistake that must not make a sum infinite


class ReferenceTree:
    """One tree θ: its paths, and how it grows by elimination."""

    def __init__(self, forest: ReferenceForest, number: int, depths: tuple[int, int]) -> None:
        self._forest = forest
        self._growth = forest.growth
        # D_θ: each tree has its own depth.
        self.max_depth = draw_depth(forest.seed, number, depths)
        n_estimates = 4.0 * forest.n_actions * forest.n_variables * self.max_depth * forest.n_trees
        shared = depths[1] * math.log(2.0)  # log 2^D
        self._bounds = Bounds(
            variables=math.log(n_estimates) + shared - math.log(self._growth.delta),
            actions=math.log(4.0 * forest.n_actions * forest.n_trees) + shared - math.log(self._growth.delta),
        )
        # Algorithm 6, line 1.
        self.nodes: list[Node] = []
        self._new_path(root_key(forest.seed, number), parent=-1, depth=0, actions=list(range(forest.n_actions)))

    def leaf(self, context: Bits) -> Node:
        """Select the path of a context: Algorithm 6, line 4."""
        node = self.nodes[0]
        while node.variable is not None and node.child is not None:
            node = self.nodes[node.child + int(context[node.variable])]
        return node

    def learn(self, context: Bits, action: int, weight: float, gain: float) -> None:
        """Update the path of a context: Algorithm 6, lines 10 to 20."""
        node = self.leaf(context)
        node.count(context, action, weight, gain)
        if node.visits % self._growth.test_interval == 0:
            self._test(node)

    def _test(self, node: Node) -> None:
        """Eliminate variables and actions of a path, if its round is over: Algorithm 6, lines 11 to 20."""
        if not node.round_is_complete():
            return
        if node.status == "terminal":
            node.eliminate_actions(self._growth, self._bounds)
            return
        # Line 11: VE. The path's own elimination below must not change what this test sees.
        node.eliminate_variables(self._growth, self._bounds)
        # Lines 12 to 15: AE for each remaining variable and value.
        if node.depth + 1 == self.max_depth:
            node.eliminate_actions_by_value(self._growth, self._bounds)
        # Section 5, "the remaining actions of the paths".
        if self._growth.remaining_actions != "all":
            node.eliminate_actions(self._growth, self._bounds)
        # Lines 16 to 20.
        if len(node.remaining_variables) == 1:
            self._choose_variable(node)

    def _choose_variable(self, node: Node) -> None:
        if len(self.nodes) + 2 > self._forest.max_nodes:
            node.status, node.remaining_variables = "terminal", []
            return
        (variable,) = node.remaining_variables
        node.status, node.variable, node.child, node.remaining_variables = "split", variable, len(self.nodes), []
        all_actions = list(range(self._forest.n_actions))
        actions = node.remaining_actions if self._growth.remaining_actions == "inherited" else all_actions
        parent = self.nodes.index(node)
        for value in (0, 1):
            self._new_path(child_key(node.key, variable, value), parent, node.depth + 1, list(actions))
            if node.depth + 1 == self.max_depth:
                # The stump of the last level goes on in its two values, with the actions that each has left.
                self.nodes[-1].tally = node.given(variable, value)
                self.nodes[-1].remaining_actions = node.actions_by_value[variable, value]

    def _new_path(self, key: int, parent: int, depth: int, actions: list[int]) -> None:
        """Add a path: function NewPath of Algorithm 6."""
        forest = self._forest
        low, high = self._growth.tolerance_range
        selects = depth < min(self.max_depth, forest.n_variables)
        variables = random_subset(key, self._free_variables(parent), forest.variable_share) if selects else []
        self.nodes.append(
            Node(
                key=key,
                parent=parent,
                depth=depth,
                status="selecting" if selects else "terminal",
                tolerance=low + (high - low) * uniform(mix(key, TOLERANCE)),
                remaining_variables=variables,
                remaining_actions=actions,
                tally=Tally.empty(forest.n_actions),
                ones=Tally.empty(forest.n_actions, forest.n_variables),
                actions_by_value={(i, v): list(range(forest.n_actions)) for i in variables for v in (0, 1)},
            )
        )

    def _free_variables(self, node: int) -> list[int]:
        """V_c: the variables that are not on the path that goes on from a node."""
        used = set()
        while node >= 0:
            used.add(self.nodes[node].variable)
            node = self.nodes[node].parent
        return [variable for variable in range(self._forest.n_variables) if variable not in used]


class ReferenceForest(CheckedPolicy):
    """Bandit Forest in plain Python: the specification, and a tutorial.

    Parameters
    ----------
    n_variables
        Number of binary variables of a context, M.
    n_actions
        Number of actions, K.
    n_trees
        Number of trees, L.
    max_depth
        Depth of the trees, D: an int, or a range from which each tree draws its own.
    variable_share
        Share of the variables that each path may split on.
    growth
        How the trees grow.
    exploration
        How the forest chooses actions until its paths have settled.
    max_nodes
        Most nodes of a tree.
    seed
        Seed of all random draws.

    References
    ----------
    Féraud, Allesiardo, Urvoy and Clérot, Random Forest for the Contextual Bandit Problem, AISTATS 2016.

    Examples
    --------
    >>> forest = ReferenceForest(n_variables=4, n_actions=2, n_trees=3, max_depth=2)
    >>> forest.decide([0, 1, 1, 0])
    Decision(action=0, propensity=0.5)
    >>> forest.decide([0, 1, 1, 0])
    Decision(action=1, propensity=0.5)
    """

    def __init__(
        self,
        *,
        n_variables: int,
        n_actions: int,
        n_trees: int = 1,
        max_depth: int | tuple[int, int] = 1,
        variable_share: float = 1.0,
        growth: Elimination | None = None,
        exploration: RoundRobin | UniformOverRemaining | None = None,
        max_nodes: int = 2**20,
        seed: int = 0,
    ) -> None:
        super().__init__(n_variables=n_variables, n_actions=n_actions)
        self.growth = growth or Elimination()
        self.exploration: RoundRobin | UniformOverRemaining = exploration or RoundRobin()
        self.n_trees = check_int(n_trees, "n_trees", "ReferenceForest")
        self.seed = check_int(seed, "seed", "ReferenceForest", low=0, high=2**64 - 1)
        self.variable_share = check_number(
            variable_share, "variable_share", "ReferenceForest", "a number in (0, 1]", 0.0, 1.0, open_low=True
        )
        self.max_nodes = check_int(max_nodes, "max_nodes", "ReferenceForest")
        depths = check_range(max_depth, "max_depth", "ReferenceForest")
        self.trees = [ReferenceTree(self, number, depths) for number in range(self.n_trees)]
        self._n_decisions = 0
        self._n_rotations = 0

    def plan(self, context: Bits, available: set[int] | None = None) -> Plan:
        """Return the probability of each action and the votes, for one context."""
        remaining = [set(tree.leaf(context).remaining_actions) for tree in self.trees]
        return plan(self.exploration, self.n_actions, remaining, available or set(range(self.n_actions)))

    def _decide(self, context: Bits, available: NDArray[np.bool_] | None) -> Decision:
        actions = list(range(self.n_actions)) if available is None else np.flatnonzero(available).tolist()
        planned = self.plan(context, set(actions))
        number = self._n_decisions
        self._n_decisions += 1
        if planned.rotate:
            action = actions[self._n_rotations % len(actions)]
            self._n_rotations += 1
        else:
            action = pick(planned.probabilities, draw(self.seed, DECISION, number))
        return Decision(action, planned.probabilities[action])

    def _learn(self, context: Bits, action: int, reward: float, propensity: float) -> None:
        # Section 5: inverse propensity scoring.
        weight = 1.0 if self.growth.estimate == "plays" else min(1.0 / propensity, MAX_WEIGHT)
        for tree in self.trees:
            tree.learn(context, action, weight, reward * weight)
