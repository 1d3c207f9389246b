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
from bandit_forest.worlds import Classification
from harness.streams import batches, make_world

__all__ = [
    "ForestKind",
    "Measurement",
    "make_forest",
    "play_forest",
    "play_vowpal_wabbit",
    "run_vowpal_wabbit",
    "write_events",
]

FRACTIONS = 0.1, 0.9
"""Rewards that are neither 0 nor 1, in their place."""


class ForestKind(NamedTuple):
    """Which forest plays."""

    n_trees: int = 32
    n_threads: int = 1
    paper: bool = False
    fractions: bool = False
    """Whether rewards are fractions instead of 0 and 1; its average reward is told as if they were not."""

    @property
    def label(self) -> str:
        """Return the name of the forest."""
        parts = [f"{self.n_trees} trees"]
        parts += [f"{self.n_threads} threads"] if self.n_threads > 1 else []
        parts += ["fractional rewards"] if self.fractions else []
        return f"BanditForest{'.paper' if self.paper else ''}, {', '.join(parts)}"


class Measurement(NamedTuple):
    """What one rival did on one stream."""

    seconds: float
    average_reward: float
    peak_megabytes: float
    """Growth of the process's peak memory, the stream included."""
    bytes_per_tree: float | None = None
    window_seconds: tuple[float, ...] = ()
    """Seconds of each tenth of the stream."""


def play_forest(world: str, data: str | None, n_events: int, seed: int, kind: ForestKind) -> Measurement:
    """Play with a forest through `play`."""
    _use_cores(kind.n_threads)
    forest = make_forest(make_world(world, data), seed, kind)
    before = _peak_megabytes()
    earned, seconds, played = 0.0, np.zeros(10), 0
    for batch in batches(world, data, n_events, seed):
        offered = np.clip(batch.rewards, *FRACTIONS) if kind.fractions else batch.rewards
        start = time.perf_counter()
        rewards = forest.play(batch.contexts, offered).rewards
        seconds[10 * played // n_events] += time.perf_counter() - start
        earned += float(rewards.sum())
        played += len(rewards)
    average = earned / n_events
    return Measurement(
        float(seconds.sum()),
        (average - FRACTIONS[0]) / (FRACTIONS[1] - FRACTIONS[0]) if kind.fractions else average,
        _peak_megabytes() - before,
        forest.n_bytes / kind.n_trees,
        tuple(seconds.tolist()),
    )


def make_forest(world: Classification, seed: int, kind: ForestKind) -> BanditForest:
    """Make a forest for a world."""
    n_variables, n_actions, n_trees = world.n_variables, world.n_actions, kind.n_trees
    if kind.paper:
        return BanditForest.paper(n_variables=n_variables, n_actions=n_actions, n_trees=n_trees, seed=seed)
    return BanditForest(
        n_variables=n_variables, n_actions=n_actions, n_trees=n_trees, seed=seed, n_threads=kind.n_threads
    )


def write_events(path: Path, world: str, data: str | None, n_events: int, seed: int) -> None:
    """Write a stream as Vowpal Wabbit's text; the label of an event that rewards no action is beyond all actions.

    Names are texts. Whole numbers would be taken as hashes, whose low bits `--cbify` needs for the actions.
    """
    classification = make_world(world, data)
    n_actions = classification.n_actions
    names = np.array([f"f{variable}" for variable in range(classification.n_variables)])
    with path.open("w") as file:
        for batch in batches(world, data, n_events, seed):
            labels = np.where(batch.rewards.any(axis=1), batch.rewards.argmax(axis=1), n_actions)
            for label, row in zip(labels.tolist(), batch.contexts, strict=True):
                file.write(f"{label + 1} | {' '.join(names[row == 1])}\n")


def run_vowpal_wabbit(path: Path, n_actions: int, arguments: str) -> Measurement:
    """Let Vowpal Wabbit's own loop play a file of events: `vw --cbify 7 ... -d FILE`."""
    from vowpalwabbit import Workspace

    before = _peak_megabytes()
    start = time.perf_counter()
    learner = Workspace(f"--cbify {n_actions} {arguments} --quiet -d {path}")
    seconds = time.perf_counter() - start
    loss = learner.get_sum_loss() / learner.get_weighted_examples()
    learner.finish()
    return Measurement(seconds, 1.0 - loss, _peak_megabytes() - before)


def play_vowpal_wabbit(world: str, data: str | None, n_events: int, seed: int, arguments: str) -> Measurement:
    """Play a stream with Vowpal Wabbit."""
    _use_cores(1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "events.txt")
        write_events(path, world, data, n_events, seed)
        return run_vowpal_wabbit(path, make_world(world, data).n_actions, arguments)


def _use_cores(n_cores: int) -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-n_cores:])


def _peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
