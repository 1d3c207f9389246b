"""A world in which a hidden tree over few variables determines the best action."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bandit_forest.validation import check_int, check_number
from bandit_forest.worlds.contexts import Bits, Floats, neighbouring_bits
from bandit_forest.worlds.synthetic import StationaryWorld, one_best_action, structure_generator

__all__ = ["HiddenTree"]

Ints = NDArray[np.int64]


class HiddenTree(StationaryWorld):
    """A world in which a hidden random tree over few variables determines the best action.

    Every path tests distinct relevant variables in a random order. Every split divides the actions that can be best
    between its two sides, until one action is left. An action that is best on both sides would hide splits from greedy
    learners, as exclusive or does. So the number of rules is at most the number of actions, and two actions make a
    stump. The best action earns 1 and the others 0, each reward flipped with probability `noise`.

    Parameters
    ----------
    n_variables
        Number of binary variables of a context, each 1 half of the time.
    n_actions
        Number of actions.
    depth
        Number of variables that a path of the hidden tree tests.
    n_relevant
        Total number of variables that the hidden tree tests; its depth if None.
    noise
        Probability that a reward is flipped.
    correlation
        Correlation of neighbouring variables; 0 makes all variables independent.
    structure_seed
        Seed of the hidden tree.

    Examples
    --------
    >>> world = HiddenTree(n_variables=100, n_actions=7, depth=3)
    >>> len(world.relevant_variables)
    3
    >>> batch = next(world.batches(1000, seed=0))
    >>> batch.contexts.shape, batch.rewards.shape, float(batch.comparator_rewards[0])
    ((1000, 100), (1000, 7), 0.95)
    """

    def __init__(
        self,
        *,
        n_variables: int = 100,
        n_actions: int = 7,
        depth: int = 3,
        n_relevant: int | None = None,
        noise: float = 0.05,
        correlation: float = 0.0,
        structure_seed: int = 0,
    ) -> None:
        n_variables = check_int(n_variables, "n_variables", "HiddenTree")
        n_actions = check_int(n_actions, "n_actions", "HiddenTree")
        depth = check_int(depth, "depth", "HiddenTree", high=min(n_variables, 20))
        correlation = check_number(correlation, "correlation", "HiddenTree", "a number in [0, 1]", 0.0, 1.0)
        if n_relevant is None:
            n_relevant = depth
        n_relevant = check_int(n_relevant, "n_relevant", "HiddenTree", low=depth, high=n_variables)
        law = neighbouring_bits(n_variables, correlation)
        super().__init__(name="hidden_tree", law=law, n_actions=n_actions)

        rng = structure_generator(structure_seed, "HiddenTree")
        relevant = rng.choice(n_variables, size=n_relevant, replace=False)
        self._depth = depth
        self._tested = _random_splits(rng, relevant, depth)
        best_actions = _leaf_actions(rng.permutation(n_actions)[: 1 << depth], depth)
        self._leaf_rewards: Floats = one_best_action(n_actions, noise, "HiddenTree")[best_actions]

    @property
    def relevant_variables(self) -> list[int]:
        """The relevant variables, in order: those tested where more than one action can still be the best."""
        best = self._leaf_rewards.argmax(axis=1)
        matters = []
        for level in range(self._depth):
            below = best.reshape(1 << level, -1)  # the leaves below each node of the level
            matters += (below != below[:, :1]).any(axis=1).tolist()
        return sorted({int(variable) for variable in self._tested[matters]})

    def _expected_rewards(self, contexts: Bits) -> Floats:
        events = np.arange(len(contexts))
        node = np.zeros(len(contexts), dtype=np.int64)
        for _ in range(self._depth):
            node = 2 * node + 1 + contexts[events, self._tested[node]]
        return self._leaf_rewards.take(node - len(self._tested), axis=0)


def _random_splits(rng: np.random.Generator, relevant: Ints, depth: int) -> Ints:
    """Return the variable that each inner node tests; the children of node n are 2 n + 1 and 2 n + 2."""
    tested = np.empty((1 << depth) - 1, dtype=np.int64)
    paths = {0: relevant}
    for node in range(len(tested)):
        untested = paths.pop(node)
        tested[node] = rng.choice(untested)
        paths[2 * node + 1] = paths[2 * node + 2] = untested[untested != tested[node]]
    return tested


def _leaf_actions(actions: Ints, depth: int) -> Ints:
    """Return the best action of each leaf below a node: each of its two sides has half of the actions."""
    if depth == 0 or len(actions) == 1:
        return np.repeat(actions[:1], 1 << depth)
    middle = (len(actions) + 1) // 2
    return np.concatenate([_leaf_actions(actions[:middle], depth - 1), _leaf_actions(actions[middle:], depth - 1)])
