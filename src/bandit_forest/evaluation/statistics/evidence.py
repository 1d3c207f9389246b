"""What is known of each event about a policy: its weight, and what a model of the rewards expects."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bandit_forest.evaluation.log import Log

__all__ = ["Evidence", "expected_squares", "logged_evidence", "policy_evidence", "weights_of"]

Floats = NDArray[np.float64]
Actions = NDArray[np.int64]


class Evidence(NamedTuple):
    """What is known of each event about one policy, one number per event."""

    rewards: Floats
    """The reward of the action that was taken."""
    weights: Floats
    """The policy's probability of that action, divided by its propensity."""
    expected_squares: Floats
    """The squared weight that was to be expected, over all actions that might have been taken."""
    means_taken: Floats
    """The estimated mean reward of the action that was taken."""
    means_policy: Floats
    """The estimated mean reward of the policy: of every action, by the policy's probabilities."""


def policy_evidence(log: Log, probabilities: Floats, means: Floats) -> Evidence:
    """Return the evidence about a policy.

    Parameters
    ----------
    log
        Events with a reward.
    probabilities
        The policy's probability of every action, one row per event.
    means
        Estimated mean reward of every action, one row per event.
    """
    return Evidence(
        rewards=log.rewards,
        weights=weights_of(probabilities, log.actions, log.propensities),
        expected_squares=expected_squares(probabilities, log.all_probabilities()),
        means_taken=means[np.arange(len(log)), log.actions],
        means_policy=(probabilities * means).sum(axis=1),
    )


def logged_evidence(rewards: Floats) -> Evidence:
    """Return the evidence about the policy that made the log: its value is the mean reward, by every estimator."""
    ones = np.ones_like(rewards)
    return Evidence(rewards, ones, ones, rewards, rewards)


def weights_of(probabilities: Floats, actions: Actions, propensities: Floats) -> Floats:
    """Return the importance weight of each event: the policy's probability of the logged action by its propensity.

    Examples
    --------
    >>> weights_of(np.array([[0.2, 0.8]]), np.array([1]), np.array([0.5]))
    array([1.6])
    """
    return probabilities[np.arange(len(actions)), actions] / propensities


def expected_squares(probabilities: Floats, logged: Floats) -> Floats:
    """Return the expected squared weight of each event, from the probabilities of every action of both policies.

    A heavy weight that seldom comes makes the squares of the weights that came too small. Their expectation knows of
    it. An action that the logging policy never takes has no weight.

    Examples
    --------
    >>> expected_squares(np.array([[0.0, 1.0]]), np.array([[0.99, 0.01]]))
    array([100.])
    """
    squares = np.divide(probabilities**2, logged, out=np.zeros_like(logged), where=logged > 0.0)
    total: Floats = squares.sum(axis=1)
    return total
