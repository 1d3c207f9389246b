"""How a forest explores: the actions that remain in each tree go in, the probability of each action comes out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from bandit_forest.reference.elimination import first_best
from bandit_forest.rules import InverseGap, RoundRobin, UniformOverRemaining

__all__ = ["Plan", "inverse_gap", "pick", "plan", "standard_errors", "upper_bounds"]

_LEAST_VARIANCE = 0.02


class Plan(NamedTuple):
    """The probability of each action, the votes for each, and whether the actions take turns instead of a draw."""

    probabilities: list[float]
    votes: list[int]
    rotate: bool


def plan(
    rule: RoundRobin | UniformOverRemaining, n_actions: int, remaining: Sequence[set[int]], available: set[int]
) -> Plan:
    """Plan one decision.

    Parameters
    ----------
    rule
        The exploration rule.
    n_actions
        Number of actions.
    remaining
        The remaining actions of each tree's path.
    available
        The actions that may be taken for this event.

    Examples
    --------
    >>> plan(RoundRobin(), 3, [{1}, {1}, {2}], {0, 1, 2}).probabilities
    [0.0, 1.0, 0.0]
    >>> plan(RoundRobin(), 2, [{1}, {0, 1}], {0, 1})
    Plan(probabilities=[0.5, 0.5], votes=[0, 1], rotate=True)
    """
    open_sets = [actions & available for actions in remaining]
    votes = [sum(actions == {action} for actions in open_sets) for action in range(n_actions)]
    settled = sum(votes)
    if settled > 0 and settled >= rule.quorum * len(remaining):
        # Algorithm 6, line 5: the paths vote for their best actions.
        winner = first_best(votes)
        return Plan([1.0 if action == winner else 0.0 for action in range(n_actions)], votes, rotate=False)
    if isinstance(rule, RoundRobin):
        # Algorithm 6, line 6.
        return Plan(_uniform(available, n_actions), votes, rotate=True)
    # Section 5: a draw from the remaining actions of the paths.
    speaking = [actions for actions in open_sets if actions]
    if not speaking:
        return Plan(_uniform(available, n_actions), votes, rotate=False)
    if rule.draw == "union":
        return Plan(_uniform(set().union(*speaking), n_actions), votes, rotate=False)
    probabilities = [0.0] * n_actions
    for actions in speaking:
        for action in actions:
            probabilities[action] += 1.0 / len(actions)
    return Plan([probability / len(speaking) for probability in probabilities], votes, rotate=False)


def standard_errors(rule: InverseGap, events: float) -> float:
    """Return by how many standard errors the means of trees are raised that have learned so many events.

    Examples
    --------
    >>> standard_errors(InverseGap(optimism=0.5), 300.0) == math.sqrt(math.log1p(300.0)) / 2.0
    True
    """
    return rule.optimism * math.sqrt(math.log1p(events))


def upper_bounds(means: Sequence[float], inverse_counts: Sequence[float], standard_errors: float) -> list[float]:
    """Return means raised by a number of standard errors.

    Parameters
    ----------
    means
        The estimated mean reward of each action.
    inverse_counts
        1 / the number of events behind each.
    standard_errors
        Number of standard errors. The variance of a reward is at most mean * (1 - mean). One event of the best action's
        mean is added to the mean for this: an action that was unlucky in its few events may be better than it looks.

    Examples
    --------
    >>> upper_bounds([0.5, 0.5], [0.01, 0.0], standard_errors=1.0)
    [0.5519615242270663, 0.5]
    """
    best = max(means)
    raised = [mean + min(inverse, 1.0) * (best - mean) for mean, inverse in zip(means, inverse_counts, strict=True)]
    variances = [mean * (1.0 - mean) + _LEAST_VARIANCE for mean in raised]
    return [
        mean + standard_errors * math.sqrt(variance * inverse_count)
        for mean, variance, inverse_count in zip(means, variances, inverse_counts, strict=True)
    ]


def inverse_gap(bounds: Sequence[float], available: Sequence[int], gamma: float) -> list[float]:
    """Return the probability of each action by inverse gap weighting.

    Parameters
    ----------
    bounds
        Estimate or upper confidence bound of the mean reward of each action.
    available
        The actions that may be taken for this event, in order.
    gamma
        The larger, the rarer an action that is not the best is drawn.

    Examples
    --------
    >>> inverse_gap([0.5, 0.0, 0.5], [0, 1, 2], gamma=10.0)[1:]
    [0.125, 0.3333333333333333]
    """
    best = max(available, key=lambda action: (bounds[action], -action))
    probabilities = [0.0] * len(bounds)
    others = 0.0
    for action in available:
        if action != best:
            probabilities[action] = 1.0 / (len(available) + gamma * (bounds[best] - bounds[action]))
            others += probabilities[action]
    probabilities[best] = 1.0 - others
    return probabilities


def pick(probabilities: Sequence[float], number: float) -> int:
    """Return the action to which the cumulated probabilities reach beyond a number in [0, 1).

    Examples
    --------
    >>> pick([0.25, 0.0, 0.75], 0.25)
    2
    """
    reached, last = 0.0, 0
    for action, probability in enumerate(probabilities):
        if probability > 0.0:
            reached += probability
            last = action
            if number < reached:
                return action
    return last  # rounding left the sum a little below one


def _uniform(actions: set[int], n_actions: int) -> list[float]:
    return [1.0 / len(actions) if action in actions else 0.0 for action in range(n_actions)]
