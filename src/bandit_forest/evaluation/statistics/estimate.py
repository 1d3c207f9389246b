"""An estimate with its interval, and the sums that estimates are made of."""

from __future__ import annotations

import math
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from bandit_forest.evaluation.statistics.special import student_quantile

__all__ = ["Estimate", "Ratios"]

Floats = NDArray[np.float64]


class Estimate(NamedTuple):
    """A value with its confidence interval."""

    value: float
    standard_error: float
    low: float
    high: float

    @classmethod
    def around(cls, value: float, standard_error: float, confidence: float, *, degrees: float = math.inf) -> Estimate:
        """Return an estimate whose interval is that of the normal distribution, or of Student's with these degrees.

        Examples
        --------
        >>> round(Estimate.around(0.5, 0.1, 0.95).high, 3), round(Estimate.around(0.5, 0.1, 0.95, degrees=20).high, 3)
        (0.696, 0.709)
        """
        radius = student_quantile((1 + confidence) / 2, degrees) * standard_error
        return cls(value, standard_error, value - radius, value + radius)


class Ratios:
    """Sums of events from which ratios of means, and differences of such ratios, get their delta-method intervals.

    Each of `n_ratios` policies adds a numerator and a denominator per event; its value is the ratio of their means. The
    influence of event t on the value v of a policy is (numerator_t - v denominator_t) / mean denominator. Its variance,
    and that of the difference between two policies on the same events, follow from the sums of all products.

    A few heavy events may make most of that variance, which is then not well known itself. So Student's quantiles take
    the place of the normal ones. Their degrees of freedom are those of a chi-squared variable with the same mean and
    variance as the estimated variance (Satterthwaite 1946), for which sums of products of four are kept.

    Sums of one part of a log and of the next add up to those of both.

    Parameters
    ----------
    n_ratios
        Number of policies.
    student
        Whether quantiles are Student's; normal ones need no products of four.
    """

    def __init__(self, n_ratios: int, *, student: bool = True) -> None:
        self.n_events = 0
        self._n_ratios, self._student = n_ratios, student
        self._left, self._right = np.triu_indices(2 * n_ratios)
        n_pairs = len(self._left) if student else 0
        self._sums = np.zeros(2 * n_ratios)
        self._products = np.zeros((2 * n_ratios, 2 * n_ratios))
        self._fourths = np.zeros((n_pairs, n_pairs))

    def add(self, numerators: Floats, denominators: Floats) -> Self:
        """Add events: one row per event, one column per policy."""
        terms = np.hstack([numerators, denominators])
        self.n_events += len(terms)
        self._sums += terms.sum(axis=0)
        self._products += terms.T @ terms
        if self._student:
            pairs = terms[:, self._left] * terms[:, self._right]
            self._fourths += pairs.T @ pairs
        return self

    def __add__(self, other: Ratios) -> Ratios:
        both = Ratios(self._n_ratios, student=self._student)
        both.n_events = self.n_events + other.n_events
        both._sums = self._sums + other._sums
        both._products = self._products + other._products
        both._fourths = self._fourths + other._fourths
        return both

    def estimate(self, policy: int, confidence: float) -> Estimate:
        """Return the value of a policy."""
        return self._interval(self._value(policy), self._influence(policy), confidence)

    def difference(self, policy: int, other: int, confidence: float) -> Estimate:
        """Return the value of a policy minus that of another, on the same events."""
        value = self._value(policy) - self._value(other)
        return self._interval(value, self._influence(policy) - self._influence(other), confidence)

    def effective_sample_size(self, policy: int) -> float:
        """Return the squared sum of the denominators, divided by the sum of their squares."""
        place = self._n_ratios + policy
        squares = float(self._products[place, place])
        return float(self._sums[place]) ** 2 / squares if squares else 0.0

    def mean_denominator(self, policy: int, confidence: float) -> Estimate:
        """Return the mean of the denominators, with a normal interval."""
        if not self.n_events:
            return Estimate.around(math.nan, math.inf, confidence)
        place = self._n_ratios + policy
        mean = float(self._sums[place]) / self.n_events
        squares = max(float(self._products[place, place]) - self.n_events * mean**2, 0.0)
        return Estimate.around(mean, self._error(squares), confidence)

    def _value(self, policy: int) -> float:
        total = float(self._sums[self._n_ratios + policy])
        return float(self._sums[policy]) / total if total else math.nan

    def _influence(self, policy: int) -> Floats:
        """Return the coefficients of the terms of an event in its influence on a value."""
        coefficients, total = np.zeros(2 * self._n_ratios), float(self._sums[self._n_ratios + policy])
        scale = self.n_events / total if total else math.nan
        coefficients[policy] = scale
        coefficients[self._n_ratios + policy] = -scale * self._value(policy)
        return coefficients

    def _interval(self, value: float, influence: Floats, confidence: float) -> Estimate:
        squares = max(float(influence @ self._products @ influence), 0.0)
        degrees = self._degrees(influence, squares) if self._student else math.inf
        return Estimate.around(value, self._error(squares), confidence, degrees=degrees)

    def _degrees(self, influence: Floats, squares: float) -> float:
        """Return the degrees of freedom of the sum of squared influences."""
        pairs = influence[self._left] * influence[self._right] * np.where(self._left == self._right, 1.0, 2.0)
        fourths = float(pairs @ self._fourths @ pairs)
        spread = fourths / squares**2 - 1 / self.n_events if squares > 0 else 0.0
        return 2 / spread if spread > 0 else math.inf

    def _error(self, squares: float) -> float:
        """Return the standard error of a mean, from the sum of squared deviations."""
        return math.sqrt(squares / (self.n_events - 1) / self.n_events) if self.n_events > 1 else math.inf
