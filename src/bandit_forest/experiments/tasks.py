"""The steps of a run, each for a process of its own: fit a forest, play it as the reference, play a trial."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from bandit_forest.experiments.experiment import Made
from bandit_forest.experiments.making import Place, make_place, make_player
from bandit_forest.experiments.reference_forest import Model
from bandit_forest.experiments.reference_rewards import play_reference, read_rewards
from bandit_forest.experiments.routing import FlatForest
from bandit_forest.experiments.trial import TrialFiles, play_trial, write_trial

__all__ = ["FitForest", "PlayReference", "PlayTrial", "Task"]

Report = Callable[[int, float | None], object]
"""Called with what is done so far, and the average reward where there is one."""


class Task(Protocol):
    """Something that takes its time, and can be sent to another process."""

    @property
    def label(self) -> str:
        """What is done."""

    @property
    def size(self) -> int:
        """How much there is to do: events, or trees."""

    @property
    def is_done(self) -> bool:
        """Whether its result is there already."""

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

    @property
    def is_done(self) -> bool:
        """Whether the forest is there."""
        return self.file.exists()

    def run(self, report: Report) -> None:
        """Fit the forest and save it."""
        dataset = make_place(self.world, self.data).dataset
        if dataset is not None:
            forest = self.model.fit(dataset, jobs=self.jobs, progress=lambda n_trees: report(n_trees, None))
            forest.save(self.file)


@dataclass(frozen=True, kw_only=True)
class PlayReference:
    """Play the stream of a trial with the reference forest."""

    label: str
    world: Made
    data: Path | None
    forest_file: Path
    file: Path
    seed: int
    size: int

    @property
    def is_done(self) -> bool:
        """Whether the rewards of that many events are there."""
        return read_rewards(self.file, self.size) is not None

    def run(self, report: Report) -> None:
        """Play the stream and keep the rewards."""
        world = make_place(self.world, self.data).world
        forest = FlatForest.load(self.forest_file)
        play_reference(forest, world, self.file, n_events=self.size, seed=self.seed, progress=report)


@dataclass(frozen=True, kw_only=True)
class PlayTrial:
    """Play the stream of a trial with a policy."""

    label: str
    world: Made
    policy: Made
    data: Path | None
    reference_file: Path | None
    files: TrialFiles
    seed: int
    size: int

    @property
    def is_done(self) -> bool:
        """Whether the trial is finished."""
        return self.files.rows.exists()

    def run(self, report: Report) -> None:
        """Play the stream and write the rows."""
        place: Place = make_place(self.world, self.data)
        reference = None if self.reference_file is None else read_rewards(self.reference_file, self.size)
        player = make_player(self.policy, place, seed=self.seed)
        rows = play_trial(
            player, place.world, n_events=self.size, seed=self.seed, reference_rewards=reference, progress=report
        )
        write_trial(rows, self.files)
