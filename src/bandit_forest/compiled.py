"""A policy whose arithmetic is in the compiled core."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bandit_forest import _core
from bandit_forest.policy import Bits, CheckedPolicy, Decision, Decisions, Floats, Mask, Played

__all__ = ["CompiledPolicy", "mask_of"]

Core = _core.EliminationForest | _core.GreedyForest | _core.LinUcb | _core.NeuralBandit


class CompiledPolicy(CheckedPolicy):
    """Check what the policy is given and hand it to the core; a subclass sets `_core`."""

    _core: Core

    # Bytes are taken as well as arrays, and are read sooner.
    def _decide(self, context: Bits | bytes, available: Mask | bytes | None) -> Decision:
        return Decision(*self._core.decide(context, mask_of(available)))

    def _learn(self, context: Bits | bytes, action: int, reward: float, propensity: float) -> None:
        self._core.learn(context, action, reward, propensity)

    def _decide_many(self, contexts: Bits, available: Mask | None) -> Decisions:
        return Decisions(*self._core.decide_many(contexts, mask_of(available)))

    def _learn_many(self, contexts: Bits, actions: NDArray[np.int64], rewards: Floats, propensities: Floats) -> None:
        self._core.learn_many(contexts, actions, rewards, propensities)

    def _play(self, contexts: Bits, rewards: Floats) -> Played:
        return Played(*self._core.play(contexts, rewards))


def mask_of(available: Mask | bytes | None) -> Mask | bytes:
    """Return the available actions as the core takes them: a flat mask, empty when all are available."""
    if available is None:
        return b""
    return available if isinstance(available, bytes) else available.ravel()
