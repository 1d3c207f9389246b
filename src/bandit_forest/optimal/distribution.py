"""A joint distribution of contexts and rewards as weighted rows, and the gains of its variables.

A row is a context, the reward of every action in it, and a weight. Rows are the events of a log of full information, or
every possible context with its expected rewards and its probability: the same sums serve both. Numbers are floats, or
exact when the arrays hold `fractions.Fraction`.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bandit_forest.errors import refuse
from bandit_forest.validation import check_contexts

__all__ = ["Distribution", "Number", "check_distribution", "expected_gains", "first_best"]

Numbers = NDArray[Any]
Number = Any
"""A float, or a Fraction where the distribution is exact."""

_ROUNDING = 1e-12
_CHUNK = 65_536


class Distribution(NamedTuple):
    """Rows that have been checked, with weights that sum to the probability of what they describe."""

    contexts: NDArray[np.uint8]
    """Zeros and ones, (rows, M)."""
    rewards: Numbers
    """The reward of each action times the weight of the row, (rows, K)."""
    weights: Numbers
    """The probability of each row, (rows,)."""

    def where(self, variable: int, value: int) -> Self:
        """Keep the rows with x_variable = value."""
        kept = self.contexts[:, variable] == value
        return self._replace(contexts=self.contexts[kept], rewards=self.rewards[kept], weights=self.weights[kept])

    def action_means(self) -> Numbers:
        """Return P(c) μ_k | c for each action."""
        means: Numbers = self.rewards.sum(axis=0)
        return means

    def variable_gains(self) -> Numbers:
        """Return P(c) μ^i | c for each variable: the best joint mean of each value, summed over both values."""
        means_of_one: Numbers = np.zeros((self.contexts.shape[1], self.rewards.shape[1]), dtype=self.rewards.dtype)
        for start in range(0, len(self.contexts), _CHUNK):  # a chunk at a time, since bits become wide numbers here
            rows = slice(start, start + _CHUNK)
            means_of_one = means_of_one + self.contexts[rows].T.astype(self.rewards.dtype) @ self.rewards[rows]
        means_of_zero = self.action_means() - means_of_one
        gains: Numbers = means_of_zero.max(axis=1) + means_of_one.max(axis=1)
        return gains


def expected_gains(contexts: ArrayLike, rewards: ArrayLike, weights: ArrayLike | None = None) -> Numbers:
    """Return μ^i for each variable: the expected reward of the best action for each of its two values.

    Parameters
    ----------
    contexts
        Zeros and ones, (rows, M).
    rewards
        The reward of each action in each row, or its expectation, (rows, K).
    weights
        Weight of each row, or its probability, (rows,); the same for all when None.

    Examples
    --------
    The paper's Table 1, without rounding:

    >>> from bandit_forest.worlds import Table1
    >>> expected_gains(*Table1().joint_distribution())
    array([Fraction(3, 4), Fraction(15, 32)], dtype=object)
    """
    return check_distribution(contexts, rewards, weights, "expected_gains").variable_gains()


def first_best(values: Numbers) -> int:
    """Return the position of the largest value, the first of equals; floats that differ by rounding are equal."""
    slack = 0 if values.dtype == np.object_ else _ROUNDING
    return int(np.flatnonzero(values >= values.max() - slack)[0])


def check_distribution(contexts: ArrayLike, rewards: ArrayLike, weights: ArrayLike | None, owner: str) -> Distribution:
    """Return rows whose weights sum to 1."""
    shape = np.shape(contexts)
    n_rows, n_variables = shape if len(shape) == 2 else (0, 0)
    bits = check_contexts(contexts, owner, n_variables)
    if n_rows == 0 or n_variables == 0:
        refuse("contexts", owner, "a matrix with at least one row and one variable", contexts)
    table = _as_numbers(rewards)
    if table.ndim != 2 or len(table) != n_rows or table.shape[1] == 0 or not _within(table, 1):
        refuse("rewards", owner, f"{n_rows} rows of numbers in [0, 1], one for each action", rewards)
    counts = np.ones(n_rows) if weights is None else _as_numbers(weights)
    if counts.shape != (n_rows,) or not _within(counts, np.inf) or not counts.sum() > 0:
        refuse("weights", owner, f"{n_rows} numbers of at least 0, not all 0", weights)
    shares = counts / counts.sum()
    return Distribution(bits, shares[:, np.newaxis] * table, shares)


def _as_numbers(values: ArrayLike) -> Numbers:
    """Make an array of floats, or keep exact numbers as objects; what is neither becomes NaN."""
    array = np.asarray(values)
    if array.dtype == np.object_:
        return array if all(isinstance(value, Real) for value in array.flat) else np.full(array.shape, np.nan)
    return array.astype(np.float64) if array.dtype.kind in "biuf" else np.full(array.shape, np.nan)


def _within(values: Numbers, high: float) -> bool:
    """Return whether all values are in [0, high] and finite; NaN is not."""
    return bool(np.all((values >= 0) & (values <= high) & (values != np.inf)))
