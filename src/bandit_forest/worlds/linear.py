"""A world of scores that are linear in the variables."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bandit_forest.errors import refuse
from bandit_forest.validation import check_int
from bandit_forest.worlds.contexts import Bits, FairBits, Floats
from bandit_forest.worlds.synthetic import StationaryWorld, one_best_action, structure_generator

__all__ = ["Linear"]


class Linear(StationaryWorld):
    """A world in which each action has a score that is linear in the relevant variables.

    Parameters
    ----------
    n_variables
        Number of independent fair binary variables of a context.
    n_actions
        Number of actions.
    n_relevant
        Number of variables with a weight other than 0; all of them when None.
    link
        "linear": the score, scaled into [0, 1], is the expected reward. "argmax": the action of the highest score earns
        1 and the others 0, each reward flipped with probability `noise`.
    noise
        Probability that a reward is flipped, with the link "argmax".
    structure_seed
        Seed of the weights.

    Examples
    --------
    >>> world = Linear(n_variables=4, n_actions=2, link="linear")
    >>> expected = world.expected_rewards([[0, 0, 0, 0], [1, 1, 1, 1]])
    >>> bool(np.allclose(expected.sum(axis=0), 1.0))  # opposite contexts have opposite scores
    True
    """

    def __init__(
        self,
        *,
        n_variables: int = 20,
        n_actions: int = 5,
        n_relevant: int | None = None,
        link: Literal["linear", "argmax"] = "argmax",
        noise: float = 0.05,
        structure_seed: int = 0,
    ) -> None:
        n_variables = check_int(n_variables, "n_variables", "Linear")
        n_actions = check_int(n_actions, "n_actions", "Linear")
        if n_relevant is None:
            n_relevant = n_variables
        n_relevant = check_int(n_relevant, "n_relevant", "Linear", high=n_variables)
        if link not in ("linear", "argmax"):
            refuse("link", "Linear", "'linear' or 'argmax'", link)
        super().__init__(name="linear", law=FairBits(n_variables), n_actions=n_actions)

        rng = structure_generator(structure_seed, "Linear")
        self._relevant = np.sort(rng.choice(n_variables, size=n_relevant, replace=False))
        self._weights = rng.standard_normal((n_relevant, n_actions))
        self._highest_scores: Floats = np.abs(self._weights).sum(axis=0)
        self._is_linear = link == "linear"
        self._best_rewards = one_best_action(n_actions, noise, "Linear")

    @property
    def relevant_variables(self) -> list[int]:
        """The variables with a weight, in order."""
        return [int(variable) for variable in self._relevant]

    def _expected_rewards(self, contexts: Bits) -> Floats:
        # Variables count as -1 and 1: (2 x - 1) w = 2 x w - w.
        relevant = contexts[:, self._relevant].astype(np.float64)
        scores: Floats = 2.0 * (relevant @ self._weights) - self._weights.sum(axis=0)
        if self._is_linear:
            expected: Floats = 0.5 + 0.5 * scores / self._highest_scores
            return expected.clip(0.0, 1.0, out=expected)  # rounding may go beyond
        best_actions: NDArray[np.intp] = scores.argmax(axis=1)
        return self._best_rewards.take(best_actions, axis=0)
