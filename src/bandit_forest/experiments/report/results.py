"""The finished trials of an experiment, and what they say: regret, reward and time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandit_forest.experiments.catalogue import Experiment, Setting
from bandit_forest.experiments.run.trial import LAST_EVENTS

__all__ = ["Result", "Results"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Result:
    """All finished trials of one setting."""

    id: str
    """The id of the setting."""
    setting: Setting
    n_events: NDArray[np.int64]
    """The number of events of each row."""
    regrets: Floats
    """(trials, rows), from the first event on."""
    rewards: Floats
    """(trials, rows), summed from the first event on."""
    seconds: Floats
    """(trials,), processor time of the policy."""

    @property
    def n_trials(self) -> int:
        """The number of trials."""
        return len(self.regrets)

    @property
    def rates(self) -> Floats:
        """The average reward of the last events of each trial."""
        return self._last_average(self.rewards)

    @property
    def comparator_rates(self) -> Floats:
        """The same of the comparator."""
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
    """All results of one experiment in one file."""

    name: str
    """A name for files."""
    experiment: Experiment
    run: dict[str, Any]
    """Description of all that decided the rows of every setting."""
    settings: list[dict[str, Any]]
    """Description of all that decided the rows of each setting."""
    sessions: list[dict[str, Any]]
    results: list[Result]

    @property
    def title(self) -> str:
        """Title of the comparison; it says so when only a part of a data set was played."""
        parts = [entry["name"] for name, entry in self.run["data"].items() if entry["name"] != name]
        return f"{self.experiment.title} ({', '.join(parts)} only)" if parts else self.experiment.title

    @property
    def n_events(self) -> int:
        """Events of a trial."""
        return int(self.run["n_events"])

    @property
    def n_trials(self) -> int:
        """The largest number of trials of a setting."""
        return max(result.n_trials for result in self.results)

    @property
    def data_names(self) -> str:
        """The names of the data sets that were played."""
        return " ".join(entry["name"] for entry in self.run["data"].values())

    @property
    def data(self) -> list[str]:
        """A sentence on each data set that was played."""
        return [entry["description"] for entry in self.run["data"].values()]

    @property
    def comparator_rates(self) -> Floats | None:
        """The average reward of the comparator over the last events of each trial; None in synthetic worlds."""
        return max(self.results, key=lambda result: result.n_trials).comparator_rates if self.data else None
