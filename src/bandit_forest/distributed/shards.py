"""Shards of a forest: each learns a log alone, and together they equal the forest of a single process.

The parts of a forest are its groups of trees and, behind them, its line. None of them needs another one to learn. Only
the two weights of trees and line depend on all: they are learned at the merge, from the number that each part has noted
about each event.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bandit_forest import archive
from bandit_forest.errors import refuse
from bandit_forest.forest import BanditForest
from bandit_forest.forest.parts import ForestParts
from bandit_forest.validation import check_int

__all__ = ["Lessons", "cut", "merge", "sections_of", "train"]

_AT_ONCE = 20_000


class Lessons(NamedTuple):
    """Events to learn, in their order."""

    contexts: NDArray[np.uint8]
    """Codes of the variables, one row per event."""
    actions: NDArray[np.int64]
    rewards: NDArray[np.float64]
    """In [0, 1]."""


def cut(forest: BanditForest, n_shards: int) -> list[range]:
    """Return the parts of each shard: whole groups of trees, and the linear part as one more shard.

    Parameters
    ----------
    forest
        The forest, which must grow greedily: trees that grow by elimination share their memory.
    n_shards
        Number of shards of trees; at most as many as there are groups.

    Examples
    --------
    >>> cut(BanditForest(n_variables=3, n_actions=2, n_trees=32), 3)
    [range(0, 2), range(2, 5), range(5, 8), range(8, 9)]
    """
    whole = ForestParts(forest, "cut")
    n_groups = whole.n_groups
    n_shards = min(check_int(n_shards, "n_shards", "cut"), n_groups)
    ends = [n_groups * number // n_shards for number in range(n_shards + 1)]
    shards = [range(first, last) for first, last in pairwise(ends)]
    return [*shards, range(n_groups, n_groups + 1)] if whole.has_line else shards


def train(
    forest: BanditForest, lessons: Lessons, parts: range, *, progress: Callable[[int], object] | None = None
) -> bytes:
    """Let some parts of a forest learn, and return their state and notes; the forest must not be used afterwards.

    Parameters
    ----------
    forest
        A copy of the forest as it was before these lessons.
    lessons
        The lessons, all of them.
    parts
        One of the ranges of `cut`.
    progress
        Called with the number of lessons learned so far, every now and then.
    """
    whole, n_lessons = ForestParts(forest, "train"), len(lessons.rewards)
    notes = np.empty((n_lessons, len(parts)))
    for first in range(0, n_lessons, _AT_ONCE):
        piece = slice(first, min(first + _AT_ONCE, n_lessons))
        notes[piece] = whole.learn(lessons.contexts[piece], lessons.actions[piece], lessons.rewards[piece], parts)
        if progress is not None:
            progress(piece.stop)
    sections = whole.sections()
    kept = [sections[number] for number in sections_of(parts, whole.n_groups)]
    header = {"parts": [parts.start, parts.stop], "n_events": forest.n_events, "lengths": [len(one) for one in kept]}
    return archive.pack(header, b"".join([*kept, notes.tobytes()]))


def merge(forest: BanditForest, lessons: Lessons, shards: Sequence[bytes]) -> BanditForest:
    """Return the forest that has learned the lessons, merged from its shards.

    Parameters
    ----------
    forest
        The forest as it was before these lessons.
    lessons
        The lessons of all shards.
    shards
        What `train` returned for each of the ranges of `cut`, in any order.
    """
    before, n_lessons = ForestParts(forest, "merge"), len(lessons.rewards)
    n_groups, merged = before.n_groups, before.sections()
    notes = np.zeros((n_lessons, n_groups + before.has_line))
    missing = set(range(n_groups + before.has_line))
    for shard in shards:
        told, arrays = archive.unpack(shard, "shard")
        parts = range(*told["parts"])
        if told["n_events"] != forest.n_events + n_lessons or not missing.issuperset(parts):
            refuse("shards", "merge", "one for each part of the forest, with the lessons given", told)
        missing -= set(parts)
        start = 0
        for number, length in zip(sections_of(parts, n_groups), told["lengths"], strict=True):
            merged[number] = arrays[start : start + length]
            start += length
        notes[:, parts.start : parts.stop] = np.frombuffer(arrays[start:]).reshape(n_lessons, len(parts))
    if missing:
        refuse("shards", "merge", "one for each part of the forest", f"none for the parts {sorted(missing)}")
    whole = before.joined(merged)
    ForestParts(whole, "merge").learn_weights(notes, lessons.rewards)
    return whole


def sections_of(parts: range, n_groups: int) -> list[int]:
    """Return which pieces of a saved forest some parts have made: the log too, which all shards have."""
    groups = [part for part in parts if part < n_groups]
    line = [2 * n_groups + 1] if parts.stop > n_groups else []
    log = [0] if parts.start == 0 else []
    return [*log, *(1 + group for group in groups), *(1 + n_groups + group for group in groups), *line]
