"""What all synthetic worlds share: contexts are drawn, expected rewards are known, rewards are 0 or 1.

The expected rewards are what regret counts, so that regret is exact. Events are drawn in blocks of a fixed size, each
from a generator of its own, so that the stream of a seed does not depend on the size of its batches.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bandit_forest.errors import refuse
from bandit_forest.validation import check_contexts, check_int, check_number
from bandit_forest.worlds.contexts import Bits, ContextLaw, Floats
from bandit_forest.worlds.world import Batch

__all__ = ["JointDistribution", "StationaryWorld", "SyntheticWorld"]

_BLOCK = 4096
_MOST_ENUMERATED = 16
_STREAM, _STRUCTURE = 1, 2  # first words of the generators' seeds, so that a world is not drawn like its stream


class JointDistribution(NamedTuple):
    """The complete distribution of a world: the arguments of the optimal trees and forests."""

    contexts: Bits
    """Every possible context, one per row."""
    rewards: NDArray[Any]
    """The expected reward of each action in each context."""
    weights: NDArray[Any]
    """The probability of each context."""


class SyntheticWorld(ABC):
    """A world whose expected rewards are known at each event.

    Parameters
    ----------
    name
        A short name for tables and files.
    law
        The distribution of the contexts.
    n_actions
        Number of actions.
    """

    def __init__(self, *, name: str, law: ContextLaw, n_actions: int) -> None:
        self.name = name
        self.n_variables = law.n_variables
        self.n_actions = n_actions
        self.law = law

    @abstractmethod
    def _expected_rewards_at(self, events: NDArray[np.int64], contexts: Bits) -> Floats:
        """Return the expected reward of each action in each context at each event."""

    def batches(self, n_events: int, *, seed: int, batch_size: int = 10_000) -> Iterator[Batch]:
        """Return the first `n_events` events of the stream of a seed.

        Parameters
        ----------
        n_events
            Number of events in all.
        seed
            Seed of the stream: the same seed gives the same events, whatever the size of the batches.
        batch_size
            Number of events of a batch; the last batch may have fewer.
        """
        owner = f"{type(self).__name__}.batches"
        n_events = check_int(n_events, "n_events", owner, low=0)
        seed = check_int(seed, "seed", owner, low=0)
        return self._cut(n_events, seed, check_int(batch_size, "batch_size", owner))

    def _cut(self, n_events: int, seed: int, batch_size: int) -> Iterator[Batch]:
        """Cut the blocks of a stream into batches."""
        number, block = -1, None
        for start in range(0, n_events, batch_size):
            stop = min(start + batch_size, n_events)
            pieces = []
            while start < stop:
                if block is None or number != start // _BLOCK:
                    number = start // _BLOCK
                    block = self._block(seed, number)
                begin = start - number * _BLOCK
                end = min(stop - number * _BLOCK, _BLOCK)
                pieces.append([column[begin:end] for column in block])
                start += end - begin
            yield Batch(*(np.concatenate(columns) for columns in zip(*pieces, strict=True)))

    def _block(self, seed: int, number: int) -> Batch:
        """Draw one block of a stream."""
        rng = np.random.default_rng([_STREAM, seed, number])
        contexts = self.law.draw(rng, _BLOCK)
        expected = self._expected_rewards_at(number * _BLOCK + np.arange(_BLOCK), contexts)
        rewards = (rng.random(expected.shape, dtype=np.float32) < expected).astype(np.float64)
        return Batch(contexts, rewards, comparator_rewards=expected.max(axis=1), scored_rewards=expected)


class StationaryWorld(SyntheticWorld):
    """A synthetic world that does not change with time."""

    @property
    @abstractmethod
    def relevant_variables(self) -> list[int]:
        """The variables that the expected rewards depend on, in order."""

    @abstractmethod
    def _expected_rewards(self, contexts: Bits) -> Floats:
        """Return the expected reward of each action in each context."""

    def _expected_rewards_at(self, _events: NDArray[np.int64], contexts: Bits) -> Floats:
        return self._expected_rewards(contexts)

    def expected_rewards(self, contexts: Any) -> Floats:
        """Return the expected reward of each action in each context."""
        return self._expected_rewards(check_contexts(contexts, type(self).__name__, self.n_variables))

    def joint_distribution(self) -> JointDistribution:
        """Return every context with its expected rewards and its probability; for at most 16 variables."""
        if self.n_variables > _MOST_ENUMERATED:
            rule = f"at most {_MOST_ENUMERATED} to list every context"
            refuse("n_variables", type(self).__name__, rule, self.n_variables)
        numbers = np.arange(1 << self.n_variables)
        contexts = (numbers[:, np.newaxis] >> np.arange(self.n_variables) & 1).astype(np.uint8)
        return JointDistribution(contexts, self._expected_rewards(contexts), self.law.probabilities(contexts))


def structure_generator(structure_seed: object, owner: str) -> np.random.Generator:
    """Return the generator with which a world draws what it hides."""
    return np.random.default_rng([_STRUCTURE, check_int(structure_seed, "structure_seed", owner, low=0)])


def one_best_action(n_actions: int, noise: object, owner: str) -> Floats:
    """Return the expected rewards by best action: 1 for it, 0 for the others, flipped with probability `noise`."""
    flipped = check_number(noise, "noise", owner, "a number in [0, 0.5]", 0.0, 0.5)
    return np.where(np.eye(n_actions, dtype=np.bool_), 1.0 - flipped, flipped)
