"""One trial: a policy plays one stream, and its regret and reward become rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bandit_forest.experiments.run.factory import Player
from bandit_forest.simulation import evenly_spaced, pieces
from bandit_forest.worlds import World

__all__ = ["LAST_EVENTS", "TrialRow", "play_trial", "row_points"]

LAST_EVENTS = 100_000
"""Number of events over which the rate is averaged, at the end of a trial, as in the paper."""

_N_ROWS = 100

Progress = Callable[[int, float], object]
"""Called with the number of events played and their average reward."""


class TrialRow(NamedTuple):
    """Sums from the first event of a trial up to this one."""

    n_events: int
    regret: float
    reward: float
    seconds: float
    """Processor time that the policy took, without that of the world, whatever else the machine does."""


def row_points(n_events: int) -> list[int]:
    """Return the numbers of events after which a trial has a row.

    Examples
    --------
    >>> points = row_points(200_000)
    >>> len(points), points[0], points[-1], 200_000 - LAST_EVENTS in points
    (100, 2000, 200000, True)
    """
    last = n_events - LAST_EVENTS
    return sorted({*evenly_spaced(n_events, _N_ROWS), *([last] if last > 0 else [])})


def play_trial(
    player: Player,
    world: World,
    *,
    n_events: int,
    seed: int,
    comparator_sums: NDArray[np.float64] | None = None,
    progress: Progress,
) -> Iterator[TrialRow]:
    """Let a policy play the stream of a seed, and yield a row at each of the `row_points`.

    Parameters
    ----------
    player
        The policy.
    world
        The world that it plays.
    n_events
        Number of events.
    seed
        Seed of the stream.
    comparator_sums
        Reward of the comparator on the same stream, summed up to each point; None where the world knows its optimum.
    progress
        Called after each batch.
    """
    points = row_points(n_events)
    n_played, regret, reward, seconds = 0, 0.0, 0.0, 0.0
    for batch in pieces(world.batches(n_events, seed=seed), points):
        start = time.process_time()
        played = player.play(batch.contexts, batch.rewards)
        seconds += time.process_time() - start
        n_played += len(played.actions)
        reward += float(played.rewards.sum())
        if comparator_sums is None:
            scored = batch.scored_rewards[np.arange(len(played.actions)), played.actions]
            regret += float((batch.comparator_rewards - scored).sum())
        elif n_played in points:
            regret = float(comparator_sums[points.index(n_played)]) - reward
        progress(n_played, reward / n_played)
        if n_played in points:
            yield TrialRow(n_played, regret, reward, seconds)
