"""Hybrid LinUCB: one linear model shared by all actions, and one more for each action."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Sequence
from typing import Any, cast

import numpy as np

from bandit_forest.baselines.pairs.numbers import Floats, check_numbers, products
from bandit_forest.errors import refuse
from bandit_forest.parameters import check_parameter
from bandit_forest.policy import Decision
from bandit_forest.validation import check_int, check_propensity, check_reward

__all__ = ["HybridLinUCB"]


class HybridLinUCB:
    """Play the action with the highest upper confidence bound under the sum of a shared model and its own model.

    The shared inputs z are the features of the action and their products with those of the context. The own inputs x of
    an action are the features of the context and a constant. This is Algorithm 2 of the article, which changes the
    shared Gram matrix three times per event. The sum of these changes is u uᵀ / (1 + xᵀ A⁻¹ x) with u = z - Bᵀ A⁻¹ x,
    so the inverse is updated by the Sherman-Morrison formula.

    Parameters
    ----------
    n_context_features, n_action_features
        Number of features of a context and of an action.
    width
        Number of standard deviations that are added to a prediction, α in the article.

    Examples
    --------
    >>> policy = HybridLinUCB(n_context_features=1, n_action_features=1)
    >>> for _ in range(20):
    ...     decision = policy.decide([1.0], [[0.0], [1.0]], names=["a", "b"])
    ...     policy.learn([1.0], [decision.action], decision.action, propensity=1.0, name="ab"[decision.action])
    >>> policy.decide([1.0], [[0.0], [1.0]], names=["a", "b"])
    Decision(action=1, propensity=1.0)

    References
    ----------
    Li, Chu, Langford and Schapire, *A contextual-bandit approach to personalized news article recommendation*,
    WWW 2010.
    """

    def __init__(self, *, n_context_features: int, n_action_features: int, width: float = 0.2) -> None:
        self._n_context = check_int(n_context_features, "n_context_features", "HybridLinUCB")
        self._n_action = check_int(n_action_features, "n_action_features", "HybridLinUCB")
        self._width = check_parameter(width, "width", "HybridLinUCB", "a number of at least 0", 0.0, sys.float_info.max)
        n_shared, n_own = (self._n_context + 1) * self._n_action, self._n_context + 1
        self._inverse = np.eye(n_shared)
        self._sums = np.zeros(n_shared)
        self._weights = np.zeros(n_shared)
        self._places: dict[Hashable, int] = {}
        # By action: A⁻¹, B and b of the article; place 0 is that of all actions that were never played.
        self._own_inverses = np.eye(n_own)[np.newaxis]
        self._crossed = np.zeros((1, n_own, n_shared))
        self._own_sums = np.zeros((1, n_own))

    def decide(self, context: Any, actions: Any, *, names: Sequence[Hashable]) -> Decision:
        """Choose one of the offered actions."""
        rows = check_numbers(actions, "actions", "HybridLinUCB.decide", (None, self._n_action))
        z, x = self._inputs(context, rows, "decide")
        if isinstance(names, (str, bytes)) or not hasattr(names, "__len__") or len(names) != len(z):
            refuse("names", "HybridLinUCB.decide", f"{len(z)} names, one for each action", names)
        places = [self._places.get(_hashable(name, "names", "decide"), 0) for name in names]
        own = self._own_inverses[places] @ x
        u = z - np.einsum("nd,ndk->nk", own, self._crossed[places])
        means = u @ self._weights + np.einsum("nd,nd->n", own, self._own_sums[places])
        variances = np.einsum("nk,nk->n", u @ self._inverse, u) + own @ x
        return Decision(int((means + self._width * np.sqrt(np.maximum(variances, 0.0))).argmax()), 1.0)

    def learn(self, context: Any, action: Any, reward: float, *, propensity: float, name: Hashable) -> None:
        """Learn the reward of an action in a context."""
        row = check_numbers(action, "action", "HybridLinUCB.learn", (self._n_action,))
        (z,), x = self._inputs(context, row[np.newaxis], "learn")
        value = check_reward(reward, "HybridLinUCB.learn")
        check_propensity(propensity, "HybridLinUCB.learn")
        place = self._place(_hashable(name, "name", "learn"))
        own = self._own_inverses[place] @ x
        scale = 1.0 + float(own @ x)
        u = z - own @ self._crossed[place]
        direction = self._inverse @ u
        self._inverse -= np.outer(direction, direction) / (scale + float(direction @ u))
        self._sums += u * ((value - float(own @ self._own_sums[place])) / scale)
        self._weights = self._inverse @ self._sums
        self._own_inverses[place] -= np.outer(own, own) / scale
        self._crossed[place] += np.outer(x, z)
        self._own_sums[place] += value * x

    def _place(self, name: Hashable) -> int:
        """Return the place of an action; room is doubled when it is full."""
        place = self._places.setdefault(name, len(self._places) + 1)
        if place == len(self._own_sums):
            fresh = np.repeat(np.eye(len(self._own_inverses[0]))[np.newaxis], place, axis=0)
            self._own_inverses = np.concatenate([self._own_inverses, fresh])
            self._crossed = np.concatenate([self._crossed, np.zeros_like(self._crossed)])
            self._own_sums = np.concatenate([self._own_sums, np.zeros_like(self._own_sums)])
        return place

    def _inputs(self, context: Any, actions: Floats, method: str) -> tuple[Floats, Floats]:
        checked = check_numbers(context, "context", f"HybridLinUCB.{method}", (self._n_context,))
        return products(checked, actions), np.append(checked, 1.0)


def _hashable(name: Any, parameter: str, method: str) -> Hashable:
    try:
        hash(name)
    except TypeError:
        refuse(parameter, f"HybridLinUCB.{method}", "hashable, such as a text or an int", name)
    return cast(Hashable, name)
