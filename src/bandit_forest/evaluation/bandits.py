"""`Bandit` and `PairBandit` as policies of a log, which are given its features or offers instead of contexts."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bandit_forest.bandit import Bandit
from bandit_forest.bandit.features.tables import checked_columns, read_table
from bandit_forest.bandit.pairs import PairBandit
from bandit_forest.bandit.pairs.model import ID
from bandit_forest.encoding import ContextEncoder
from bandit_forest.errors import refuse
from bandit_forest.evaluation.log import Log, Offered, Source

__all__ = ["FeaturePolicy", "OfferPolicy", "given_to", "policy_on"]

Floats = NDArray[np.float64]

_CONSTANT = {"constant": 1.0}
_ENABLED = "enabled"


class FeaturePolicy:
    """A `Bandit` that is given parts of a log with features where other policies are given contexts.

    Features of the log that the bandit does not know are left out.

    Parameters
    ----------
    bandit
        The bandit. All of its enabled actions must be actions of the log.
    log
        A `Log`, or a reader of a file.
    """

    def __init__(self, bandit: Bandit, log: Source) -> None:
        self._bandit, self.action_names = bandit, log.action_names
        absent = [name for name in self._enabled if name not in self.action_names]
        if absent:
            rule = f"one whose enabled actions are all actions of the log, {', '.join(self.action_names[:20])}"
            refuse("policy", "Bandit", rule, absent)

    @property
    def n_actions(self) -> int:
        """The number of actions of the log."""
        return len(self.action_names)

    def propensities_many(self, contexts: Log, *, available_actions: ArrayLike | None = None) -> Floats:
        """Return the probability of each action, one row per event."""
        available = range(self.n_actions) if available_actions is None else np.asarray(available_actions).tolist()
        names = {self.action_names[place] for place in available}
        can = [name for name in self._enabled if name in names]
        return self._table(self._bandit.propensities_many(self.columns(contexts), available_actions=can), 0.0)

    def mean_rewards_many(self, contexts: Log) -> Floats:
        """Return the estimated mean reward of each action in [0, 1], one row per event; NaN while nothing is known."""
        low, high = self._bandit.reward_range
        means = self._bandit.mean_rewards_many(self.columns(contexts)).astype(np.float64)
        return (self._table(means, np.nan) - low) / (high - low)

    def learn_many(
        self,
        contexts: Log,
        actions: ArrayLike,
        rewards: ArrayLike,  # noqa: ARG002
        *,
        propensities: ArrayLike,
    ) -> None:
        """Learn from events in their order; their rewards are those of the log, in the bandit's own units."""
        names = [self.action_names[place] for place in np.asarray(actions).tolist()]
        self._bandit.learn_many(self.columns(contexts), names, contexts.rewards, propensities=propensities)

    def encoded(self, log: Log) -> NDArray[np.uint8]:
        """Return the contexts of a log as the forest inside takes them; the features of the bandit must be known."""
        schema = self._bandit.model.schema
        return schema.encode_many(checked_columns(schema, read_table(self.columns(log), "Bandit")))

    def columns(self, log: Log) -> dict[str, NDArray[Any]]:
        """Return the features of a log that the bandit knows; while it learns them, all."""
        if not log.features:
            refuse("log", "Bandit", "one with features", "a log without features")
        known = self._bandit.features.keys() or log.features.keys()
        columns = {name: values for name, values in log.features.items() if name in known}
        return columns or {name: np.full(len(log), None, dtype=object) for name in known}

    @property
    def _enabled(self) -> list[str]:
        return [name for name, state in self._bandit.actions.items() if state == _ENABLED]

    def _table(self, shares: Floats, absent: float) -> Floats:
        """Return a table with a column for each action of the log, from one with a column for each enabled action."""
        table = np.full((len(shares), self.n_actions), absent)
        table[:, [self.action_names.index(name) for name in self._enabled]] = shares
        return table


class OfferPolicy:
    """A `PairBandit` that is given offers where other policies are given contexts. An action is its place in the offer.

    Features of the log that the bandit does not know are left out. Where the first events have no features, of the
    context or of an action, it learns a feature `constant` instead.

    Parameters
    ----------
    bandit
        The bandit.
    n_actions
        The largest number of actions that an event offers; rows are filled up to it.
    """

    def __init__(self, bandit: PairBandit, n_actions: int) -> None:
        self._bandit, self.n_actions = bandit, n_actions

    def propensities_many(self, contexts: Any, *, available_actions: ArrayLike | None = None) -> Floats:  # noqa: ARG002
        """Return the probability of each place in the offers, one row per event."""
        offers = map(self._read, contexts)
        return self._table([self._bandit.propensities(offer.context, actions=offer.actions) for offer in offers], 0.0)

    def mean_rewards_many(self, contexts: Any) -> Floats:
        """Return the estimated mean reward of each place in [0, 1], one row per event; NaN while nothing is known."""
        offers = map(self._read, contexts)
        means = [self._bandit.mean_rewards(offer.context, actions=offer.actions) for offer in offers]
        low, high = self._bandit.reward_range
        return (self._table(means, np.nan) - low) / (high - low)

    def learn_many(self, contexts: Any, actions: ArrayLike, rewards: ArrayLike, *, propensities: ArrayLike) -> None:
        """Learn from events in their order; rewards are in [0, 1]."""
        values = [self._bandit.rewards.unscale(share) for share in np.asarray(rewards, dtype=np.float64).tolist()]
        taken = np.asarray(actions).tolist(), np.asarray(propensities, dtype=np.float64).tolist()
        for given, value, place, propensity in zip(contexts, values, *taken, strict=True):
            offer = self._read(given)
            self._bandit.learn(offer.context, offer.actions[place], value, propensity=propensity)

    def _read(self, offer: Any) -> Offered:
        """Return an offer with features that the bandit knows; while it learns them, with at least one on each side."""
        if not isinstance(offer, Offered):
            refuse("log", "PairBandit", "one with offers", "a log of fixed actions")
        known, known_action = self._bandit.context_features.keys(), self._bandit.action_features.keys()
        context = _only(known, offer.context) if known else offer.context or _CONSTANT
        if known_action:
            return Offered(context, [_only({ID, *known_action}, action) for action in offer.actions])
        return Offered(context, [action if len(action) > 1 else {**action, **_CONSTANT} for action in offer.actions])

    def _table(self, rows: list[dict[Any, Any]], absent: float) -> Floats:
        table = np.full((len(rows), self.n_actions), absent)
        for row, numbers in zip(table, rows, strict=True):
            row[: len(numbers)] = [np.nan if number is None else number for number in numbers.values()]
        return table


def _only(names: Set[str], features: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the features that have one of these names."""
    if features.keys() <= names:
        return features
    return {name: value for name, value in features.items() if name in names}


def policy_on(policy: Any, log: Source) -> Any:
    """Return a policy as one of a log: a bandit is given its features or offers, others stay as they are."""
    if not isinstance(policy, Bandit | PairBandit):
        return policy
    if tuple(policy.reward_range) != tuple(log.reward_range):
        rule = f"one with the log's range of rewards, {log.reward_range}"
        refuse("policy", type(policy).__name__, rule, policy.reward_range)
    return FeaturePolicy(policy, log) if isinstance(policy, Bandit) else OfferPolicy(policy, len(log.action_names))


def given_to(policy: Any, log: Log, encoder: ContextEncoder | None) -> Any:
    """Return what a policy decides on: the log with its features, its offers, or encoded contexts."""
    if isinstance(policy, FeaturePolicy):
        if encoder is not None:
            refuse("encoder", "Bandit", "left out: a Bandit encodes features itself", encoder)
        return log
    if isinstance(policy, OfferPolicy) and log.offers is None:
        refuse("log", "PairBandit", "one with offers", "a log of fixed actions")
    return log.encoded(encoder) if log.offers is None else log.offers
