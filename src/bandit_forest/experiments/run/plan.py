"""From an experiment to tasks: which trials are still to be played, and which forests they need."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bandit_forest.experiments.catalogue import Experiment, Setting
from bandit_forest.experiments.comparator.fitted import fitted_file
from bandit_forest.experiments.comparator.models import Model, RandomForest
from bandit_forest.experiments.comparator.rewards import read_rewards, rewards_file
from bandit_forest.experiments.run.factory import make_model
from bandit_forest.experiments.run.known_sums import KnownSums
from bandit_forest.experiments.run.tasks import FitForest, PlayComparator, PlayTrial, Task
from bandit_forest.worlds.datasets import Dataset

__all__ = ["COMPARATOR", "Plan", "Stage"]

COMPARATOR = RandomForest()
"""The forest that regret is counted against wherever a data set is played."""


@dataclass(frozen=True, kw_only=True)
class Stage:
    """Tasks that may run side by side."""

    name: str
    unit: str
    """What the sizes of its tasks count."""
    tasks: Sequence[Task]
    """Those that are still to be done."""
    n_done: int
    """Number of tasks that were done before."""
    jobs: int
    """Number of tasks that may run at a time."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to run, how often and on what."""

    experiment: Experiment
    settings: Sequence[Setting]
    n_events: int
    seeds: Sequence[int]
    jobs: int
    datasets: Mapping[str, Dataset]
    """The data sets that are played, by the names of their worlds."""
    data: Path | None
    file: Path
    """The results file."""
    finished: Collection[tuple[str, int]]
    """Names and seeds of the trials that are in the results file."""
    known_sums: KnownSums

    def stages(self) -> Iterator[Stage]:
        """Yield the stages in their order; only what unfinished trials need is in them."""
        trials = list(self._trials())
        n_done = len(self.seeds) * len(self.settings) - len(trials)
        fits = list(self._fits(trials))
        unfitted = [fit for fit in fits if not fit.file.exists()]
        yield Stage(  # its trees use all cores
            name="Forests with full information", unit="trees", tasks=unfitted, n_done=len(fits) - len(unfitted), jobs=1
        )
        plays = list(self._comparators(trials))
        unplayed = [play for play in plays if read_rewards(play.file, self.n_events) is None]
        yield Stage(name="Comparator", unit="events", tasks=unplayed, n_done=len(plays) - len(unplayed), jobs=self.jobs)
        yield Stage(name="Trials", unit="events", tasks=trials, n_done=n_done, jobs=self.jobs)

    def _trials(self) -> Iterator[PlayTrial]:
        for seed in self.seeds:  # a trial of every setting first, so that an early report compares them all
            for setting in self.settings:
                if (setting.name, seed) not in self.finished:
                    yield PlayTrial(
                        label=f"{self.experiment.setting_id(setting)} {setting.label}, trial {seed}",
                        setting=setting,
                        data=self.data,
                        comparator_file=self._comparator_file(setting.world.name, seed),
                        known_sums=self.known_sums.get((setting.world.name, seed)),
                        file=self.file,
                        seed=seed,
                        size=self.n_events,
                    )

    def _comparator_file(self, world: str, seed: int) -> Path | None:
        dataset = self.datasets.get(world)
        if dataset is None or (world, seed) in self.known_sums:
            return None
        return rewards_file(fitted_file(COMPARATOR, dataset), seed)

    def _comparators(self, trials: Sequence[PlayTrial]) -> Iterator[PlayComparator]:
        for file, trial in {trial.comparator_file: trial for trial in trials}.items():
            if file is not None:
                dataset = self.datasets[trial.setting.world.name]
                yield PlayComparator(
                    label=f"{dataset.name}, trial {trial.seed}",
                    world=trial.setting.world,
                    data=self.data,
                    forest_file=fitted_file(COMPARATOR, dataset),
                    file=file,
                    seed=trial.seed,
                    size=self.n_events,
                )

    def _fits(self, trials: Sequence[PlayTrial]) -> Iterator[FitForest]:
        models: dict[Path, tuple[Model, Setting]] = {}
        for trial in trials:
            dataset = self.datasets.get(trial.setting.world.name)
            needed = (COMPARATOR if trial.comparator_file else None, make_model(trial.setting.policy))
            for model in needed:
                if dataset is not None and model is not None:
                    models[fitted_file(model, dataset)] = model, trial.setting
        for file, (model, setting) in models.items():
            yield FitForest(
                label=f"{setting.world.name}, {model!r}",
                model=model,
                world=setting.world,
                data=self.data,
                file=file,
                jobs=self.jobs,
            )
