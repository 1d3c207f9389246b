"""The steps of a run, each for a process of its own: fit a forest, play it as the comparator, play a trial."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bandit_forest.experiments.catalogue import Made, Setting
from bandit_forest.experiments.comparator.models import Model
from bandit_forest.experiments.comparator.rewards import play_comparator, read_rewards
from bandit_forest.experiments.comparator.routing import FlatForest
from bandit_forest.experiments.run.factory import make_environment, make_player
from bandit_forest.experiments.run.records import append_trial
from bandit_forest.experiments.run.trial import play_trial, row_points

__all__ = ["FitForest", "PlayComparator", "PlayTrial", "Task"]

Report = Callable[[int, float | None], object]
"""Called with the amount that is done, and the average reward where there is one."""


class Task(Protocol):
    """Something that takes its time, and can be sent to another process."""

    @property
    def label(self) -> str:
        """What is done."""

    @property
    def size(self) -> int:
        """Number of events or of trees."""

    def run(self, report: Report) -> None:
        """Do it; its result appears whole or not at all."""


@dataclass(frozen=True, kw_only=True)
class FitForest:
    """Fit a forest to a data set with full information."""

    label: str
    model: Model
    world: Made
    data: Path | None
    file: Path
    jobs: int

    @property
    def size(self) -> int:
        """Number of trees."""
        return self.model.n_trees

    def run(self, report: Report) -> None:
        """Fit the forest and save it."""
        dataset = make_environment(self.world, self.data).dataset
        if dataset is not None:
            forest = self.model.fit(dataset, jobs=self.jobs, progress=lambda n_trees: report(n_trees, None))
            forest.save(self.file)


@dataclass(frozen=True, kw_only=True)
class PlayComparator:
    """Play the stream of a trial with the comparator."""

    label: str
    world: Made
    data: Path | None
    forest_file: Path
    file: Path
    seed: int
    size: int

    def run(self, report: Report) -> None:
        """Play the stream and keep the rewards."""
        world = make_environment(self.world, self.data).world
        forest = FlatForest.load(self.forest_file)
        play_comparator(forest, world, self.file, n_events=self.size, seed=self.seed, progress=report)


@dataclass(frozen=True, kw_only=True, eq=False)
class PlayTrial:
    """Play the stream of a trial with a policy."""

    label: str
    setting: Setting
    data: Path | None
    comparator_file: Path | None
    """Rewards of the comparator; None in synthetic worlds, and where `known_sums` are given."""
    known_sums: NDArray[np.float64] | None
    """Reward of the comparator up to each row, if another trial has told it."""
    file: Path
    """The results file."""
    seed: int
    size: int

    def run(self, report: Report) -> None:
        """Play the stream and append the rows."""
        environment = make_environment(self.setting.world, self.data)
        rows = play_trial(
            make_player(self.setting.policy, environment, seed=self.seed),
            environment.world,
            n_events=self.size,
            seed=self.seed,
            comparator_sums=self._comparator_sums(),
            progress=report,
        )
        append_trial(self.file, self.setting.name, self.seed, rows)

    def _comparator_sums(self) -> NDArray[np.float64] | None:
        if self.comparator_file is None:
            return self.known_sums
        rewards = read_rewards(self.comparator_file, self.size)
        assert rewards is not None  # an earlier stage has played them
        sums: NDArray[np.float64] = np.cumsum(rewards, dtype=np.float64)[np.array(row_points(self.size)) - 1]
        return sums
