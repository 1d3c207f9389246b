"""One function a rival: plays a stream in this process and tells its time, reward and memory."""

from __future__ import annotations

import os
import resource
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bandit_forest import BanditForest
from streams import batches, labels_of, make_world

__all__ = ["Measurement", "play_forest", "play_vowpal_wabbit"]


class Measurement(NamedTuple):
    """What one rival did on one stream."""

    seconds: float
    average_reward: float
    peak_megabytes: float
    """Growth of the process's peak memory, the stream included."""
    bytes_per_tree: float | None = None
    window_seconds: tuple[float, ...] = ()
    """Seconds of each tenth of the stream."""


def play_forest(world: str, data: str | None, n_events: int, seed: int, n_trees: int) -> Measurement:
    """Play with `BanditForest.paper` through `play`."""
    _use_one_core()
    size = make_world(world, data)
    forest = BanditForest.paper(n_variables=size.n_variables, n_actions=size.n_actions, n_trees=n_trees, seed=seed)
    before = _peak_megabytes()
    earned, seconds, played = 0.0, np.zeros(10), 0
    for batch in batches(world, data, n_events, seed):
        start = time.perf_counter()
        rewards = forest.play(batch.contexts, batch.rewards).rewards
        seconds[10 * played // n_events] += time.perf_counter() - start
        earned += float(rewards.sum())
        played += len(rewards)
    return Measurement(
        float(seconds.sum()),
        earned / n_events,
        _peak_megabytes() - before,
        forest.n_bytes / n_trees,
        tuple(seconds.tolist()),
    )


def play_vowpal_wabbit(world: str, data: str | None, n_events: int, seed: int, arguments: str) -> Measurement:
    """Play with Vowpal Wabbit's own loop over a text file of the same events: `vw --cbify 7 ... -d FILE`."""
    from vowpalwabbit import Workspace

    _use_one_core()
    n_actions = make_world(world, data).n_actions
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "events.txt")
        with path.open("w") as file:
            for batch in batches(world, data, n_events, seed):
                for label, row in zip(labels_of(batch).tolist(), batch.contexts, strict=True):
                    file.write(f"{label + 1} | {' '.join(map(str, np.flatnonzero(row).tolist()))}\n")
        before = _peak_megabytes()
        start = time.perf_counter()
        learner = Workspace(f"--cbify {n_actions} {arguments} --quiet -d {path}")
        seconds = time.perf_counter() - start
        loss = learner.get_sum_loss() / learner.get_weighted_examples()
        learner.finish()
    return Measurement(seconds, 1.0 - loss, _peak_megabytes() - before)


def _use_one_core() -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def _peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
