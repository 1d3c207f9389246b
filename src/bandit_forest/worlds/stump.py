"""A world for measurements: one variable matters, with known gaps."""

from __future__ import annotations

import numpy as np

from bandit_forest.validation import check_int, check_number
from bandit_forest.worlds.contexts import Bits, CopiedBits, FairBits, Floats
from bandit_forest.worlds.synthetic import StationaryWorld, structure_generator

__all__ = ["Stump"]


class Stump(StationaryWorld):
    """A world in which one hidden variable determines the best of the first two actions, with the gaps of Theorem 1.

    If the hidden variable is v, action v is paid with probability 1/2 + Δ2 and every other with 1/2 - Δ2. Since v is
    0 or 1 half of the time, the joint means of the best action and of any other differ by Δ2. Each other variable
    agrees with the hidden one with probability 1 - Δ1 / (2 Δ2), so its gain is smaller by Δ1.

    Parameters
    ----------
    n_variables
        Number of binary variables of a context.
    n_actions
        Number of actions, at least 2.
    variable_gap
        Δ1 = min over i ≠ i* of μ^i* - μ^i, in (0, Δ2]; Δ2 when None, which makes the variables independent.
    action_gap
        Δ2 = min over k ≠ k*, v of μ^i*_{k*,v} - μ^i*_{k,v}, in (0, 1/2].
    structure_seed
        Seed of the hidden variable.

    Examples
    --------
    >>> world = Stump(n_variables=8, n_actions=3, variable_gap=0.2, action_gap=0.4)
    >>> world.expected_rewards(np.zeros((1, 8)))
    array([[0.9, 0.1, 0.1]])
    """

    def __init__(
        self,
        *,
        n_variables: int = 8,
        n_actions: int = 2,
        variable_gap: float | None = None,
        action_gap: float = 0.4,
        structure_seed: int = 0,
    ) -> None:
        n_variables = check_int(n_variables, "n_variables", "Stump")
        n_actions = check_int(n_actions, "n_actions", "Stump", low=2)
        action_gap = check_number(action_gap, "action_gap", "Stump", "a number in (0, 0.5]", 0.0, 0.5, open_low=True)
        if variable_gap is None:
            variable_gap = action_gap
        rule = "a number in (0, action_gap]"
        variable_gap = check_number(variable_gap, "variable_gap", "Stump", rule, 0.0, action_gap, open_low=True)
        hidden = int(structure_generator(structure_seed, "Stump").integers(n_variables))
        independent = variable_gap == action_gap
        law = (
            FairBits(n_variables)
            if independent
            else CopiedBits(n_variables, hidden, agreement=1.0 - variable_gap / (2.0 * action_gap))
        )
        super().__init__(name="stump", law=law, n_actions=n_actions)
        self.variable_gap, self.action_gap = variable_gap, action_gap
        self._hidden = hidden
        self._rewards = np.full((2, n_actions), 0.5 - action_gap)
        self._rewards[[0, 1], [0, 1]] = 0.5 + action_gap

    @property
    def relevant_variables(self) -> list[int]:
        """The one variable that decides."""
        return [self._hidden]

    def _expected_rewards(self, contexts: Bits) -> Floats:
        return self._rewards[contexts[:, self._hidden]]
