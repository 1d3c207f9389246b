"""A policy plays a world: regret, reward, optimal decisions and time, at chosen numbers of events."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from bandit_forest.errors import refuse
from bandit_forest.policy import Played, Policy
from bandit_forest.validation import check_int
from bandit_forest.worlds.world import Batch, World

__all__ = ["Row", "evenly_spaced", "pieces", "simulate"]


class Row(NamedTuple):
    """State of a simulation: the policy's results from the first event of a stream up to this one."""

    n_events: int
    """Events played."""
    regret: float
    """Total reward of the comparator minus that of the decisions; exact if the world has expected rewards."""
    average_reward: float
    """Average reward per event."""
    optimal_share: float
    """Share of the decisions for an action with the highest score."""
    seconds: float
    """Time of the policy, without the time of the world."""


def evenly_spaced(n_events: int, n_rows: int) -> list[int]:
    """Return `n_rows` numbers of events, evenly spaced and ending with the last.

    Examples
    --------
    >>> evenly_spaced(1000, 4)
    [250, 500, 750, 1000]
    """
    return sorted({round(n_events * (row + 1) / n_rows) for row in range(n_rows)} - {0})


def pieces(batches: Iterator[Batch], points: Collection[int]) -> Iterator[Batch]:
    """Cut the batches of a stream at these numbers of events.

    Examples
    --------
    >>> from bandit_forest.worlds import HiddenTree
    >>> batches = HiddenTree(n_variables=3, n_actions=2, depth=1).batches(100, seed=0, batch_size=50)
    >>> [len(piece.contexts) for piece in pieces(batches, [20, 100])]
    [20, 30, 50]
    """
    start = 0
    for batch in batches:
        stop = start + len(batch.contexts)
        cuts = [0, *sorted(point - start for point in points if start < point < stop), stop - start]
        for first, last in pairwise(cuts):
            yield Batch._make(column[first:last] for column in batch)
        start = stop


def simulate(
    policy: Policy,
    world: World,
    *,
    n_events: int,
    seed: int,
    rows: Sequence[int] | None = None,
    progress: Callable[[int], object] | None = None,
) -> list[Row]:
    """Play a policy on the stream of a world, and return its regret, reward and time.

    Parameters
    ----------
    policy
        Policy to play; it keeps what it has learned before.
    world
        World of the events, with the same numbers of variables and actions as the policy.
    n_events
        Number of events to play.
    seed
        Seed of the stream.
    rows
        Numbers of events after which a row is returned, in increasing order; None: only after the last event.
    progress
        Function that is called from time to time with the number of events played so far.

    Examples
    --------
    >>> from bandit_forest.baselines import Uniform
    >>> from bandit_forest.worlds import HiddenTree
    >>> world = HiddenTree(n_variables=10, n_actions=2, depth=1, noise=0.0)
    >>> rows = simulate(Uniform(n_variables=10, n_actions=2), world, n_events=1000, seed=0, rows=[500, 1000])
    >>> [row.n_events for row in rows]
    [500, 1000]
    >>> rows[-1].regret == 1000 * (1 - rows[-1].average_reward)
    True
    """
    _check_players(policy, world)
    n_events = check_int(n_events, "n_events", "simulate")
    seed = check_int(seed, "seed", "simulate", low=0)
    if progress is not None and not callable(progress):
        refuse("progress", "simulate", "a function of the number of events played, or None", progress)
    wanted = _checked_rows(rows, n_events)
    totals, told = _Totals(), []
    for batch in pieces(world.batches(n_events, seed=seed), wanted):
        start = time.perf_counter()
        played = policy.play(batch.contexts, batch.rewards)
        totals.add(batch, played, time.perf_counter() - start)
        if totals.n_events in wanted:
            told.append(totals.row())
        if progress is not None:
            progress(totals.n_events)
    return told


def _check_players(policy: Policy, world: World) -> None:
    if not isinstance(policy, Policy):
        refuse("policy", "simulate", "a policy", policy)
    if not isinstance(world, World):
        refuse("world", "simulate", "a world", world)
    sizes = (policy.n_variables, policy.n_actions)
    if sizes != (world.n_variables, world.n_actions):
        rule = f"one for {world.n_variables} variables and {world.n_actions} actions, like the world"
        refuse("policy", "simulate", rule, f"{sizes[0]} variables and {sizes[1]} actions")


def _checked_rows(rows: Sequence[int] | None, n_events: int) -> set[int]:
    if rows is None:
        return {n_events}
    if not isinstance(rows, Sequence):
        refuse("rows", "simulate", "increasing numbers of events", rows)
    checked = [check_int(row, "rows", "simulate", low=1, high=n_events) for row in rows]
    if sorted(set(checked)) != checked:
        refuse("rows", "simulate", "increasing numbers of events", rows)
    return set(checked)


@dataclass
class _Totals:
    """Sums from the first event on."""

    n_events: int = 0
    regret: float = 0.0
    reward: float = 0.0
    optimal: int = 0
    seconds: float = 0.0

    def add(self, batch: Batch, played: Played, seconds: float) -> None:
        events = np.arange(len(played.actions))
        scored = batch.scored_rewards[events, played.actions]
        self.n_events += len(events)
        self.regret += float((batch.comparator_rewards - scored).sum())
        self.reward += float(played.rewards.sum())
        self.optimal += int(np.count_nonzero(scored == batch.scored_rewards.max(axis=1)))
        self.seconds += seconds

    def row(self) -> Row:
        average, share = self.reward / self.n_events, self.optimal / self.n_events
        return Row(self.n_events, self.regret, average, share, self.seconds)
