"""What was run, with what and where: written beside the rows, and checked before a run goes on."""

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

from bandit_forest.errors import BanditForestError, DamagedFileError
from bandit_forest.experiments.experiment import Experiment, Setting
from bandit_forest.experiments.files import write_text
from bandit_forest.experiments.making import all_parameters
from bandit_forest.experiments.reference_forest import Model
from bandit_forest.worlds.datasets import Dataset

__all__ = ["MANIFEST", "OtherRunError", "describe_run", "describe_session", "open_manifest", "read_manifest"]

MANIFEST = "manifest.json"
_PACKAGES = ("bandit-forest", "numpy", "scikit-learn")


class OtherRunError(BanditForestError, ValueError):
    """A folder holds the results of a run that is not the same; the message says what differs."""


def describe_run(
    experiment: Experiment, *, n_events: int, datasets: Mapping[str, Dataset], reference: Model
) -> dict[str, Any]:
    """Describe all that decides the rows: the same for any numbers of trials and jobs.

    Parameters
    ----------
    experiment
        What is run.
    n_events
        Events of a trial.
    datasets
        The data sets that are played, by the names of their worlds.
    reference
        What regret is counted against where a data set is played.
    """
    run = {
        "experiment": experiment.id,
        "title": experiment.title,
        "n_events": n_events,
        "settings": [_describe_setting(setting) for setting in experiment.settings],
        "data": {
            name: {"name": dataset.name, "description": dataset.description, "files": dict(dataset.files)}
            for name, dataset in datasets.items()
        },
        "reference": f"{reference!r} of {reference.fitted_with}" if datasets else "the optimum of the world",
    }
    return json.loads(json.dumps(run, default=repr))  # type: ignore[no-any-return]  # as it will be read again


def describe_session(*, jobs: int) -> dict[str, Any]:
    """Describe who runs it now: versions, commit, machine."""
    return {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {"python": platform.python_version()} | {name: _version(name) for name in _PACKAGES},
        "commit": _commit(),
        "machine": {"system": platform.platform(), "processor": _processor(), "cores": os.cpu_count()},
        "jobs": jobs,
    }


def open_manifest(folder: Path, run: dict[str, Any], *, n_trials: int, session: dict[str, Any]) -> None:
    """Write the manifest of a run, or add a session to the one that is there if it is of the same run."""
    sessions = []
    if (folder / MANIFEST).exists():
        before = read_manifest(folder)
        _check_same(before["run"], run, folder)
        sessions, n_trials = before["sessions"], max(n_trials, before["n_trials"])
    manifest = {"run": run, "n_trials": n_trials, "sessions": [*sessions, session]}
    write_text(folder / MANIFEST, json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a folder."""
    path = folder / MANIFEST
    try:
        manifest: dict[str, Any] = json.loads(path.read_bytes())
    except ValueError as error:
        raise DamagedFileError(f"{path} cannot be read: {error}.") from error
    return manifest


def _describe_setting(setting: Setting) -> dict[str, Any]:
    policy = {"name": setting.policy.name, "parameters": all_parameters(setting.policy)}
    world = {"name": setting.world.name, "parameters": dict(setting.world.parameters)}
    return {"label": setting.label, "world": world, "policy": policy}


def _check_same(before: dict[str, Any], now: dict[str, Any], folder: Path) -> None:
    for name in now:
        if before.get(name) != now[name]:
            difference = f" ({before.get(name)}, not {now[name]})" if isinstance(now[name], int | str) else ""
            raise OtherRunError(
                f"{folder} holds a run that differs in its {name}{difference}: its trials cannot be continued. "
                "Choose another folder with --out, or remove that one."
            )


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _commit() -> str | None:
    """Give the commit that this package is checked out from, with a + where files have changed; None elsewhere."""
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
