"""Let a policy of this package play a stream."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from bandit_forest import CheckedPolicy
from contest.game import Game
from contest.stream import Stream

__all__ = ["play_policy"]


def play_policy(policy: CheckedPolicy, contexts: NDArray[np.uint8], stream: Stream) -> Game:
    """Return what a policy did on the encoded events of a stream."""
    start = time.perf_counter()
    played = policy.play(contexts, stream.rewards)
    seconds = time.perf_counter() - start
    return Game(played.actions.astype(np.intp), seconds)
