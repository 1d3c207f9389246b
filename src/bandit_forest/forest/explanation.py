"""Explanations of decisions: the estimate of each action in a context, and the path of the context in each tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bandit_forest.validation import check_int
from bandit_forest.variables import MOST_THRESHOLDS, Variables

__all__ = ["Explanation", "LinearShare", "PathTest", "TreePath", "explanation_of"]

_MOST_ROWS = 10  # of a table in text


class PathTest(NamedTuple):
    """A test on a path: the name of a variable, and its value in the context."""

    variable: str
    value: int

    def __str__(self) -> str:
        return self.variable if self.value else f"not {self.variable}"


@dataclass(frozen=True, eq=False)
class TreePath:
    """The path of a context in one tree, and the estimates of the leaf at its end."""

    tests: tuple[PathTest, ...]
    """Tests from the root to the leaf."""
    vote: int | None
    """The action for which the tree votes; None while several remain."""
    mean_rewards: NDArray[np.float64]
    """Estimated mean reward by action in the leaf; NaN where nothing is known."""
    plays: NDArray[np.int64]
    """Events of the leaf by action."""

    @property
    def events(self) -> int:
        """The number of events of the leaf."""
        return int(self.plays.sum())


@dataclass(frozen=True, eq=False)
class LinearShare:
    """Share of the linear part in the estimates: `tree_weight` * trees + `weight` * linear."""

    tree_weight: float
    """Weight of the mean of the trees' mean rewards."""
    weight: float
    """Weight of the linear estimates."""
    mean_rewards: NDArray[np.float64]
    """Linear estimate of the mean reward by action."""


@dataclass(frozen=True, eq=False)
class Explanation:
    """Explanation of the decision of a forest in one context, at one moment.

    Examples
    --------
    >>> from bandit_forest import BanditForest
    >>> forest = BanditForest(n_variables=1, n_actions=2, action_names=["stay", "go"])
    >>> forest.explain([1], available_actions=[1]).best_action
    1
    """

    action_names: tuple[str, ...]
    available: NDArray[np.bool_]
    """True for the actions that might be taken."""
    propensities: NDArray[np.float64]
    """The probability with which each action is drawn."""
    mean_rewards: NDArray[np.float64]
    """The forest's estimate for each action; NaN where nothing is known."""
    trees: tuple[TreePath, ...]
    linear: LinearShare | None = None
    """Share of the linear part; None where there is none."""

    @property
    def votes(self) -> NDArray[np.int64]:
        """The number of trees that vote for each action."""
        cast = [tree.vote for tree in self.trees if tree.vote is not None]
        return np.bincount(np.array(cast, dtype=np.int64), minlength=len(self.action_names))

    @property
    def best_action(self) -> int:
        """The action with the highest propensity; of equal ones, the action with the highest mean reward."""
        return self._ranked()[0]

    @property
    def margin(self) -> float:
        """The mean reward of the best action minus the highest other one, which may be higher; NaN if unknown."""
        others = [action for action in self._ranked()[1:] if not np.isnan(self.mean_rewards[action])]
        return float(self.mean_rewards[self.best_action] - self.mean_rewards[others].max()) if others else float("nan")

    @property
    def tests(self) -> list[tuple[PathTest, int]]:
        """The tests of all paths, each with its number of trees, most frequent first."""
        return Counter(test for tree in self.trees for test in tree.tests).most_common()

    def to_text(self, *, max_trees: int = 3) -> str:
        """Return a text: the best action, the variables tested most, and the paths of the first trees.

        Parameters
        ----------
        max_trees
            Number of trees whose paths are shown.
        """
        shown = self.trees[: check_int(max_trees, "max_trees", "Explanation.to_text", low=0)]
        return "\n".join([*self._headline(), "", *self._action_lines(), *self._test_lines(), *self._tree_lines(shown)])

    def as_dict(self, *, max_trees: int | None = None) -> dict[str, Any]:
        """Return everything as dicts, lists, texts and numbers, ready for JSON; unknown values are None.

        Parameters
        ----------
        max_trees
            Number of trees to include, the first ones; None: all trees.
        """
        if max_trees is not None:
            max_trees = check_int(max_trees, "max_trees", "Explanation.as_dict", low=0)
        return {
            "best_action": self.action_names[self.best_action],
            "margin": _number(self.margin),
            "available_actions": [name for name, is_in in zip(self.action_names, self.available, strict=True) if is_in],
            "propensities": self._by_action(self.propensities),
            "mean_rewards": self._by_action(self.mean_rewards),
            "votes": self._by_action(self.votes),
            "n_trees": len(self.trees),
            "linear": None
            if self.linear is None
            else {
                "tree_weight": self.linear.tree_weight,
                "weight": self.linear.weight,
                "mean_rewards": self._by_action(self.linear.mean_rewards),
            },
            "tests": [test._asdict() | {"trees": trees} for test, trees in self.tests],
            "trees": [
                {
                    "tests": [test._asdict() for test in tree.tests],
                    "vote": None if tree.vote is None else self.action_names[tree.vote],
                    "mean_rewards": self._by_action(tree.mean_rewards),
                    "plays": self._by_action(tree.plays),
                    "events": tree.events,
                }
                for tree in self.trees[:max_trees]
            ],
        }

    def _ranked(self) -> list[int]:
        """Return the available actions, best first."""
        means = np.nan_to_num(self.mean_rewards, nan=-1.0)
        order = np.lexsort((-means, -self.propensities))
        return [int(action) for action in order if self.available[action]]

    def _by_action(self, values: NDArray[Any]) -> dict[str, float | int | None]:
        return dict(zip(self.action_names, map(_number, values.tolist()), strict=True))

    def _headline(self) -> Iterator[str]:
        best, name = self.best_action, self.action_names[self.best_action]
        probability, mean = f"{self.propensities[best]:.3f}", _shown(self.mean_rewards[best])
        if self.margin < 0.0:
            yield f"{name} is drawn most, with probability {probability}, because fewer of its rewards are known here."
            yield f"Its mean reward is {mean}, {-self.margin:.3f} below the highest."
        else:
            yield f"{name} is best: drawn with probability {probability}."
            if self.margin >= 0.0:
                yield f"Its mean reward is {mean}, {self.margin:.3f} above any other's."
        if self.linear is not None:
            linear, weight = _shown(self.linear.mean_rewards[best]), f"{self.linear.weight:.2f}"
            trees = f"{self.linear.tree_weight:.2f} times the trees' mean"
            yield f"Mean rewards are {trees} plus {weight} times the linear estimate, which is {linear}."

    def _action_lines(self) -> list[str]:
        ranked, votes = self._ranked(), self.votes
        rows = [
            (
                self.action_names[action],
                _shown(self.mean_rewards[action]),
                f"{self.propensities[action]:.3f}",
                str(votes[action]),
            )
            for action in ranked[:_MOST_ROWS]
        ]
        table = _table([("action", "mean reward", "propensity", "votes"), *rows])
        return table if len(ranked) <= _MOST_ROWS else [*table, f"and {len(ranked) - _MOST_ROWS} more actions"]

    def _test_lines(self) -> list[str]:
        rows = [(str(test), str(trees)) for test, trees in self.tests[:_MOST_ROWS]]
        return ["", *_table([("tested most on the paths", "trees"), *rows])] if rows else []

    def _tree_lines(self, trees: Sequence[TreePath]) -> Iterator[str]:
        if trees:
            yield ""
        for number, tree in enumerate(trees):
            condition = " and ".join(map(str, tree.tests)) or "always"
            yield f"tree {number}: {condition}: {self._conclusion(tree)}"

    def _conclusion(self, tree: TreePath) -> str:
        events = f"{tree.events:,} events"
        if tree.vote is None:
            return f"exploring ({events})"
        return f"{self.action_names[tree.vote]} (mean reward {_shown(tree.mean_rewards[tree.vote])}, {events})"


def explanation_of(
    arrays: dict[str, Any],
    context: NDArray[np.uint8],
    available: NDArray[np.bool_] | None,
    variables: Variables,
    action_names: tuple[str, ...],
) -> Explanation:
    """Return the explanation that the core's arrays hold."""
    codes = context.tolist()
    tests = list(zip(arrays["variables"].tolist(), arrays["thresholds"].tolist(), strict=True))
    ends = arrays["lengths"].cumsum().tolist()
    trees = zip([0, *ends], ends, arrays["votes"].tolist(), arrays["leaf_means"], arrays["plays"], strict=False)
    return Explanation(
        action_names=action_names,
        available=np.ones(len(action_names), dtype=np.bool_) if available is None else available,
        propensities=arrays["propensities"],
        mean_rewards=arrays["mean_rewards"],
        trees=tuple(
            TreePath(_path(tests[start:end], codes, variables), vote if vote >= 0 else None, means, plays)
            for start, end, vote, means, plays in trees
        ),
        linear=LinearShare(arrays["tree_weight"], arrays["line_weight"], arrays["line_means"])
        if len(arrays["line_means"])
        else None,
    )


def _path(tests: list[tuple[int, int]], codes: list[int], variables: Variables) -> tuple[PathTest, ...]:
    """Return the tests of a path; those of one ordered variable are told together, as an interval."""
    thresholds: dict[int, list[int]] = {}
    for variable, threshold in tests:
        thresholds.setdefault(variable, []).append(threshold)
    path = []
    for variable, tested in thresholds.items():
        code = codes[variable]
        if variable in variables.thresholds:
            low = max((threshold for threshold in tested if threshold <= code), default=0)
            high = min((threshold for threshold in tested if threshold > code), default=MOST_THRESHOLDS + 1)
            path.append(PathTest(variables.interval(variable, low, high), 1))
        else:
            path.append(PathTest(variables.test(variable, 1), code))
    return tuple(path)


def _number(value: float) -> float | None:
    """Return a number as JSON has it: None instead of NaN."""
    return None if value != value else value


def _shown(mean: float) -> str:
    return "unknown" if np.isnan(mean) else f"{mean:.3f}"


def _table(rows: list[tuple[str, ...]]) -> list[str]:
    """Write rows in columns, the first one to the left and the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    ]
