"""Play a policy on a world of pairs; what it earns is counted by expected rewards."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from bandit_forest.worlds.pairs import BilinearPairs, Offer, PairWorld, TreePairs

__all__ = ["WORLDS", "Entrant", "Player", "Score", "play"]

WORLDS: dict[str, type[PairWorld]] = {"tree": TreePairs, "bilinear": BilinearPairs}
_FRESH = 10
"""An action is fresh in its first ten appearances."""


class Player(Protocol):
    """A policy on a stream of offers."""

    def decide(self, offer: Offer) -> int:
        """Return the offered action that is taken."""

    def learn(self, offer: Offer, action: int) -> None:
        """Learn the reward of the action that was taken."""


class Entrant(NamedTuple):
    """A policy with a setting."""

    policy: str
    setting: str
    make: Callable[[PairWorld], Player]


class Score(NamedTuple):
    """What a policy earned, as a share of the best possible reward."""

    all_events: float
    first_tenth: float
    second_half: float
    fresh: float
    """In events of the second half that offer a fresh action."""
    fresh_best: float
    """In events of the second half whose best action is fresh."""
    microseconds: float
    """For an event: a decision and a lesson."""


def play(player: Player, world: PairWorld, *, n_events: int, seed: int) -> Score:
    """Return what a policy earns on the stream of a seed."""
    earned, best, seconds = np.empty(n_events), np.empty(n_events), 0.0
    offers_fresh, best_is_fresh = np.empty(n_events, dtype=bool), np.empty(n_events, dtype=bool)
    for event, offer in enumerate(world.events(n_events, seed=seed)):
        start = time.perf_counter()
        action = player.decide(offer)
        player.learn(offer, action)
        seconds += time.perf_counter() - start
        earned[event], best[event] = offer.expected[action], offer.expected.max()
        fresh = offer.appearances < _FRESH
        offers_fresh[event], best_is_fresh[event] = fresh.any(), fresh[offer.expected.argmax()]
    events = np.arange(n_events)
    late = events >= n_events // 2
    parts = (events >= 0, events < n_events // 10, late, late & offers_fresh, late & best_is_fresh)
    shares = [float(earned[part].sum() / max(best[part].sum(), 1e-9)) for part in parts]
    return Score._make([*shares, 1e6 * seconds / n_events])
