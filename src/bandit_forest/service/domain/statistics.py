"""Counts of events, in total and over time; they follow from the journal."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

from msgspec import Struct, convert, to_builtins

from bandit_forest.evaluation.statistics.comparison import Comparison

__all__ = ["PROPENSITY_BOUNDS", "Histogram", "Statistics", "TimeBucket"]

PROPENSITY_BOUNDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.9, 1.0)
_FIRST_SECONDS = 10
_MOST_BUCKETS = 240


class Histogram:
    """Counts of numbers by upper bound; the last count has no bound. A tenth of the time of prometheus-client's.

    Examples
    --------
    >>> latency = Histogram((0.001, 0.01))
    >>> latency.observe(0.003)
    >>> latency.counts, latency.sum
    ([0, 1, 0], 0.003)
    """

    __slots__ = ("bounds", "counts", "sum")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def observe(self, number: float) -> None:
        """Count a number."""
        self.counts[bisect_left(self.bounds, number)] += 1
        self.sum += number


class TimeBucket(Struct, array_like=True):
    """Counts of one bucket of time; rewards are in [0, 1]."""

    decisions: list[int]
    """Number of decisions by the index of the action."""
    n_rewards: int = 0
    reward_sum: float = 0.0
    weight_sum: float = 0.0
    """Sum of the weights of rewards for uniform play: the probability there over the propensity."""
    weighted_sum: float = 0.0

    @property
    def average(self) -> float | None:
        """The mean reward, in [0, 1]."""
        return self.reward_sum / self.n_rewards if self.n_rewards else None

    @property
    def uniform_value(self) -> float | None:
        """The estimated mean reward of uniform play, in [0, 1]: the self-normalised estimate."""
        return self.weighted_sum / self.weight_sum if self.weight_sum else None

    def add_reward(self, reward: float, weight: float) -> None:
        """Count a reward."""
        self.n_rewards += 1
        self.reward_sum += reward
        self.weight_sum += weight
        self.weighted_sum += weight * reward

    def merge(self, other: TimeBucket) -> None:
        """Add the counts of another bucket."""
        self.decisions = [mine + its for mine, its in zip(self.decisions, other.decisions, strict=True)]
        self.n_rewards += other.n_rewards
        self.reward_sum += other.reward_sum
        self.weight_sum += other.weight_sum
        self.weighted_sum += other.weighted_sum


class Statistics:
    """All counts of a service.

    The past is kept in at most 240 buckets of equal length. The length is ten seconds at first, and doubles each time
    the buckets would become too many.

    Parameters
    ----------
    capacity
        Number of actions that there may be.

    Examples
    --------
    >>> statistics = Statistics(capacity=2)
    >>> statistics.add_decision(0.0, 1, 0.25)
    >>> statistics.add_reward(15.0, 1, 1.0, weight=2.0)
    >>> statistics.total.decisions, statistics.total.average, statistics.seconds, list(statistics.buckets)
    ([0, 1], 1.0, 10, [0, 1])
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.learned = 0
        self.expired = 0
        self.propensities = Histogram(PROPENSITY_BOUNDS[:-1])
        self.total = TimeBucket([0] * capacity)
        self.rewards_of = [0] * capacity
        """Rewards by the index of the action."""
        self.reward_sum_of = [0.0] * capacity
        self.uniform, self.forest = Comparison(), Comparison()
        """Uniform play, and the forest in shadow mode, beside what was decided."""
        self.seconds = _FIRST_SECONDS
        """The length of a bucket."""
        self.buckets: dict[int, TimeBucket] = {}
        """Buckets by number: bucket n begins at n times their length, in seconds since 1970."""
        self._last = -1

    @property
    def decisions(self) -> int:
        """The number of decisions."""
        return sum(self.propensities.counts)

    def add_decision(self, time: float, action: int, propensity: float) -> None:
        """Count a decision."""
        self.propensities.observe(propensity)
        self.total.decisions[action] += 1
        self._bucket(time).decisions[action] += 1

    def add_reward(self, time: float, action: int, reward: float, *, weight: float) -> None:
        """Count a reward in [0, 1], with its weight for uniform play."""
        self.rewards_of[action] += 1
        self.reward_sum_of[action] += reward
        self.total.add_reward(reward, weight)
        self._bucket(time).add_reward(reward, weight)

    def _bucket(self, time: float) -> TimeBucket:
        """Return the bucket of a time; time never goes back."""
        number = int(time // self.seconds)
        if number != self._last:
            while number not in self.buckets and len(self.buckets) >= _MOST_BUCKETS:
                self._double()
                number = int(time // self.seconds)
            self.buckets.setdefault(number, TimeBucket([0] * self.capacity))
            self._last = number
        return self.buckets[number]

    def _double(self) -> None:
        self.seconds *= 2
        merged: dict[int, TimeBucket] = {}
        for number, bucket in self.buckets.items():
            merged.setdefault(number // 2, TimeBucket([0] * self.capacity)).merge(bucket)
        self.buckets = merged

    def to_json(self) -> dict[str, Any]:
        """Return an object that JSON can hold."""
        plain = {name: getattr(self, name) for name in _PLAIN}
        plain |= {"propensity_counts": self.propensities.counts, "propensity_sum": self.propensities.sum}
        plain |= {name: getattr(self, name).to_json() for name in _COMPARISONS}
        plain |= to_builtins({"total": self.total, "buckets": list(self.buckets.items())})
        return plain

    def restore(self, saved: dict[str, Any]) -> None:
        """Take over what `to_json` gave."""
        for name in _PLAIN:
            setattr(self, name, saved[name])
        self.propensities.counts, self.propensities.sum = saved["propensity_counts"], saved["propensity_sum"]
        self.uniform, self.forest = (Comparison.from_json(saved[name]) for name in _COMPARISONS)
        self.total = convert(saved["total"], TimeBucket)
        self.buckets = dict(convert(saved["buckets"], list[tuple[int, TimeBucket]]))


_COMPARISONS = ("uniform", "forest")
_PLAIN = ("learned", "expired", "rewards_of", "reward_sum_of", "seconds")
