"""How a forest with a lifetime notices that its world has changed, in plain Python."""

from __future__ import annotations

import math

__all__ = ["ChangeDetector"]

_ALLOWANCE = 0.1
_THRESHOLD = 100.0
_LEAST_VARIANCE = 0.02


class ChangeDetector:
    """A cumulative sum test (Page 1954) of estimates minus rewards, in units of their standard deviation.

    The sum starts again from zero where it would fall below; a change began when it last did.

    Examples
    --------
    >>> detector = ChangeDetector()
    >>> noticed = [detector.learn(0.9, float(event < 1000), event) for event in range(1100)]
    >>> noticed.index(True), detector.first
    (1019, 1000)
    """

    def __init__(self) -> None:
        self.first = 0
        """First event of the world as it is now, as far as has been noticed."""
        self._start = self._n_events = 0
        self._mean = self._variance = self._sum = 0.0

    def learn(self, estimate: float, reward: float, event: int) -> bool:
        """Learn an estimate that was made before the reward, and return whether a change is noticed with this event."""
        surprise = estimate - reward
        self._n_events += 1
        distance = surprise - self._mean
        self._mean += distance / self._n_events
        self._variance += (distance * distance - self._variance) / self._n_events
        usual = max(self._mean, 0.0)  # who estimates too little at first is not surprised when that ends
        self._sum += (surprise - usual) / math.sqrt(self._variance + _LEAST_VARIANCE) - _ALLOWANCE
        if self._sum <= 0.0:
            self._sum, self._start = 0.0, event + 1
        if self._sum < _THRESHOLD:
            return False
        self.first, self._start, self._n_events = self._start, event + 1, 0
        self._mean = self._variance = self._sum = 0.0
        return True
