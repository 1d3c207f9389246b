"""What every world offers: a stream of contexts and rewards, in batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

__all__ = ["Batch", "World"]


class Batch(NamedTuple):
    """Consecutive events of a stream, one row per event."""

    contexts: NDArray[np.uint8]
    """Zeros and ones, (events, n_variables): what a policy sees."""
    rewards: NDArray[np.float64]
    """The reward that each action would earn, (events, n_actions): a policy sees the chosen one."""
    comparator_rewards: NDArray[np.float64]
    """The reward of the comparator, the policy that regret is counted against, on each event: (events,)."""
    scored_rewards: NDArray[np.float64]
    """Values of the actions for regret, (events, n_actions): the expected rewards where the world knows them."""


@runtime_checkable
class World(Protocol):
    """A stream of contexts and rewards. The same seed gives the same stream, whatever the size of its batches."""

    @property
    def name(self) -> str:
        """A short name for tables and files."""

    @property
    def n_variables(self) -> int:
        """The number of binary variables of a context."""

    @property
    def n_actions(self) -> int:
        """The number of actions."""

    def batches(self, n_events: int, *, seed: int, batch_size: int = 10_000) -> Iterator[Batch]:
        """Return the first `n_events` events of the stream of a seed."""
