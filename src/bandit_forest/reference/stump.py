"""Decision Stump: Algorithm 4 of the paper, the best variable and the best action for each of its values."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bandit_forest.reference.selection import (
    ActionElimination,
    Bits,
    Ints,
    Rotation,
    VariableElimination,
    check_bounds,
)
from bandit_forest.validation import check_action, check_context, check_int, check_reward

__all__ = ["DecisionStump"]


class DecisionStump:
    """Decision Stump (Algorithm 4): finds the best variable, and the best action for each of its values.

    Actions are eliminated for each value of each remaining variable from the first round on, but all of them are played
    until one variable remains: the gain of a variable would be underestimated without an action that it needs.

    Parameters
    ----------
    n_variables
        Number of binary variables of a context, M.
    n_actions
        Number of actions, K.
    delta
        Probability of failure, δ.
    tolerance
        Approximation, ε.

    Examples
    --------
    Action 2 is right when the first of two variables is 0, action 1 when it is 1.

    >>> stump = DecisionStump(n_variables=2, n_actions=3)
    >>> for context in np.random.default_rng(0).integers(0, 2, size=(5000, 2)):
    ...     action = stump.next_action(context)
    ...     stump.learn(context, action, reward=float(action == 2 - context[0]))
    >>> stump.finished, stump.remaining_variables
    (True, [0])
    >>> stump.remaining_actions([0, 0]), stump.remaining_actions([1, 0])
    ([2], [1])
    """

    def __init__(self, *, n_variables: int, n_actions: int, delta: float = 0.05, tolerance: float = 0.0) -> None:
        self.n_variables = check_int(n_variables, "n_variables", "DecisionStump")
        self.n_actions = check_int(n_actions, "n_actions", "DecisionStump")
        delta, tolerance = check_bounds("DecisionStump", delta, tolerance)
        # Line 1; the task of A_{i,v} has number 2 i + v.
        self._variables = VariableElimination(
            n_variables=self.n_variables, n_actions=self.n_actions, delta=delta, tolerance=tolerance
        )
        self._actions = ActionElimination(
            n_tasks=2 * self.n_variables, n_actions=self.n_actions, delta=delta, tolerance=tolerance
        )
        self._rotation = Rotation()
        self._rotation_of_value = (Rotation(), Rotation())

    @property
    def remaining_variables(self) -> list[int]:
        """The variables that may still be the best, V."""
        return [int(variable) for variable in self._variables.variables]

    @property
    def finished(self) -> bool:
        """Whether one variable remains, and one action for each of its values."""
        if self._selecting_variable:
            return False
        first = 2 * int(self._variables.variables[0])
        return int(self._actions.remaining[:, first : first + 2].sum()) == 2

    def remaining_actions(self, context: ArrayLike) -> list[int]:
        """Return the actions that are played in a context: A, or A_{i,v} once one variable remains (lines 4 and 5)."""
        return self._played_actions(self._checked(context, "remaining_actions"))

    def next_action(self, context: ArrayLike) -> int:
        """Return the action whose turn it is (lines 4 and 5)."""
        bits = self._checked(context, "next_action")
        return self._rotation_in(bits).next(self._played_actions(bits))

    def learn(self, context: ArrayLike, action: int, reward: float) -> None:
        """Learn from the reward of the action that was played in a context (lines 6 to 12)."""
        owner = "DecisionStump.learn"
        bits = self._checked(context, "learn")
        action, reward = check_action(action, owner, self.n_actions), check_reward(reward, owner)
        self._rotation_in(bits).played(action)
        # Line 10.
        self._actions.count(self._tasks(bits), action, reward)
        if self._selecting_variable:
            self._select_variable(bits, action, reward)
        else:
            self._select_action(bits)

    def _select_variable(self, context: Bits, action: int, reward: float) -> None:
        """Explore variables and actions at the same time: a round of A is one for all."""
        self._variables.count(context, action, reward)
        if self._variables.round_is_over():
            # Line 8.
            self._variables.eliminate()
            # Lines 9 to 12.
            remaining = 2 * self._variables.variables
            self._actions.eliminate(np.concatenate([remaining, remaining + 1]))

    def _select_action(self, context: Bits) -> None:
        """Explore the actions of the value of the chosen variable (line 11); line 8 has nothing left to eliminate."""
        task = self._tasks(context)
        if self._actions.round_is_over(int(task[0])):
            self._actions.eliminate(task)

    @property
    def _selecting_variable(self) -> bool:
        return len(self._variables.variables) > 1

    def _checked(self, context: ArrayLike, method: str) -> Bits:
        return check_context(context, f"DecisionStump.{method}", self.n_variables)

    def _tasks(self, context: Bits) -> Ints:
        """Return the number of the task (i, x_i) of each remaining variable i."""
        variables = self._variables.variables
        return 2 * variables + context[variables]

    def _played_actions(self, context: Bits) -> list[int]:
        if self._selecting_variable:
            return list(range(self.n_actions))
        return self._actions.actions(int(self._tasks(context)[0]))

    def _rotation_in(self, context: Bits) -> Rotation:
        if self._selecting_variable:
            return self._rotation
        return self._rotation_of_value[int(context[self._variables.variables[0]])]
