"""LinUCB: ridge regression for each action, played with optimism."""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray

from bandit_forest.policy import CheckedPolicy, Decision
from bandit_forest.validation import check_number

__all__ = ["LinUcb"]

_REFRESH_EVERY = 512  # updates of an action between two exact inversions: rounding errors live no longer than that


class LinUcb(CheckedPolicy):
    """Play the action whose upper confidence bound under its own linear model is highest (disjoint LinUCB).

    The model of an action is ridge regression on the variables and a constant. Its inverse Gram matrix is kept by
    Sherman-Morrison updates, and computed anew every few hundred updates from the Gram matrix itself, whose entries are
    whole numbers plus the ridge and therefore free of rounding errors. The choice is deterministic, so that its
    propensity is 1; equal bounds go to the lowest action.

    Parameters
    ----------
    n_variables
        Number of binary variables of a context.
    n_actions
        Number of actions.
    width
        How many standard deviations of optimism are added to a prediction, α in the article.
    ridge
        What is added to the diagonal of each Gram matrix, at least 1e-6.

    Examples
    --------
    >>> policy = LinUcb(n_variables=2, n_actions=2)
    >>> for _ in range(20):
    ...     decision = policy.decide([1, 0])
    ...     policy.learn([1, 0], decision.action, decision.action, propensity=decision.propensity)
    >>> policy.decide([1, 0])
    Decision(action=1, propensity=1.0)

    References
    ----------
    Li, Chu, Langford and Schapire, *A contextual-bandit approach to personalized news article recommendation*,
    WWW 2010.
    """

    def __init__(self, *, n_variables: int, n_actions: int, width: float = 0.2, ridge: float = 1.0) -> None:
        super().__init__(n_variables=n_variables, n_actions=n_actions)
        largest = sys.float_info.max
        self._width = check_number(width, "width", "LinUcb", "a finite number of at least 0", 0.0, largest)
        self._ridge = check_number(ridge, "ridge", "LinUcb", "a finite number of at least 1e-6", 1e-6, largest)
        size = self.n_variables + 1
        self._input = np.ones(size, dtype=np.uint8)  # a context and the constant
        self._inverses = np.tile(np.eye(size) / self._ridge, (self.n_actions, 1, 1))
        self._change = np.zeros((size, size))  # room for one update
        self._grams = np.tile(np.eye(size) * self._ridge, (self.n_actions, 1, 1))
        self._waiting = np.zeros((self.n_actions, _REFRESH_EVERY, size), dtype=np.uint8)  # not yet in the Gram matrix
        self._n_waiting = [0] * self.n_actions
        self._reward_sums = np.zeros((self.n_actions, size))
        self._weights = np.zeros((self.n_actions, size))

    def _decide(self, context: NDArray[np.uint8], available: NDArray[np.bool_] | None) -> Decision:
        bounds = self._bounds(self._positions(context))
        if available is not None:
            bounds[~available] = -np.inf
        return Decision(int(bounds.argmax()), 1.0)

    def _learn(self, context: NDArray[np.uint8], action: int, reward: float, propensity: float) -> None:  # noqa: ARG002
        positions = self._positions(context)
        inverse, weights = self._inverses[action], self._weights[action]
        direction = np.add.reduce(inverse.take(positions, axis=0), axis=0)
        step = direction / (1.0 + np.add.reduce(direction.take(positions)))
        weights += step * (reward - np.add.reduce(weights.take(positions)))
        inverse -= np.multiply.outer(step, direction, out=self._change)
        self._reward_sums[action][positions] += reward
        self._keep(action)

    def _positions(self, context: NDArray[np.uint8]) -> NDArray[np.intp]:
        """Give the places of the ones among the variables and the constant."""
        self._input[:-1] = context
        return self._input.nonzero()[0]

    def _bounds(self, positions: NDArray[np.intp]) -> NDArray[np.float64]:
        """Give the upper confidence bound of every action: only rows and columns of set variables matter."""
        pairs = (positions * self._input.size)[:, None] + positions
        variances = np.add.reduce(self._inverses.reshape(self._n_actions, -1).take(pairs, axis=1), axis=(1, 2))
        means = np.add.reduce(self._weights.take(positions, axis=1), axis=1)
        bounds: NDArray[np.float64] = means + self._width * np.sqrt(np.maximum(variances, 0.0))
        return bounds

    def _keep(self, action: int) -> None:
        """Keep the input for the next exact inversion, and invert when enough of them wait."""
        count = self._n_waiting[action]
        self._waiting[action, count] = self._input
        self._n_waiting[action] = count + 1
        if count + 1 == _REFRESH_EVERY:
            self._invert(action)

    def _invert(self, action: int) -> None:
        """Count the waiting inputs into the Gram matrix and solve the regression anew."""
        rows = self._waiting[action, : self._n_waiting[action]].astype(np.float32)  # counts this small are exact
        self._grams[action] += rows.T @ rows
        self._n_waiting[action] = 0
        self._inverses[action] = np.linalg.inv(self._grams[action])
        self._weights[action] = self._inverses[action] @ self._reward_sums[action]
