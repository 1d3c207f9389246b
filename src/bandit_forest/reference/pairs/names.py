"""What is known of actions by their names: a bounded table of how much better they do than their features say."""

from __future__ import annotations

from dataclasses import dataclass

from bandit_forest.randomness import mix

__all__ = ["NameTable"]

_WAYS = 4  # entries that a name may stand in
_SHRINKAGE = 4.0  # events that "no better than its features say" is worth
_RIDGE = 1.0  # of the regression for the weight


@dataclass
class _Entry:
    name: int
    count: int = 0
    mean: float = 0.0
    learned: int = 0


class NameTable:
    """Errors of the estimates of actions, by name, and how much they tell about the next error.

    A name stands in one of four entries that its hash points to. A new name takes a free one, or the one that has not
    been learned for the longest time. So memory is bounded, and names that come back soon are known.

    The effect of a name is the mean of its errors, shrunk towards zero. The weight of effects is that of a regression
    of errors on effects that were known before them: zero, where names tell nothing.

    Parameters
    ----------
    n_names
        Number of entries, a multiple of four.

    Examples
    --------
    >>> table = NameTable(64)
    >>> for _ in range(200):
    ...     table.learn(7, 0.5)
    ...     table.learn(8, -0.5)
    >>> table.estimate(7) > 0.4, table.estimate(9)
    (True, 0.0)
    """

    def __init__(self, n_names: int) -> None:
        self._sets: list[list[_Entry]] = [[] for _ in range(n_names // _WAYS)]
        self._n_learned = 0
        self._effect_effect = self._effect_error = 0.0

    @property
    def weight(self) -> float:
        """The weight of effects, in [0, 1]."""
        return min(max(self._effect_error / (self._effect_effect + _RIDGE), 0.0), 1.0)

    def estimate(self, name: int) -> float:
        """Return how much better an action is expected to do than its features say."""
        return self.weight * self._effect(self._find(name))

    def learn(self, name: int, error: float) -> None:
        """Learn the reward of an action less what was estimated without its name."""
        entry = self._find(name)
        effect = self._effect(entry)
        self._effect_effect += effect * effect
        self._effect_error += effect * error
        if entry is None:
            entry = _Entry(name)
            entries = self._sets[self._place(name)]
            if len(entries) == _WAYS:
                oldest = min(range(_WAYS), key=lambda way: entries[way].learned)
                entries[oldest] = entry
            else:
                entries.append(entry)
        entry.count += 1
        entry.mean += (error - entry.mean) / entry.count
        self._n_learned += 1
        entry.learned = self._n_learned

    def _place(self, name: int) -> int:
        return mix(name, 0) % len(self._sets)

    def _find(self, name: int) -> _Entry | None:
        return next((entry for entry in self._sets[self._place(name)] if entry.name == name), None)

    @staticmethod
    def _effect(entry: _Entry | None) -> float:
        return 0.0 if entry is None else entry.mean * (entry.count / (entry.count + _SHRINKAGE))
