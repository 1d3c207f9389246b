"""From results files to the results of experiments."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bandit_forest.errors import BanditForestError
from bandit_forest.experiments.catalogue import EXPERIMENTS, Experiment, Made, Setting
from bandit_forest.experiments.report.results import Result, Results
from bandit_forest.experiments.run.records import Records, read_records, result_files

__all__ = ["NoResultsError", "read_results"]


class NoResultsError(BanditForestError, FileNotFoundError):
    """A folder has no finished trials; the message says how to get some."""


def read_results(out: Path) -> list[Results]:
    """Return the results of all experiments in a folder and below it, in the order of the catalogue."""
    paths = result_files(out)
    read = ((path.relative_to(out), read_records(path)) for path in paths)
    found = [_results(path, records.run, records) for path, records in read if records.run and records.trials]
    if not found:
        raise NoResultsError(
            f"{out} has no finished trials. Make some with: bandit-forest run paper/covtype --out {out}"
        )
    order = [*EXPERIMENTS, *(results.experiment.id for results in found)]
    found.sort(key=lambda results: order.index(results.experiment.id))
    return [replace(results, results=[*results.results, *_beside(results, found)]) for results in found]


def _results(path: Path, run: dict[str, Any], records: Records) -> Results:
    # The rows may be of an experiment that is not in the catalogue, or older than the catalogue is now.
    experiment = EXPERIMENTS.get(run["experiment"]) or Experiment(
        id=run["experiment"], title=run["title"], shows="", settings=()
    )
    known = {setting.name: setting for setting in experiment.settings}
    settings = [*known.values(), *(_setting(records.settings[name]) for name in records.settings if name not in known)]
    results = [
        _result(experiment, setting, run["points"], records)
        for setting in settings
        if any(name == setting.name for name, _ in records.trials)
    ]
    return Results(
        name="-".join(path.with_suffix("").parts) if len(path.parts) > 1 else experiment.id.replace("/", "-"),
        experiment=experiment,
        run=run,
        settings=[records.settings[result.setting.name] for result in results],
        sessions=records.sessions,
        results=results,
    )


def _setting(described: dict[str, Any]) -> Setting:
    world, policy = (Made(name=described[part]["name"]) for part in ("world", "policy"))
    return Setting(name=described["name"], label=described["label"], world=world, policy=policy)


def _result(experiment: Experiment, setting: Setting, points: Sequence[int], records: Records) -> Result:
    keys = sorted(key for key in records.trials if key[0] == setting.name)
    return Result(
        id=experiment.setting_id(setting),
        setting=setting,
        n_events=np.array(points, dtype=np.int64),
        regrets=np.stack([records.trials[key].regret for key in keys]),
        rewards=np.stack([records.trials[key].reward for key in keys]),
        seconds=np.array([records.seconds.get(key, math.nan) for key in keys]),
    )


def _beside(results: Results, found: Iterable[Results]) -> Iterable[Result]:
    """Return the results of the experiment that is shown below, if it played the same streams."""
    for other in found:
        is_alike = all(other.run[name] == results.run[name] for name in ("points", "data", "comparator"))
        if other.experiment.id == results.experiment.beside and is_alike:
            yield from other.results
