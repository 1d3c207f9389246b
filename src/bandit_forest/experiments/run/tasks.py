"""The steps of a run: fit a forest, play it as the comparator, play a trial."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bandit_forest.atomic import replacing
from bandit_forest.distributed.tasks import Report, SharedFile, Task
from bandit_forest.experiments.catalogue import Made, Setting
from bandit_forest.experiments.comparator.models import Model
from bandit_forest.experiments.comparator.rewards import play_comparator
from bandit_forest.experiments.comparator.routing import FlatForest
from bandit_forest.experiments.files import appending
from bandit_forest.experiments.run.factory import make_environment, make_player
from bandit_forest.experiments.run.records import trial_lines
from bandit_forest.experiments.run.trial import play_trial

__all__ = ["FitForest", "KeptTask", "PlayComparator", "PlayTrial"]


class KeptTask(Task, Protocol):
    """A step of a run, whose result is kept by the process that runs the experiment."""

    def keep(self, result: bytes) -> None:
        """Write the result, whole or not at all."""


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

    def run(self, report: Report) -> bytes:
        """Fit the forest and save it: no other machine needs to."""
        dataset = make_environment(self.world, self.data).dataset
        if dataset is not None:
            forest = self.model.fit(dataset, jobs=self.jobs, progress=lambda n_trees: report(n_trees, None))
            forest.save(self.file)
        return b""

    def keep(self, result: bytes) -> None:
        """Do nothing: it is kept."""


@dataclass(frozen=True, kw_only=True)
class PlayComparator:
    """Play the stream of a trial with the comparator."""

    label: str
    world: Made
    data: Path | None
    forest: SharedFile
    known: bytes
    """Kind of content of the file of the rewards, if there is one."""
    file: Path
    """File of the rewards."""
    seed: int
    size: int

    def run(self, report: Report) -> bytes:
        """Play the stream, and return the file of the rewards."""
        world = make_environment(self.world, self.data).world
        forest = FlatForest.load(self.forest.open())
        with TemporaryDirectory() as folder:
            file = Path(folder) / self.file.name
            file.write_bytes(self.known)
            play_comparator(forest, world, file, n_events=self.size, seed=self.seed, progress=report)
            return file.read_bytes()

    def keep(self, result: bytes) -> None:
        """Write the file of the rewards."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with replacing(self.file) as stream:
            stream.write(result)


@dataclass(frozen=True, kw_only=True, eq=False)
class PlayTrial:
    """Play the stream of a trial with a policy."""

    label: str
    setting: Setting
    data: Path | None
    forest: SharedFile | None
    """The fitted forest that plays; None where a bandit does."""
    comparator_sums: NDArray[np.float64] | None
    """Reward of the comparator up to each row; None in synthetic worlds."""
    file: Path
    """The results file."""
    seed: int
    size: int

    def run(self, report: Report) -> bytes:
        """Play the stream, and return the lines of the results file."""
        environment = make_environment(self.setting.world, self.data)
        forest = None if self.forest is None else FlatForest.load(self.forest.open())
        rows = play_trial(
            make_player(self.setting.policy, environment, seed=self.seed, fitted=forest),
            environment.world,
            n_events=self.size,
            seed=self.seed,
            comparator_sums=self.comparator_sums,
            progress=report,
        )
        return trial_lines(self.setting.name, self.seed, rows)

    def keep(self, result: bytes) -> None:
        """Append the lines."""
        with appending(self.file) as stream:
            stream.write(result)
