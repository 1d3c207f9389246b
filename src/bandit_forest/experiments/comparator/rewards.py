"""The rewards of the comparator on the stream of a trial: they depend on the world alone, so they are kept."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bandit_forest.atomic import replacing
from bandit_forest.experiments.comparator.routing import FlatForest
from bandit_forest.worlds import World

__all__ = ["play_comparator", "read_rewards", "rewards_file"]

Bits = NDArray[np.uint8]
Progress = Callable[[int, float], object]
"""Called with the number of events played and their average reward."""


def rewards_file(forest_file: Path, seed: int) -> Path:
    """Return the file of the rewards that a fitted forest earns on the stream of a seed."""
    return forest_file.with_name(f"{forest_file.stem}-seed{seed}.npz")


def read_rewards(path: Path, n_events: int) -> Bits | None:
    """Return the rewards of the first events, or None where fewer are known."""
    rewards = _known(path)
    return rewards[:n_events] if len(rewards) >= n_events else None


def play_comparator(
    forest: FlatForest, world: World, path: Path, *, n_events: int, seed: int, progress: Progress
) -> None:
    """Play the stream of a seed, after the events whose rewards are known, and keep all rewards.

    Parameters
    ----------
    forest
        The fitted comparator.
    world
        The world that it plays; rewards are 0 or 1, and kept as bits.
    path
        File of the rewards.
    n_events
        Number of events whose rewards are known in the end.
    seed
        Seed of the stream.
    progress
        Called after each batch.
    """
    known = _known(path)
    rewards = np.empty(n_events, dtype=np.uint8)
    rewards[: len(known)] = known[:n_events]
    stop, earned = 0, 0
    for batch in world.batches(n_events, seed=seed):
        start, stop = stop, stop + len(batch.contexts)
        if stop > len(known):
            actions = forest.predict(batch.contexts)
            rewards[start:stop] = batch.rewards[np.arange(len(actions)), actions]
        earned += int(np.count_nonzero(rewards[start:stop]))
        progress(stop, earned / stop)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as stream:
        np.savez(stream, bits=np.packbits(rewards), n_events=n_events)


def _known(path: Path) -> Bits:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return np.unpackbits(arrays["bits"], count=int(arrays["n_events"]))
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile):
        return np.empty(0, dtype=np.uint8)
