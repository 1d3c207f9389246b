"""The streams that speed is measured on: the shape of Cover Type, synthetic and real."""

from __future__ import annotations

from collections.abc import Iterator

from bandit_forest.worlds import Batch, Classification, HiddenTree
from bandit_forest.worlds.datasets import NAMES, load

__all__ = ["batches", "make_world"]

N_VARIABLES, N_ACTIONS = 94, 7


def make_world(name: str, data: str | None) -> Classification:
    """Make a world by name: rows played in a loop, 5 % of the bits flipped, reward 1 for the right action."""
    if name in NAMES:
        return load(name, data).world()
    hidden = HiddenTree(n_variables=N_VARIABLES, n_actions=N_ACTIONS, depth=3, noise=0.0)
    rows = next(hidden.batches(100_000, seed=0, batch_size=100_000))
    return Classification(
        contexts=rows.contexts, labels=rows.rewards.argmax(axis=1), n_actions=N_ACTIONS, name="hidden tree"
    )


def batches(name: str, data: str | None, n_events: int, seed: int) -> Iterator[Batch]:
    """Return the events of a stream, the same for every rival."""
    return make_world(name, data).batches(n_events, seed=seed, batch_size=max(1, n_events // 20))
