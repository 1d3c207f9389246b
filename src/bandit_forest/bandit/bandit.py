"""Bandit: features as input, names of actions as output."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bandit_forest.bandit import batches
from bandit_forest.bandit.action_registry import ActionRegistry, Available, check_action_names
from bandit_forest.bandit.decisions import BanditDecision, BanditDecisions
from bandit_forest.bandit.features.kinds import Feature
from bandit_forest.bandit.file import bandit_parts, restore_bandit, settings_of, unpack_bandit
from bandit_forest.bandit.forests import (
    check_other_policy,
    check_parameters,
    make_forest,
    make_other_policy,
    takes_order,
)
from bandit_forest.bandit.locks import new_lock
from bandit_forest.bandit.model import Lesson, Model
from bandit_forest.bandit.naming import explanation_in_units, importance_by_feature, tree_in_units, variables_in_words
from bandit_forest.bandit.saved import SavedBandit
from bandit_forest.bandit.settings import BanditSettings
from bandit_forest.encoding import ContextEncoder
from bandit_forest.errors import DamagedFileError, InvalidArgumentError, refuse
from bandit_forest.forest import BanditForest
from bandit_forest.forest.explanation import Explanation
from bandit_forest.forest.tree import TreeView
from bandit_forest.policy import Policy
from bandit_forest.validation import check_propensity

__all__ = ["Bandit"]


class Bandit(SavedBandit):
    """Learn which of several named actions to take, from raw features and rewards in their own units.

    Features are numbers, texts, bools, datetimes and lists of labels; any of them may be missing. They are declared,
    fitted on rows by `fit`, or learned from the first lessons. Until they are known, actions are drawn uniformly. A
    lesson is one learned event: context, action, reward and propensity. What is learned depends only on the settings
    and on the sequence of lessons. All methods may be called from several threads.

    Parameters
    ----------
    actions
        Names of the actions: a list, an array, or a column of a frame. More may be added later.
    reward_range
        Lowest and highest reward.
    features
        Features of a context: a mapping from names to features such as `NumericFeature(thresholds=(30, 50))`, or to the
        name of their kind ("numeric", "categorical", "boolean", "labels", "time"), for a feature with defaults that
        may be missing. None: names and kinds are learned too, and each feature may be missing.
    warm_up_events
        Number of lessons from which the features are learned if they are not declared.
    capacity
        Largest number of actions, including removed ones. None: 8 more than the number of names, at least 16.
    seed
        Seed of all random draws.
    forest
        Other parameters of `BanditForest`, such as `{"n_trees": 20}` or `{"growth": {"lifetime": 100_000}}`.
    policy
        Callable that returns a policy to use instead of a forest, such as `LinUCB`. It is called with `n_variables`,
        `n_actions` and, where it has such parameters, `seed`, `variable_names` and `action_names`. The policy gets
        binary variables only: numbers that are not declared have five bins, and each hour, weekday and month has a bin.
        Such a bandit cannot be saved or copied. Estimates, propensities and explanations are there where the policy is
        a `BanditForest`.

    Examples
    --------
    >>> bandit = Bandit(actions=["discount", "free shipping", "nothing"], reward_range=(0, 250))
    >>> decision = bandit.decide({"age": 42, "country": "FR", "basket": 31.5, "member": True})
    >>> bandit.learn(decision, reward=17.5)
    >>> bandit
    <Bandit: 3 actions, 199 more lessons before the features are learned>
    """

    def __init__(
        self,
        *,
        actions: Iterable[str],
        reward_range: tuple[float, float] = (0.0, 1.0),
        features: Mapping[str, Feature | str] | None = None,
        warm_up_events: int = 200,
        capacity: int | None = None,
        seed: int = 0,
        forest: Mapping[str, Any] | None = None,
        policy: Callable[..., Policy] | None = None,
    ) -> None:
        names = check_action_names(actions, "Bandit")
        if policy is not None:
            check_other_policy(policy, forest)
        check_parameters(forest, "Bandit")
        settings = BanditSettings.of(
            n_actions=len(names),
            features=features,
            reward_range=reward_range,
            capacity=capacity,
            warm_up_events=warm_up_events,
            forest={"seed": seed, **(forest or {})},
            owner="Bandit",
            is_forest=policy is None,
            is_file=False,
        )
        self._begin(settings, policy)
        for name in names:
            self.registry.add(name)
        self._rename()

    @classmethod
    def from_settings(cls, settings: BanditSettings) -> Self:
        """Return a bandit without any action."""
        bandit = cls.__new__(cls)
        bandit._begin(settings, None)
        return bandit

    def _begin(self, settings: BanditSettings, policy: Callable[..., Policy] | None) -> None:
        self.settings = settings
        self.rewards = settings.rewards
        self.registry = ActionRegistry(settings.capacity)
        self._lock = new_lock()
        self._policy = policy
        self.model = Model(
            features=settings.features,
            warm_up_events=settings.warm_up_events,
            make_policy=self._make_policy,
            seed=settings.forest["seed"],
            warm_up_rule=settings.warm_up_rule,
            ordered=policy is None and takes_order(settings.forest),
        )

    def __repr__(self) -> str:
        left = self.model.warm_up_left
        state = f"{left} more lessons before the features are learned" if left else f"{self.version} lessons learned"
        return f"<Bandit: {len(self.registry.enabled.indices)} actions, {state}>"

    @property
    def actions(self) -> dict[str, str]:
        """The state of each action: 'enabled', 'disabled' or 'removed'."""
        return self.registry.states

    @property
    def reward_range(self) -> tuple[float, float]:
        """The lowest and the highest reward."""
        return self.rewards.low, self.rewards.high

    @property
    def version(self) -> int:
        """The number of lessons learned."""
        return self.model.version

    @property
    def features(self) -> dict[str, Feature]:
        """The features that are known."""
        return dict(self.model.schema.features)

    @property
    def policy(self) -> Policy | None:
        """The policy that draws the actions; None while the features are learned. For reading only."""
        return self.model.policy

    @property
    def has_other_policy(self) -> bool:
        """Whether the policy is one that `policy=` makes, not a forest of the bandit's own."""
        return self._policy is not None

    def fit(self, rows: Any) -> Self:
        """Learn the features from rows, before the first lesson; no action and no reward is needed.

        Parameters
        ----------
        rows
            A list of mappings, a mapping of columns, or a frame of pandas, Polars or PyArrow.
        """
        with self._lock:
            batches.fit(self, rows)
        return self

    def decide(self, context: Any, *, available_actions: Sequence[str] | None = None) -> BanditDecision:
        """Return a decision for one context.

        Parameters
        ----------
        context
            A mapping from the names of features to their values, or a row of a frame.
        available_actions
            Names of the available actions; None: all enabled actions.
        """
        with self._lock:
            encoded = self.model.read(context)
            available = self.registry.check_available(available_actions, "Bandit.decide")
            index, propensity = self.model.decide(encoded, available)
            return BanditDecision(self.registry.names[index], propensity, self.model.version, encoded)

    @overload
    def learn(self, given: BanditDecision, reward: float, /) -> None: ...

    @overload
    def learn(self, given: BanditDecision, /, *, reward: float) -> None: ...

    @overload
    def learn(self, given: Any, /, action: str, reward: float, *, propensity: float) -> None: ...

    def learn(
        self, given: Any, /, action: Any = None, reward: float | None = None, *, propensity: float | None = None
    ) -> None:
        """Learn the reward of a decision, or of an action that was taken elsewhere.

        `learn(decision, 1.0)` and `learn(decision, reward=1.0)` are the same. A decision that is passed twice is
        learned twice: the bandit does not keep its decisions.

        Parameters
        ----------
        given
            A decision of this bandit, or the context of an event that was decided elsewhere.
        action, propensity
            With a context: the action that was taken, and the probability with which it was drawn.
        reward
            Reward of the action, in the range of rewards.
        """
        owner = "Bandit.learn"
        if isinstance(given, BanditDecision) and reward is None and not isinstance(action, str):
            action, reward = None, action
        value = self.rewards.check(reward, owner)
        if isinstance(given, BanditDecision):
            for name, known in (("action", action), ("propensity", propensity)):
                if known is not None:
                    refuse(name, owner, "left out with a decision, which knows it", known)
            context, action, propensity = given.context, given.action, given.propensity
        with self._lock:
            is_decided = isinstance(given, BanditDecision)
            index = self.registry.check_action(action, owner, is_decided=is_decided)
            probability = check_propensity(propensity, owner)
            encoded = self.model.checked_one(context) if is_decided else self.model.read(given)
            self.model.learn(Lesson(encoded, index, self.rewards.scale(value), probability))

    def decide_many(self, rows: Any, *, available_actions: Any = None) -> BanditDecisions:
        """Return a decision for each row; nothing is learned in between.

        Parameters
        ----------
        rows
            A list of mappings, a mapping of columns, or a frame of pandas, Polars or PyArrow.
        available_actions
            Names of the actions that are available in all rows; or one list of names per row; or a mask with one row
            per event and one column per action, in the order of `actions`; or the name of a column with lists of names,
            which must not be a feature.
        """
        with self._lock:
            return batches.decide_many(self, rows, available_actions)

    def learn_many(
        self,
        rows: Any,
        actions: Any = None,
        rewards: ArrayLike | str | None = None,
        *,
        propensities: ArrayLike | str | None = None,
        available_actions: Any = None,
    ) -> None:
        """Learn a batch of events in their order, all or nothing; otherwise the same as `learn` for each event.

        Parameters
        ----------
        rows
            The decisions of `decide_many`, or some of them (`decisions[is_known]`), or a list of single decisions; or
            the contexts of events that were decided elsewhere, as in `decide_many`.
        actions, rewards, propensities
            One for each event, or the name of a column of `rows`; such a column is not a feature. With decisions, pass
            only the rewards: `learn_many(decisions, [9.0, 4.0])`.
        available_actions
            Names of the actions that were available, in the forms of `decide_many`; such a column is not a feature.
            They are only checked: the action of each row must be among them. They may include removed actions.

        Examples
        --------
        >>> log = {"age": [31, 64], "offer": ["a", "b"], "may": [["a", "b"], ["b"]], "won": [0, 1], "share": [0.5, 1]}
        >>> bandit = Bandit(actions=["a", "b"])
        >>> bandit.learn_many(log, "offer", "won", propensities="share", available_actions="may")
        >>> bandit.decide_many({"age": [40], "may": [["b"]]}, available_actions="may").actions
        ['b']
        """
        with self._lock:
            batches.learn_many(self, rows, actions, rewards, propensities, available_actions)

    def mean_rewards(self, context: Any) -> dict[str, float | None]:
        """Return the estimated mean reward of each enabled action, in the range of rewards; None where unknown.

        With the default forest an action without any lesson has the lowest reward as its estimate, and none is unknown
        once the features are learned.
        """
        with self._lock:
            return self.mean_rewards_encoded(self.model.read(context))

    def mean_rewards_encoded(self, context: Any) -> dict[str, float | None]:
        """Return the estimates of a checked context."""
        names = self._enabled_names()
        if self.model.policy is None:
            return dict.fromkeys(names)
        means = self.forest("Bandit.mean_rewards").mean_rewards(self.model.variables(context))
        told = means[self.registry.enabled.indices].tolist()
        return {
            name: None if mean != mean else self.rewards.unscale(mean) for name, mean in zip(names, told, strict=True)
        }

    def mean_rewards_many(self, rows: Any) -> NDArray[np.object_]:
        """Return the estimates of many contexts: one row per context, one column per enabled action."""
        with self._lock:
            return batches.mean_rewards(self, rows)

    def propensities(self, context: Any, *, available_actions: Sequence[str] | None = None) -> dict[str, float]:
        """Return the probability with which `decide` would draw each enabled action."""
        with self._lock:
            shares = batches.propensities(self, [context], available_actions)[0]
            return dict(zip(self._enabled_names(), shares.tolist(), strict=True))

    def propensities_many(self, rows: Any, *, available_actions: Any = None) -> NDArray[np.float64]:
        """Return the probabilities of many contexts: one row per context, one column per enabled action."""
        with self._lock:
            return batches.propensities(self, rows, available_actions)

    def add_action(self, name: str) -> None:
        """Add an action; refused if the name was used before or the capacity is used up."""
        with self._lock:
            self.registry.add(name)
            self._rename()

    def disable_action(self, name: str) -> None:
        """Make an action unavailable until it is enabled again; its rewards are still learned."""
        with self._lock:
            self.registry.disable(name)

    def enable_action(self, name: str) -> None:
        """Make a disabled action available again."""
        with self._lock:
            self.registry.enable(name)

    def remove_action(self, name: str) -> None:
        """Make an action unavailable for ever; its name is never used again. Its decisions can still be learned."""
        with self._lock:
            self.registry.remove(name)

    def explain(self, context: Any, *, available_actions: Sequence[str] | None = None) -> Explanation:
        """Return an explanation of the decision for a context, in the names and units of the user."""
        with self._lock:
            available = self.registry.check_available(available_actions, "Bandit.explain")
            return self.explain_encoded(self.model.read(context), available)

    def explain_encoded(self, context: Any, available: Available) -> Explanation:
        """Return the explanation of a checked context."""
        forest = self.forest("Bandit.explain")
        told = forest.explain(self.model.variables(context), available_actions=available.indices)
        return explanation_in_units(told, self.rewards, len(self.registry.names))

    def variables_in_words(self, context: Any) -> list[str]:
        """Return the variables of a checked context in words, such as 'age in [18, 65)'."""
        encoder = self.model.schema.encoder
        assert encoder is not None
        names = self.forest("Bandit.variables_in_words").variable_names
        return variables_in_words(encoder, names, self.model.encoded(context))

    def importance(self) -> dict[str, float]:
        """Return the importance of each feature, largest first: its share of the variance that the forest explains."""
        with self._lock:
            forest = self.forest("Bandit.importance")
            return importance_by_feature(forest.variable_importance(), self.model.schema.feature_of_variables())

    def tree(self, number: int) -> TreeView:
        """Return a view of one tree, with `to_text` and `to_svg`, in the names and units of the user."""
        with self._lock:
            forest = self.forest("Bandit.tree")
            return tree_in_units(forest.tree(number), self.rewards)

    def parts(self) -> tuple[dict[str, Any], bytes]:
        """Return the header and the arrays of a file, as they are now; packing them may be left to a thread."""
        with self._lock:
            return bandit_parts(self)

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "data") -> Self:
        """Return the bandit of the bytes that `to_bytes` returned."""
        parts = unpack_bandit(data, name)
        try:
            bandit = cls.from_settings(settings_of(parts, name))
            restore_bandit(bandit, parts, name)
        except DamagedFileError:
            raise
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise DamagedFileError(f"'{name}' is damaged: {str(error).rstrip('.')}.") from error
        return bandit

    def forest(self, owner: str) -> BanditForest:
        """Return the forest of the bandit, or refuse if there is none."""
        if isinstance(self.model.policy, BanditForest):
            return self.model.policy
        if self.model.policy is None:
            left = self.model.warm_up_left
            raise InvalidArgumentError(f"{owner} needs a forest, which is made after {left} more lessons.")
        raise InvalidArgumentError(f"{owner} needs a BanditForest inside, not a {type(self.model.policy).__name__}.")

    def _make_policy(self, encoder: ContextEncoder, variable_names: list[str]) -> Policy:
        names = self.registry.padded_names
        if self._policy is None:
            return make_forest(self.settings.forest, encoder, variable_names, names)
        return make_other_policy(self._policy, variable_names, names, self.settings.forest["seed"])

    def _rename(self) -> None:
        if isinstance(self.model.policy, BanditForest):
            self.model.policy.rename_actions(self.registry.padded_names)

    def _enabled_names(self) -> list[str]:
        return [self.registry.names[index] for index in self.registry.enabled.indices.tolist()]
