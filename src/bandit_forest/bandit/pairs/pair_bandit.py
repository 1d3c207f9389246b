"""PairBandit: features of context and actions as input, ids as output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self, overload

import numpy as np
from numpy.typing import ArrayLike

from bandit_forest.bandit.errors import FeatureError
from bandit_forest.bandit.features.kinds import Feature
from bandit_forest.bandit.features.values import as_context, plain
from bandit_forest.bandit.forests import check_parameters
from bandit_forest.bandit.locks import new_lock
from bandit_forest.bandit.naming import importance_by_feature
from bandit_forest.bandit.pairs import file, frames
from bandit_forest.bandit.pairs.decisions import PairDecision, PairDecisions, PairRanking, Read
from bandit_forest.bandit.pairs.explanation import PairExplanation, explain, importance_by_side
from bandit_forest.bandit.pairs.model import ID, PairLesson, PairModel
from bandit_forest.bandit.pairs.offer import Offer
from bandit_forest.bandit.pairs.settings import PairBanditSettings
from bandit_forest.bandit.rewards import RewardRange
from bandit_forest.bandit.saved import SavedBandit
from bandit_forest.bandit.settings import declared_features
from bandit_forest.errors import refuse
from bandit_forest.forest.pairs import PairForest
from bandit_forest.validation import check_int, check_propensity

__all__ = ["PairBandit"]

_MOST_OFFERED = 2**16
_MOST_WARM_UP = 1_000_000


class PairBandit(SavedBandit):
    """Learn which of the offered actions to take, from features of the context and of the actions.

    Each event offers its own actions: mappings from names of features to values, with an `id`. The reward of a new
    action is estimated from its features. For an action with many lessons, the estimate uses its id as well. Features
    of both sides are as in `Bandit`: declared, or learned from the first lessons. Until they are known, actions are
    drawn uniformly. What is learned depends only on the settings and on the sequence of lessons. All methods may be
    called from several threads.

    Parameters
    ----------
    reward_range
        Lowest and highest reward.
    context_features, action_features
        Features of a context and of an action, as in `Bandit`; the `id` is not a feature. None: names and kinds are
        learned.
    warm_up_events
        Number of lessons from which features are learned if they are not declared.
    seed
        Seed of all random draws.
    forest
        Other parameters of `PairForest`, such as {"n_trees": 20}. A rule as a mapping, such as
        {"growth": {"log_capacity": 2**17}}, changes only these parameters of the rule. A rule as an object, such as
        {"growth": Greedy(log_capacity=2**17)}, has the defaults of `Greedy` for all others, not those of `PairForest`.

    Examples
    --------
    >>> bandit = PairBandit()
    >>> offered = [{"id": "a17", "price": 9.9, "kind": "phone"}, {"id": "a18", "price": 3.5, "kind": "case"}]
    >>> decision = bandit.decide({"age": 42, "member": True}, actions=offered)
    >>> bandit.learn(decision, reward=1.0)
    >>> bandit
    <PairBandit: 199 more lessons before the features are learned>
    """

    def __init__(
        self,
        *,
        reward_range: tuple[float, float] = (0.0, 1.0),
        context_features: Mapping[str, Feature | str] | None = None,
        action_features: Mapping[str, Feature | str] | None = None,
        warm_up_events: int = 200,
        seed: int = 0,
        forest: Mapping[str, Any] | None = None,
    ) -> None:
        self.rewards = RewardRange.of(reward_range, "PairBandit")
        offered = declared_features(action_features, "PairBandit")
        if offered is not None and ID in offered:
            refuse("action_features", "PairBandit", f"without '{ID}', which names an action", action_features)
        check_parameters(forest, "PairBandit")
        self._lock = new_lock()
        self.model = PairModel(
            context_features=declared_features(context_features, "PairBandit"),
            action_features=offered,
            warm_up_events=check_int(warm_up_events, "warm_up_events", "PairBandit", high=_MOST_WARM_UP),
            forest={"seed": seed, **(forest or {})},
        )

    @classmethod
    def from_settings(cls, settings: PairBanditSettings) -> Self:
        """Return a bandit that has learned nothing."""
        return cls(
            reward_range=(settings.rewards.low, settings.rewards.high),
            context_features=settings.features,
            action_features=settings.offered,
            warm_up_events=settings.warm_up_events,
            forest=settings.forest,
        )

    @property
    def settings(self) -> PairBanditSettings:
        """The settings of such a bandit, with its declared or learned features."""
        context, action = (
            dict(side.schema.features if side.features is None else side.features)
            for side in (self.model.context, self.model.action)
        )
        return PairBanditSettings(
            features=context,
            offered=action,
            rewards=self.rewards,
            warm_up_events=self.model.warm_up_events,
            forest=self.model.parameters,
        )

    def __repr__(self) -> str:
        left = self.model.warm_up_left
        state = f"{left} more lessons before the features are learned" if left else f"{self.version} lessons learned"
        return f"<PairBandit: {state}>"

    @property
    def version(self) -> int:
        """The number of lessons learned."""
        return self.model.version

    @property
    def reward_range(self) -> tuple[float, float]:
        """The lowest and the highest reward."""
        return self.rewards.low, self.rewards.high

    @property
    def context_features(self) -> dict[str, Feature]:
        """The known features of contexts."""
        return dict(self.model.context.schema.features)

    @property
    def action_features(self) -> dict[str, Feature]:
        """The known features of actions."""
        return dict(self.model.action.schema.features)

    @property
    def forest(self) -> PairForest | None:
        """The forest of the bandit; None while the features are learned. For reading only."""
        return self.model.forest

    def decide(
        self, context: Any, *, actions: Sequence[Mapping[str, Any]], key: int | str | bytes | None = None
    ) -> PairDecision:
        """Return a decision for one of the offered actions.

        Parameters
        ----------
        context
            A mapping from the names of features to their values.
        actions
            One such mapping for each offered action, with its `id`, a text or an int.
        key
            Name of the draw, for example the event's id: the same key draws the same action. None: draws are numbered.
        """
        with self._lock:
            offer = self.read(context, actions, "decide")
            index, propensity = self.model.decide(offer, key)
            return self._decision(offer, index, propensity)

    def rank(
        self,
        context: Any,
        *,
        actions: Sequence[Mapping[str, Any]],
        n_ranked: int | None = None,
        key: int | str | bytes | None = None,
    ) -> PairRanking:
        """Return the offered actions in an order that is drawn without replacement, first the action of `decide`.

        Parameters
        ----------
        context, actions, key
            As in `decide`.
        n_ranked
            Number of ranks; None: all offered actions are ranked.
        """
        with self._lock:
            offer = self.read(context, actions, "rank")
            owner = "PairBandit.rank"
            ranks = check_int(len(offer.ids) if n_ranked is None else n_ranked, "n_ranked", owner, high=len(offer.ids))
            order, propensities = self.model.rank(offer, key)
            first = self._decision(offer, order[0], propensities[order[0]])
            shares = dict(zip(offer.ids, propensities, strict=True))
            return PairRanking(first, [offer.ids[index] for index in order[:ranks]], shares)

    @overload
    def learn(self, given: PairDecision, reward: float, /) -> None: ...

    @overload
    def learn(self, given: PairDecision, /, *, reward: float) -> None: ...

    @overload
    def learn(self, given: Any, /, action: Mapping[str, Any], reward: float, *, propensity: float) -> None: ...

    def learn(
        self, given: Any, /, action: Any = None, reward: float | None = None, *, propensity: float | None = None
    ) -> None:
        """Learn the reward of a decision, or of an action that was taken elsewhere.

        `learn(decision, 1.0)` and `learn(decision, reward=1.0)` are the same. The decision of a ranking is `first`. A
        decision that is passed twice is learned twice: the bandit does not keep its decisions.

        Parameters
        ----------
        given
            A decision of this bandit; or the context of an event that was decided elsewhere.
        action, propensity
            With a context: the action that was taken, with its id, and the probability with which it was drawn.
        reward
            Reward of the action, in the range of rewards.
        """
        owner = "PairBandit.learn"
        if isinstance(given, PairRanking):
            refuse("given", owner, "a decision or a context: of a ranking, give the decision 'first'", given)
        if isinstance(given, PairDecision) and reward is None and not isinstance(action, Mapping):
            action, reward = None, action
        value = self.rewards.scale(self.rewards.check(reward, owner))
        with self._lock:
            if isinstance(given, PairDecision):
                for name, known in (("action", action), ("propensity", propensity)):
                    if known is not None:
                        refuse(name, owner, "left out with a decision, which knows it", known)
                lesson = PairLesson(given.context, given.features, given.action, value, given.propensity)
                (lesson,) = self.model.checked([lesson])
            else:
                number, features = self.read_action(action, 0, owner)
                share = check_propensity(propensity, owner)
                lesson = PairLesson(self.model.context.read(given), features, number, value, share)
            self.model.learn(lesson)

    def decide_many(self, rows: Any, *, event: str, keys: Sequence[int | str | bytes] | None = None) -> PairDecisions:
        """Return a decision for each event of a table with one row per offered action; nothing is learned in between.

        Parameters
        ----------
        rows
            A list of mappings, a mapping of columns, or a frame of pandas, Polars or PyArrow. Rows of one event are
            consecutive. A column with the name of a context feature belongs to the context, and is equal in all rows of
            an event. All other columns belong to the action, with its id in `id`. The features of the context must be
            known.
        event
            Name of the column that identifies the events.
        keys
            Names of the draws, one for each event.
        """
        with self._lock:
            return frames.decide_many(self, rows, event, keys)

    def learn_many(
        self,
        given: Any,
        actions: Any = None,
        rewards: ArrayLike | None = None,
        *,
        propensities: ArrayLike | None = None,
    ) -> None:
        """Learn a batch of events in their order: the same as `learn` for each, but all or nothing.

        Parameters
        ----------
        given
            The decisions of `decide_many`, or some of them (`decisions[is_known]`), or a list of single decisions; or
            the contexts of events that were decided elsewhere: a list of mappings, a mapping of columns, or a frame.
        actions
            With contexts: the action that was taken in each, with its `id`, in the same forms.
        rewards
            One for each event, in the range of rewards. With decisions, `learn_many(decisions, [9.0, 4.0])`.
        propensities
            With contexts: the probability with which each action was drawn.

        Examples
        --------
        >>> bandit = PairBandit()
        >>> offered = [{"id": "a17", "price": 9.9}, {"id": "a18", "price": 3.5}]
        >>> bandit.learn_many({"age": [31, 64]}, offered, [1.0, 0.0], propensities=[0.5, 0.5])
        >>> bandit.version
        2
        """
        with self._lock:
            frames.learn_many(self, given, actions, rewards, propensities)

    def fit(self, contexts: Any, actions: Any) -> Self:
        """Learn the features of both sides from rows, before the first lesson.

        Parameters
        ----------
        contexts, actions
            Lists of mappings, mappings of columns, or frames. The `id` of actions is ignored.
        """
        with self._lock:
            frames.fit(self, contexts, actions)
        return self

    def mean_rewards(self, context: Any, *, actions: Sequence[Mapping[str, Any]]) -> dict[str | int, float | None]:
        """Return the estimated mean reward of each offered action, in the range of rewards; None while unknown."""
        with self._lock:
            return self.mean_rewards_encoded(self.read(context, actions, "mean_rewards"))

    def mean_rewards_encoded(self, offer: Offer) -> dict[str | int, float | None]:
        """Return the estimates of a checked event."""
        means = self.model.mean_rewards(offer)
        values = [None if mean is None else self.rewards.unscale(mean) for mean in means]
        return dict(zip(offer.ids, values, strict=True))

    def propensities(self, context: Any, *, actions: Sequence[Mapping[str, Any]]) -> dict[str | int, float]:
        """Return the probability with which `decide` would draw each offered action."""
        with self._lock:
            offer = self.read(context, actions, "propensities")
            return dict(zip(offer.ids, self.model.propensities(offer), strict=True))

    def explain(self, context: Any, *, actions: Sequence[Mapping[str, Any]]) -> PairExplanation:
        """Return the reasons for the best offered action, and changes that would make another action the best."""
        with self._lock:
            return self.explain_encoded(self.read(context, actions, "explain"))

    def explain_encoded(self, offer: Offer) -> PairExplanation:
        """Return the explanation of a checked event."""
        return explain(self.model, offer, self.rewards)

    def importance(self) -> dict[str, dict[str, float]]:
        """Return the importance of each feature by side: its share of the variance explained by splits of all trees.

        Examples
        --------
        >>> bandit = PairBandit(context_features={"age": "numeric"}, action_features={"price": "numeric"})
        >>> _ = bandit.fit({"age": [20, 30]}, {"price": [1.0, 2.0]})
        >>> bandit.importance()
        {'context': {'age': 0.0}, 'action': {'price': 0.0}}
        """
        with self._lock:
            shares = self.model.known_forest("PairBandit.importance").variable_importance()
            context, action = self.model.context, self.model.action
            n_context = context.n_variables
            return {
                "context": importance_by_feature(shares[:n_context], context.schema.feature_of_variables()),
                "action": importance_by_feature(shares[n_context:], action.schema.feature_of_variables()),
            }

    def importance_by_side(self, contexts: Sequence[Any], actions: Sequence[Mapping[str, Any]]) -> dict[str, float]:
        """Return the shares of context, action and pair in the variance of the estimates.

        The shares are from an analysis of variance of the estimates of all pairs: main effect of the context, main
        effect of the action, and interaction.

        Parameters
        ----------
        contexts, actions
            At least two of each; a few dozen are enough.
        """
        owner = "PairBandit.importance_by_side"
        with self._lock:
            self.model.known_forest(owner)
            if len(contexts) < 2 or len(actions) < 2:
                refuse("contexts", owner, "at least two contexts and two actions", contexts)
            offers = [self.read(context, actions, "importance_by_side") for context in contexts]
            return importance_by_side(np.array([self.model.mean_rewards(offer) for offer in offers], dtype=np.float64))

    def parts(self) -> tuple[dict[str, Any], bytes]:
        """Return the header and the arrays of a file, as they are now; packing them may be left to a thread."""
        with self._lock:
            return file.parts_of(self.model, self.rewards)

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "data") -> Self:
        """Return the bandit of the bytes that `to_bytes` returned."""
        bandit = cls.__new__(cls)
        bandit._lock = new_lock()
        bandit.model, bandit.rewards = file.unpack(data, name)
        return bandit

    def read(self, context: Any, actions: Any, method: str) -> Offer:
        """Return a checked event."""
        owner = f"PairBandit.{method}"
        if isinstance(actions, (str, bytes, Mapping)) or not isinstance(actions, Sequence):
            refuse("actions", owner, "a list of mappings, one for each offered action", actions)
        if not 1 <= len(actions) <= _MOST_OFFERED:
            refuse("actions", owner, f"1 to {_MOST_OFFERED} mappings, one for each offered action", actions)
        read = self.model.context.read(context)
        pairs = [self.read_action(action, row, owner) for row, action in enumerate(actions)]
        ids, features = map(list, zip(*pairs, strict=True))
        if len(set(ids)) != len(ids):
            refuse("actions", owner, "actions with different ids", ids)
        return Offer.of(read, ids, features)

    def read_action(self, given: Any, row: int, owner: str) -> tuple[str | int, Read]:
        """Return the id and the checked features of an action."""
        if given.__class__ is not dict:
            try:
                given = as_context(given)
            except FeatureError:
                refuse("actions", owner, f"mappings from the names of features to values, with an '{ID}'", given)
        number = given.get(ID)
        if number.__class__ is not str and number.__class__ is not int:
            number = plain(number)
            if number.__class__ is not str and number.__class__ is not int:
                refuse(ID, owner, "a text or an int, for each action", number)
        return number, self.model.action.read(given, row=row)

    def _decision(self, offer: Offer, index: int, propensity: float) -> PairDecision:
        return PairDecision(offer.ids[index], propensity, self.version, offer.context, offer.actions[index])
