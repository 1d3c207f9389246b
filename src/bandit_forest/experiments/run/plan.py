"""From an experiment to tasks: which trials are still to be played, and which forests they need."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bandit_forest.distributed.local import Local
from bandit_forest.distributed.tasks import Launcher
from bandit_forest.experiments.catalogue import Experiment, Setting
from bandit_forest.experiments.comparator.fitted import fitted_file
from bandit_forest.experiments.comparator.models import Model, RandomForest
from bandit_forest.experiments.comparator.rewards import read_rewards, rewards_file
from bandit_forest.experiments.run.comparator_sums import ComparatorSums
from bandit_forest.experiments.run.factory import make_model
from bandit_forest.experiments.run.tasks import FitForest, KeptTask, PlayComparator, PlayTrial
from bandit_forest.experiments.run.trial import row_points
from bandit_forest.worlds.datasets import Dataset

__all__ = ["COMPARATOR", "Plan", "Stage"]

COMPARATOR = RandomForest()
"""The forest that regret is counted against wherever a data set is played."""


@dataclass(frozen=True, kw_only=True)
class Stage:
    """Tasks that may run side by side."""

    name: str
    unit: str
    """Unit of the sizes of its tasks."""
    tasks: Sequence[KeptTask]
    """Those that are still to be done."""
    n_done: int
    """Number of tasks that were done before."""
    launcher: Launcher
    """Runs them."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Settings to run, their number of trials and their data."""

    experiment: Experiment
    settings: Sequence[Setting]
    n_events: int
    seeds: Sequence[int]
    jobs: int
    launcher: Launcher
    datasets: Mapping[str, Dataset]
    """The data sets that are played, by the names of their worlds."""
    data: Path | None
    file: Path
    """The results file."""
    finished: Collection[tuple[str, int]]
    """Names and seeds of the trials that are in the results file."""
    comparator_sums: ComparatorSums

    def stages(self) -> Iterator[Stage]:
        """Yield the stages in their order; only what unfinished trials need is in them."""
        trials = [
            (setting, seed)
            for seed in self.seeds  # a trial of every setting first, so that an early report compares them all
            for setting in self.settings
            if (setting.name, seed) not in self.finished
        ]
        fits = list(self._fits(trials))
        unfitted = [fit for fit in fits if not fit.file.exists()]
        yield Stage(  # here, where its trees use all cores and its file stays
            name="Forests with full information",
            unit="trees",
            tasks=unfitted,
            n_done=len(fits) - len(unfitted),
            launcher=Local(1),
        )
        plays = list(self._comparators(trials))
        unplayed = [play for play in plays if read_rewards(play.file, self.n_events) is None]
        yield Stage(
            name="Comparator",
            unit="events",
            tasks=unplayed,
            n_done=len(plays) - len(unplayed),
            launcher=self.launcher,
        )
        yield Stage(
            name="Trials",
            unit="events",
            tasks=[self._trial(setting, seed) for setting, seed in trials],
            n_done=len(self.seeds) * len(self.settings) - len(trials),
            launcher=self.launcher,
        )

    def _trial(self, setting: Setting, seed: int) -> PlayTrial:
        model, dataset = make_model(setting.policy), self.datasets.get(setting.world.name)
        file = None if model is None or dataset is None else fitted_file(model, dataset)
        return PlayTrial(
            label=f"{self.experiment.setting_id(setting)} {setting.label}, trial {seed}",
            setting=setting,
            data=self.data,
            forest=None if file is None else self.launcher.share(file),
            comparator_sums=self._comparator_sums(setting.world.name, seed),
            file=self.file,
            seed=seed,
            size=self.n_events,
        )

    def _comparator_sums(self, world: str, seed: int) -> NDArray[np.float64] | None:
        """Return the reward of the comparator up to each row, which an earlier stage or another run has told."""
        file = self._comparator_file(world, seed)
        if file is None:
            return self.comparator_sums.get((world, seed))
        rewards = read_rewards(file, self.n_events)
        assert rewards is not None
        sums: NDArray[np.float64] = np.cumsum(rewards, dtype=np.float64)[np.array(row_points(self.n_events)) - 1]
        return sums

    def _comparator_file(self, world: str, seed: int) -> Path | None:
        """Return the file of the comparator's rewards; None where nobody needs them."""
        dataset = self.datasets.get(world)
        if dataset is None or (world, seed) in self.comparator_sums:
            return None
        return rewards_file(fitted_file(COMPARATOR, dataset), seed)

    def _comparators(self, trials: Sequence[tuple[Setting, int]]) -> Iterator[PlayComparator]:
        files = {self._comparator_file(setting.world.name, seed): (setting, seed) for setting, seed in trials}
        for file, (setting, seed) in files.items():
            if file is not None:
                dataset = self.datasets[setting.world.name]
                yield PlayComparator(
                    label=f"{dataset.name}, trial {seed}",
                    world=setting.world,
                    data=self.data,
                    forest=self.launcher.share(fitted_file(COMPARATOR, dataset)),
                    known=file.read_bytes() if file.exists() else b"",
                    file=file,
                    seed=seed,
                    size=self.n_events,
                )

    def _fits(self, trials: Sequence[tuple[Setting, int]]) -> Iterator[FitForest]:
        models: dict[Path, tuple[Model, Setting]] = {}
        for setting, seed in trials:
            dataset = self.datasets.get(setting.world.name)
            is_compared = self._comparator_file(setting.world.name, seed) is not None
            for model in (COMPARATOR if is_compared else None, make_model(setting.policy)):
                if dataset is not None and model is not None:
                    models[fitted_file(model, dataset)] = model, setting
        for file, (model, setting) in models.items():
            yield FitForest(
                label=f"{setting.world.name}, {model!r}",
                model=model,
                world=setting.world,
                data=self.data,
                file=file,
                jobs=self.jobs,
            )
