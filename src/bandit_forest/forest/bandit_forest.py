"""Bandit Forest: it checks its arguments, and the compiled core does the work."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bandit_forest import archive
from bandit_forest.compiled import CompiledPolicy, mask_of
from bandit_forest.errors import refuse
from bandit_forest.forest.explanation import Explanation, explanation_of
from bandit_forest.forest.file import check_path, forest_parts, restore_forest
from bandit_forest.forest.presets import PAPER_EXPLORATION, PAPER_GROWTH, PAPER_MAX_NODES
from bandit_forest.forest.settings import CoreForest, GreedyCore, make_core
from bandit_forest.forest.tree import EliminationNodes, GreedyNodes, TreeView
from bandit_forest.parameters import MOST_ACTIONS, MOST_CELLS, check_names, check_share, check_size
from bandit_forest.policy import Decision, Decisions
from bandit_forest.rules import (
    Elimination,
    Exploration,
    Greedy,
    Growth,
    InverseGap,
    RoundRobin,
    UniformOverRemaining,
    check_exploration,
)
from bandit_forest.validation import (
    check_available_rows,
    check_contexts,
    check_int,
    check_range,
    key_number,
    key_numbers,
)
from bandit_forest.variables import Variables, check_thresholds

__all__ = ["BanditForest"]

_MAX_SEED = 2**64 - 1
_MAX_THREADS = 256

_DEFAULT_GROWTH = Greedy()


class BanditForest(CompiledPolicy):
    """A random forest that learns, one event at a time, which action to take in which context.

    The default forest has three parts: trees that are grown again and again from the log of all events, a linear
    estimate, and exploration by inverse gap weighting on upper confidence bounds. `BanditForest.paper` returns the
    forest of Féraud, Allesiardo, Urvoy and Clérot (AISTATS 2016): its trees grow by elimination of variables and
    actions with confidence bounds, and vote. All methods may be called from several threads.

    Parameters
    ----------
    n_variables
        Number of variables of a context.
    n_actions
        Number of actions.
    thresholds
        Thresholds of each ordered variable, by its number, as `ContextEncoder.thresholds` returns them. The code of
        such a variable in a context is the number of its thresholds that are reached, at most 255. All other variables
        are binary.
    n_trees
        Number of trees.
    max_depth
        Depth of the trees: an int, or a range (low, high) from which each tree draws its own; 1 is a decision stump.
    variable_share
        Share of the variables that a node may split on, drawn anew for each node. With greedy growth the other
        variables are tried if none of these is good enough.
    growth
        How the trees grow: `Greedy()`, or `Elimination()` as in the paper.
    exploration
        Rule by which actions are drawn: `InverseGap` with `Greedy`; `RoundRobin` or `UniformOverRemaining` with
        `Elimination`. None: `InverseGap()` with `Greedy`, `RoundRobin()` with `Elimination`.
    max_nodes
        Largest number of nodes of a tree, which bounds memory. A full tree keeps learning in its leaves.
    seed
        Seed of all random draws: the same seed and the same events give the same forest.
    n_threads
        Number of threads for batches of events, with greedy growth; the results are the same for any number. A copy has
        the same number. A pickled or saved forest may go to another machine and has one thread.
    variable_names, action_names
        Names of variables and actions in rules.

    References
    ----------
    Féraud, Allesiardo, Urvoy and Clérot, Random Forest for the Contextual Bandit Problem, AISTATS 2016.

    Examples
    --------
    >>> forest = BanditForest(n_variables=3, n_actions=2, n_trees=10, seed=1)
    >>> decision = forest.decide([0, 1, 1])
    >>> forest.learn([0, 1, 1], decision.action, reward=1.0, propensity=decision.propensity)
    >>> forest.n_events
    1
    """

    _saved_as: ClassVar[str] = "BanditForest"

    @overload
    def __init__(
        self,
        *,
        n_variables: int,
        n_actions: int,
        thresholds: Mapping[int, Sequence[float]] | None = None,
        n_trees: int = 32,
        max_depth: int | tuple[int, int] = 40,
        variable_share: float = 0.3,
        growth: Greedy = _DEFAULT_GROWTH,
        exploration: InverseGap | None = None,
        max_nodes: int = 2**18,
        seed: int = 0,
        n_threads: int = 1,
        variable_names: Sequence[str] | None = None,
        action_names: Sequence[str] | None = None,
    ) -> None: ...

    @overload
    def __init__(
        self,
        *,
        n_variables: int,
        n_actions: int,
        n_trees: int = 32,
        max_depth: int | tuple[int, int] = 40,
        variable_share: float = 0.3,
        growth: Elimination,
        exploration: RoundRobin | UniformOverRemaining | None = None,
        max_nodes: int = 2**18,
        seed: int = 0,
        variable_names: Sequence[str] | None = None,
        action_names: Sequence[str] | None = None,
    ) -> None: ...

    def __init__(
        self,
        *,
        n_variables: int,
        n_actions: int,
        thresholds: Mapping[int, Sequence[float]] | None = None,
        n_trees: int = 32,
        max_depth: int | tuple[int, int] = 40,
        variable_share: float = 0.3,
        growth: Growth = _DEFAULT_GROWTH,
        exploration: Exploration | None = None,
        max_nodes: int = 2**18,
        seed: int = 0,
        n_threads: int = 1,
        variable_names: Sequence[str] | None = None,
        action_names: Sequence[str] | None = None,
    ) -> None:
        owner = type(self).__name__
        super().__init__(n_variables=n_variables, n_actions=n_actions)
        check_int(n_variables, "n_variables", owner, high=2**20)
        check_int(n_actions, "n_actions", owner, low=2, high=MOST_ACTIONS)
        if not isinstance(growth, Growth):
            refuse("growth", owner, "Greedy() or Elimination()", growth)
        self._n_trees = check_int(n_trees, "n_trees", owner, high=2**20)
        for name, size in (("n_variables", self._n_variables), ("n_trees", self._n_trees)):
            check_size(size, MOST_CELLS // self._n_actions, name, owner, f"{self._n_actions} actions")
        checked_thresholds = check_thresholds(thresholds, owner, self._n_variables)
        if checked_thresholds and not isinstance(growth, Greedy):
            refuse("thresholds", owner, "None with elimination, which takes binary variables", thresholds)
        low, high = check_range(max_depth, "max_depth", owner)
        self._parameters: dict[str, Any] = {
            "n_variables": self._n_variables,
            "n_actions": self._n_actions,
            "thresholds": checked_thresholds,
            "n_trees": self._n_trees,
            "max_depth": low if low == high else (low, high),
            "variable_share": check_share(variable_share, "variable_share", owner),
            "growth": growth,
            "exploration": check_exploration(exploration, growth, owner),
            "max_nodes": check_int(max_nodes, "max_nodes", owner, high=2**31 - 1),
            "seed": check_int(seed, "seed", owner, low=0, high=_MAX_SEED),
        }
        self._n_threads = check_int(n_threads, "n_threads", owner, high=_MAX_THREADS)
        if self._n_threads > 1 and not isinstance(growth, Greedy):
            refuse("n_threads", owner, "1 with elimination", n_threads)
        self._variables = Variables(variable_names, checked_thresholds, owner, self._n_variables)
        self._largest_codes = self._variables.largest_codes
        self._action_names = check_names(action_names, "action_names", owner, self._n_actions, "action ")
        self._core: CoreForest = self._make_core()

    def _make_core(self, *saved: bytes) -> CoreForest:
        rest = {name: value for name, value in self._parameters.items() if name != "thresholds"}
        return make_core(*saved, **rest, levels=self._variables.levels, n_threads=self._n_threads)

    @staticmethod
    def paper(
        *,
        n_variables: int,
        n_actions: int,
        n_trees: int = 100,
        max_depth: int | tuple[int, int] = (10, 18),
        growth: Elimination = PAPER_GROWTH,
        exploration: RoundRobin | UniformOverRemaining = PAPER_EXPLORATION,
        max_nodes: int = PAPER_MAX_NODES,
        seed: int = 0,
        variable_names: Sequence[str] | None = None,
        action_names: Sequence[str] | None = None,
    ) -> BanditForest:
        """Return the forest of the paper's experiments.

        The text of the paper states these settings: depths from 10 to 18, tolerances from 0.4 to 0.8, 80 % of the
        variables at each node, uniform draws from the union of the remaining actions of the paths, and rewards divided
        by their propensity. The text leaves four settings open. Here the remaining actions of a path are those left by
        elimination on its own events, sums of rewards are normalised by their own weights, a path tests after every
        64th visit, and one settled tree in twenty is enough for a vote. With `growth=Elimination()` and
        `exploration=RoundRobin()` the forest is the algorithm that the paper analyses, with its guarantees.

        Examples
        --------
        >>> BanditForest.paper(n_variables=94, n_actions=7).n_trees
        100
        """
        return BanditForest(
            n_variables=n_variables,
            n_actions=n_actions,
            n_trees=n_trees,
            max_depth=max_depth,
            variable_share=0.8,
            growth=growth,
            exploration=exploration,
            max_nodes=max_nodes,
            seed=seed,
            variable_names=variable_names,
            action_names=action_names,
        )

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        return f"{type(self).__name__}({shown})"

    @property
    def n_trees(self) -> int:
        """The number of trees."""
        return self._n_trees

    @property
    def n_events(self) -> int:
        """The number of events learned."""
        return self._core.n_events

    @property
    def n_nodes(self) -> int:
        """The number of nodes of all trees."""
        return self._core.n_nodes

    @property
    def n_bytes(self) -> int:
        """The number of bytes of memory that the forest takes."""
        return self._core.n_bytes

    @property
    def variable_names(self) -> tuple[str, ...]:
        """The name of each variable."""
        return self._variables.names

    @property
    def action_names(self) -> tuple[str, ...]:
        """The name of each action."""
        return self._action_names

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of this forest, without names and threads."""
        return dict(self._parameters)

    def decide(
        self, context: ArrayLike, *, available_actions: ArrayLike | None = None, key: int | str | bytes | None = None
    ) -> Decision:
        """Choose an action for one context.

        Parameters
        ----------
        context
            The code of each variable: 0 or 1; for an ordered variable the number of its thresholds that are reached.
        available_actions
            The available actions; None: all actions.
        key
            Name of the draw, for example the event's id. The action is then a function of forest, context, available
            actions and key only. None: the forest numbers its draws.

        Examples
        --------
        >>> forest = BanditForest(n_variables=3, n_actions=2)
        >>> forest.decide([0, 1, 1], key="event 7") == forest.decide([0, 1, 1], key="event 7")
        True
        """
        codes, available = self._checked(context, available_actions, "decide")
        number = None if key is None else key_number(key, f"{type(self).__name__}.decide")
        return Decision(*self._core.decide(codes, mask_of(available), number))

    def _decide_by_key(self, context: Any, available: Any, key: str) -> Decision:
        """Choose an action for a context and a mask of available actions that are known to be right."""
        return Decision(*self._core.decide(context, mask_of(available), key_number(key, "decide")))

    def decide_many(
        self,
        contexts: Any,
        *,
        available_actions: ArrayLike | None = None,
        keys: Sequence[int | str | bytes] | None = None,
    ) -> Decisions:
        """Choose an action for each context; nothing is learned in between.

        Parameters
        ----------
        contexts
            Rows of codes; if all variables are binary also rows of packed 64-bit words, or a sparse matrix (CSR).
        available_actions
            The available actions of all events, or a mask of bools with one row per event; None: all actions.
        keys
            Names of the draws, as in `decide`.
        """
        owner = f"{type(self).__name__}.decide_many"
        rows = check_contexts(contexts, owner, self._n_variables, self._largest_codes)
        available = check_available_rows(available_actions, owner, self._n_actions, len(rows))
        numbers = key_numbers(keys, owner, len(rows))
        return Decisions(*self._core.decide_many(rows, mask_of(available), numbers))

    def propensities_many(self, contexts: Any, *, available_actions: ArrayLike | None = None) -> NDArray[np.float64]:
        """Return the probability with which `decide` would draw each action, one row per context.

        Parameters
        ----------
        contexts
            As in `decide_many`.
        available_actions
            As in `decide_many`.
        """
        owner = f"{type(self).__name__}.propensities_many"
        rows = check_contexts(contexts, owner, self._n_variables, self._largest_codes)
        available = check_available_rows(available_actions, owner, self._n_actions, len(rows))
        return self._core.propensities_many(rows, mask_of(available))

    def mean_rewards_many(self, contexts: Any) -> NDArray[np.float64]:
        """Return the estimated mean reward of each action, one row per context.

        Parameters
        ----------
        contexts
            As in `decide_many`.
        """
        owner = f"{type(self).__name__}.mean_rewards_many"
        return self._core.mean_rewards_many(check_contexts(contexts, owner, self._n_variables, self._largest_codes))

    def propensities(self, context: ArrayLike, *, available_actions: ArrayLike | None = None) -> NDArray[np.float64]:
        """Return the probability with which `decide` would draw each action."""
        bits, available = self._checked(context, available_actions, "propensities")
        return self._core.propensities(bits, mask_of(available))

    def votes(self, context: ArrayLike, *, available_actions: ArrayLike | None = None) -> NDArray[np.uint32]:
        """Return the number of trees for which each action is the best; with elimination, only settled trees count."""
        bits, available = self._checked(context, available_actions, "votes")
        return self._core.votes(bits, mask_of(available))

    def mean_rewards(self, context: ArrayLike) -> NDArray[np.float64]:
        """Return the estimated mean reward of each action for a context.

        With elimination, the estimate of an action that was never played is NaN; greedy growth starts from 0.
        """
        bits, _ = self._checked(context, None, "mean_rewards")
        return self._core.mean_rewards(bits)

    def explain(self, context: ArrayLike, *, available_actions: ArrayLike | None = None) -> Explanation:
        """Return an explanation of `decide`: the estimate of each action, and the tests on the path of each tree.

        Examples
        --------
        >>> BanditForest(n_variables=3, n_actions=2).explain([0, 1, 1]).votes
        array([32,  0])
        """
        bits, available = self._checked(context, available_actions, "explain")
        arrays = self._core.explain(bits, mask_of(available))
        return explanation_of(arrays, bits, available, self._variables, self._action_names)

    def variable_importance(self) -> NDArray[np.float64]:
        """Return the share of each variable in the explained variance of the rewards; zeros before the first split.

        The share in the trees is the variance of the rewards that splits on the variable explain: the differences of
        the mean rewards of the actions between the two sides, summed over events, minus the expectation by chance. The
        share in the linear part is the variance of its estimates due to the variable, over the last thousand events.
        Both shares are weighted as in the estimates.
        """
        explained = np.zeros(self._n_variables)
        for number in range(self._n_trees):
            explained += self._core.explained_variance(number)
        trees, line = self.estimate_weights
        if line == 0.0 or not isinstance(self._core, GreedyCore):
            return _shares(explained)
        return _shares(trees * _shares(explained) + line * _shares(self._core.linear_importance()))

    @property
    def estimate_weights(self) -> tuple[float, float]:
        """The weights of the trees and of the linear part in the estimates."""
        return (self._core.tree_weight, self._core.line_weight) if isinstance(self._core, GreedyCore) else (1.0, 0.0)

    def tree(self, number: int) -> TreeView:
        """Return a read-only view of one tree.

        Examples
        --------
        >>> BanditForest(n_variables=3, n_actions=2).tree(0).to_text()
        'action 0 (mean reward 0.000, 0 events)'
        """
        checked = check_int(number, "number", f"{type(self).__name__}.tree", low=0, high=self._n_trees - 1)
        kind = GreedyNodes if isinstance(self._parameters["growth"], Greedy) else EliminationNodes
        nodes = kind(**self._core.nodes(checked))
        return TreeView(nodes, self._core.max_depth(checked), self._variables, self._action_names)

    def rename_actions(self, names: Sequence[str]) -> None:
        """Rename the actions; decisions stay the same.

        Examples
        --------
        >>> forest = BanditForest(n_variables=3, n_actions=2)
        >>> forest.rename_actions(["stay", "go"])
        >>> forest.tree(0).to_text()
        'stay (mean reward 0.000, 0 events)'
        """
        owner = f"{type(self).__name__}.rename_actions"
        self._action_names = check_names(names, "names", owner, self._n_actions, "action ")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the forest to a file, whole or not at all."""
        archive.write(check_path(path, f"{type(self).__name__}.save"), self._to_bytes())

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, n_threads: int = 1) -> Self:
        """Return a forest that `save` has written; it continues exactly where it stopped."""
        name = check_path(path, f"{cls.__name__}.load")
        n_threads = check_int(n_threads, "n_threads", f"{cls.__name__}.load", high=_MAX_THREADS)
        return restore_forest(cls, *archive.read(name), name=name, n_threads=n_threads)

    def __copy__(self) -> Self:
        return restore_forest(type(self), *forest_parts(self), name="copy", n_threads=self._n_threads)

    def __deepcopy__(self, _memo: dict[int, Any]) -> Self:
        return self.__copy__()

    def __getstate__(self) -> bytes:  # without threads: the machine that it goes to may be another
        return self._to_bytes()

    def __setstate__(self, state: bytes) -> None:
        self.__dict__ = restore_forest(type(self), *archive.unpack(state, "state"), name="state").__dict__

    def _to_bytes(self) -> bytes:
        return archive.pack(*forest_parts(self))


def _shares(sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return sizes divided by their sum, zeros where that is zero."""
    total = float(sizes.sum())
    return sizes / total if total > 0.0 else np.zeros_like(sizes)
