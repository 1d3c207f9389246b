"""One path of a tree and the decision stump at its end: what lines 9 to 15 of Algorithm 6 update."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bandit_forest.reference.elimination import ACTION_WIDTH, VARIABLE_WIDTH, radius, survivors
from bandit_forest.rules import Elimination

__all__ = ["Bounds", "Node", "Tally"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Bounds:
    """The logarithms in the confidence bounds of a tree."""

    variables: float
    """log(4 2^D K M D_θ L / δ), equation (3)."""
    actions: float
    """log(4 2^D K L / δ), equation (4)."""


@dataclass
class Tally:
    """Counts and sums of each action, on a path or on a path with one value of a variable."""

    plays: NDArray[np.int64]
    """t_{c,k}: events in which the action was taken."""
    weight: Floats
    """The sum of their weights: 1, or 1 / propensity."""
    gain: Floats
    """The sum of their rewards times their weights."""

    @classmethod
    def empty(cls, *shape: int) -> Tally:
        """Return a tally of no events."""
        return cls(np.zeros(shape, np.int64), np.zeros(shape), np.zeros(shape))

    def less(self, part: Tally) -> Tally:
        """Return the tally of the events that are not in a part."""
        return Tally(self.plays - part.plays, self.weight - part.weight, self.gain - part.gain)

    def column(self, variable: int) -> Tally:
        """Return the tally of one variable."""
        return Tally(self.plays[:, variable], self.weight[:, variable], self.gain[:, variable])

    def denominators(self, growth: Elimination) -> Floats:
        """Return the divisor of the gain of each action, before elimination compares them."""
        if growth.estimate == "visits":
            return np.full(self.plays.shape, float(self.plays.sum()))
        if growth.estimate == "weights":
            return self.weight
        return self.plays.astype(np.float64)

    def least_plays(self, actions: list[int]) -> int:
        """Return the plays of the least played of some actions."""
        return int(self.plays[actions].min())


@dataclass(eq=False)
class Node:
    """A path c_θ, made by NewPath of Algorithm 6."""

    key: int
    parent: int
    depth: int
    """Number of tests on the way here: d_θ - 1 while the stump is selecting."""
    status: Literal["selecting", "split", "terminal"]
    tolerance: float
    remaining_variables: list[int]
    """S_c, while the path is selecting."""
    remaining_actions: list[int]
    """The actions in play on the path."""
    tally: Tally
    """Sums by action."""
    ones: Tally
    """Sums by action and variable, of the events with x_i = 1; those with x_i = 0 are the rest."""
    actions_by_value: dict[tuple[int, int], list[int]]
    """A_{c,i,v}; on the last level only, because it takes effect nowhere else."""
    variable: int | None = None
    child: int | None = None
    """Number of the node that value 0 of the chosen variable leads to; value 1 leads to the next node."""
    tested: int = field(default=0)
    """Plays of the least played remaining action at the last test."""

    @property
    def visits(self) -> int:
        """Events learned here."""
        return int(self.tally.plays.sum())

    def count(self, context: NDArray[np.uint8], action: int, weight: float, gain: float) -> None:
        """Count one event: lines 10 and 13 of Algorithm 6, lines 2 to 7 of VE, line 2 of AE."""
        self.tally.plays[action] += 1
        self.tally.weight[action] += weight
        self.tally.gain[action] += gain
        if self.status == "selecting":
            self.ones.plays[action] += context
            self.ones.weight[action] += weight * context
            self.ones.gain[action] += gain * context

    def round_is_complete(self) -> bool:
        """Return whether the least played remaining action has been played again: LastAction, for any order of play."""
        least = self.tally.least_plays(self.remaining_actions)
        if least <= self.tested:
            return False
        self.tested = least
        return True

    def eliminate_variables(self, growth: Elimination, bounds: Bounds) -> None:
        """Remove irrelevant variables: line 9 of VE with equation (3)."""
        played = np.flatnonzero(self.tally.plays)
        denominators = self.tally.denominators(growth)[played, None]
        # μ^i_{k,v} and μ^i = Σ_v max_k μ^i_{k,v}, over all actions: one that the path has eliminated may well be the
        # best for a value of a variable. Both values share the denominator, the plays of k on the path.
        gains1 = self.ones.gain[played]
        gains0 = self.tally.gain[played, None] - gains1
        best0 = (gains0 / denominators).max(axis=0, initial=0.0)
        best1 = (gains1 / denominators).max(axis=0, initial=0.0)
        gains = (best0 + best1)[self.remaining_variables].tolist()
        least = self.tally.least_plays(self.remaining_actions)
        bound = VARIABLE_WIDTH * radius(least, bounds.variables)
        self.remaining_variables = survivors(self.remaining_variables, gains, self.tolerance, bound)

    def eliminate_actions_by_value(self, growth: Elimination, bounds: Bounds) -> None:
        """Remove irrelevant actions for each remaining variable and value: lines 12 to 15 of Algorithm 6."""
        for variable in self.remaining_variables:
            for value in (0, 1):
                actions = self.actions_by_value[variable, value]
                self.actions_by_value[variable, value] = self._kept(
                    actions, self.given(variable, value), growth, bounds
                )

    def eliminate_actions(self, growth: Elimination, bounds: Bounds) -> None:
        """Remove irrelevant actions of the path: AE with equation (4) on the path's own events."""
        self.remaining_actions = self._kept(self.remaining_actions, self.tally, growth, bounds)

    def given(self, variable: int, value: int) -> Tally:
        """Return the tally of the events with `variable = value`."""
        ones = self.ones.column(variable)
        return ones if value == 1 else self.tally.less(ones)

    def _kept(self, actions: list[int], tally: Tally, growth: Elimination, bounds: Bounds) -> list[int]:
        least = tally.least_plays(actions)
        if least == 0:
            return actions
        means = (tally.gain[actions] / tally.denominators(growth)[actions]).tolist()
        return survivors(actions, means, self.tolerance, ACTION_WIDTH * radius(least, bounds.actions))
