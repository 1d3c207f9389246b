"""Upper confidence bounds without contexts: UCB1."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bandit_forest.baselines.action_counts import ActionCounts
from bandit_forest.parameters import MOST_ACTIONS
from bandit_forest.policy import CheckedPolicy, Decision
from bandit_forest.validation import check_int

__all__ = ["UCB"]


class UCB(CheckedPolicy):
    """Take the action with the highest upper confidence bound on its mean reward, whatever the context.

    The bound is mean + sqrt(2 log(n) / n_k) after n decisions, n_k of them for the action. A decision counts as soon as
    it is taken, before its reward arrives. So with late rewards the bound of an action shrinks while it is tried, and a
    batch of decisions explores like the same number of single decisions. With prompt rewards this is UCB1. The choice
    is deterministic, so its propensity is 1; ties go to the lowest action.

    Parameters
    ----------
    n_variables
        Number of binary variables of a context; they are ignored.
    n_actions
        Number of actions.

    Examples
    --------
    >>> policy = UCB(n_variables=1, n_actions=3)
    >>> policy.decide_many([[0], [1], [0], [1]]).actions
    array([0, 1, 2, 0])
    >>> policy.learn([0], 1, 1.0, propensity=1.0)
    >>> policy.learn([0], 0, 0.0, propensity=1.0)
    >>> policy.decide([0])
    Decision(action=1, propensity=1.0)

    References
    ----------
    Auer, Cesa-Bianchi and Fischer (2002), Finite-time Analysis of the Multiarmed Bandit Problem, Machine Learning 47.
    """

    def __init__(self, *, n_variables: int, n_actions: int) -> None:
        super().__init__(n_variables=n_variables, n_actions=n_actions)
        check_int(n_actions, "n_actions", type(self).__name__, high=MOST_ACTIONS)
        self._counts = ActionCounts(self._n_actions)

    def _decide(self, _context: NDArray[np.uint8], available: NDArray[np.bool_] | None) -> Decision:
        candidates = range(self._n_actions) if available is None else np.flatnonzero(available).tolist()
        action = self._most_promising(candidates)
        self._counts.decided(action)
        return Decision(action, 1.0)

    def _most_promising(self, candidates: Sequence[int]) -> int:
        """Return the candidate with the highest bound; one that was never taken has no bound and comes first."""
        counts = self._counts
        untried = [action for action in candidates if counts.taken[action] == 0]
        if untried:
            return untried[0]
        growth = 2.0 * math.log(sum(counts.taken))
        return max(candidates, key=lambda action: counts.mean(action) + math.sqrt(growth / counts.taken[action]))

    def _learn(self, _context: NDArray[np.uint8], action: int, reward: float, _propensity: float) -> None:
        self._counts.learned(action, reward)
