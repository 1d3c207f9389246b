"""Variable Selection and Action Selection: Algorithms 2 and 3 of the paper, with their functions VE and AE.

Sums and counts are kept instead of running means: VE line 4 and AE line 2 unrolled, so that nothing is rounded on the
way. A round is over, k = LastAction(A), when each remaining action has been played once more, that is when the smallest
of their counts has grown; in a rotation this is the turn of the last action.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bandit_forest.reference.elimination import ACTION_WIDTH, VARIABLE_WIDTH, radius, survivors
from bandit_forest.validation import check_action, check_context, check_int, check_number, check_reward

__all__ = ["ActionElimination", "ActionSelection", "Rotation", "VariableElimination", "VariableSelection"]

Bits = NDArray[np.uint8]
Ints = NDArray[np.int64]

_FOREVER = np.iinfo(np.int64).max


class Rotation:
    """The function Round-robin: plays the actions that remain in rotation."""

    def __init__(self) -> None:
        self._last = -1

    def next(self, actions: Sequence[int]) -> int:
        """Return the action whose turn it is: the first one after the last that was played."""
        return next((action for action in actions if action > self._last), actions[0])

    def played(self, action: int) -> None:
        """Note which action was played."""
        self._last = action


class VariableElimination:
    """The function VE: estimates the gain of every variable and removes the irrelevant ones."""

    def __init__(self, *, n_variables: int, n_actions: int, delta: float, tolerance: float) -> None:
        self.variables = np.arange(n_variables)  # V
        self._plays = [0] * n_actions  # t_k
        self._sums = np.zeros((2, n_actions, n_variables))  # t_k times the mean of k and x_i = v
        self._rounds = 0
        self._tolerance = tolerance
        self._log_hypotheses = math.log(4 * n_actions * n_variables / delta)

    @property
    def gains(self) -> NDArray[np.float64]:
        """The estimated gain of each remaining variable, once every action has been played."""
        # VE line 4: divided by the plays of the action, not by those with x_i = v.
        joint_means = self._sums / np.array(self._plays)[:, np.newaxis]
        # VE line 6: the best action of each value, summed over the values.
        gains: NDArray[np.float64] = joint_means.max(axis=1).sum(axis=0)
        return gains

    def count(self, context: Bits, action: int, reward: float) -> None:
        """Count one event."""
        # Alg. 2 line 6.
        self._plays[action] += 1
        # VE lines 2 to 5: each variable has the reward for the value that was observed, and 0 for the other.
        of_one = reward * context[self.variables]
        self._sums[0, action] += reward - of_one
        self._sums[1, action] += of_one

    def round_is_over(self) -> bool:
        """Return whether the event that was counted last has completed a round: VE line 8."""
        fewest = min(self._plays)
        over = fewest > self._rounds
        self._rounds = fewest
        return over

    def eliminate(self) -> None:
        """Remove irrelevant variables according to equation (1): VE line 9."""
        bound = VARIABLE_WIDTH * radius(self._rounds, self._log_hypotheses)
        gains = self.gains
        if gains.max() - gains.min() + self._tolerance < bound:
            return  # not even the worst variable goes: most rounds end here, without a loop over the variables
        kept = survivors(range(len(gains)), gains.tolist(), self._tolerance, bound)
        self.variables = self.variables[kept]
        self._sums = self._sums[:, :, kept]


class ActionElimination:
    """The function AE, for many tasks side by side: estimates the mean of every action and removes the irrelevant ones.

    Action Selection is one task; Decision Stump allocates one to each value of each variable.
    """

    def __init__(self, *, n_tasks: int, n_actions: int, delta: float, tolerance: float) -> None:
        self.remaining = np.ones((n_actions, n_tasks), dtype=np.bool_)  # A
        self._plays = np.zeros((n_actions, n_tasks), dtype=np.int64)  # t_k
        self._sums = np.zeros((n_actions, n_tasks))  # t_k times the mean of k
        self._rounds = np.zeros(n_tasks, dtype=np.int64)
        self._tolerance = tolerance
        self._log_hypotheses = math.log(4 * n_actions / delta)
        self._table = np.array([np.inf])

    def actions(self, task: int) -> list[int]:
        """Return the remaining actions of a task."""
        return [int(action) for action in np.flatnonzero(self.remaining[:, task])]

    def count(self, tasks: Ints, action: int, reward: float) -> None:
        """Count one event in each of these tasks."""
        # Alg. 3 line 5, AE line 2.
        self._plays[action][tasks] += 1
        self._sums[action][tasks] += reward

    def round_is_over(self, task: int) -> bool:
        """Return whether the event that was counted last has completed a round of a task: AE line 3."""
        fewest = self._plays[self.remaining[:, task], task].min()
        over = bool(fewest > self._rounds[task])
        self._rounds[task] = fewest
        return over

    def eliminate(self, tasks: Ints) -> None:
        """Remove irrelevant actions from each of these tasks according to equation (2): AE line 4."""
        remaining, plays = self.remaining.take(tasks, axis=1), self._plays.take(tasks, axis=1)
        bounds = self._bounds(np.where(remaining, plays, _FOREVER).min(axis=0))
        means = self._sums.take(tasks, axis=1) / np.maximum(plays, 1)
        best = np.where(remaining, means, -np.inf).max(axis=0)
        worst = np.where(remaining, means, np.inf).min(axis=0)
        # Few tasks lose an action, so that all are looked at together before any is looked at alone.
        contested = (best - worst + self._tolerance >= bounds) & (remaining.sum(axis=0) > 1)
        for position in np.flatnonzero(contested):
            self._eliminate(int(tasks[position]), float(bounds[position]))

    def _bounds(self, plays: Ints) -> NDArray[np.float64]:
        """Return the right side of equation (2) for each number of plays; its table doubles when too short."""
        most = int(plays.max())
        if most >= len(self._table):
            radii = [radius(number, self._log_hypotheses) for number in range(1, 2 * most + 1)]
            self._table = ACTION_WIDTH * np.array([np.inf, *radii])
        return self._table[plays]

    def _eliminate(self, task: int, bound: float) -> None:
        """Remove irrelevant actions from one task."""
        actions = self.actions(task)
        means = self._sums[actions, task] / self._plays[actions, task]
        kept = survivors(actions, means.tolist(), self._tolerance, bound)
        self.remaining[:, task] = False
        self.remaining[kept, task] = True


class VariableSelection:
    """Variable Selection (Algorithm 2): finds the variable with which the actions are chosen best.

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
    Action 0 is right when the second of three variables is 0, action 1 when it is 1.

    >>> selection = VariableSelection(n_variables=3, n_actions=2)
    >>> for context in np.random.default_rng(0).integers(0, 2, size=(2000, 3)):
    ...     action = selection.next_action(context)
    ...     selection.learn(context, action, reward=float(action == context[1]))
    >>> selection.finished, selection.remaining_variables
    (True, [1])
    """

    def __init__(self, *, n_variables: int, n_actions: int, delta: float = 0.05, tolerance: float = 0.0) -> None:
        self.n_variables = check_int(n_variables, "n_variables", "VariableSelection")
        self.n_actions = check_int(n_actions, "n_actions", "VariableSelection")
        delta, tolerance = check_bounds("VariableSelection", delta, tolerance)
        # Line 1.
        self._rotation = Rotation()
        self._variables = VariableElimination(
            n_variables=self.n_variables, n_actions=self.n_actions, delta=delta, tolerance=tolerance
        )

    @property
    def remaining_variables(self) -> list[int]:
        """The variables that may still be the best, V."""
        return [int(variable) for variable in self._variables.variables]

    @property
    def finished(self) -> bool:
        """Whether one variable remains (line 9)."""
        return len(self._variables.variables) == 1

    def remaining_actions(self, context: ArrayLike) -> list[int]:
        """Return the actions that are played in a context, A: always all."""
        check_context(context, "VariableSelection.remaining_actions", self.n_variables)
        return list(range(self.n_actions))

    def next_action(self, context: ArrayLike) -> int:
        """Return the action whose turn it is (line 4)."""
        return self._rotation.next(self.remaining_actions(context))

    def learn(self, context: ArrayLike, action: int, reward: float) -> None:
        """Learn from the reward of the action that was played in a context (lines 5 to 7)."""
        owner = "VariableSelection.learn"
        bits = check_context(context, owner, self.n_variables)
        action, reward = check_action(action, owner, self.n_actions), check_reward(reward, owner)
        self._rotation.played(action)
        self._variables.count(bits, action, reward)
        if self._variables.round_is_over():
            self._variables.eliminate()


class ActionSelection:
    """Action Selection (Algorithm 3, Successive Elimination): finds the action that is best whatever the context.

    Parameters
    ----------
    n_actions
        Number of actions, K.
    delta
        Probability of failure, δ.
    tolerance
        Approximation, ε.

    Examples
    --------
    >>> selection = ActionSelection(n_actions=3)
    >>> while not selection.finished:
    ...     action = selection.next_action([])
    ...     selection.learn([], action, reward=[0.1, 0.9, 0.2][action])
    >>> selection.remaining_actions([])
    [1]
    """

    _TASK = np.zeros(1, dtype=np.int64)

    def __init__(self, *, n_actions: int, delta: float = 0.05, tolerance: float = 0.0) -> None:
        self.n_actions = check_int(n_actions, "n_actions", "ActionSelection")
        delta, tolerance = check_bounds("ActionSelection", delta, tolerance)
        # Line 1.
        self._rotation = Rotation()
        self._actions = ActionElimination(n_tasks=1, n_actions=self.n_actions, delta=delta, tolerance=tolerance)

    @property
    def finished(self) -> bool:
        """Whether one action remains (line 8)."""
        return int(self._actions.remaining.sum()) == 1

    def remaining_actions(self, _context: ArrayLike) -> list[int]:
        """Return the actions that may still be the best, A; they are the same in every context."""
        return self._actions.actions(0)

    def next_action(self, context: ArrayLike) -> int:
        """Return the action whose turn it is (line 3)."""
        return self._rotation.next(self.remaining_actions(context))

    def learn(self, _context: ArrayLike, action: int, reward: float) -> None:
        """Learn from the reward of the action that was played (lines 4 to 6)."""
        owner = "ActionSelection.learn"
        action, reward = check_action(action, owner, self.n_actions), check_reward(reward, owner)
        self._rotation.played(action)
        self._actions.count(self._TASK, action, reward)
        if self._actions.round_is_over(0):
            self._actions.eliminate(self._TASK)


def check_bounds(owner: str, delta: float, tolerance: float) -> tuple[float, float]:
    """Return a probability of failure in (0, 1] and an approximation in [0, 1)."""
    almost_one = math.nextafter(1.0, 0.0)
    return (
        check_number(delta, "delta", owner, "a number in (0, 1]", 0.0, 1.0, open_low=True),
        check_number(tolerance, "tolerance", owner, "a number in [0, 1)", 0.0, almost_one),
    )
