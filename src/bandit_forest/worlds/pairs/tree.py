"""A world of a hidden tree over features of the context and of the action."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bandit_forest.worlds.pairs.world import Floats, PairWorld

__all__ = ["TreePairs"]

_DEPTH = 4


class TreePairs(PairWorld):
    """A world in which a hidden tree over two features of the context and two of the action has the expected rewards.

    Every path tests all four features in a random order, each against a random threshold between 0.25 and 0.75. The 16
    leaves have the expected rewards 0.05, 0.11, ..., 0.95 in a random order.

    Examples
    --------
    >>> world = TreePairs(n_actions=100, n_offered=5)
    >>> offer = next(world.events(1, seed=0))
    >>> offer.actions.shape, bool(0.05 <= offer.expected.min() <= offer.expected.max() <= 0.95)
    ((5, 30), True)
    """

    def _hide(self, rng: np.random.Generator) -> None:
        on_context = rng.choice(self.n_context_features, 2, replace=False)
        on_action = self.n_context_features + rng.choice(self.n_action_features, 2, replace=False)
        n_tests = (1 << _DEPTH) - 1
        self._features = np.empty(n_tests, dtype=np.int64)
        self._thresholds = rng.uniform(0.25, 0.75, n_tests)
        paths: dict[int, NDArray[np.int64]] = {0: np.concatenate([on_context, on_action])}
        for node in range(n_tests):
            untested = rng.permutation(paths.pop(node))
            self._features[node] = untested[0]
            paths[2 * node + 1] = paths[2 * node + 2] = untested[1:]
        self._leaf_rewards = rng.permutation(np.linspace(0.05, 0.95, 1 << _DEPTH))

    def expected_rewards(self, context: Floats, actions: Floats) -> Floats:
        """Return the expected reward of each action, one row of features per action."""
        pairs = np.hstack([np.broadcast_to(context, (len(actions), len(context))), actions])
        rows = np.arange(len(actions))
        node = np.zeros(len(actions), dtype=np.int64)
        for _ in range(_DEPTH):
            node = 2 * node + 1 + (pairs[rows, self._features[node]] >= self._thresholds[node])
        rewards: Floats = self._leaf_rewards[node - len(self._features)]
        return rewards
