"""The linear part of the default forest in plain Python: terms, a line for each action, weights of both estimates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
from numpy.typing import NDArray

from bandit_forest.reference.change import ChangeDetector

__all__ = ["Blend", "Line", "LinearPart", "Ramp", "ramps_of"]

Floats = NDArray[np.float64]

_RIDGE = 1.0
_MOST_RAMPS = 8
_MOST_FOR_RAMPS = 2**18  # actions * terms²: beyond, there are fewer ramps,
_MOST_EXACT = 2**20  # and beyond this, the regression is not exact


@dataclass(frozen=True)
class Ramp:
    """A term that rises from 0 to 1 while the code of a variable goes from `start` to `start + width`."""

    variable: int
    start: float
    width: float

    def value(self, code: int) -> float:
        """Return the value of the term."""
        return min(max((code - self.start) / self.width, 0.0), 1.0)


def ramps_of(levels: Sequence[int], most: int) -> list[Ramp]:
    """Return the terms of all variables but the constant: at most `most` for a variable.

    Examples
    --------
    >>> [(ramp.variable, ramp.start, ramp.width) for ramp in ramps_of([2, 5], most=2)]
    [(0, 0.0, 1.0), (1, 0.0, 2.0), (1, 2.0, 2.0)]
    """
    terms = []
    for variable, n_levels in enumerate(levels):
        steps = n_levels - 1
        n_ramps = min(steps, most)
        width = steps / n_ramps
        terms += [Ramp(variable, ramp * width, width) for ramp in range(n_ramps)]
    return terms


class Line:
    """A linear estimate of the reward of each action, by ridge regression or, where that is too dear, by AdaGrad.

    Parameters
    ----------
    levels
        Number of codes of each variable.
    n_actions
        Number of actions.
    """

    def __init__(self, levels: Sequence[int], n_actions: int) -> None:
        most = _MOST_RAMPS
        while most > 1 and n_actions * (len(ramps_of(levels, most)) + 1) ** 2 > _MOST_FOR_RAMPS:
            most //= 2
        self.ramps = ramps_of(levels, most)
        n_terms = len(self.ramps) + 1
        self.is_exact = n_actions * n_terms**2 <= _MOST_EXACT
        self.weights = np.zeros((n_actions, n_terms))
        if self.is_exact:
            self._inverses = np.stack([np.eye(n_terms) / _RIDGE for _ in range(n_actions)])
        else:
            self._rates = np.full((n_actions, n_terms), _RIDGE)

    def terms(self, context: NDArray[np.uint8]) -> Floats:
        """Return the terms of a context; the last one is the constant 1."""
        return np.array([*(ramp.value(int(context[ramp.variable])) for ramp in self.ramps), 1.0])

    def mean(self, x: Floats, action: int) -> float:
        """Return the estimated mean reward of an action, in [0, 1]."""
        return min(max(self._raw_mean(x, action), 0.0), 1.0)

    def variance(self, x: Floats, action: int) -> float:
        """Return the variance of that estimate in units of the noise, xᵀ A⁻¹ x; 0 where it is not known."""
        if not self.is_exact:
            return 0.0
        matrix, total = self._inverses[action], 0.0
        for i in np.flatnonzero(x):
            below = _dot(matrix[i, :i], x[:i])
            total += float(x[i]) * (2.0 * below + float(matrix[i, i]) * float(x[i]))
        return max(total, 0.0)

    def learn(self, x: Floats, action: int, reward: float) -> None:
        """Learn the reward of an action."""
        error = reward - self._raw_mean(x, action)
        if self.is_exact:
            self._learn_exactly(x, action, error)
        else:
            self._descend(x, action, error)

    def _raw_mean(self, x: Floats, action: int) -> float:
        return reduce(add, (float(x[i]) * float(self.weights[action, i]) for i in np.flatnonzero(x)), 0.0)

    def _learn_exactly(self, x: Floats, action: int, error: float) -> None:
        """Apply Sherman and Morrison: (A + x xᵀ)⁻¹ = A⁻¹ - (A⁻¹ x)(A⁻¹ x)ᵀ / (1 + xᵀ A⁻¹ x)."""
        matrix = self._inverses[action]
        direction = np.zeros(len(x))
        for i in np.flatnonzero(x):
            direction += x[i] * matrix[i]
        step = direction / (1.0 + _dot(direction, x))
        self.weights[action] += step * error
        matrix += np.outer(-step, direction)

    def _descend(self, x: Floats, action: int, error: float) -> None:
        """Descend along the gradient with a rate for each term (AdaGrad: Duchi, Hazan and Singer 2011)."""
        length, directions = 1.0, {}
        for i in np.flatnonzero(x).tolist():
            value = float(x[i])
            self._rates[action, i] += value * value
            directions[i] = value / math.sqrt(float(self._rates[action, i]))
            length += value * directions[i]
        for i, direction in directions.items():
            self.weights[action, i] += error * direction / length


def _dot(a: Floats, b: Floats) -> float:
    """Add up products by their place modulo four, then these four sums, as the core does."""
    lanes = [0.0] * 4
    for i, product in enumerate((a * b).tolist()):
        lanes[i % 4] += product
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])


class Blend:
    """The weights of trees and line: regression of the rewards on both estimates, from one half each on.

    Examples
    --------
    >>> blend = Blend()
    >>> for n in range(1, 100):
    ...     blend.learn(trees=0.5, line=0.1 * (n % 2), reward=0.5, memory=n)
    >>> blend.solve()
    >>> blend.trees > 0.8 > blend.line
    True
    """

    def __init__(self) -> None:
        self.trees, self.line = 0.5, 0.5
        self._products = [0.0] * 5

    def learn(self, *, trees: float, line: float, reward: float, memory: float) -> None:
        """Learn from the estimates of the action that was played, and its reward; the last half of all counts most."""
        kept = 1.0 - 1.0 / (1.0 + 0.5 * memory)
        new = [trees * trees, trees * line, line * line, trees * reward, line * reward]
        self._products = [old * kept + product for old, product in zip(self._products, new, strict=True)]

    def solve(self) -> None:
        """Find the weights, neither of them negative; after one event each is one half."""
        tree_tree, tree_line, line_line, tree_reward, line_reward = self._products
        a, b, c = tree_tree + 1.0, tree_line, line_line + 1.0
        d, e = tree_reward + 0.5, line_reward + 0.5
        determinant = a * c - b * b
        self.trees = (d * c - e * b) / determinant
        self.line = (a * e - b * d) / determinant
        if self.trees < 0.0:
            self.trees, self.line = 0.0, max(e / c, 0.0)
        elif self.line < 0.0:
            self.trees, self.line = max(d / a, 0.0), 0.0


class LinearPart:
    """A line, its successor in a world that changes, and the weights with which it and the trees count.

    Parameters
    ----------
    levels
        Number of codes of each variable.
    n_actions
        Number of actions.
    lifetime
        A line is half a lifetime old when it takes over, and a lifetime when it goes; when the world changes, it starts
        anew. None: it stays.
    """

    def __init__(self, levels: Sequence[int], n_actions: int, lifetime: int | None) -> None:
        self._levels, self._n_actions, self._lifetime = levels, n_actions, lifetime
        self.line = Line(levels, n_actions)
        self.blend = Blend()
        self._successor: Line | None = None
        self._change = ChangeDetector()
        self._waiting: list[tuple[float, float, float, int]] = []

    def learn(self, context: NDArray[np.uint8], action: int, reward: float, event: int, trees: float) -> None:
        """Learn an event, of whose action the trees estimated `trees`."""
        if self._lifetime is not None and event > 0 and event % max(self._lifetime // 2, 1) == 0:
            self.line = self._successor or self.line
            self._successor = Line(self._levels, self._n_actions)
        x = self.line.terms(context)
        known = event + 1 if self._lifetime is None else min(event + 1, self._lifetime)
        estimate = self.line.mean(x, action)
        self._waiting.append((trees, estimate, reward, known))
        if self._lifetime is not None and self._change.learn(estimate, reward, event):
            self.line = Line(self._levels, self._n_actions)
            self._successor = None if self._successor is None else Line(self._levels, self._n_actions)
        self.line.learn(x, action, reward)
        if self._successor is not None:
            self._successor.learn(x, action, reward)

    def learn_weights(self) -> None:
        """Learn the weights from the events since the last time."""
        for trees, line, reward, known in self._waiting:
            self.blend.learn(trees=trees, line=line, reward=reward, memory=float(known))
        self.blend.solve()
        self._waiting.clear()
