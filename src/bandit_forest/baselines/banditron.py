"""Banditron: a multi-class perceptron that learns from bandit feedback."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bandit_forest.parameters import MOST_ACTIONS, MOST_CELLS, check_share, check_size
from bandit_forest.policy import CheckedPolicy, Decision
from bandit_forest.randomness import DECISION, draw
from bandit_forest.validation import check_int

__all__ = ["Banditron"]


class Banditron(CheckedPolicy):
    """Play the action of highest linear score, and a random action with a small probability.

    Each action has a weight for every variable and a bias. An event subtracts one from the weights of the action with
    the highest score, and adds reward / propensity to the weights of the action that was played. On average over the
    draw of the action, this is the update of the multi-class perceptron with full information.

    The best action of an event is computed again from all actions when its reward arrives, so a reward may arrive at
    any time or never.

    Parameters
    ----------
    n_variables
        Number of binary variables of a context.
    n_actions
        Number of actions.
    exploration_rate
        Probability with which the action is drawn at random, γ in the article.
    seed
        Seed of all random draws.

    Examples
    --------
    >>> policy = Banditron(n_variables=3, n_actions=2, exploration_rate=0.1)
    >>> decision = policy.decide([1, 0, 1])
    >>> policy.learn([1, 0, 1], decision.action, 1.0, propensity=decision.propensity)

    References
    ----------
    Kakade, Shalev-Shwartz and Tewari, *Efficient bandit algorithms for online multiclass prediction*, ICML 2008.
    """

    def __init__(self, *, n_variables: int, n_actions: int, exploration_rate: float = 0.05, seed: int = 0) -> None:
        super().__init__(n_variables=n_variables, n_actions=n_actions)
        check_int(n_actions, "n_actions", "Banditron", high=MOST_ACTIONS)
        most = MOST_CELLS // self._n_actions
        check_size(self._n_variables, most, "n_variables", "Banditron", f"{self._n_actions} actions")
        self._exploration_rate = check_share(exploration_rate, "exploration_rate", "Banditron")
        self._seed = check_int(seed, "seed", "Banditron", low=0)
        self._n_decisions = 0
        self._weights = np.zeros((self.n_variables, self.n_actions))  # an action a column: set variables pick rows
        self._biases = np.zeros(self.n_actions)

    def _decide(self, context: NDArray[np.uint8], available: NDArray[np.bool_] | None) -> Decision:
        scores = self._scores(context.nonzero()[0])
        actions: Sequence[int] = range(self._n_actions)
        if available is not None:
            scores[~available] = -np.inf
            actions = available.nonzero()[0].tolist()
        best = int(scores.argmax())
        share = self._exploration_rate / len(actions)
        drawn = draw(self._seed, DECISION, self._n_decisions)
        self._n_decisions += 1
        action = actions[int(drawn / share)] if drawn < self._exploration_rate else best
        return Decision(action, share + (1.0 - self._exploration_rate if action == best else 0.0))

    def _learn(self, context: NDArray[np.uint8], action: int, reward: float, propensity: float) -> None:
        positions = context.nonzero()[0]
        best = int(self._scores(positions).argmax())
        self._add(positions, best, -1.0)
        # Decisions of this policy are never less likely than this; one of another policy must not outweigh all others.
        least = self._exploration_rate / self._n_actions
        self._add(positions, action, reward / max(propensity, least))

    def _scores(self, positions: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the score of every action for the context with these variables set."""
        scores: NDArray[np.float64] = self._weights.take(positions, axis=0).sum(axis=0) + self._biases
        return scores

    def _add(self, positions: NDArray[np.intp], action: int, step: float) -> None:
        """Move the weights of an action along a context."""
        self._weights[positions, action] += step
        self._biases[action] += step
