"""The toy world of the paper's Table 1, as far as it exists."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from bandit_forest.worlds.contexts import BiasedBits, Bits, Floats
from bandit_forest.worlds.synthetic import JointDistribution, StationaryWorld

__all__ = ["Table1"]

_ONES = (Fraction(3, 8), Fraction(1, 4))
"""The probability that each variable is 1."""

_REWARDS = {
    (0, 0): (Fraction(0), Fraction(2, 3)),
    (0, 1): (Fraction(0), Fraction(2, 5)),
    (1, 0): (Fraction(1), Fraction(2, 9)),
    (1, 1): (Fraction(1), Fraction(0)),
}
"""The expected reward of each action in each context (x_i1, x_i2)."""


class Table1(StationaryWorld):
    """The paper's toy world: two independent variables, two actions, and gains of 7/16, 3/4 and 15/32.

    The best action without context earns 7/16, the stump on x_i1 3/4 and the stump on x_i2 15/32, with the actions that
    the paper names: k2; k2 and k1; k2 and k1. The probabilities and the upper half of the table are the paper's.

    The lower half cannot be. Rewards are in [0, 1], so that the means 0 and 1 of k1 given x_i1 say that y_k1 = x_i1. If
    the variables are independent, as the paper says, k1 has mean 3/8 for both values of x_i2, and not 1/4 and 3/4. If
    they are not, then 1/4 and 3/4 are P(x_i1 = 1 | x_i2), so that P(x_i2 = v | x_i1 = 1) = 1/2 for both v; k2, of mean
    1/6 given x_i1 = 1, has a mean of at most 1/3 given x_i1 = x_i2 = 1, and so of at most 1/4 * 1 + 3/4 * 1/3 = 1/2
    given x_i2 = 1, and not 5/8. No joint distribution has both halves.

    So this world keeps the independence, the upper half and the three players' gains and actions. That fixes the means
    given x_i2: 3/8 and 3/8 for k1 (as above); for k2, a and b with 3/4 a + 1/4 b = 7/16 and 3/4 a + 1/4 * 3/8 = 15/32,
    which are 1/2 and 1/4. The means of k2 in the four contexts have to agree with 3/5 and 1/6, 1/2 and 1/4; of the
    solutions this is the one with 0 given x_i1 = x_i2 = 1.

    Examples
    --------
    >>> contexts, rewards, weights = Table1().joint_distribution()
    >>> max(weights @ rewards)
    Fraction(7, 16)
    """

    def __init__(self) -> None:
        super().__init__(name="table1", law=BiasedBits(np.array(_ONES, dtype=np.float64)), n_actions=2)
        self._rewards = np.array([_REWARDS[0, 0], _REWARDS[0, 1], _REWARDS[1, 0], _REWARDS[1, 1]], dtype=np.float64)

    @property
    def relevant_variables(self) -> list[int]:
        """The variables that matter: both."""
        return [0, 1]

    def joint_distribution(self) -> JointDistribution:
        """Return every context with its expected rewards and its probability, as exact fractions."""
        contexts = np.array(list(_REWARDS), dtype=np.uint8)
        odds = [
            [share if bit else 1 - share for share, bit in zip(_ONES, context, strict=True)] for context in _REWARDS
        ]
        weights = np.array([first * second for first, second in odds], dtype=object)
        return JointDistribution(contexts, np.array(list(_REWARDS.values()), dtype=object), weights)

    def _expected_rewards(self, contexts: Bits) -> Floats:
        return self._rewards.take(2 * contexts[:, 0] + contexts[:, 1], axis=0)
