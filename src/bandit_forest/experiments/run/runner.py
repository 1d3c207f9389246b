"""Run an experiment: the comparator first, then every trial that is not yet finished."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from pathlib import Path

from bandit_forest.distributed.local import Local
from bandit_forest.distributed.tasks import Launcher, Update, ignore
from bandit_forest.errors import refuse
from bandit_forest.experiments.catalogue import Experiment, Setting
from bandit_forest.experiments.run.comparator_sums import comparator_sums
from bandit_forest.experiments.run.description import describe_run, describe_session, describe_setting
from bandit_forest.experiments.run.plan import COMPARATOR, Plan, Stage
from bandit_forest.experiments.run.records import open_run, results_file
from bandit_forest.validation import check_int
from bandit_forest.worlds.datasets import NAMES, load

__all__ = ["Watcher", "run_experiment"]

Watcher = Callable[[Stage], Callable[[int, Update], object]]
"""Called when a stage begins; it returns what is called with the progress of each task."""


def run_experiment(
    experiment: Experiment,
    *,
    settings: Collection[str] | None = None,
    n_events: int | None = None,
    n_trials: int | None = None,
    jobs: int | None = None,
    launcher: Launcher | None = None,
    data: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] = "out",
    watch: Watcher | None = None,
) -> Path:
    """Run an experiment and return its results file; finished trials are never run again.

    Parameters
    ----------
    experiment
        The experiment to run.
    settings
        Names of the settings to run; all when None.
    n_events
        Events of a trial; as the experiment says when None.
    n_trials
        Trials of a setting, with the seeds 0, 1, 2...; as the experiment says when None.
    jobs
        Number of trials that run at a time; all cores when None. The rows are the same for any number.
    launcher
        Runs the trials; `Local(jobs)` when None. The rows are the same for any launcher.
    data
        Folder of UCI's files; by default where `worlds.datasets.load` looks.
    out
        The folder of all results; the results file of this experiment is in it, under the experiment's id.
    watch
        Called when a stage begins.
    """
    chosen = _chosen(experiment, settings)
    n_events = check_int(experiment.n_events if n_events is None else n_events, "n_events", "run_experiment")
    n_trials = check_int(experiment.n_trials if n_trials is None else n_trials, "n_trials", "run_experiment")
    jobs = check_int(os.cpu_count() or 1 if jobs is None else jobs, "jobs", "run_experiment")
    worlds = {setting.world.name for setting in experiment.settings}
    datasets = {name: load(name, data) for name in NAMES if name in worlds}
    run = describe_run(experiment, n_events=n_events, datasets=datasets, comparator=COMPARATOR)
    file = results_file(Path(out), experiment.id)
    described = {setting.name: describe_setting(setting) for setting in chosen}
    records = open_run(file, run, described, describe_session(jobs=jobs))
    plan = Plan(
        experiment=experiment,
        settings=chosen,
        n_events=n_events,
        seeds=range(n_trials),
        jobs=jobs,
        launcher=Local(jobs) if launcher is None else launcher,
        datasets=datasets,
        data=None if data is None else Path(data),
        file=file,
        finished=records.trials.keys(),
        comparator_sums=comparator_sums(Path(out), run),
    )
    for stage in plan.stages():
        on_update = ignore if watch is None else watch(stage)
        for number, result in stage.launcher.run(stage.tasks, on_update=on_update):
            stage.tasks[number].keep(result)
    return file


def _chosen(experiment: Experiment, names: Collection[str] | None) -> list[Setting]:
    known = [setting.name for setting in experiment.settings]
    for name in names or ():
        if name not in known:
            refuse("settings", "run_experiment", f"names of settings of {experiment.id}: {', '.join(known)}", name)
    return [setting for setting in experiment.settings if names is None or setting.name in names]
