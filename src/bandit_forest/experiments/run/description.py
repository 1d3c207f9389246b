"""What is run, with what and where: written into the results file, and checked before a run goes on."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from bandit_forest.experiments.catalogue import Experiment, Setting
from bandit_forest.experiments.comparator.models import Model
from bandit_forest.experiments.run.factory import all_parameters
from bandit_forest.experiments.run.trial import row_points
from bandit_forest.worlds.datasets import Dataset

__all__ = ["describe_run", "describe_session", "describe_setting"]

_PACKAGES = ("bandit-forest", "numpy", "scikit-learn")


def describe_run(
    experiment: Experiment, *, n_events: int, datasets: Mapping[str, Dataset], comparator: Model
) -> dict[str, Any]:
    """Describe what decides the rows of every setting: the same for any numbers of trials and jobs.

    Parameters
    ----------
    experiment
        The experiment to run.
    n_events
        Events of a trial.
    datasets
        The data sets that are played, by the names of their worlds.
    comparator
        The forest that regret is counted against where a data set is played.
    """
    return {
        "experiment": experiment.id,
        "title": experiment.title,
        "n_events": n_events,
        "points": row_points(n_events),
        "data": {
            name: {"name": dataset.name, "description": dataset.description, "files": dict(dataset.files)}
            for name, dataset in datasets.items()
        },
        "comparator": f"{comparator!r} of {comparator.fitted_with}" if datasets else "the optimum of the world",
    }


def describe_setting(setting: Setting) -> dict[str, Any]:
    """Describe what decides the rows of a setting, as it will be read again."""
    described = {
        "label": setting.label,
        "world": {"name": setting.world.name, "parameters": dict(setting.world.parameters)},
        "policy": {"name": setting.policy.name, "parameters": all_parameters(setting.policy)},
    }
    return json.loads(json.dumps(described, default=repr))  # type: ignore[no-any-return]


def describe_session(*, jobs: int) -> dict[str, Any]:
    """Describe the versions, the commit and the machine of this call."""
    return {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {"python": platform.python_version()} | {name: _version(name) for name in _PACKAGES},
        "commit": _commit(),
        "machine": {"system": platform.platform(), "processor": _processor(), "cores": os.cpu_count()},
        "jobs": jobs,
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _commit() -> str | None:
    """Return the commit that this package is checked out from, with a + where files have changed; None elsewhere."""
    here = Path(__file__)
    try:
        _git(here.parent, "ls-files", "--error-unmatch", here.name)  # or else the repository is somebody else's
        return _git(here.parent, "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty=+")
    except (OSError, subprocess.SubprocessError):
        return None


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, check=True, text=True, timeout=10).stdout.strip()


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
