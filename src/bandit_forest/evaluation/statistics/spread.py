"""Rarity of the rewards of a log: before some rare rewards have come, the variance of their mean is underestimated."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["LEAST_REWARDS", "Spread"]

LEAST_REWARDS = 10
"""Number of rare rewards in the effective sample below which there is no verdict."""


class Spread:
    """Moments and limits of rewards, from which their rarity follows; those of two parts of a log add up.

    Examples
    --------
    >>> clicks = Spread()
    >>> clicks.add(np.repeat([0.0, 1.0], [990, 10]))
    >>> round(clicks.rarity, 4)
    0.0101
    """

    def __init__(self) -> None:
        self._moments = np.zeros(3)
        self._low, self._high = math.inf, -math.inf

    def add(self, rewards: NDArray[np.float64]) -> None:
        """Add rewards."""
        self._moments += [len(rewards), rewards.sum(), (rewards**2).sum()]
        self._low = min(self._low, float(rewards.min(initial=math.inf)))
        self._high = max(self._high, float(rewards.max(initial=-math.inf)))

    def __add__(self, other: Spread) -> Spread:
        both = Spread()
        both._moments = self._moments + other._moments
        both._low, both._high = min(self._low, other._low), max(self._high, other._high)
        return both

    @property
    def rarity(self) -> float:
        """The variance, divided by the squared distance of the furthest reward from the mean.

        Where a share p of the events earns 1 and all others 0, it is p / (1 - p) for p below a half. Multiplied by a
        number of events, that is about the number of those that earn.
        """
        n_events, total, squares = self._moments.tolist()
        if not n_events or self._low == self._high:
            return 0.0
        mean = total / n_events
        return (squares / n_events - mean**2) / max(self._high - mean, mean - self._low) ** 2
