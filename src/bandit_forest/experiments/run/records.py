"""The results file of an experiment: one JSON record per line, appended while it runs.

- `run`, the first line: what decides the rows of every setting.
- `setting`: what decides the rows of one setting.
- `session`: the versions, the commit and the machine of one call.
- `trial`: regret and reward of one finished trial, summed from the first event up to each of the run's `points`.
- `time`: processor time that the policy took in that trial. No seed decides it, so it has a line of its own.

Trials have the same bytes on every machine. Files of the same run can be joined by putting one after the other.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bandit_forest.errors import BanditForestError, DamagedFileError
from bandit_forest.experiments.files import appending, read_lines
from bandit_forest.experiments.run.trial import TrialRow

__all__ = [
    "SUFFIX",
    "OtherRunError",
    "Records",
    "Trial",
    "append_trial",
    "open_run",
    "read_records",
    "result_files",
    "results_file",
    "trial_lines",
]

SUFFIX = ".jsonl"
_COMPARED = ("experiment", "n_events", "points", "data", "comparator")


class OtherRunError(BanditForestError, ValueError):
    """A file holds the results of a run that is not the same; the message says what differs."""

    def __init__(self, path: Path, difference: str) -> None:
        super().__init__(
            f"{path} holds a run that differs in its {difference}: its trials cannot be continued. "
            "Choose another folder with --out, or remove that file."
        )


class Trial(NamedTuple):
    """The rows of one trial, at the points of its run."""

    regret: NDArray[np.float64]
    reward: NDArray[np.float64]


@dataclass(kw_only=True)
class Records:
    """All that a results file holds."""

    run: dict[str, Any] | None = None
    settings: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Settings by name."""
    sessions: list[dict[str, Any]] = field(default_factory=list)
    trials: dict[tuple[str, int], Trial] = field(default_factory=dict)
    """Trials by name of the setting and seed."""
    seconds: dict[tuple[str, int], float] = field(default_factory=dict)
    """Seconds that each trial took, by name of the setting and seed."""


def results_file(out: Path, experiment: str) -> Path:
    """Return the results file of an experiment in the folder of all results."""
    return out / f"{experiment}{SUFFIX}"


def result_files(out: Path) -> list[Path]:
    """Return the files of a folder and its subfolders that hold rows of experiments, in order of their names."""
    return [path for path in sorted(out.rglob(f"*{SUFFIX}")) if not _is_of_another_kind(path)]


def _is_of_another_kind(path: Path) -> bool:
    """Return whether a file holds rows of something else than an experiment; a damaged file is not of another kind."""
    with path.open(encoding="utf-8") as file:
        try:
            first = json.loads(file.readline())
        except ValueError:
            return False
    return isinstance(first, dict) and "run" not in first


def read_records(path: Path) -> Records:
    """Return what a results file holds; a last line without an end does not count."""
    records = Records()
    for number, line in enumerate(read_lines(path), start=1):
        try:
            _add(records, json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DamagedFileError(
                f"{path}, line {number} cannot be read: {error}. Remove the line and run the experiment again."
            ) from error
    return records


def open_run(
    path: Path, run: dict[str, Any], settings: Mapping[str, dict[str, Any]], session: dict[str, Any]
) -> Records:
    """Begin or go on with a run: check that the file is of the same run, and add the session.

    Parameters
    ----------
    path
        The results file.
    run
        What decides the rows of every setting.
    settings
        What decides the rows of each setting that is to be run, by name.
    session
        Versions, commit and machine.
    """
    with appending(path) as stream:
        records = read_records(path)
        lines: list[dict[str, Any]] = []
        if records.run is None:
            lines.append({"run": run})
        elif (difference := _difference(records.run, run)) is not None:
            raise OtherRunError(path, difference)
        for name, setting in settings.items():
            if name not in records.settings:
                lines.append({"setting": {"name": name, **setting}})
            elif _deciding(records.settings[name]) != _deciding(setting):
                raise OtherRunError(path, f"setting '{name}'")
        stream.write(_lines([*lines, {"session": session}]))
    return records


def append_trial(path: Path, setting: str, seed: int, rows: Iterable[TrialRow]) -> None:
    """Append a finished trial, and the time that it took."""
    with appending(path) as stream:
        stream.write(trial_lines(setting, seed, rows))


def trial_lines(setting: str, seed: int, rows: Iterable[TrialRow]) -> bytes:
    """Return the lines of a finished trial, and of the time that it took."""
    rows = list(rows)
    identity = {"setting": setting, "seed": seed}
    columns = {
        "regret": [_short_number(row.regret) for row in rows],
        "reward": [_short_number(row.reward) for row in rows],
    }
    seconds = round(rows[-1].seconds, 3)
    return _lines([{"trial": identity | columns}, {"time": identity | {"seconds": seconds}}])


def _add(records: Records, record: dict[str, Any]) -> None:
    """Add a record; one that has come before, as in files that were joined, must say the same."""
    ((kind, content),) = record.items()
    if kind == "run":
        records.run = records.run or content
        _require(_difference(records.run, content) is None, "it is of another run")
    elif kind == "setting":
        content = _with_current_names(content)
        before = records.settings.setdefault(content["name"], content)
        _require(_deciding(before) == _deciding(content), "the setting differs from an earlier one of its name")
    elif kind == "session":
        records.sessions.append(content)
    elif kind == "trial":
        _require(content["setting"] in records.settings, "no line before it describes its setting")
        trial = Trial(*(np.array(content[name], dtype=np.float64) for name in Trial._fields))
        n_points = 0 if records.run is None else len(records.run["points"])
        _require(all(column.shape == (n_points,) for column in trial), f"it has not {n_points} rows")
        records.trials.setdefault((content["setting"], content["seed"]), trial)
    elif kind == "time":
        records.seconds.setdefault((content["setting"], content["seed"]), float(content["seconds"]))
    else:
        _require(False, f"'{kind}' is not a kind of record")


def _with_current_names(setting: dict[str, Any]) -> dict[str, Any]:
    """Return the description of a setting with the names that its policy's parameters have now."""
    policy = setting["policy"]
    if "parameters" not in policy:
        return setting
    parameters: dict[str, Any] = {}
    for name, value in policy["parameters"].items():
        if isinstance(value, float) and name in ("exploration", "member_exploration"):  # not a rule
            parameters[f"{name}_rate"] = value
        elif isinstance(value, str) and name == "growth":
            parameters[name] = value.replace(" remaining=", " remaining_actions=")
        else:
            parameters[name] = value
    return setting | {"policy": policy | {"parameters": parameters}}


def _require(is_right: bool, otherwise: str) -> None:
    if not is_right:
        raise ValueError(otherwise)


def _difference(before: dict[str, Any], now: dict[str, Any]) -> str | None:
    """Return the first difference between the descriptions of two runs, or None where their rows can be compared."""
    for name in _COMPARED:
        if before[name] != now[name]:
            return f"{name} ({before[name]}, not {now[name]})" if isinstance(now[name], int | str) else name
    return None


def _deciding(setting: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a description that decides the rows of a setting: not its label."""
    return {part: setting[part] for part in ("world", "policy")}


def _short_number(value: float) -> int | float:
    """Return a number of ten digits.

    Examples
    --------
    >>> _short_number(9999999.0), _short_number(0.1 + 0.2)
    (9999999, 0.3)
    """
    short = float(f"{value:.10g}")
    return int(short) if short.is_integer() else short


def _lines(records: Iterable[dict[str, Any]]) -> bytes:
    texts = (json.dumps(record, ensure_ascii=False, separators=(",", ":")) for record in records)
    return "".join(f"{text}\n" for text in texts).encode()
