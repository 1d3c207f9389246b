"""The rows of finished trials, read again, and what they say: means with 95 % intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bandit_forest.errors import BanditForestError, DamagedFileError, MissingExtraError
from bandit_forest.experiments.catalogue import EXPERIMENTS
from bandit_forest.experiments.experiment import Experiment, Made, Setting
from bandit_forest.experiments.manifest import MANIFEST, read_manifest
from bandit_forest.experiments.plan import trial_files
from bandit_forest.experiments.trial import LAST_EVENTS

__all__ = ["Mean", "NoResultsError", "Result", "Results", "mean", "read_results"]

Floats = NDArray[np.float64]


class NoResultsError(BanditForestError, FileNotFoundError):
    """A folder has no finished trials; the message says how to get some."""


class Mean(NamedTuple):
    """A mean over trials."""

    value: float
    margin: float
    """Half the width of the 95 % interval; NaN for one trial."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Result:
    """All finished trials of one setting."""

    number: int
    setting: Setting
    n_events: NDArray[np.int64]
    """The number of events of each row."""
    regrets: Floats
    """(trials, rows), from the first event on."""
    rewards: Floats
    """(trials, rows), summed from the first event on."""
    seconds: Floats
    """(trials,), what the policy took."""

    @property
    def n_trials(self) -> int:
        """The number of trials."""
        return len(self.regrets)

    @property
    def rates(self) -> Floats:
        """The average reward of the last events of each trial."""
        return self._last_average(self.rewards)

    @property
    def reference_rates(self) -> Floats:
        """The same of the reference."""
        return self._last_average(self.rewards + self.regrets)

    @property
    def averages(self) -> Floats:
        """The average reward of each trial from the first event on."""
        averages: Floats = self.rewards[:, -1] / self.n_events[-1]
        return averages

    @property
    def recent_rates(self) -> Floats:
        """The average reward of the last twentieth of all events before each row, (trials, rows)."""
        start = np.maximum(self.n_events - self.n_events[-1] // 20, 0)
        events, rewards = np.append(0, self.n_events), np.pad(self.rewards, ((0, 0), (1, 0)))
        first = np.searchsorted(events, start, side="right") - 1
        rates: Floats = (self.rewards - rewards[:, first]) / (self.n_events - events[first])
        return rates

    def _last_average(self, sums: Floats) -> Floats:
        start = self.n_events[-1] - LAST_EVENTS
        before = sums[:, np.searchsorted(self.n_events, start)] if start > 0 else 0.0
        averages: Floats = (sums[:, -1] - before) / min(self.n_events[-1], LAST_EVENTS)
        return averages


@dataclass(frozen=True, kw_only=True)
class Results:
    """All that a folder has of one experiment."""

    name: str
    """Where it is in the folder of all results; a name for files."""
    experiment: Experiment
    manifest: dict[str, Any]
    results: list[Result]

    @property
    def title(self) -> str:
        """What is compared; it says so when only a part of a data set was played."""
        parts = [entry["name"] for name, entry in self.manifest["run"]["data"].items() if entry["name"] != name]
        return f"{self.experiment.title} ({', '.join(parts)} only)" if parts else self.experiment.title

    @property
    def n_events(self) -> int:
        """Events of a trial."""
        return int(self.manifest["run"]["n_events"])

    @property
    def data_names(self) -> str:
        """The names of the data sets that were played."""
        return " ".join(entry["name"] for entry in self.manifest["run"]["data"].values())

    @property
    def data(self) -> list[str]:
        """A sentence on each data set that was played."""
        return [entry["description"] for entry in self.manifest["run"]["data"].values()]

    @property
    def reference_rates(self) -> Floats | None:
        """The average reward of the reference over the last events of each trial; None in synthetic worlds."""
        return max(self.results, key=lambda result: result.n_trials).reference_rates if self.data else None


def mean(values: Floats) -> Mean:
    """Give the mean of independent trials, with its 95 % interval by Student's t.

    Examples
    --------
    >>> mean(np.array([1.0, 2.0, 3.0]))
    Mean(value=2.0, margin=2.48...)
    """
    n_trials = len(values)
    if n_trials == 1:
        return Mean(float(values[0]), math.nan)
    error = float(values.std(ddof=1)) / math.sqrt(n_trials)
    return Mean(float(values.mean()), t_quantile(n_trials - 1) * error)


def t_quantile(n_degrees: int) -> float:
    """Give the quantile of Student's distribution that 2.5 % lie above.

    Examples
    --------
    >>> round(t_quantile(9), 3)
    2.262
    """
    try:
        from scipy.special import stdtrit
    except ImportError as error:
        raise MissingExtraError("Reports need SciPy: pip install 'bandit-forest[experiments]'.") from error
    return float(stdtrit(n_degrees, 0.975))


def read_results(out: Path) -> list[Results]:
    """Read the results of all experiments in a folder or below it, in the order in which experiments are listed."""
    folders = sorted(path.parent for path in out.rglob(MANIFEST))
    found = [results for results in (_read_experiment(folder, out) for folder in folders) if results.results]
    if not found:
        raise NoResultsError(
            f"{out} has no finished trials. Make some with: bandit-forest run paper/covtype --out {out}"
        )
    order = [*EXPERIMENTS, *(results.experiment.id for results in found)]
    return sorted(found, key=lambda results: order.index(results.experiment.id))


def _read_experiment(folder: Path, out: Path) -> Results:
    manifest = read_manifest(folder)
    run = manifest["run"]
    # The rows may be of an experiment that is not ours, or older than ours is now: they keep the labels of then.
    experiment = EXPERIMENTS.get(run["experiment"]) or Experiment(
        id=run["experiment"], title=run["title"], shows="", settings=()
    )
    known = {setting.label: setting for setting in experiment.settings}
    results = []
    for number, described in enumerate(run["settings"]):
        trials = list(_read_trials(folder, number, manifest["n_trials"]))
        if trials:
            setting = known.get(described["label"]) or _setting_from_manifest(described)
            results.append(_make_result(number, setting, trials))
    name = experiment.id if folder == out else folder.relative_to(out).as_posix()
    return Results(name=name.replace("/", "-"), experiment=experiment, manifest=manifest, results=results)


def _setting_from_manifest(described: dict[str, Any]) -> Setting:
    world, policy = (Made(name=described[part]["name"]) for part in ("world", "policy"))
    return Setting(label=described["label"], world=world, policy=policy)


def _make_result(number: int, setting: Setting, trials: list[tuple[Floats, Floats]]) -> Result:
    return Result(
        number=number,
        setting=setting,
        n_events=trials[0][0][:, 0].astype(np.int64),
        regrets=np.stack([rows[:, 1] for rows, _ in trials]),
        rewards=np.stack([rows[:, 2] for rows, _ in trials]),
        seconds=np.array([times[-1, 1] for _, times in trials]),
    )


def _read_trials(folder: Path, number: int, n_trials: int) -> Iterator[tuple[Floats, Floats]]:
    for seed in range(n_trials):
        files = trial_files(folder, number, seed)
        if files.rows.exists():
            yield _read_table(files.rows), _read_table(files.times)


def _read_table(path: Path) -> Floats:
    try:
        table = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    except ValueError as error:
        raise DamagedFileError(f"{path} cannot be read: {error}. Remove it and run the experiment again.") from error
    return table
