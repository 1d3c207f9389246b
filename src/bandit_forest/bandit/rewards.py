"""The range of rewards: in the user's units outside, in [0, 1] inside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandit_forest.errors import refuse
from bandit_forest.validation import check_number, check_numbers

__all__ = ["RewardRange"]

_FINITE = -1e300, 1e300


@dataclass(frozen=True)
class RewardRange:
    """The lowest and the highest reward.

    Examples
    --------
    >>> RewardRange(-1, 1).scale(0.5)
    0.75
    """

    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        owner = "the reward range"
        for name in ("low", "high"):
            number = check_number(getattr(self, name), name, owner, "a finite number", *_FINITE)
            object.__setattr__(self, name, number)
        if not self.low < self.high:
            refuse("high", owner, f"above 'low', which is {self.low}", self.high)

    @classmethod
    def of(cls, given: Any, owner: str) -> RewardRange:
        """Return the range of a pair (low, high)."""
        if not isinstance(given, Sequence) or isinstance(given, str) or len(given) != 2:
            refuse("reward_range", owner, "a pair of numbers (low, high)", given)
        return cls(*given)

    def check(self, reward: object, owner: str) -> float:
        """Return a reward of the range."""
        rule = f"a number in [{self.low:g}, {self.high:g}]"
        return check_number(reward, "reward", owner, rule, self.low, self.high)

    def check_many(self, rewards: Any, n_events: int, owner: str) -> NDArray[np.float64]:
        """Return the rewards of a batch; what is wrong is told with its row."""
        if np.ma.is_masked(rewards):
            refuse("rewards", owner, "numbers without masked ones, whose events are left out", rewards)
        values = rewards if isinstance(rewards, (list, tuple)) else np.asarray(rewards)
        if (values.shape if isinstance(values, np.ndarray) else (len(values),)) != (n_events,):
            refuse("rewards", owner, f"{n_events} numbers, one for each event", rewards)
        rule = f"numbers in [{self.low:g}, {self.high:g}]"
        return check_numbers(values, "rewards", owner, rule, self.low, self.high)

    def scale(self, reward: float) -> float:
        """Return a reward of the range in [0, 1]."""
        return min(1.0, max(0.0, (reward - self.low) / (self.high - self.low)))

    def scale_many(self, rewards: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return rewards of the range in [0, 1]."""
        return np.clip((rewards - self.low) / (self.high - self.low), 0.0, 1.0)

    def unscale(self, reward: float) -> float:
        """Return a reward in [0, 1] in the units of the range."""
        return self.low + reward * (self.high - self.low)
