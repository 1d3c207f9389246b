"""An estimate with its interval, and the sums that estimates are made of."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["Estimate", "Ratios"]

Floats = NDArray[np.float64]


class Estimate(NamedTuple):
    """A value with its confidence interval."""

    value: float
    standard_error: float
    low: float
    high: float

    @classmethod
    def normal(cls, value: float, standard_error: float, confidence: float) -> Estimate:
        """Return an estimate whose interval is that of the normal distribution.

        Examples
        --------
        >>> round(Estimate.normal(0.5, 0.1, 0.95).high, 3)
        0.696
        """
        radius = NormalDist().inv_cdf((1 + confidence) / 2) * standard_error
        return cls(value, standard_error, value - radius, value + radius)


class Ratios:
    """Sums of events from which ratios of means, and differences of such ratios, get their delta-method intervals.

    Each of `n_ratios` policies adds a numerator and a denominator per event; its value is the ratio of their means. The
    influence of event t on the value v of a policy is (numerator_t - v denominator_t) / mean denominator. Its variance,
    and that of the difference between two policies on the same events, follow from the sums of all products.

    Sums of one part of a log and of the next add up to those of both.
    """

    def __init__(self, n_ratios: int) -> None:
        self.n_events = 0
        self._n_ratios = n_ratios
        self._sums = np.zeros(2 * n_ratios)
        self._products = np.zeros((2 * n_ratios, 2 * n_ratios))

    def add(self, numerators: Floats, denominators: Floats) -> Self:
        """Add events: one row per event, one column per policy."""
        terms = np.hstack([numerators, denominators])
        self.n_events += len(terms)
        self._sums += terms.sum(axis=0)
        self._products += terms.T @ terms
        return self

    def __add__(self, other: Ratios) -> Ratios:
        both = Ratios(self._n_ratios)
        both.n_events = self.n_events + other.n_events
        both._sums = self._sums + other._sums
        both._products = self._products + other._products
        return both

    def estimate(self, policy: int, confidence: float) -> Estimate:
        """Return the value of a policy."""
        return self._normal(self._value(policy), self._influence(policy), confidence)

    def difference(self, policy: int, other: int, confidence: float) -> Estimate:
        """Return the value of a policy minus that of another, on the same events."""
        value = self._value(policy) - self._value(other)
        return self._normal(value, self._influence(policy) - self._influence(other), confidence)

    def effective_sample_size(self, policy: int) -> float:
        """Return the squared sum of the denominators, divided by the sum of their squares."""
        place = self._n_ratios + policy
        squares = float(self._products[place, place])
        return float(self._sums[place]) ** 2 / squares if squares else 0.0

    def mean_denominator(self, policy: int, confidence: float) -> Estimate:
        """Return the mean of the denominators."""
        if not self.n_events:
            return Estimate.normal(math.nan, math.inf, confidence)
        place = self._n_ratios + policy
        mean = float(self._sums[place]) / self.n_events
        squares = max(float(self._products[place, place]) - self.n_events * mean**2, 0.0)
        return Estimate.normal(mean, self._error(squares), confidence)

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

    def _normal(self, value: float, influence: Floats, confidence: float) -> Estimate:
        squares = float(influence @ self._products @ influence)
        return Estimate.normal(value, self._error(max(squares, 0.0)), confidence)

    def _error(self, squares: float) -> float:
        """Return the standard error of a mean, from the sum of squared deviations."""
        return math.sqrt(squares / (self.n_events - 1) / self.n_events) if self.n_events > 1 else math.inf
