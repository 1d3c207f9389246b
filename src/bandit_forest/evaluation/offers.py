"""PairBandit as a policy of a log whose events offer actions with features: an action is its place in the offer."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bandit_forest.bandit.pairs import PairBandit
from bandit_forest.bandit.pairs.model import ID
from bandit_forest.errors import refuse
from bandit_forest.evaluation.log import Offered, Source

__all__ = ["OfferPolicy", "over_offers"]

Floats = NDArray[np.float64]

_CONSTANT = {"constant": 1.0}


class OfferPolicy:
    """A bandit over pairs that is given offers where other policies are given contexts.

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
            refuse("log", "over_offers", "one with offers", "a log of fixed actions")
        if self._bandit.forest is None:
            actions = [action if len(action) > 1 else {**action, **_CONSTANT} for action in offer.actions]
            return Offered(offer.context or _CONSTANT, actions)
        known, known_action = self._bandit.context_features.keys(), {ID, *self._bandit.action_features}
        return Offered(_only(known, offer.context), [_only(known_action, action) for action in offer.actions])

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


def over_offers(bandit: PairBandit, log: Source) -> OfferPolicy:
    """Return a bandit as `as_it_stands`, `learn_along` and `replay` take it, for a log with offers.

    Features of the log that the bandit does not know are left out. Where the first events have no features, of the
    context or of an action, it learns a feature `constant` instead.

    Parameters
    ----------
    bandit
        The bandit; its range of rewards must be that of the log.
    log
        A `Log` with offers, or a reader of a file with offers.

    Examples
    --------
    >>> from bandit_forest.evaluation import Log, Offered, as_it_stands
    >>> offer = Offered({"age": 42}, [{"id": "a17", "price": 9.9}, {"id": "a18", "price": 3.5}])
    >>> log = Log(actions=[1], rewards=[1.0], propensities=[0.5], offers=[offer], action_names=2)
    >>> as_it_stands(over_offers(PairBandit(), log)).probabilities(log)
    array([[0.5, 0.5]])
    """
    if tuple(bandit.reward_range) != tuple(log.reward_range):
        refuse("bandit", "over_offers", f"one with the log's range of rewards, {log.reward_range}", bandit.reward_range)
    return OfferPolicy(bandit, len(log.action_names))
