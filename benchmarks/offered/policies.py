"""The forest over pairs and its rivals, each fed with all features of context and action."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandit_forest.baselines.pairs import HybridLinUCB, SharedLinUCB
from bandit_forest.forest.pairs import PairForest
from bandit_forest.worlds.pairs import Offer, PairWorld

__all__ = ["Forest", "LightGbm", "Linear", "VowpalWabbit"]

Floats = NDArray[np.float64]

_LEVELS = 128
_N_BITS = 24


class Forest:
    """Our forest: features are cut into 128 levels of equal width."""

    def __init__(self, world: PairWorld, **parameters: Any) -> None:
        n_context, n_action = world.n_context_features, world.n_action_features
        thresholds = (np.arange(1, _LEVELS) / _LEVELS).tolist()
        self.forest = PairForest(
            n_context_variables=n_context,
            n_action_variables=n_action,
            thresholds=dict.fromkeys(range(n_context + n_action), thresholds),
            **parameters,
        )

    @staticmethod
    def codes(values: Floats) -> NDArray[np.uint8]:
        """Return the level of each feature."""
        return (values * _LEVELS).astype(np.uint8)

    def decide(self, offer: Offer) -> int:
        """Return the offered action that is taken."""
        self._context, self._actions = self.codes(offer.context), self.codes(offer.actions)
        self._names = offer.ids.astype(np.uint64)
        decision = self.forest.decide(self._context, self._actions, names=self._names)
        self._propensity = decision.propensity
        return decision.action

    def learn(self, offer: Offer, action: int) -> None:
        """Learn the reward of the action that was taken."""
        self.forest.learn_many(
            self._context[np.newaxis],
            self._actions[[action]],
            offer.rewards[[action]],
            propensities=[self._propensity],
            names=self._names[[action]],
        )


class Linear:
    """Shared or hybrid LinUCB: features are moved to [-1, 1)."""

    def __init__(self, world: PairWorld, kind: type[SharedLinUCB] | type[HybridLinUCB], width: float) -> None:
        self._policy = kind(
            n_context_features=world.n_context_features, n_action_features=world.n_action_features, width=width
        )

    def decide(self, offer: Offer) -> int:
        """Return the offered action that is taken."""
        return self._policy.decide(_centred(offer.context), _centred(offer.actions), names=offer.ids.tolist()).action

    def learn(self, offer: Offer, action: int) -> None:
        """Learn the reward of the action that was taken."""
        context, features = _centred(offer.context), _centred(offer.actions[action])
        name = int(offer.ids[action])
        self._policy.learn(context, features, float(offer.rewards[action]), propensity=1.0, name=name)


class VowpalWabbit:
    """Vowpal Wabbit's `--cb_explore_adf`, by its text format: features of the context in a shared example.

    Names of features are texts: whole numbers would be taken as hashes. Values are moved to [-1, 1).
    """

    def __init__(self, arguments: str, *, named: bool = False) -> None:
        from vowpalwabbit import Workspace

        self._workspace = Workspace(f"--cb_explore_adf {arguments} -b {_N_BITS} --quiet")
        self._named = named
        self._rng = np.random.default_rng(1)

    def decide(self, offer: Offer) -> int:
        """Return the offered action that is drawn from the probabilities that it predicts."""
        self._shares = np.array(self.predict(offer), dtype=np.float64)
        return int(self._rng.choice(len(self._shares), p=self._shares / self._shares.sum()))

    def predict(self, offer: Offer) -> list[float]:
        """Return the probability of each offered action."""
        self._lines = examples_of(offer, named=self._named)
        return self.predict_texts(self._lines)

    def predict_texts(self, lines: list[str]) -> list[float]:
        """Return the probabilities of an event whose examples are made already."""
        probabilities: list[float] = self._workspace.predict(lines)
        return probabilities

    def learn(self, offer: Offer, action: int) -> None:
        """Learn the cost of the action that was taken."""
        lines = list(self._lines)
        lines[action + 1] = f"0:{1.0 - offer.rewards[action]:g}:{self._shares[action]:.6g} {lines[action + 1]}"
        self._workspace.learn(lines)

    def finish(self) -> None:
        """Let it write what its arguments ask for."""
        self._workspace.finish()


class LightGbm:
    """LightGBM on pairs, refitted whenever the log has doubled, with five bags and Thompson sampling."""

    def __init__(self, **parameters: Any) -> None:
        self._parameters = {"objective": "regression", "num_threads": 1, "verbose": -1} | parameters
        self._pairs: list[Floats] = []
        self._rewards: list[float] = []
        self._bags: list[Any] = []
        self._next_fit = 250
        self._rng = np.random.default_rng(1)

    def decide(self, offer: Offer) -> int:
        """Return the best offered action of a bag that is drawn; a random one before the first fit."""
        if not self._bags:
            return int(self._rng.integers(len(offer.ids)))
        bag = self._bags[self._rng.integers(len(self._bags))]
        return int(np.asarray(bag.predict(pairs_of(offer))).argmax())

    def learn(self, offer: Offer, action: int) -> None:
        """Learn the reward of the action that was taken."""
        self._pairs.append(pairs_of(offer)[action])
        self._rewards.append(float(offer.rewards[action]))
        if len(self._rewards) == self._next_fit:
            self._fit()
            self._next_fit *= 2

    def _fit(self) -> None:
        import lightgbm

        pairs, rewards = np.array(self._pairs), np.array(self._rewards)
        self._bags = []
        for _ in range(5):
            rows = self._rng.integers(0, len(rewards), len(rewards))
            data = lightgbm.Dataset(pairs[rows], rewards[rows], params=self._parameters)
            self._bags.append(lightgbm.train(self._parameters, data, 100))


def pairs_of(offer: Offer) -> Floats:
    """Return the features of context and action together, one row per offered action."""
    return np.hstack([np.broadcast_to(offer.context, (len(offer.ids), len(offer.context))), offer.actions])


def examples_of(offer: Offer, *, named: bool) -> list[str]:
    """Return an event in Vowpal Wabbit's format: the shared example, then one for each offered action."""
    lines = [f"shared |c {_features(offer.context)}"]
    for number, action in zip(offer.ids.tolist(), offer.actions, strict=True):
        name = f" |n id{number}" if named else ""
        lines.append(f"|a {_features(action)}{name}")
    return lines


def _features(values: Floats) -> str:
    return " ".join(f"f{number}:{value:.4f}" for number, value in enumerate(_centred(values).tolist()))


def _centred(values: Floats) -> Floats:
    return 2.0 * values - 1.0
