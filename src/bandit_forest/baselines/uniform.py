"""Every action with the same probability: the weakest baseline."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bandit_forest.policy import CheckedPolicy, Decision
from bandit_forest.randomness import DECISION, draw
from bandit_forest.validation import check_int

__all__ = ["Uniform"]


class Uniform(CheckedPolicy):
    """Draw each available action with the same probability, and learn nothing.

    Parameters
    ----------
    n_variables
        Number of binary variables of a context.
    n_actions
        Number of actions.
    seed
        Seed of all random draws.

    Examples
    --------
    >>> policy = Uniform(n_variables=3, n_actions=4, seed=1)
    >>> policy.decide([0, 1, 0]).propensity
    0.25
    >>> policy.decide([0, 1, 0], available_actions=[2])
    Decision(action=2, propensity=1.0)
    """

    def __init__(self, *, n_variables: int, n_actions: int, seed: int = 0) -> None:
        super().__init__(n_variables=n_variables, n_actions=n_actions)
        self._seed = check_int(seed, "seed", type(self).__name__, low=0)
        self._n_decisions = 0

    def _decide(self, _context: NDArray[np.uint8], available: NDArray[np.bool_] | None) -> Decision:
        number = draw(self._seed, DECISION, self._n_decisions)
        self._n_decisions += 1
        if available is None:
            return Decision(int(number * self._n_actions), 1.0 / self._n_actions)
        actions = np.flatnonzero(available)
        return Decision(int(actions[int(number * actions.size)]), 1.0 / actions.size)

    def _learn(self, _context: NDArray[np.uint8], _action: int, _reward: float, _propensity: float) -> None:
        pass
