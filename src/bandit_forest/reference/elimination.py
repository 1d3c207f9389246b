"""The confidence bounds with which variables and actions are eliminated: equations (1), (2), (3) and (4).

One inequality serves all of them. What is not the best is eliminated as soon as

    best - mean + tolerance >= width * radius(plays),
    radius(plays) = sqrt(log(hypotheses * plays^2 / delta) / (2 plays)),

with a width of 4 for variables (a gain is the sum of two estimates) and 2 for actions, and as many hypotheses as
estimates have to hold at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["ACTION_WIDTH", "VARIABLE_WIDTH", "first_best", "radius", "survivors"]

VARIABLE_WIDTH = 4.0
ACTION_WIDTH = 2.0


def radius(plays: float, log_hypotheses: float) -> float:
    """Return the half-width of a confidence interval after a number of plays.

    `log_hypotheses` is the logarithm of hypotheses / delta, e.g. log(4 K M / delta) in equation (1).
    """
    return math.sqrt((log_hypotheses + 2.0 * math.log(plays)) / (2.0 * plays))


def first_best(values: Sequence[float]) -> int:
    """Return the position of the largest value, the first of equals.

    Examples
    --------
    >>> first_best([0.1, 0.7, 0.7])
    1
    """
    return max(range(len(values)), key=lambda position: (values[position], -position))


def survivors(candidates: Sequence[int], means: Sequence[float], tolerance: float, bound: float) -> list[int]:
    """Keep the best candidate, and each other whose mean is too close to it to be eliminated.

    Parameters
    ----------
    candidates
        The variables or actions that remain.
    means
        Their estimates, in the same order.
    tolerance
        The approximation ε.
    bound
        The radius times its width.

    Examples
    --------
    >>> survivors([2, 5, 7], [0.9, 0.2, 0.8], tolerance=0.0, bound=0.5)
    [2, 7]
    """
    best = first_best(means)
    return [
        candidate
        for position, candidate in enumerate(candidates)
        if position == best or means[best] - means[position] + tolerance < bound
    ]
