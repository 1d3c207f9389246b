"""LinUCB as the article has it: every decision solves the regression of every action."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bandit_forest.policy import CheckedPolicy, Decision

__all__ = ["ReferenceLinUcb"]


class ReferenceLinUcb(CheckedPolicy):
    """Disjoint LinUCB, Algorithm 1 of Li, Chu, Langford and Schapire (WWW 2010), with a constant next to the variables.

    Parameters
    ----------
    n_variables, n_actions, width, ridge
        As in `bandit_forest.baselines.LinUCB`.

    Examples
    --------
    >>> ReferenceLinUcb(n_variables=2, n_actions=3).bounds(np.array([1, 0], dtype=np.uint8)).round(3)
    array([0.283, 0.283, 0.283])
    """

    def __init__(self, *, n_variables: int, n_actions: int, width: float = 0.2, ridge: float = 1.0) -> None:
        super().__init__(n_variables=n_variables, n_actions=n_actions)
        self._width = width
        self._grams = np.tile(ridge * np.eye(n_variables + 1), (n_actions, 1, 1))  # A
        self._reward_sums = np.zeros((n_actions, n_variables + 1))  # b

    def bounds(self, context: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return the upper confidence bound of every action."""
        x = np.append(context, 1.0)
        directions = np.linalg.solve(self._grams, np.broadcast_to(x[:, None], (self._n_actions, x.size, 1)))[..., 0]
        means = (directions * self._reward_sums).sum(axis=1)
        bounds: NDArray[np.float64] = means + self._width * np.sqrt(directions @ x)
        return bounds

    def _decide(self, context: NDArray[np.uint8], available: NDArray[np.bool_] | None) -> Decision:
        bounds = self.bounds(context)
        if available is not None:
            bounds[~available] = -np.inf
        return Decision(int(bounds.argmax()), 1.0)

    def _learn(self, context: NDArray[np.uint8], action: int, reward: float, propensity: float) -> None:  # noqa: ARG002
        x = np.append(context, 1.0)
        self._grams[action] += np.outer(x, x)
        self._reward_sums[action] += reward * x
