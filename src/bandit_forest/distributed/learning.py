"""Learning of a log in shards, which a launcher runs."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandit_forest.distributed.shards import Lessons, cut, merge, train
from bandit_forest.distributed.tasks import Launcher, OnUpdate, Report, SharedFile, ignore
from bandit_forest.forest import BanditForest

__all__ = ["TrainShard", "learn_in_shards"]


@dataclass(frozen=True, kw_only=True)
class TrainShard:
    """A task: some parts of a forest learn."""

    label: str
    size: int
    forest: BanditForest
    """The forest before these lessons."""
    files: tuple[SharedFile, ...]
    """Contexts, actions and rewards."""
    parts: range

    def run(self, report: Report) -> bytes:
        """Learn all lessons."""
        lessons = Lessons(*(_loaded(file) for file in self.files))
        return train(copy(self.forest), lessons, self.parts, progress=lambda n_events: report(n_events, None))


def learn_in_shards(
    forest: BanditForest,
    lessons: Lessons,
    *,
    launcher: Launcher,
    n_shards: int | None = None,
    on_update: OnUpdate = ignore,
) -> BanditForest:
    """Return the forest that has learned the lessons: the same bytes for any launcher and any number of shards.

    Parameters
    ----------
    forest
        The forest as it was before these lessons, which it stays.
    lessons
        Events in their order.
    launcher
        Runs the shards.
    n_shards
        Number of shards of trees; None: one for each group of four trees.
    on_update
        Called with the progress of a shard.

    Examples
    --------
    >>> from bandit_forest.distributed.local import Local
    >>> forest = BanditForest(n_variables=2, n_actions=2, n_trees=8)
    >>> lessons = Lessons(np.zeros((3, 2), np.uint8), np.array([0, 1, 0]), np.array([1.0, 0.0, 1.0]))
    >>> learn_in_shards(forest, lessons, launcher=Local(2)).n_events
    3
    """
    shards = cut(forest, forest.n_trees if n_shards is None else n_shards)
    with TemporaryDirectory() as folder:
        files = tuple(launcher.share(_saved(Path(folder) / name, getattr(lessons, name))) for name in Lessons._fields)
        tasks = [
            TrainShard(
                label=f"parts {parts.start} to {parts.stop - 1}",
                size=len(lessons.rewards),
                forest=forest,
                files=files,
                parts=parts,
            )
            for parts in reversed(shards)  # the line first, which may take longest
        ]
        return merge(forest, lessons, [result for _, result in launcher.run(tasks, on_update=on_update)])


def _loaded(file: SharedFile) -> NDArray[Any]:
    """Return an array; on this machine all shards read the same pages of its file."""
    source = file.open()
    array: NDArray[Any] = np.load(source, mmap_mode="r" if isinstance(source, Path) else None)
    return array


def _saved(path: Path, array: NDArray[Any]) -> Path:
    np.save(path.with_suffix(".npy"), array)
    return path.with_suffix(".npy")
