"""One shuffle of one set in one mode: what every policy plays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandit_forest.encoding import ContextEncoder
from contest.dataset import read_dataset
from contest.rewards import draw_rewards

__all__ = ["Stream", "binary_contexts", "make_stream"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Stream:
    """The events of one game, in order."""

    name: str
    mode: str
    shuffle: int
    columns: dict[str, NDArray[Any]]
    """Features of the events."""
    right_actions: NDArray[np.intp]
    rewards: NDArray[np.float64]
    """Reward of every action, one row per event; a policy sees that of the action it takes."""

    @property
    def n_events(self) -> int:
        """Number of events."""
        return len(self.rewards)

    @property
    def n_actions(self) -> int:
        """Number of actions."""
        return int(self.rewards.shape[1])


@lru_cache(maxsize=2)
def make_stream(folder: Path, *, name: str, mode: str, shuffle: int, n_events: int) -> Stream:
    """Return a stream: the rows of a set, shuffled, each played once.

    Parameters
    ----------
    folder
        Folder of the data sets.
    name
        Name of the set.
    mode
        One of `contest.rewards.MODES`.
    shuffle
        Number of the shuffle, which is also the seed of the rewards.
    n_events
        Largest number of events.
    """
    data = read_dataset(folder, name)
    order = np.random.default_rng(shuffle).permutation(len(data.labels))[:n_events]
    right_actions = data.labels[order]
    return Stream(
        name=name,
        mode=mode,
        shuffle=shuffle,
        columns={column: values[order] for column, values in data.columns.items()},
        right_actions=right_actions,
        rewards=draw_rewards(mode=mode, right_actions=right_actions, n_actions=data.n_actions, seed=shuffle),
    )


@lru_cache(maxsize=2)
def binary_contexts(stream: Stream, *, n_bins: int) -> NDArray[np.uint8]:
    """Return the contexts of a stream as binary variables: one per bin of a number, one per value of a text.

    The encoder is fitted on the rows of the stream. This is the only place that says how binary bins are asked for.
    """
    return ContextEncoder(n_bins=n_bins).fit_transform(stream.columns)
