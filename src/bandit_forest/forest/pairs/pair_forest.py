"""A forest over pairs: it checks its arguments, and the compiled core does the work."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bandit_forest import archive
from bandit_forest.errors import DamagedFileError, refuse
from bandit_forest.forest.pairs.offers import Offers, Ranking, Sides, check_names, check_offer, check_offers
from bandit_forest.forest.settings import PairCore, arguments_of, header_of, make_pair_core
from bandit_forest.forest.tree import GreedyNodes, TreeView
from bandit_forest.parameters import MOST_CELLS, check_share, check_size
from bandit_forest.policy import Decision, Decisions
from bandit_forest.rules import Greedy, InverseGap
from bandit_forest.validation import (
    check_fractions,
    check_int,
    check_propensity,
    check_range,
    check_reward,
    check_rewards,
    key_number,
    key_numbers,
)
from bandit_forest.variables import Variables, check_thresholds

__all__ = ["PairForest"]

_GROWTH = Greedy(min_events=10, min_gain=8.0, n_thresholds=8)
_EXPLORATION = InverseGap(gamma_scale=1000.0, optimism=0.3)


class PairForest:
    """A forest that learns the reward of a context and an action together, for actions that have features.

    One model serves all actions. Its trees split on variables of the context and of the action; its linear estimate has
    the variables of both sides and their products. So the reward of a new action is estimated from its features. The
    estimate of an action with many lessons also uses its name, in a table of bounded size. All methods may be called
    from several threads.

    Parameters
    ----------
    n_context_variables, n_action_variables
        Number of variables of a context and of an action.
    thresholds
        Thresholds of each ordered variable, by its number; the numbers of the action's variables follow those of the
        context. All other variables are binary.
    n_trees
        Number of trees.
    max_depth
        Depth of the trees: an int, or a range (low, high) from which each tree draws its own.
    variable_share
        Share of the variables that a node tries first, drawn anew for each node.
    growth
        How the trees grow. `lifetime` must be None.
    exploration
        How actions are drawn.
    max_nodes
        Largest number of nodes of a tree.
    n_names
        Number of entries of the table of names, a multiple of four; 32 bytes each.
    n_named_actions
        Largest number of names that each have their own action in a second forest with fixed actions. The first name
        beyond this number removes that forest for good. 0: no such forest.
    seed
        Seed of all random draws.
    variable_names
        Names of the variables in rules.

    Examples
    --------
    >>> forest = PairForest(n_context_variables=2, n_action_variables=3, seed=1)
    >>> offered = [[0, 1, 1], [1, 0, 0], [1, 1, 1]]
    >>> decision = forest.decide([0, 1], offered, names=["a", "b", "c"])
    >>> forest.learn([0, 1], offered[decision.action], reward=1.0, propensity=decision.propensity, name="b")
    >>> forest.n_events
    1
    """

    def __init__(
        self,
        *,
        n_context_variables: int,
        n_action_variables: int,
        thresholds: Mapping[int, Sequence[float]] | None = None,
        n_trees: int = 32,
        max_depth: int | tuple[int, int] = 40,
        variable_share: float = 0.3,
        growth: Greedy = _GROWTH,
        exploration: InverseGap = _EXPLORATION,
        max_nodes: int = 2**18,
        n_names: int = 2**14,
        n_named_actions: int = 32,
        seed: int = 0,
        variable_names: Sequence[str] | None = None,
    ) -> None:
        owner = type(self).__name__
        n_context = check_int(n_context_variables, "n_context_variables", owner, high=2**20)
        n_action = check_int(n_action_variables, "n_action_variables", owner, high=2**20)
        n_variables = n_context + n_action
        check_size(
            (n_context + 1) * (n_action + 1), MOST_CELLS, "n_action_variables", owner, f"{n_context} of a context"
        )
        if not isinstance(growth, Greedy) or growth.lifetime is not None:
            refuse("growth", owner, "Greedy() without a lifetime", growth)
        if not isinstance(exploration, InverseGap):
            refuse("exploration", owner, "InverseGap()", exploration)
        if check_int(n_names, "n_names", owner, low=4, high=2**28) % 4 != 0:
            refuse("n_names", owner, "a multiple of four", n_names)
        n_named = check_int(n_named_actions, "n_named_actions", owner, low=0, high=2**10)
        check_size(n_named, MOST_CELLS // (n_context + 1), "n_named_actions", owner, f"{n_context} of a context")
        low, high = check_range(max_depth, "max_depth", owner)
        checked = check_thresholds(thresholds, owner, n_variables)
        self._parameters: dict[str, Any] = {
            "n_context_variables": n_context,
            "n_action_variables": n_action,
            "thresholds": checked,
            "n_trees": check_int(n_trees, "n_trees", owner, high=2**16),
            "max_depth": low if low == high else (low, high),
            "variable_share": check_share(variable_share, "variable_share", owner),
            "growth": growth,
            "exploration": exploration,
            "max_nodes": check_int(max_nodes, "max_nodes", owner, high=2**31 - 1),
            "n_names": n_names,
            "n_named_actions": n_named,
            "seed": check_int(seed, "seed", owner, low=0, high=2**64 - 1),
        }
        self._variables = Variables(variable_names, checked, owner, n_variables)
        largest = self._variables.largest_codes
        self._sides = Sides(
            n_context, n_action, *((None, None) if largest is None else (largest[:n_context], largest[n_context:]))
        )
        self._core: PairCore = self._make_core()

    def _make_core(self, *saved: bytes) -> PairCore:
        own = ("n_action_variables", "thresholds")
        rest = {name: value for name, value in self._parameters.items() if name not in own}
        n_variables = len(self._variables.names)
        return make_pair_core(*saved, **rest, n_variables=n_variables, levels=self._variables.levels)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        return f"{type(self).__name__}({shown})"

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
    def parameters(self) -> dict[str, Any]:
        """The parameters of this forest, without names."""
        return dict(self._parameters)

    @property
    def variable_names(self) -> tuple[str, ...]:
        """The name of each variable, the context's first."""
        return self._variables.names

    @property
    def estimate_weights(self) -> tuple[float, float, float, float]:
        """The weights of the trees, of the linear part, of the names and of the named actions in the estimates."""
        return self._core.weights

    def decide(
        self,
        context: ArrayLike,
        actions: ArrayLike,
        *,
        names: Any = None,
        key: int | str | bytes | None = None,
    ) -> Decision:
        """Choose one of the offered actions.

        Parameters
        ----------
        context
            The code of each variable of the context.
        actions
            One row of codes for each offered action.
        names
            Names of the offered actions: ints, texts or bytes, or a uint64 array of numbers in place of names.
        key
            Name of the draw, for example the event's id. None: the forest numbers its draws.
        """
        offer, number = self._offer(context, actions, names, key, "decide")
        chosen, propensities = self._core.decide(*offer, number)
        return Decision(int(chosen[0]), float(propensities[0]))

    def rank(
        self,
        context: ArrayLike,
        actions: ArrayLike,
        *,
        names: Any = None,
        key: int | str | bytes | None = None,
    ) -> Ranking:
        """Rank the offered actions: one draw after the other, without replacement.

        The first action is the one that `decide` would draw with the same key.

        Parameters
        ----------
        context, actions, names, key
            As in `decide`.
        """
        offer, number = self._offer(context, actions, names, key, "rank")
        return Ranking(*self._core.rank(*offer, number))

    def propensities(self, context: ArrayLike, actions: ArrayLike, *, names: Any = None) -> NDArray[np.float64]:
        """Return the probability with which `decide` would draw each offered action."""
        return self._core.propensities(*self._offer(context, actions, names, None, "propensities")[0])

    def mean_rewards(self, context: ArrayLike, actions: ArrayLike, *, names: Any = None) -> NDArray[np.float64]:
        """Return the estimated mean reward of each offered action."""
        return self._core.mean_rewards(*self._offer(context, actions, names, None, "mean_rewards")[0])

    def learn(
        self, context: ArrayLike, action: ArrayLike, reward: float, *, propensity: float, name: Any = None
    ) -> None:
        """Learn the reward of an action in a context.

        Parameters
        ----------
        context, action
            The codes of the variables of the context and of the action.
        reward
            A number in [0, 1].
        propensity
            The probability with which the action was drawn.
        name
            Name of the action; None: the action has no name.
        """
        owner = f"{type(self).__name__}.learn"
        context, action = self._sides.contexts(context, owner, 1), self._sides.actions(action, owner, 1)
        value = np.array([check_reward(reward, owner)])
        check_propensity(propensity, owner)
        names = None if name is None else np.array([key_number(name, owner, "name")], dtype=np.uint64)
        self._core.learn(context, action, names, value)

    def decide_many(
        self,
        contexts: ArrayLike,
        actions: ArrayLike,
        *,
        n_offered: ArrayLike,
        names: Any = None,
        keys: Sequence[int | str | bytes] | None = None,
    ) -> Decisions:
        """Choose an action for each event; nothing is learned in between.

        Parameters
        ----------
        contexts
            One row of codes for each event.
        actions
            One row of codes for each offered action, beginning with the actions of the first event.
        n_offered
            Number of actions that each event offers.
        names
            Names of all offered actions, as in `decide`.
        keys
            Names of the draws, one for each event.
        """
        owner = f"{type(self).__name__}.decide_many"
        offers = check_offers(self._sides, contexts, actions, n_offered, names, owner)
        return Decisions(*self._core.decide(*offers, key_numbers(keys, owner, len(offers.contexts))))

    def propensities_many(
        self, contexts: ArrayLike, actions: ArrayLike, *, n_offered: ArrayLike, names: Any = None
    ) -> NDArray[np.float64]:
        """Return the probability of each offered action of a batch, as `decide_many` takes it."""
        owner = f"{type(self).__name__}.propensities_many"
        return self._core.propensities(*check_offers(self._sides, contexts, actions, n_offered, names, owner))

    def mean_rewards_many(
        self, contexts: ArrayLike, actions: ArrayLike, *, n_offered: ArrayLike, names: Any = None
    ) -> NDArray[np.float64]:
        """Return the estimated mean reward of each offered action of a batch, as `decide_many` takes it."""
        owner = f"{type(self).__name__}.mean_rewards_many"
        return self._core.mean_rewards(*check_offers(self._sides, contexts, actions, n_offered, names, owner))

    def learn_many(
        self, contexts: ArrayLike, actions: ArrayLike, rewards: ArrayLike, *, propensities: ArrayLike, names: Any = None
    ) -> None:
        """Learn a batch of events in their order: the same as `learn` for each event.

        Parameters
        ----------
        contexts, actions
            One row of codes for each event: the context, and the action that was taken.
        rewards, propensities
            One number for each event.
        names
            Names of the actions that were taken; None: the actions have no names.
        """
        owner = f"{type(self).__name__}.learn_many"
        rows, taken = self._sides.contexts(contexts, owner), self._sides.actions(actions, owner)
        if len(taken) != len(rows):
            refuse("actions", owner, f"{len(rows)} rows, one for each event", actions)
        values = check_rewards(rewards, owner, (len(rows),))
        check_fractions(propensities, "propensities", owner, (len(rows),), open_low=True)
        self._core.learn(rows, taken, check_names(names, owner, len(rows)), values)

    def variable_importance(self) -> NDArray[np.float64]:
        """Return the share of each variable in the variance of the rewards that the splits of all trees explain."""
        explained = np.zeros(len(self._variables.names))
        for number in range(self._parameters["n_trees"]):
            explained += self._core.explained_variance(number)
        total = float(explained.sum())
        return explained / total if total > 0.0 else explained

    def tree(self, number: int) -> TreeView:
        """Return a read-only view of one tree; its leaves hold mean rewards of pairs.

        Examples
        --------
        >>> PairForest(n_context_variables=1, n_action_variables=1).tree(0).to_text()
        'mean reward 0.000 (0 events)'
        """
        owner = f"{type(self).__name__}.tree"
        checked = check_int(number, "number", owner, low=0, high=self._parameters["n_trees"] - 1)
        nodes = GreedyNodes(**self._core.nodes(checked))
        return TreeView(nodes, self._core.max_depth(checked), self._variables, None)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the forest to a file, whole or not at all."""
        archive.write(path, archive.pack(*self.to_parts()))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return a forest that `save` has written; it continues exactly where it stopped."""
        return cls.from_parts(*archive.read(path), name=os.fspath(path))

    def __copy__(self) -> Self:
        return self.from_parts(*self.to_parts(), name="copy")

    def __deepcopy__(self, _memo: dict[int, Any]) -> Self:
        return self.__copy__()

    def __getstate__(self) -> bytes:
        return archive.pack(*self.to_parts())

    def __setstate__(self, state: bytes) -> None:
        self.__dict__ = self.from_parts(*archive.unpack(state, "state"), name="state").__dict__

    def to_parts(self) -> tuple[dict[str, Any], bytes]:
        """Return the header and the arrays of a file."""
        return header_of("PairForest", self._parameters, self._variables.names, ()), self._core.save()

    @classmethod
    def from_parts(cls, header: dict[str, Any], arrays: bytes, *, name: str) -> Self:
        """Return the forest of the parts that `to_parts` returned, or refuse other parts."""
        if header.get("policy") != "PairForest":
            raise DamagedFileError(f"'{name}' does not hold a {cls.__name__}.")
        try:
            arguments = arguments_of(header)
            del arguments["action_names"]
            arguments.setdefault("n_named_actions", 0)  # forests had none before
            forest = cls(**arguments)
            forest._core = forest._make_core(arrays)
        except (AttributeError, KeyError, MemoryError, OverflowError, TypeError, ValueError) as error:
            raise DamagedFileError(f"'{name}' is damaged: {str(error).rstrip('.')}.") from error
        return forest

    def _offer(
        self, context: ArrayLike, actions: ArrayLike, names: Any, key: int | str | bytes | None, method: str
    ) -> tuple[Offers, NDArray[np.uint64] | None]:
        owner = f"{type(self).__name__}.{method}"
        number = None if key is None else np.array([key_number(key, owner)], dtype=np.uint64)
        return check_offer(self._sides, context, actions, names, owner), number
