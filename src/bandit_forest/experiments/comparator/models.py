"""Forests that are fitted with full information: the comparator of regret, and the optimal greedy forest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bandit_forest.errors import MissingExtraError
from bandit_forest.experiments.comparator.routing import FlatForest, TreeArrays
from bandit_forest.optimal import OptimalNode, OptimalTree
from bandit_forest.worlds.datasets import Dataset

__all__ = ["GreedyForest", "Model", "Progress", "RandomForest"]

_TREES_AT_ONCE = 10
_CURE = "The comparator needs scikit-learn: pip install 'bandit-forest[experiments]'."
_UNPLAYED_SEED = 2**32  # trials have the first seeds

Progress = Callable[[int], object]
"""Called with the number of trees that have been fitted."""


class Model(Protocol):
    """Parameters of a forest that is fitted to a data set with full information."""

    @property
    def n_trees(self) -> int:
        """The number of trees."""

    @property
    def fitted_with(self) -> str:
        """The library that fits, with its version: another one may fit another forest."""

    def fit(self, dataset: Dataset, *, jobs: int, progress: Progress) -> FlatForest:
        """Fit the forest."""


@dataclass(frozen=True, kw_only=True)
class RandomForest:
    """The paper's comparator: an ordinary random forest of unlimited depth, from scikit-learn.

    It is fitted to the whole data set, without noise, as the paper says. A row that rewards no action (an unknown
    occupation in Adult) has a class of its own. There the comparator must play like every policy, and plays the most
    probable action. It may not abstain, which would make every regret look smaller.

    Parameters
    ----------
    n_trees
        Number of trees.
    seed
        Seed of the forest.
    """

    n_trees: int = 100
    seed: int = 0

    @property
    def fitted_with(self) -> str:
        """scikit-learn, with its version."""
        try:
            return f"scikit-learn {version('scikit-learn')}"
        except PackageNotFoundError as error:
            raise MissingExtraError(_CURE) from error

    def fit(self, dataset: Dataset, *, jobs: int, progress: Progress) -> FlatForest:
        """Fit the forest; the number of jobs changes the time alone."""
        return FlatForest.from_trees(self._trees(dataset, jobs, progress), n_variables=dataset.n_variables)

    def _trees(self, dataset: Dataset, jobs: int, progress: Progress) -> Iterator[TreeArrays]:
        try:
            from sklearn.ensemble import RandomForestClassifier
        except ImportError as error:
            raise MissingExtraError(_CURE) from error
        forest = RandomForestClassifier(random_state=self.seed, n_jobs=jobs, warm_start=True)
        contexts = dataset.contexts.astype(np.float32)
        # Some trees at a time, which warm_start makes the same as all at once, so that there is progress to report.
        for n_before in range(0, self.n_trees, _TREES_AT_ONCE):
            forest.n_estimators = min(n_before + _TREES_AT_ONCE, self.n_trees)
            forest.fit(contexts, dataset.labels)
            progress(forest.n_estimators)
            for number in range(n_before, forest.n_estimators):
                yield _from_sklearn(forest.estimators_[number].tree_, forest.classes_, dataset.n_actions)
                forest.estimators_[number] = None  # the copy takes its place in memory


@dataclass(frozen=True, kw_only=True)
class GreedyForest:
    """The optimal greedy forest of the paper's analysis (Algorithm 5), at a given depth.

    It is fitted to the distribution that is played, noise included, as the paper's theorems have it: what a bandit
    forest of this depth becomes if it makes no mistake. Many events of a stream that no trial plays stand for it.

    Parameters
    ----------
    n_trees
        Number of trees.
    max_depth
        Number of levels of splits.
    variable_share
        Share of the variables not yet on a path that a node chooses from.
    seed
        Seed of the forest.
    n_events
        Number of events that it is fitted to.
    """

    n_trees: int = 1
    max_depth: int
    variable_share: float = 1.0
    seed: int = 0
    n_events: int = 2_000_000

    @property
    def fitted_with(self) -> str:
        """No other library than this package."""
        return "bandit_forest.optimal"

    def fit(self, dataset: Dataset, *, jobs: int, progress: Progress) -> FlatForest:
        """Fit the forest; the number of jobs changes the time alone."""
        return FlatForest.from_trees(self._trees(dataset, jobs, progress), n_variables=dataset.n_variables)

    def _trees(self, dataset: Dataset, jobs: int, progress: Progress) -> Iterator[TreeArrays]:
        batches = list(dataset.world().batches(self.n_events, seed=_UNPLAYED_SEED))
        contexts = np.concatenate([batch.contexts for batch in batches])
        rewards = np.concatenate([batch.rewards for batch in batches])

        def grow(number: int) -> TreeArrays:
            tree = OptimalTree(
                contexts,
                rewards,
                max_depth=self.max_depth,
                variable_share=self.variable_share,
                seed=self.seed,
                tree=number,
            )
            return _from_optimal(tree.root, dataset.n_actions)

        with ThreadPoolExecutor(jobs) as pool:  # threads: NumPy does the work, and all share the events
            for n_grown, tree in enumerate(pool.map(grow, range(self.n_trees)), start=1):
                yield tree
                progress(n_grown)


def _from_sklearn(tree: Any, classes: NDArray[np.int64], n_actions: int) -> TreeArrays:
    votes = np.zeros((tree.node_count, n_actions))
    is_action = classes >= 0
    votes[:, classes[is_action]] = tree.value[:, 0, is_action]
    return TreeArrays(tree.children_left, tree.children_right, tree.feature, votes)


def _from_optimal(root: OptimalNode, n_actions: int) -> TreeArrays:
    nodes = list(root)
    numbers = {id(node): number for number, node in enumerate(nodes)}
    low, high = (
        np.array([numbers[id(node.children[value])] if node.children else -1 for node in nodes]) for value in (0, 1)
    )
    variables = np.array([-1 if node.variable is None else node.variable for node in nodes])
    return TreeArrays(low, high, variables, np.eye(n_actions)[[node.action for node in nodes]])
