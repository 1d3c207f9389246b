"""From an experiment to tasks: which trials are still to be played, and which forests they need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bandit_forest.experiments.experiment import Experiment
from bandit_forest.experiments.making import make_model
from bandit_forest.experiments.reference_forest import Model, RandomForest, fitted_file
from bandit_forest.experiments.reference_rewards import rewards_file
from bandit_forest.experiments.tasks import FitForest, PlayReference, PlayTrial, Task
from bandit_forest.experiments.trial import TrialFiles
from bandit_forest.worlds.datasets import Dataset

__all__ = ["REFERENCE", "Plan", "Stage", "trial_files"]

REFERENCE = RandomForest()
"""What regret is counted against wherever a data set is played."""


@dataclass(frozen=True, kw_only=True)
class Stage:
    """Tasks that may run side by side."""

    name: str
    unit: str
    """What the sizes of its tasks count."""
    tasks: Sequence[Task]
    """Those that are still to be done."""
    n_done: int
    """How many were done before."""
    jobs: int
    """How many of them may run at a time."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to run, how often and on what."""

    experiment: Experiment
    settings: Sequence[int]
    n_events: int
    seeds: Sequence[int]
    jobs: int
    datasets: Mapping[str, Dataset]
    """The data sets that are played, by the names of their worlds."""
    data: Path | None
    folder: Path

    def stages(self) -> Iterator[Stage]:
        """Give the stages in their order; only what unfinished trials need is in them."""
        trials = list(self._trials())
        waiting = [trial for trial in trials if not trial.is_done]
        yield _stage("Forests with full information", "trees", list(self._fits(waiting)), 1)  # trees use all cores
        yield _stage("Reference", "events", list(self._references(waiting)), self.jobs)
        yield _stage("Trials", "events", trials, self.jobs)

    def _trials(self) -> Iterator[PlayTrial]:
        for seed in self.seeds:  # a trial of every setting first, so that an early report compares them all
            for number in self.settings:
                setting = self.experiment.settings[number]
                yield PlayTrial(
                    label=f"{self.experiment.setting_id(number)} {setting.label}, trial {seed}",
                    world=setting.world,
                    policy=setting.policy,
                    data=self.data,
                    reference_file=self._reference_file(setting.world.name, seed),
                    files=trial_files(self.folder, number, seed),
                    seed=seed,
                    size=self.n_events,
                )

    def _references(self, trials: Sequence[PlayTrial]) -> Iterator[PlayReference]:
        for file, trial in {trial.reference_file: trial for trial in trials}.items():
            if file is not None:
                dataset = self.datasets[trial.world.name]
                yield PlayReference(
                    label=f"{dataset.name}, trial {trial.seed}",
                    world=trial.world,
                    data=self.data,
                    forest_file=fitted_file(REFERENCE, dataset),
                    file=file,
                    seed=trial.seed,
                    size=self.n_events,
                )

    def _fits(self, trials: Sequence[PlayTrial]) -> Iterator[FitForest]:
        models: dict[Path, tuple[Model, PlayTrial]] = {}
        for trial in trials:
            dataset = self.datasets.get(trial.world.name)
            for model in (REFERENCE, make_model(trial.policy)):
                if dataset is not None and model is not None:
                    models[fitted_file(model, dataset)] = model, trial
        for file, (model, trial) in models.items():
            yield FitForest(
                label=f"{trial.world.name}, {model!r}",
                model=model,
                world=trial.world,
                data=self.data,
                file=file,
                jobs=self.jobs,
            )

    def _reference_file(self, world: str, seed: int) -> Path | None:
        dataset = self.datasets.get(world)
        return None if dataset is None else rewards_file(fitted_file(REFERENCE, dataset), seed)


def trial_files(folder: Path, setting: int, seed: int) -> TrialFiles:
    """Give the files of a trial in the folder of its experiment."""
    name = f"{setting}-seed{seed}.csv"
    return TrialFiles(folder / "rows" / name, folder / "times" / name)


def _stage(name: str, unit: str, tasks: Sequence[Task], jobs: int) -> Stage:
    waiting = [task for task in tasks if not task.is_done]
    return Stage(name=name, unit=unit, tasks=waiting, n_done=len(tasks) - len(waiting), jobs=jobs)
