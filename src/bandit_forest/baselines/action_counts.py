"""What a context-free policy remembers of its actions."""

from __future__ import annotations

__all__ = ["ActionCounts"]


class ActionCounts:
    """Number of plays, number of rewards and sum of rewards of each action.

    An action whose reward is still to come counts as taken. Otherwise a policy that is certain of its next choice would
    repeat it until the first reward comes back, for a whole batch of decisions if need be. Of a reward that never comes
    the policy knows no better than that it is late, so it stays counted. A reward for an event that another policy
    decided finds nothing pending and counts as one more time taken.

    Parameters
    ----------
    n_actions
        Number of actions.

    Examples
    --------
    >>> counts = ActionCounts(2)
    >>> counts.decided(0)
    >>> counts.taken, counts.mean(0)
    ([1, 0], 1.0)
    >>> counts.learned(0, 0.25)
    >>> counts.taken, counts.mean(0)
    ([1, 0], 0.25)
    """

    def __init__(self, n_actions: int) -> None:
        self.taken = [0] * n_actions
        self.rewarded = [0] * n_actions
        self._sums = [0.0] * n_actions

    def decided(self, action: int) -> None:
        """Count an action whose reward is still to come."""
        self.taken[action] += 1

    def learned(self, action: int, reward: float) -> None:
        """Count the reward of an action."""
        self.rewarded[action] += 1
        self._sums[action] += reward
        self.taken[action] = max(self.taken[action], self.rewarded[action])

    def mean(self, action: int) -> float:
        """Return the mean reward of an action; without any reward the best that it could be."""
        return self._sums[action] / self.rewarded[action] if self.rewarded[action] else 1.0
