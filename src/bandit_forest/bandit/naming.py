"""What a forest tells, in the units and names of the user: rewards in their range, and no index without an action."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bandit_forest.bandit.rewards import RewardRange
from bandit_forest.encoding import ContextEncoder
from bandit_forest.encoding.layout import lay_out
from bandit_forest.forest.explanation import Explanation, LinearShare, TreePath
from bandit_forest.forest.tree import TreeView
from bandit_forest.variables import Variables

__all__ = ["explanation_in_units", "importance_by_feature", "tree_in_units", "variables_in_words"]


def explanation_in_units(explanation: Explanation, rewards: RewardRange, n_actions: int) -> Explanation:
    """Return an explanation of the actions that there are, with mean rewards in the range of rewards."""
    return replace(
        explanation,
        action_names=explanation.action_names[:n_actions],
        available=explanation.available[:n_actions],
        propensities=explanation.propensities[:n_actions],
        mean_rewards=_unscaled(explanation.mean_rewards[:n_actions], rewards),
        trees=tuple(_path_in_units(path, rewards, n_actions) for path in explanation.trees),
        linear=_linear_in_units(explanation.linear, rewards, n_actions),
    )


def tree_in_units(tree: TreeView, rewards: RewardRange) -> TreeView:
    """Return a view of a tree with mean rewards in the range of rewards."""
    view = copy(tree)
    view.nodes = replace(tree.nodes, mean_rewards=_unscaled(tree.nodes.mean_rewards, rewards))
    return view


def importance_by_feature(shares: NDArray[np.float64], features: list[str]) -> dict[str, float]:
    """Return the importance of each feature: the sum over its variables, largest first.

    Examples
    --------
    >>> importance_by_feature(np.array([0.25, 0.25, 0.5]), ["age", "age", "city"])
    {'age': 0.5, 'city': 0.5}
    """
    sums = dict.fromkeys(features, 0.0)
    for feature, share in zip(features, shares.tolist(), strict=True):
        sums[feature] += share
    return dict(sorted(sums.items(), key=lambda pair: -pair[1]))


def variables_in_words(encoder: ContextEncoder, names: Sequence[str], codes: bytes) -> list[str]:
    """Return what the variables of a context say: those that are set, and the interval of each number.

    Examples
    --------
    >>> from bandit_forest.encoding import Categorical, Numeric
    >>> columns = {"age": Numeric(thresholds=(18, 65), missing=True), "member": Categorical(values=(False, True))}
    >>> encoder = ContextEncoder.from_schema(columns)
    >>> variables_in_words(encoder, encoder.variable_names, bytes([1, 0, 1]))
    ['age in [18, 65)', 'member']
    >>> variables_in_words(encoder, encoder.variable_names, bytes([0, 1, 0]))
    ['age is missing']
    """
    variables = Variables(names, encoder.thresholds, "Bandit", len(names))
    missing = {part.variables[0]: part.variables[-2] for part in lay_out(encoder.columns_).columns}
    words = []
    for number, code in enumerate(codes):
        if number not in variables.thresholds:
            words += [names[number]] * bool(code)
        elif code or not [*codes, 0][missing[number]]:  # the code of a missing number is 0, too
            words.append(variables.interval(number, code, code + 1))
    return words


def _path_in_units(path: TreePath, rewards: RewardRange, n_actions: int) -> TreePath:
    means = _unscaled(path.mean_rewards[:n_actions], rewards)
    return replace(path, mean_rewards=means, plays=path.plays[:n_actions])


def _linear_in_units(linear: LinearShare | None, rewards: RewardRange, n_actions: int) -> LinearShare | None:
    if linear is None:
        return None
    return replace(linear, mean_rewards=_unscaled(linear.mean_rewards[:n_actions], rewards))


def _unscaled(means: NDArray[np.float64], rewards: RewardRange) -> NDArray[np.float64]:
    return rewards.low + means * (rewards.high - rewards.low)
