"""Confidence sequences: intervals that hold at every event at once, so that one may look every day and stop at will.

The weighted reward X_t of an event is at least 0, and its mean given the past is the value that is sought, at most 1.
Let p_t be a prediction of X_t in [0, 1] from the events before it. For every bet b in [0, 1), the product over events
of exp(b (X_t - value) + (log(1 - b) + b) (X_t - p_t)^2) has an expectation of at most 1 at all times (Fan, Grama and
Liu 2015). A mixture over b keeps that property. With the density of 1 - b proportional to that of an exponential
variable, the mixture has a closed form (Howard, Ramdas, McAuliffe and Sekhon 2021). With s = sum of (X_t - value) and
v = sum of (X_t - p_t)^2, the logarithm of the wealth is log S(v + 1, s + v + 1) - log S(1, 1), S being the series of
`special`. By Ville's inequality the wealth ever exceeds 1 / alpha with a probability of at most alpha. So the values
that are not refuted are those of which s is below a boundary that depends on v alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bandit_forest.evaluation.statistics.special import gamma_series

__all__ = ["Interval", "LowerBound", "ValueSequence", "boundary", "confidence_sequence", "running_sums"]

Floats = NDArray[np.float64]

_TOLERANCE = 1e-12
_MOST_STEPS = 20


class Interval(NamedTuple):
    """Two limits."""

    low: float
    high: float


def boundary(variance: float, alpha: float) -> float:
    """Return the sum of deviations at which the wealth is 1 / alpha, given the sum of squared errors of prediction.

    The logarithm of the wealth is a convex, increasing function of the sum: Newton's method converges in a few steps.

    Examples
    --------
    >>> round(boundary(100.0, 0.05), 2)
    34.91
    """
    a = variance + 1.0
    wanted = gamma_series(1.0, 1.0)[0] - math.log(alpha)
    deviation = math.sqrt(2 * a * (math.log(a) / 2 - math.log(alpha)))
    for _ in range(_MOST_STEPS):
        log_sum, slope = gamma_series(a, deviation + a)
        step = (log_sum - wanted) / slope
        deviation -= step
        if abs(step) <= _TOLERANCE * deviation:
            break
    return deviation


def running_sums(values: Floats, *, n_events: int = 0, total: float = 0.0, clip: bool = True) -> tuple[Floats, Floats]:
    """Return the sum of all values, and that of the squared errors of prediction of these, after each of them.

    Parameters
    ----------
    values
        The next values, which follow `n_events` others with the sum `total`.
    clip
        As in `LowerBound`.
    """
    totals = total + np.concatenate([[0.0], np.cumsum(values)])
    predictions = (totals[:-1] + 0.5) / (n_events + np.arange(1, len(values) + 1))
    if clip:
        predictions = np.minimum(predictions, 1.0)
    return totals[1:], np.cumsum((values - predictions) ** 2)


class LowerBound:
    """Lower confidence bound, at all times, of the mean of variables that are at least 0 and have a mean of at most 1.

    Parameters
    ----------
    clip
        Whether predictions stay below 1, as the proof asks for. Without, it is the bound of `vw-estimators`.
    """

    def __init__(self, *, clip: bool = True) -> None:
        self._clip = clip
        self._n_events, self._total, self._variance = 0, 0.0, 0.0

    def add(self, values: Floats) -> None:
        """Add the next events."""
        totals, errors = running_sums(values, n_events=self._n_events, total=self._total, clip=self._clip)
        self._n_events += len(values)
        if len(values):
            self._total = float(totals[-1])
            self._variance += float(errors[-1])

    def to_json(self) -> list[float]:
        """Return what `from_json` takes."""
        return [self._n_events, self._total, self._variance]

    @classmethod
    def from_json(cls, saved: Sequence[float]) -> Self:
        """Return the bound that `to_json` was called on; its predictions stay below 1."""
        bound = cls()
        bound._n_events, bound._total, bound._variance = int(saved[0]), saved[1], saved[2]
        return bound

    def bound(self, alpha: float) -> float:
        """Return the bound after the events so far."""
        if self._n_events == 0:
            return 0.0
        mean = self._total / self._n_events
        low = (self._total - boundary(self._variance, alpha)) / self._n_events
        return min(max(low, 0.0), mean, 1.0)


class ValueSequence:
    """Confidence sequences of the value of a policy, and of its gain over the logging policy.

    The upper limits are those of lower bounds for what is missing to the largest reward. The gain over the logging
    policy is (weight - 1) times reward, which is at least -1 on either scale.

    Parameters
    ----------
    reward_range
        The least and the largest possible reward.
    clip
        As in `LowerBound`.

    References
    ----------
    Karampatziakis, Mineiro and Ramdas, Off-policy Confidence Sequences, ICML 2021.
    Waudby-Smith, Wu, Ramdas, Karampatziakis and Mineiro, Anytime-valid Off-policy Inference for
    Contextual Bandits, 2022.
    """

    def __init__(self, *, reward_range: tuple[float, float] = (0.0, 1.0), clip: bool = True) -> None:
        self._low, self._span = reward_range[0], reward_range[1] - reward_range[0]
        self._earned, self._missed, self._gained, self._lost = (LowerBound(clip=clip) for _ in range(4))

    def add(self, weights: Floats, rewards: Floats) -> None:
        """Add the next events."""
        share = (rewards - self._low) / self._span
        rest = 1.0 - share
        self._earned.add(weights * share)
        self._missed.add(weights * rest)
        self._gained.add(((weights - 1.0) * share + 1.0) / 2)
        self._lost.add(((weights - 1.0) * rest + 1.0) / 2)

    def to_json(self) -> list[list[float]]:
        """Return what `from_json` takes; of a sequence on the scale of rewards in [0, 1]."""
        return [bound.to_json() for bound in (self._earned, self._missed, self._gained, self._lost)]

    @classmethod
    def from_json(cls, saved: Sequence[Sequence[float]]) -> Self:
        """Return the sequence that `to_json` was called on."""
        sequence = cls()
        sequence._earned, sequence._missed, sequence._gained, sequence._lost = map(LowerBound.from_json, saved)
        return sequence

    def value(self, confidence: float) -> Interval:
        """Return the limits of the value after the events so far."""
        alpha = (1 - confidence) / 2
        low, high = self._earned.bound(alpha), 1.0 - self._missed.bound(alpha)
        return Interval(self._low + self._span * low, self._low + self._span * high)

    def gain(self, confidence: float) -> Interval:
        """Return the limits of the gain over the logging policy after the events so far."""
        alpha = (1 - confidence) / 2
        low, high = 2 * self._gained.bound(alpha) - 1, 1 - 2 * self._lost.bound(alpha)
        return Interval(self._span * low, self._span * high)


def confidence_sequence(
    weights: ArrayLike,
    rewards: ArrayLike,
    *,
    reward_range: tuple[float, float] = (0.0, 1.0),
    confidence: float = 0.95,
    clip: bool = True,
) -> Interval:
    """Return the interval of the confidence sequence after all of these events.

    Parameters
    ----------
    weights
        Probability of the logged action under the policy, divided by its propensity; one per event, in order.
    rewards
        Reward of the logged action, one per event.
    reward_range
        The least and the largest possible reward.
    confidence
        Probability with which the intervals of all times hold at once.
    clip
        As in `LowerBound`.

    Examples
    --------
    >>> low, high = confidence_sequence(np.ones(1000), np.tile([0.0, 1.0], 500))
    >>> round(low, 2), round(high, 2)
    (0.44, 0.56)
    """
    sequence = ValueSequence(reward_range=reward_range, clip=clip)
    sequence.add(np.asarray(weights, dtype=np.float64), np.asarray(rewards, dtype=np.float64))
    return sequence.value(confidence)
