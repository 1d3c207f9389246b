"""A world in which no single variable has information about the best action."""

from __future__ import annotations

import numpy as np

from bandit_forest.validation import check_int
from bandit_forest.worlds.contexts import Bits, FairBits, Floats
from bandit_forest.worlds.synthetic import StationaryWorld, one_best_action, structure_generator

__all__ = ["Xor"]


class Xor(StationaryWorld):
    """A world in which the exclusive or of two hidden variables determines the better of two actions.

    Each variable alone has no information about the rewards: a greedy tree splits on it only by chance, and a linear
    policy cannot use it.

    Parameters
    ----------
    n_variables
        Number of independent fair binary variables of a context, at least 2.
    noise
        Probability that a reward is flipped.
    structure_seed
        Seed of the two hidden variables.

    Examples
    --------
    >>> world = Xor(n_variables=2, noise=0.0)
    >>> world.expected_rewards([[0, 0], [0, 1], [1, 0], [1, 1]]).argmax(axis=1)
    array([0, 1, 1, 0])
    """

    def __init__(self, *, n_variables: int = 10, noise: float = 0.05, structure_seed: int = 0) -> None:
        n_variables = check_int(n_variables, "n_variables", "Xor", low=2)
        super().__init__(name="xor", law=FairBits(n_variables), n_actions=2)
        rng = structure_generator(structure_seed, "Xor")
        self._relevant = np.sort(rng.choice(n_variables, size=2, replace=False))
        self._rewards = one_best_action(2, noise, "Xor")

    @property
    def relevant_variables(self) -> list[int]:
        """The two relevant variables, in order."""
        return [int(variable) for variable in self._relevant]

    def _expected_rewards(self, contexts: Bits) -> Floats:
        first, second = self._relevant
        return self._rewards.take(contexts[:, first] ^ contexts[:, second], axis=0)
