"""A world in which the expected reward of a pair is a sum of products of a context's and an action's features."""

from __future__ import annotations

import numpy as np

from bandit_forest.worlds.pairs.world import Floats, PairWorld

__all__ = ["BilinearPairs"]

_SPREAD = 0.2


class BilinearPairs(PairWorld):
    """A world with the expected reward 1/2 + cᵀ W a, clipped to [0, 1], for features c and a scaled to [-1, 1).

    The weights are normal, scaled so that the sum of products has a standard deviation of 0.2.

    Examples
    --------
    >>> world = BilinearPairs(n_context_features=5, n_action_features=5)
    >>> offer = next(world.events(1, seed=0))
    >>> bool(0.0 <= offer.expected.min() < offer.expected.max() <= 1.0)
    True
    """

    def _hide(self, rng: np.random.Generator) -> None:
        weights = rng.standard_normal((self.n_context_features, self.n_action_features))
        self._weights = weights * (_SPREAD * 3.0 / np.linalg.norm(weights))  # each factor has the variance 1 / 3

    def expected_rewards(self, context: Floats, actions: Floats) -> Floats:
        """Return the expected reward of each action, one row of features per action."""
        scores: Floats = (2.0 * actions - 1.0) @ ((2.0 * context - 1.0) @ self._weights)
        return (0.5 + scores).clip(0.0, 1.0)
