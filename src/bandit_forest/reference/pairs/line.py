"""The linear part of a forest over pairs: terms of the context, terms of the action, and all their products."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["PairLine", "terms_of"]

Codes = NDArray[np.uint8]
Floats = NDArray[np.float64]

_RIDGE = 1.0
_MOST_EXACT = 2**19  # products²: beyond, the regression is not exact


def terms_of(levels: Sequence[int], codes: Codes) -> Floats:
    """Return the terms of one side: 0 or 1 for a binary variable, in [-1, 1] for an ordered one; then a constant.

    Examples
    --------
    >>> terms_of([2, 5], np.array([1, 3], dtype=np.uint8)).tolist()
    [1.0, 0.5, 1.0]
    """
    terms = [
        float(code) if n <= 2 else 2.0 * code / (n - 1) - 1.0 for n, code in zip(levels, codes.tolist(), strict=True)
    ]
    return np.array([*terms, 1.0])


class PairLine:
    """A bilinear estimate cᵀ W a of the reward of a pair, by ridge regression or, where that is too dear, by AdaGrad.

    The constants among the terms make the weights of the context alone and of the action alone part of W.

    Parameters
    ----------
    context_levels, action_levels
        Number of codes of each variable.

    Examples
    --------
    >>> line = PairLine([2], [2])
    >>> context, action = line.context_terms(np.array([1])), line.action_terms(np.array([1]))
    >>> for _ in range(100):
    ...     line.learn(context, action, 0.7)
    >>> round(line.mean(context, action), 2), round(line.variance(context, action), 3)
    (0.7, 0.01)
    """

    def __init__(self, context_levels: Sequence[int], action_levels: Sequence[int]) -> None:
        self._context_levels, self._action_levels = context_levels, action_levels
        n_context, n_action = len(context_levels) + 1, len(action_levels) + 1
        n_terms = n_context * n_action
        self.is_exact = n_terms * n_terms <= _MOST_EXACT
        self.weights = np.zeros((n_context, n_action))
        if self.is_exact:
            self._inverse = np.eye(n_terms) / _RIDGE
        else:
            self._rates = np.full((n_context, n_action), _RIDGE)

    def context_terms(self, codes: Codes) -> Floats:
        """Return the terms of a context."""
        return terms_of(self._context_levels, codes)

    def action_terms(self, codes: Codes) -> Floats:
        """Return the terms of an action."""
        return terms_of(self._action_levels, codes)

    def mean(self, context: Floats, action: Floats) -> float:
        """Return the estimated mean reward of a pair, in [0, 1]."""
        return min(max(self._raw_mean(context, action), 0.0), 1.0)

    def variance(self, context: Floats, action: Floats) -> float:
        """Return the variance of that estimate in units of the noise; 0 where it is not known.

        It is zᵀ A⁻¹ z for the products z. The context is applied first, once for all actions that are offered.
        """
        if not self.is_exact:
            return 0.0
        n_context, n_action = self.weights.shape
        rows = _combined(context, self._inverse.reshape(n_context, n_action * n_context * n_action))
        both = _combined(context, rows.reshape(n_action, n_context, n_action).swapaxes(0, 1))
        return max(_sequential(action, [_sequential(action, row) for row in both.reshape(n_action, n_action)]), 0.0)

    def learn(self, context: Floats, action: Floats, reward: float) -> None:
        """Learn the reward of a pair."""
        error = reward - self._raw_mean(context, action)
        if self.is_exact:
            self._learn_exactly(np.outer(context, action).ravel(), error)
        else:
            self._descend(np.outer(context, action), error)

    def _raw_mean(self, context: Floats, action: Floats) -> float:
        return _sequential(action, _combined(context, self.weights))

    def _learn_exactly(self, z: Floats, error: float) -> None:
        """Apply Sherman and Morrison: (A + z zᵀ)⁻¹ = A⁻¹ - (A⁻¹ z)(A⁻¹ z)ᵀ / (1 + zᵀ A⁻¹ z)."""
        direction = _combined(z, self._inverse)
        step = direction / (1.0 + _sequential(direction, z))
        self.weights += (step * error).reshape(self.weights.shape)
        self._inverse += np.outer(-step, direction)

    def _descend(self, z: Floats, error: float) -> None:
        """Descend along the gradient with a rate for each product (AdaGrad: Duchi, Hazan and Singer 2011)."""
        self._rates += z * z
        direction = z / np.sqrt(self._rates)
        length = _sequential(z.ravel(), direction.ravel(), start=1.0)
        self.weights += error * direction / length


def _combined(factors: Floats, rows: Floats) -> Floats:
    """Return the sum of rows times their factors, added one after the other as the core does."""
    total = np.zeros(rows.shape[1:])
    for factor, row in zip(factors.tolist(), rows, strict=True):
        total += factor * row
    return total


def _sequential(a: Sequence[float] | Floats, b: Sequence[float] | Floats, start: float = 0.0) -> float:
    """Return the sum of products, added one after the other."""
    total = start
    for left, right in zip(a, b, strict=True):
        total += float(left) * float(right)
    assert math.isfinite(total)
    return total
