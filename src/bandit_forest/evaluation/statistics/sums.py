"""Sums of events, from which every estimate of several policies follows, with its interval."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from bandit_forest.evaluation.statistics.estimate import Estimate
from bandit_forest.evaluation.statistics.evidence import Evidence
from bandit_forest.evaluation.statistics.linear import ESTIMATORS, STUDENT, Linear, Means

__all__ = ["Sums"]

Floats = NDArray[np.float64]

_N_COLUMNS = 4
_LEFT, _RIGHT = np.triu_indices(_N_COLUMNS + 1)
_TIMES = np.where(_LEFT == _RIGHT, 1.0, 2.0)  # how often a pair stands in the square of a sum


class _View(NamedTuple):
    """One policy's part in an estimate or in a difference."""

    policy: int
    linear: Linear


class Sums:
    """Sums of events from which estimates of policies, and differences of estimates, get their delta-method intervals.

    An event has four numbers per policy: weight times reward, weight times estimated mean reward, weight, and the
    policy's estimated mean reward. An estimate is a function of their means, and the influence of an event on it is
    linear in its numbers. So the variance of an estimate, and of a difference on the same events, follows from the sums
    of all products.

    Two things are allowed for. Heavy weights that might have come and did not: the variance is raised by the ratio of
    the expected to the observed squares of the weights. And a variance that rests on a few heavy events, which is not
    well known itself: Student's quantiles take the place of the normal ones. Their degrees of freedom are the effective
    number of events behind the variance, (sum of s)^2 / (sum of s^2) for the squared influences s.

    Sums of one part of a log and of the next add up to those of both.

    Parameters
    ----------
    n_policies
        Number of policies.
    """

    def __init__(self, n_policies: int) -> None:
        self.n_events = 0
        n_numbers = _N_COLUMNS * n_policies
        self._totals, self._products = np.zeros(n_numbers), np.zeros((n_numbers, n_numbers))
        self._fourths = np.zeros((n_policies, len(_LEFT), len(_LEFT)))
        self._expected_squares = np.zeros(n_policies)

    def add(self, evidence: Sequence[Evidence]) -> Self:
        """Add events: what is known of them about each policy."""
        tables = [_columns(one) for one in evidence]
        numbers = np.hstack(tables)
        self.n_events += len(numbers)
        self._totals += numbers.sum(axis=0)
        self._products += numbers.T @ numbers
        self._expected_squares += [one.expected_squares.sum() for one in evidence]
        for fourths, table in zip(self._fourths, tables, strict=True):
            wide = np.hstack([table, np.ones((len(table), 1))])
            pairs = wide[:, _LEFT] * wide[:, _RIGHT]
            fourths += pairs.T @ pairs
        return self

    def __add__(self, other: Sums) -> Sums:
        both = Sums(len(self._expected_squares))
        for name, value in vars(self).items():
            setattr(both, name, value + getattr(other, name))
        return both

    def to_json(self) -> dict[str, Any]:
        """Return what `from_json` takes."""
        return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in vars(self).items()}

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Self:
        """Return the sums that `to_json` was called on."""
        sums = cls(len(saved["_expected_squares"]))
        for name, value in saved.items():
            setattr(sums, name, np.array(value) if isinstance(value, list) else value)
        return sums

    def estimate(self, policy: int, estimator: str, confidence: float) -> Estimate:
        """Return the value of a policy."""
        view = self._view(policy, estimator)
        return self._interval(view.linear.value, [view], estimator, confidence)

    def difference(self, policy: int, other: int, estimator: str, confidence: float) -> Estimate:
        """Return the value of a policy minus that of another, on the same events."""
        first, second = self._view(policy, estimator), self._view(other, estimator)
        negative = _View(other, Linear(-second.linear.value, -second.linear.gradient))
        return self._interval(first.linear.value - second.linear.value, [first, negative], estimator, confidence)

    def effective_sample_size(self, policy: int) -> float:
        """Return the squared sum of the weights, divided by the sum of their squares, observed or expected."""
        squares = self._squares(policy) * self._surprise(policy)
        return float(self._totals[self._place(policy) + 2]) ** 2 / squares if squares else 0.0

    def mean_weight(self, policy: int, confidence: float) -> Estimate:
        """Return the mean weight, with a normal interval."""
        weight = Linear(self._means(policy).weight, np.array([0.0, 0.0, 1.0, 0.0]))
        return self._interval(weight.value, [_View(policy, weight)], "ips", confidence)

    def _view(self, policy: int, estimator: str) -> _View:
        return _View(policy, ESTIMATORS[estimator](self._means(policy)))

    def _means(self, policy: int) -> Means:
        own = slice(self._place(policy), self._place(policy) + _N_COLUMNS)
        means = self._totals[own] / self.n_events if self.n_events else np.full(_N_COLUMNS, math.nan)
        earned, predicted, weight, expected = means.tolist()
        covariance = self._products[own, own] / max(self.n_events, 1) - np.outer(means, means)
        return Means(earned, predicted, weight, expected, covariance, self.effective_sample_size(policy))

    def _interval(self, value: float, views: Sequence[_View], estimator: str, confidence: float) -> Estimate:
        if self.n_events < 2:
            return Estimate.around(value, math.inf, confidence)
        gradient = np.zeros(len(self._totals))
        for policy, linear in views:
            gradient[self._place(policy) : self._place(policy) + _N_COLUMNS] += linear.gradient
        mean = float(gradient @ self._totals) / self.n_events
        squares = max(float(gradient @ self._products @ gradient) - self.n_events * mean**2, 0.0)
        degrees = math.inf
        if estimator in STUDENT:
            squares *= max(self._surprise(policy) for policy, _ in views)
            degrees = min(self._degrees(*view) for view in views)
        error = math.sqrt(squares / (self.n_events - 1) / self.n_events)
        return Estimate.around(value, error, confidence, degrees=degrees)

    def _degrees(self, policy: int, linear: Linear) -> float:
        """Return the effective number of events behind the variance of one policy's estimate."""
        own = slice(self._place(policy), self._place(policy) + _N_COLUMNS)
        mean = float(linear.gradient @ self._totals[own]) / self.n_events
        wide = np.append(linear.gradient, -mean)
        pairs = wide[_LEFT] * wide[_RIGHT] * _TIMES
        squares = float(linear.gradient @ self._products[own, own] @ linear.gradient) - self.n_events * mean**2
        fourths = float(pairs @ self._fourths[policy] @ pairs)
        return squares**2 / fourths if squares > 0.0 and fourths > 0.0 else math.inf

    def _surprise(self, policy: int) -> float:
        """Return the ratio of the expected to the observed squares of the weights, at least 1."""
        squares = self._squares(policy)
        return max(float(self._expected_squares[policy]) / squares, 1.0) if squares else 1.0

    def _squares(self, policy: int) -> float:
        place = self._place(policy) + 2
        return float(self._products[place, place])

    @staticmethod
    def _place(policy: int) -> int:
        return _N_COLUMNS * policy


def _columns(evidence: Evidence) -> Floats:
    """Return the numbers of each event, in the order of `Means`."""
    weights = evidence.weights
    columns = (weights * evidence.rewards, weights * evidence.means_taken, weights, evidence.means_policy)
    return np.stack(columns, axis=1)
