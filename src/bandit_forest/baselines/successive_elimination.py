"""Elimination without contexts: play all remaining actions equally often, and drop those that cannot be the best."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bandit_forest.baselines.action_counts import ActionCounts
from bandit_forest.parameters import MOST_ACTIONS, check_share
from bandit_forest.policy import CheckedPolicy, Decision
from bandit_forest.validation import check_int

__all__ = ["SuccessiveElimination"]


class SuccessiveElimination(CheckedPolicy):
    """Play the remaining actions in rotation, whatever the context, until one is left.

    After t rewards of each remaining action, actions whose mean is at least 2 sqrt(log(4 K t² / delta) / 2 t) below the
    best mean are eliminated. The best action of all is then eliminated with a probability of at most delta. The
    rotation takes the action that was taken least often, rewarded or not, so late rewards do not stop it. When all
    available actions are eliminated, the action with the best mean is taken. The choice is deterministic, so its
    propensity is 1; ties go to the lowest action.

    Parameters
    ----------
    n_variables
        Number of binary variables of a context; they are ignored.
    n_actions
        Number of actions.
    delta
        Probability of eliminating the best action, in (0, 1].

    Examples
    --------
    >>> policy = SuccessiveElimination(n_variables=1, n_actions=3, delta=0.1)
    >>> policy.decide_many([[0]] * 4).actions
    array([0, 1, 2, 0])
    >>> contexts, rewards = [[0]] * 100, [[0.0, 1.0, 0.5]] * 100
    >>> _ = policy.play(contexts, rewards)
    >>> policy.remaining_actions
    (1, 2)

    References
    ----------
    Even-Dar, Mannor and Mansour (2006), Action Elimination and Stopping Conditions for the Multi-Armed Bandit and
    Reinforcement Learning Problems, Journal of Machine Learning Research 7. The radius is the one of Action Selection
    in Féraud et al. (2016): smaller by a factor sqrt(2), with the same guarantee.
    """

    def __init__(self, *, n_variables: int, n_actions: int, delta: float = 0.05) -> None:
        super().__init__(n_variables=n_variables, n_actions=n_actions)
        check_int(n_actions, "n_actions", type(self).__name__, high=MOST_ACTIONS)
        self._delta = check_share(delta, "delta", type(self).__name__)
        self._counts = ActionCounts(self._n_actions)
        self._remaining = list(range(self._n_actions))
        self._rounds = 0  # rewards that each remaining action has at least

    @property
    def remaining_actions(self) -> tuple[int, ...]:
        """The actions that may still be the best."""
        return tuple(self._remaining)

    def _decide(self, _context: NDArray[np.uint8], available: NDArray[np.bool_] | None) -> Decision:
        action = self._least_taken(self._remaining) if available is None else self._choose_among(available)
        self._counts.decided(action)
        return Decision(action, 1.0)

    def _choose_among(self, available: NDArray[np.bool_]) -> int:
        remaining = [k for k in self._remaining if available[k]]
        if remaining:
            return self._least_taken(remaining)
        return max(np.flatnonzero(available).tolist(), key=self._counts.mean)

    def _least_taken(self, actions: list[int]) -> int:
        return min(actions, key=self._counts.taken.__getitem__)

    def _learn(self, _context: NDArray[np.uint8], action: int, reward: float, _propensity: float) -> None:
        self._counts.learned(action, reward)
        rounds = min(self._counts.rewarded[k] for k in self._remaining)
        if rounds > self._rounds:
            self._rounds = rounds
            self._eliminate()

    def _eliminate(self) -> None:
        log_hypotheses = math.log(4.0 * self._n_actions * self._rounds**2 / self._delta)
        bound = 2.0 * math.sqrt(log_hypotheses / (2.0 * self._rounds))
        best = max(self._counts.mean(k) for k in self._remaining)
        self._remaining = [k for k in self._remaining if best - self._counts.mean(k) < bound]
