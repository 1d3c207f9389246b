"""A bandit over pairs as a learner of coba, with coba's actions unchanged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bandit_forest.bandit.pairs import PairBandit

__all__ = ["CobaPairLearner"]

_ONLY = "value"
"""The name of the only feature of what is a number or a text by itself."""


class CobaPairLearner:
    """A learner of coba for actions with features; it does not import coba.

    An action, like a context, may be a mapping of features, a sequence whose features are named by their positions, or
    a single number or text. Equal actions have equal ids. Actions need not be the same in all events.

    Parameters
    ----------
    name
        Its name in coba's tables.
    bandit
        Arguments of `PairBandit`.

    Examples
    --------
    >>> learner = CobaPairLearner(warm_up_events=10)
    >>> action, probability = learner.predict({"age": 40}, [(1.0, 0.0), (0.0, 1.0)])
    >>> learner.learn({"age": 40}, action, 1.0, probability)
    >>> learner.score({"age": 40}, [(1.0, 0.0), (0.0, 1.0)], (1.0, 0.0))
    0.5
    """

    def __init__(self, *, name: str = "PairBandit", **bandit: Any) -> None:
        self._name = name
        self._bandit = PairBandit(**bandit)

    @property
    def params(self) -> Mapping[str, Any]:
        """Parameters of the learner, as coba shows them."""
        return {"family": self._name}

    def predict(self, context: Any, actions: Sequence[Any]) -> tuple[Any, float]:
        """Return an action and its probability."""
        offered = [_action(action) for action in actions]
        decision = self._bandit.decide(_features(context), actions=offered)
        chosen = next(at for at, action in enumerate(offered) if action["id"] == decision.action)
        return actions[chosen], decision.propensity

    def score(self, context: Any, actions: Sequence[Any], action: Any) -> float:
        """Return the probability of an action."""
        shares = self._bandit.propensities(_features(context), actions=[_action(each) for each in actions])
        return shares[_action(action)["id"]]

    def learn(self, context: Any, action: Any, reward: float, probability: float, **_kwargs: Any) -> None:
        """Learn from the reward of an action."""
        self._bandit.learn(_features(context), _action(action), reward, propensity=probability)


def _action(given: Any) -> dict[str, Any]:
    features = _features(given)
    return {**features, "id": repr(sorted(features.items()))}


def _features(given: Any) -> dict[str, Any]:
    """Return features by name; what is not a feature of anybody, such as no context, is a constant.

    Examples
    --------
    >>> _features((3.0, "red")), _features("red"), _features(None)
    ({'0': 3.0, '1': 'red'}, {'value': 'red'}, {'value': 0})
    """
    if isinstance(given, Mapping):
        return {str(name): value for name, value in given.items()}
    if isinstance(given, Sequence) and not isinstance(given, (str, bytes)):
        return {str(place): value for place, value in enumerate(given)}
    return {_ONLY: 0 if given is None else given}
