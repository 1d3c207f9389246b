"""What all worlds of pairs share: actions with features, of which some are offered, that come and go."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bandit_forest.validation import check_int, check_number

__all__ = ["Offer", "PairWorld"]

Floats = NDArray[np.float64]

_STREAM, _STRUCTURE = 3, 4  # first words of the generators' seeds, so that a world is not drawn like its stream


class Offer(NamedTuple):
    """One event: a context, and the actions that may be taken."""

    context: Floats
    """The features of the context, (n_context_features,)."""
    ids: NDArray[np.int64]
    """The numbers of the offered actions, (n_offered,); a number is never used for a second action."""
    actions: Floats
    """The features of the offered actions, (n_offered, n_action_features)."""
    rewards: Floats
    """The reward that each of them would earn, 0 or 1: a policy sees the chosen one."""
    expected: Floats
    """The expected rewards: regret is exact."""
    appearances: NDArray[np.int64]
    """Number of times that each of them was offered before."""


class PairWorld(ABC):
    """A world whose expected rewards depend on a context and on the features of an action.

    All features are independent numbers, uniform in [0, 1).

    Parameters
    ----------
    n_context_features
        Number of features of a context.
    n_action_features
        Number of features of an action.
    n_actions
        Number of actions at any time.
    n_offered
        Number of distinct actions that are offered at each event.
    replaced_share
        Share of the actions that are replaced at a time by the same number of new actions.
    replaced_every
        Number of events between two replacements.
    structure_seed
        Seed of the hidden structure of the world.
    """

    def __init__(
        self,
        *,
        n_context_features: int = 10,
        n_action_features: int = 30,
        n_actions: int = 1000,
        n_offered: int = 20,
        replaced_share: float = 0.1,
        replaced_every: int = 10_000,
        structure_seed: int = 0,
    ) -> None:
        owner = type(self).__name__
        self.n_context_features = check_int(n_context_features, "n_context_features", owner)
        self.n_action_features = check_int(n_action_features, "n_action_features", owner)
        self.n_actions = check_int(n_actions, "n_actions", owner)
        self.n_offered = check_int(n_offered, "n_offered", owner, high=self.n_actions)
        share = check_number(replaced_share, "replaced_share", owner, "a number in [0, 1]", 0.0, 1.0)
        self._n_replaced = round(share * self.n_actions)
        self._replaced_every = check_int(replaced_every, "replaced_every", owner)
        seed = check_int(structure_seed, "structure_seed", owner, low=0)
        self._hide(np.random.default_rng([_STRUCTURE, seed]))

    @abstractmethod
    def _hide(self, rng: np.random.Generator) -> None:
        """Draw what the world hides."""

    @abstractmethod
    def expected_rewards(self, context: Floats, actions: Floats) -> Floats:
        """Return the expected reward of each action, one row of features per action."""

    def events(self, n_events: int, *, seed: int) -> Iterator[Offer]:
        """Yield the first events of the stream of a seed.

        Parameters
        ----------
        n_events
            Number of events.
        seed
            Seed of the stream.
        """
        rng = np.random.default_rng([_STREAM, check_int(seed, "seed", f"{type(self).__name__}.events", low=0)])
        actions = rng.random((self.n_actions, self.n_action_features))
        ids = np.arange(self.n_actions)
        appearances = np.zeros(self.n_actions, dtype=np.int64)
        n_ids = self.n_actions
        for event in range(check_int(n_events, "n_events", f"{type(self).__name__}.events", low=0)):
            if event > 0 and event % self._replaced_every == 0:
                leaving = rng.choice(self.n_actions, self._n_replaced, replace=False)
                actions[leaving] = rng.random((self._n_replaced, self.n_action_features))
                ids[leaving] = np.arange(n_ids, n_ids + self._n_replaced)
                appearances[leaving] = 0
                n_ids += self._n_replaced
            offered = rng.choice(self.n_actions, self.n_offered, replace=False)
            context = rng.random(self.n_context_features)
            expected = self.expected_rewards(context, actions[offered])
            rewards = (rng.random(self.n_offered) < expected).astype(np.float64)
            yield Offer(context, ids[offered], actions[offered], rewards, expected, appearances[offered])
            appearances[offered] += 1
