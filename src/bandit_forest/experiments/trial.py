"""One trial: a policy plays one stream, and tells how it does in rows that are written as they come."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bandit_forest.experiments.files import replacing
from bandit_forest.experiments.making import Player
from bandit_forest.simulation import evenly_spaced, pieces
from bandit_forest.worlds import World

__all__ = ["LAST_EVENTS", "TrialFiles", "TrialRow", "play_trial", "row_points", "write_trial"]

LAST_EVENTS = 100_000
"""The rate is the average reward of the last so many events, as in the paper."""

_N_ROWS = 100

Progress = Callable[[int, float], object]
"""Called with the events that are played and the average reward of them."""


class TrialRow(NamedTuple):
    """What a policy has done from the first event of a trial up to this one."""

    n_events: int
    regret: float
    reward: float
    """The sum of what was earned."""
    seconds: float
    """Processor time that the policy took, without that of the world; whatever else the machine does."""


class TrialFiles(NamedTuple):
    """Where a trial is told: what the seed decides, apart from what the machine decides."""

    rows: Path
    """n_events, regret and reward; it gets its name last, once the trial is finished."""
    times: Path
    """n_events and seconds."""


def row_points(n_events: int) -> list[int]:
    """Give the numbers of events after which a trial has a row.

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
    reference_rewards: NDArray[np.uint8] | None = None,
    progress: Progress,
) -> Iterator[TrialRow]:
    """Let a policy play the stream of a seed, and give a row at each of the `row_points`.

    Parameters
    ----------
    player
        Who plays.
    world
        What is played.
    n_events
        How many events to play.
    seed
        Names the stream.
    reference_rewards
        What the reference earned on each event of the stream; the world's own reference when None.
    progress
        Told how far the trial is.
    """
    points = set(row_points(n_events))
    row = TrialRow(0, 0.0, 0.0, 0.0)
    for batch in pieces(world.batches(n_events, seed=seed), points):
        start = time.process_time()
        played = player.play(batch.contexts, batch.rewards)
        seconds = time.process_time() - start
        n_played = row.n_events + len(batch.contexts)
        if reference_rewards is None:
            scored = batch.scored_rewards[np.arange(len(played.actions)), played.actions]
            regret = float((batch.reference_rewards - scored).sum())
        else:
            regret = float(reference_rewards[row.n_events : n_played].sum()) - float(played.rewards.sum())
        row = TrialRow(n_played, row.regret + regret, row.reward + float(played.rewards.sum()), row.seconds + seconds)
        progress(row.n_events, row.reward / row.n_events)
        if row.n_events in points:
            yield row


def write_trial(rows: Iterator[TrialRow], files: TrialFiles) -> None:
    """Write the rows of a trial as they come; the files get their names when the last has come."""
    with replacing(files.rows) as result, replacing(files.times) as times:
        _write(result, "n_events,regret,reward")
        _write(times, "n_events,seconds")
        for row in rows:
            _write(result, f"{row.n_events},{row.regret:.10g},{row.reward:.10g}")
            _write(times, f"{row.n_events},{row.seconds:.6f}")


def _write(stream: BinaryIO, line: str) -> None:
    stream.write(f"{line}\n".encode())
    stream.flush()
