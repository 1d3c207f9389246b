"""LinUCB with one linear model for all actions."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from bandit_forest.baselines.pairs.numbers import Floats, check_numbers, products
from bandit_forest.parameters import check_parameter
from bandit_forest.policy import Decision
from bandit_forest.validation import check_int, check_propensity, check_reward

__all__ = ["SharedLinUCB"]


class SharedLinUCB:
    """Play the action with the highest upper confidence bound under one ridge regression for all actions.

    The inputs are the features of context and action, all their products, and a constant. The choice is deterministic,
    so its propensity is 1.

    Parameters
    ----------
    n_context_features, n_action_features
        Number of features of a context and of an action.
    width
        Number of standard deviations that are added to a prediction, α in the article.
    ridge
        Number that is added to the diagonal of the Gram matrix.

    Examples
    --------
    >>> policy = SharedLinUCB(n_context_features=1, n_action_features=1)
    >>> for _ in range(20):
    ...     decision = policy.decide([1.0], [[0.0], [1.0]])
    ...     policy.learn([1.0], [decision.action], decision.action, propensity=1.0)
    >>> policy.decide([1.0], [[0.0], [1.0]])
    Decision(action=1, propensity=1.0)

    References
    ----------
    Li, Chu, Langford and Schapire, *A contextual-bandit approach to personalized news article recommendation*,
    WWW 2010.
    """

    def __init__(
        self, *, n_context_features: int, n_action_features: int, width: float = 0.2, ridge: float = 1.0
    ) -> None:
        self._n_context = check_int(n_context_features, "n_context_features", "SharedLinUCB")
        self._n_action = check_int(n_action_features, "n_action_features", "SharedLinUCB")
        self._width = check_parameter(width, "width", "SharedLinUCB", "a number of at least 0", 0.0, sys.float_info.max)
        ridge = check_parameter(ridge, "ridge", "SharedLinUCB", "a number of at least 1e-6", 1e-6, sys.float_info.max)
        n_inputs = (self._n_context + 1) * (self._n_action + 1)
        self._inverse = np.eye(n_inputs) / ridge
        self._weights = np.zeros(n_inputs)

    def decide(self, context: Any, actions: Any, *, names: Any = None) -> Decision:  # noqa: ARG002, it knows no names
        """Choose one of the offered actions."""
        rows = check_numbers(actions, "actions", "SharedLinUCB.decide", (None, self._n_action))
        inputs = self._inputs(context, rows, "decide")
        variances = np.einsum("ni,ni->n", inputs @ self._inverse, inputs)
        bounds = inputs @ self._weights + self._width * np.sqrt(np.maximum(variances, 0.0))
        return Decision(int(bounds.argmax()), 1.0)

    def learn(
        self,
        context: Any,
        action: Any,
        reward: float,
        *,
        propensity: float,
        name: Any = None,  # noqa: ARG002
    ) -> None:
        """Learn the reward of an action in a context."""
        row = check_numbers(action, "action", "SharedLinUCB.learn", (self._n_action,))
        (x,) = self._inputs(context, row[np.newaxis], "learn")
        check_propensity(propensity, "SharedLinUCB.learn")
        error = check_reward(reward, "SharedLinUCB.learn") - float(x @ self._weights)
        direction = self._inverse @ x
        step = direction / (1.0 + float(direction @ x))
        self._weights += step * error
        self._inverse -= np.outer(step, direction)

    def _inputs(self, context: Any, actions: Floats, method: str) -> Floats:
        checked = check_numbers(context, "context", f"SharedLinUCB.{method}", (self._n_context,))
        return products(checked, np.hstack([actions, np.ones((len(actions), 1))]))
