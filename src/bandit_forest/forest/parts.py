"""The parts of a forest that learn without one another: its groups of trees and, behind them, its line."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bandit_forest.errors import refuse
from bandit_forest.forest.bandit_forest import BanditForest
from bandit_forest.forest.file import forest_parts, restore_forest
from bandit_forest.forest.settings import GreedyCore
from bandit_forest.rules import Greedy

__all__ = ["ForestParts"]


class ForestParts:
    """What the parts of one forest estimate and learn, each by itself, and how they become one forest again.

    Arguments are not checked: those who cut a forest into parts have checked them.

    Parameters
    ----------
    forest
        The forest, which must grow greedily: trees that grow by elimination share their memory.
    owner
        The public function, for the refusal.

    Examples
    --------
    >>> ForestParts(BanditForest(n_variables=3, n_actions=2, n_trees=32), "cut").n_groups
    8
    """

    def __init__(self, forest: BanditForest, owner: str) -> None:
        growth = forest.parameters["growth"]
        if not isinstance(growth, Greedy):
            refuse("forest", owner, "one with greedy growth", forest)
        self._forest = forest
        self.n_groups = -(-forest.n_trees // GreedyCore.trees_together)
        """Number of groups of trees."""
        self.has_line = growth.linear
        """Whether a line is behind them."""

    @property
    def _core(self) -> GreedyCore:
        core = self._forest._core  # asked for each time: a forest that was pickled has another
        assert isinstance(core, GreedyCore)
        return core

    def estimate(self, contexts: NDArray[np.uint8], parts: range) -> NDArray[np.float64]:
        """Return what some parts estimate, one row per context."""
        return self._core.estimate_parts(contexts, parts.start, parts.stop)

    def decide_by(self, estimates: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the actions and propensities that follow from the estimates of all parts."""
        return self._core.decide_by(estimates)

    def learn(
        self, contexts: NDArray[np.uint8], actions: NDArray[np.int64], rewards: NDArray[np.float64], parts: range
    ) -> NDArray[np.float64]:
        """Let some parts learn lessons, and return what each notes about each; without parts, the log learns them."""
        return self._core.learn_parts(contexts, actions, rewards, parts.start, parts.stop)

    def learn_weights(self, notes: NDArray[np.float64], rewards: NDArray[np.float64]) -> None:
        """Learn the weights of trees and line from the notes of all parts."""
        self._core.learn_weights(notes, rewards)

    def sections(self) -> list[bytes]:
        """Return the pieces of a saved forest."""
        return self._core.sections()

    def joined(self, sections: Sequence[bytes]) -> BanditForest:
        """Return a forest with the parameters of this one, made of pieces."""
        header, _ = forest_parts(self._forest)
        threads = self._forest._n_threads
        return restore_forest(BanditForest, header, b"".join(sections), name="shards", n_threads=threads)
