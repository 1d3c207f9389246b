"""What is learned along a log, always from earlier events: mean rewards, and how the logging policy acts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bandit_forest.bandit.pairs import PairBandit
from bandit_forest.evaluation.bandits import OfferPolicy
from bandit_forest.evaluation.log import FeatureKinds
from bandit_forest.forest import BanditForest

__all__ = ["ActionMeans", "ForestMeans", "LoggingModel", "Means", "OfferMeans"]

Floats = NDArray[np.float64]
Bits = NDArray[np.uint8]

_N_TREES = 20
_FIRST, _SHARE, _MOST = 32, 20, 10_000  # events of a piece: the least, their share of those seen, the most
_STEP = 100  # events of a gradient


class Means(Protocol):
    """Estimates of the mean reward of every action that never know the reward of the event they are for."""

    def predict_and_learn(
        self, contexts: Bits, actions: NDArray[np.int64], rewards: Floats, propensities: Floats
    ) -> Floats:
        """Return the mean rewards in [0, 1] of every action, one row per event, and learn; NaN rewards are unknown."""


class ActionMeans:
    """Running mean reward of each action, by inverse propensities, for logs without contexts."""

    def __init__(self, n_actions: int) -> None:
        self._counts, self._totals = np.full(n_actions, 1.0), np.full(n_actions, 0.5)

    def predict_and_learn(
        self,
        contexts: Bits,  # noqa: ARG002
        actions: NDArray[np.int64],
        rewards: Floats,
        propensities: Floats,
    ) -> Floats:
        """Return the means before each event."""
        taken = np.zeros((len(actions), len(self._counts)))
        known = ~np.isnan(rewards)
        taken[np.flatnonzero(known), actions[known]] = 1.0 / propensities[known]
        counts = self._counts + np.cumsum(taken, axis=0)
        totals = self._totals + np.cumsum(taken * np.where(known, rewards, 0.0)[:, None], axis=0)
        means: Floats = np.vstack([self._totals, totals[:-1]]) / np.vstack([self._counts, counts[:-1]])
        self._counts, self._totals = counts[-1], totals[-1]
        return means


class ForestMeans:
    """Mean rewards of a fresh forest that learns along the log; a piece of events is predicted before it is learned.

    Parameters
    ----------
    n_variables, n_actions
        Number of variables of a context, and of actions.
    thresholds
        Thresholds of the ordered variables, as `BanditForest` takes them.
    """

    def __init__(
        self, n_variables: int, n_actions: int, *, thresholds: Mapping[int, Sequence[float]] | None = None
    ) -> None:
        self._forest: BanditForest | OfferPolicy = BanditForest(
            n_variables=n_variables, n_actions=n_actions, thresholds=thresholds, n_trees=_N_TREES
        )
        self._n_seen = 0

    def predict_and_learn(
        self, contexts: Bits, actions: NDArray[np.int64], rewards: Floats, propensities: Floats
    ) -> Floats:
        """Return the forest's means before each piece."""
        means = np.empty((len(actions), self._forest.n_actions))
        for rows in growing_pieces(len(actions), self._n_seen):
            means[rows] = np.nan_to_num(self._forest.mean_rewards_many(contexts[rows]), nan=0.5)
            known = np.flatnonzero(~np.isnan(rewards[rows])) + rows.start
            self._forest.learn_many(contexts[known], actions[known], rewards[known], propensities=propensities[known])
        self._n_seen += len(actions)
        return means


class OfferMeans(ForestMeans):
    """Mean rewards of a fresh `PairBandit` that learns along a log with offers, which it is given as contexts.

    Parameters
    ----------
    n_actions
        The largest number of actions that an event offers.
    kinds
        The kinds of features that are known.
    """

    def __init__(self, n_actions: int, kinds: FeatureKinds) -> None:
        context, action = kinds.context or None, kinds.action or None
        bandit = PairBandit(context_features=context, action_features=action, forest={"n_trees": _N_TREES})
        self._forest = OfferPolicy(bandit, n_actions)
        self._n_seen = 0


class LoggingModel:
    """Softmax regression of the logged action on the context, by AdaGrad; it predicts a piece before it learns it.

    It serves to test propensities: a policy that acts like the logging policy has importance weights close to one.

    Parameters
    ----------
    n_variables, n_actions
        Number of variables of a context, and of actions.
    thresholds
        Thresholds of the ordered variables, whose codes are divided by the largest.
    """

    def __init__(
        self, n_variables: int, n_actions: int, *, thresholds: Mapping[int, Sequence[float]] | None = None
    ) -> None:
        self._largest = np.ones(n_variables)
        for variable, numbers in (thresholds or {}).items():
            self._largest[variable] = len(numbers)
        self._weights = np.zeros((n_variables + 1, n_actions))
        self._squares = np.full((n_variables + 1, n_actions), 1e-3)

    def predict_and_learn(self, contexts: Bits, actions: NDArray[np.int64]) -> Floats:
        """Return the expected probability of every action, one row per event, and learn."""
        inputs = np.hstack([contexts / self._largest - 0.5, np.ones((len(contexts), 1))])
        expected = np.empty((len(actions), self._weights.shape[1]))
        for start in range(0, len(actions), _STEP):
            rows = slice(start, start + _STEP)
            expected[rows] = _softmax(inputs[rows] @ self._weights)
            self._learn(inputs[rows], expected[rows], actions[rows])
        return expected

    def _learn(self, inputs: Floats, expected: Floats, actions: NDArray[np.int64]) -> None:
        errors = expected.copy()
        errors[np.arange(len(errors)), actions] -= 1.0
        gradient = inputs.T @ errors / len(errors)
        self._squares += gradient**2
        self._weights -= 0.5 * gradient / np.sqrt(self._squares)


def growing_pieces(n_events: int, n_seen: int) -> Iterator[slice]:
    """Return pieces of a batch that grow with the number of events seen, so that early events count soon.

    Examples
    --------
    >>> list(growing_pieces(100, 0))
    [slice(0, 32, None), slice(32, 64, None), slice(64, 96, None), slice(96, 100, None)]
    """
    start = 0
    while start < n_events:
        stop = min(n_events, start + min(_MOST, max(_FIRST, (n_seen + start) // _SHARE)))
        yield slice(start, stop)
        start = stop


def _softmax(scores: Floats) -> Floats:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Floats = powers / powers.sum(axis=1, keepdims=True)
    return shares
