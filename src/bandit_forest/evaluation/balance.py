"""Sums that tell whether the propensities of a log can be true.

If they are, one over the propensity of the logged action is, for every action, on average one. So is its average over
actions with any weights that were fixed before the event. Weights that favour the actions that the logging policy
usually takes make this a sharp test; see `LoggingModel`.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bandit_forest.evaluation.log import Log

__all__ = ["N_BINS", "Balance", "Deviations"]

Floats = NDArray[np.float64]

N_BINS = 10
_LEAST = 1e-12
_LEAST_TAKEN = 20.0  # effective number of takes below which a group is not tested


class Deviations:
    """Sums of the deviations of weighted events from their expectation, one place per group of actions."""

    def __init__(self, n_groups: int) -> None:
        self.pairs, self.sums, self.squares, self.variances, self.jumps = np.zeros((5, n_groups))

    def add(self, group: int, log: Log, favour: Floats) -> None:
        """Add events with the favour of each action, which must be fixed before the event.

        The deviation is the favour of the logged action, divided by its propensity, minus the sum of all favours. Its
        conditional variance needs the propensities of all actions. That of the action taken is known. The others sum to
        one minus it, and are taken to be equal. So a rare action that never came is allowed for.
        """
        total, taken = favour.sum(axis=1), favour[np.arange(len(log)), log.actions]
        deviation = taken / log.propensities - total
        each = np.maximum(1.0 - log.propensities, _LEAST) / max(log.n_actions - 1, 1)
        self.pairs[group] += total.sum()
        self.sums[group] += deviation.sum()
        self.squares[group] += (deviation**2).sum()
        self.jumps[group] += ((taken / log.propensities) ** 2).sum()
        others = (favour**2).sum(axis=1) - taken**2
        self.variances[group] += (taken**2 / log.propensities + others / each - total**2).sum()

    def __add__(self, other: Deviations) -> Deviations:
        both = Deviations(len(self.sums))
        for name, value in vars(self).items():
            setattr(both, name, value + getattr(other, name))
        return both

    def scores(self) -> Floats:
        """Return each sum in standard errors; 0 for a group that was taken too seldom to be tested."""
        scores = self.sums / np.sqrt(np.maximum(self._variance(), _LEAST))
        seen = self.pairs + self.sums
        enough = seen**2 >= _LEAST_TAKEN * self.jumps
        return np.where(enough & (self.jumps > 0), scores, 0.0)

    def means(self) -> tuple[Floats, Floats]:
        """Return the mean weight of each group, and its standard error."""
        pairs = np.where(self.pairs > 0, self.pairs, math.nan)
        return 1.0 + self.sums / pairs, np.sqrt(self._variance()) / pairs

    def _variance(self) -> Floats:
        """Return the variance of each sum.

        A group that was taken less often than expected shows smaller squares than expected. They are raised to those of
        the expected number of takes, as in a score test.
        """
        seen = np.maximum(self.pairs + self.sums, _LEAST)
        return np.maximum(self.squares * np.maximum(self.pairs / seen, 1.0), self.variances)


class Balance:
    """Everything about a part of a log that has nothing to do with a policy to evaluate."""

    def __init__(self, n_actions: int) -> None:
        self.n_events = self.n_rewarded = self.n_certain = self.n_contradictions = 0
        self.n_restricted = 0
        """Number of events that say which actions were available."""
        self.overall, self.by_action = Deviations(1), Deviations(n_actions)
        self.by_bin = Deviations(N_BINS)
        self.taken, self.inverse = np.zeros(n_actions), np.zeros(2)
        self.expected, self.covariance = np.zeros(n_actions), np.zeros((n_actions, n_actions))

    def add(self, log: Log, expected: Floats) -> None:
        """Add events with the probability of every action that a model of the logging policy expected."""
        n_actions = log.n_actions
        self.n_events += len(log)
        self.n_rewarded += int(np.count_nonzero(~np.isnan(log.rewards)))
        self.n_certain += int(np.count_nonzero(log.propensities == 1.0))
        self.n_restricted += 0 if log.available is None else len(log)
        self.taken += np.bincount(log.actions, minlength=n_actions)
        self.inverse += [(1 / log.propensities).sum(), (1 / log.propensities**2).sum()]
        can = expected if log.available is None else expected * log.available
        favour = can**2  # rare actions have large weights, which would drown the test
        self.overall.add(0, log, favour)
        for action in range(n_actions):
            self.by_action.add(action, log, favour * (np.arange(n_actions) == action))
        bins = np.minimum((expected * N_BINS).astype(np.int64), N_BINS - 1)
        for number in range(N_BINS):
            self.by_bin.add(number, log, ((bins == number) & (can > 0)).astype(np.float64))
        if log.probabilities is not None:
            self._add_probabilities(log, log.probabilities)

    def _add_probabilities(self, log: Log, probabilities: Floats) -> None:
        claimed = probabilities[np.arange(len(log)), log.actions]
        wrong = (np.abs(claimed - log.propensities) > 1e-6) | (np.abs(probabilities.sum(axis=1) - 1) > 1e-6)
        self.n_contradictions += int(np.count_nonzero(wrong))
        self.expected += probabilities.sum(axis=0)
        self.covariance += np.diag(probabilities.sum(axis=0)) - probabilities.T @ probabilities

    def __add__(self, other: Balance) -> Balance:
        both = Balance(len(self.taken))
        for name, value in vars(self).items():
            setattr(both, name, value + getattr(other, name))
        return both
