"""Run an experiment: forests that serve as reference first, then every trial that is not yet finished."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from bandit_forest.experiments.experiment import Experiment
from bandit_forest.experiments.files import remove_parts
from bandit_forest.experiments.manifest import describe_run, describe_session, open_manifest
from bandit_forest.experiments.plan import REFERENCE, Plan, Stage
from bandit_forest.experiments.pool import Update, run_tasks
from bandit_forest.validation import check_int
from bandit_forest.worlds.datasets import NAMES, load

__all__ = ["Watcher", "run_experiment"]

Watcher = Callable[[Stage], Callable[[int, Update], object]]
"""Told of a stage when it begins; it gives back what is told how far each task is."""


def run_experiment(
    experiment: Experiment,
    *,
    settings: Sequence[int] | None = None,
    n_events: int | None = None,
    n_trials: int | None = None,
    jobs: int | None = None,
    data: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] = "out",
    watch: Watcher | None = None,
) -> Path:
    """Run an experiment and give back the folder of its results; finished trials are never run again.

    Parameters
    ----------
    experiment
        What to run.
    settings
        The numbers of the settings to run; all when None.
    n_events
        Events of a trial; as the experiment says when None.
    n_trials
        Trials of a setting, with the seeds 0, 1, 2...; as the experiment says when None.
    jobs
        How many trials to run at a time; all cores when None. The rows are the same for any number.
    data
        Where UCI's files are; by default where `worlds.datasets.load` looks.
    out
        The folder of all results; this experiment's are in one below it that has its id.
    watch
        Told of each stage and how far it is.
    """
    worlds = {setting.world.name for setting in experiment.settings}
    n_trials = check_int(experiment.n_trials if n_trials is None else n_trials, "n_trials", "run_experiment")
    plan = Plan(
        experiment=experiment,
        settings=range(len(experiment.settings)) if settings is None else settings,
        n_events=check_int(experiment.n_events if n_events is None else n_events, "n_events", "run_experiment"),
        seeds=range(n_trials),
        jobs=check_int(os.cpu_count() or 1 if jobs is None else jobs, "jobs", "run_experiment"),
        datasets={name: load(name, data) for name in NAMES if name in worlds},
        data=None if data is None else Path(data),
        folder=Path(out) / experiment.id,
    )
    run = describe_run(experiment, n_events=plan.n_events, datasets=plan.datasets, reference=REFERENCE)
    open_manifest(plan.folder, run, n_trials=n_trials, session=describe_session(jobs=plan.jobs))
    try:
        _run_stages(plan, watch)
    finally:
        remove_parts(plan.folder / "rows")
        remove_parts(plan.folder / "times")
    return plan.folder


def _run_stages(plan: Plan, watch: Watcher | None) -> None:
    for stage in plan.stages():
        on_update = _unwatched if watch is None else watch(stage)
        run_tasks(stage.tasks, jobs=stage.jobs, on_update=on_update)


def _unwatched(number: int, update: Update) -> None:
    """Tell nobody."""
