"""The journal as a table: Parquet, one row per event, readable by pandas, Polars, DuckDB and others."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from bandit_forest.bandit.action_registry import ENABLED
from bandit_forest.bandit.pairs.model import ID
from bandit_forest.errors import DamagedFileError
from bandit_forest.evaluation.writers.export import write_events
from bandit_forest.service.config.project import Project
from bandit_forest.service.domain.events import EXPIRED, LEARNED, REWARDED, WAITING
from bandit_forest.service.domain.offers import OfferRecord
from bandit_forest.service.domain.state import State
from bandit_forest.service.journal.entries import (
    ADD,
    DECIDE,
    DISABLE,
    ENABLE,
    EXPIRE,
    LEARN,
    REMOVE,
    REWARD,
    Entry,
)
from bandit_forest.service.journal.files import read_entries
from bandit_forest.service.recovery.recover import journal_end, open_folder

__all__ = ["CHANGES", "EnabledActions", "export_journal", "with_available"]

CHANGES = (ADD, ENABLE, DISABLE, REMOVE)


def export_journal(
    project: Project, path: str | os.PathLike[str], entries: Iterable[tuple[Entry, int]] | None = None
) -> int:
    """Write the history of a project as a Parquet file, whole or not at all; return the number of rows written.

    Rows come in the order in which events ended (a reward, the end of the window, `learn`), then those that still wait.
    May be called while the service runs.

    Columns: `event_id`, `time` (of the decision), `state` ('waiting', 'rewarded', 'expired', 'learned'), `action`,
    `propensity`, `available_actions` (a list: those of the request, or else all that were enabled), `reward`,
    `reward_time`, `model_version` (of decisions, as they were answered: the number of lessons before), `forest_action`,
    `forest_propensity`, `forest_value` (shadow mode), and `context.NAME` for each field. Where actions are offered,
    `action` and `available_actions` hold ids as texts, and there are `action.NAME` for each feature of the action that
    was taken, `propensities` (of the offered actions, in their order), and `offered` (the offered actions, as JSON).

    Parameters
    ----------
    project
        Project whose journal is exported.
    path
        The file to write.
    entries
        Entries of the journal with the version of the model before each, if it is not in the storage folder. They may
        be read several times.
    """
    folder, read = project.storage.folder, _offered if project.is_offered else _fixed
    rewards = project.reward.low, project.reward.high
    if entries is None:
        journal_end(folder)
        first = open_folder(project).empty_state()

    def events() -> Iterator[dict[str, Any]]:
        return _events(_entries(folder, first) if entries is None else entries, read)

    try:
        return write_events(events, project.context, path, reward_range=rewards, offered=project.offered)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise DamagedFileError(f"The journal in '{folder}' cannot be exported: {error!r}.") from error


class EnabledActions:
    """The actions that are enabled while a journal is read.

    Parameters
    ----------
    names
        Names of those that are enabled before the first entry.

    Examples
    --------
    >>> enabled = EnabledActions(["stay"])
    >>> enabled.change("add", "go")
    >>> enabled.text
    '["stay","go"]'
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names = dict.fromkeys(names)
        self.text = self._text()
        """The names as the journal has available actions."""

    def change(self, kind: str, name: str) -> None:
        """Follow a change of actions."""
        if kind in (ADD, ENABLE):
            self.names[name] = None
        else:
            self.names.pop(name, None)
        self.text = self._text()

    def _text(self) -> str:
        return msgspec.json.encode(list(self.names)).decode()


def with_available(entries: Iterable[Entry], states: Mapping[str, str]) -> Iterator[Entry]:
    """Yield entries in their order, with the actions that were enabled where all of those were available.

    Parameters
    ----------
    entries
        Entries of a journal from the first one on.
    states
        State of each action before.
    """
    enabled = EnabledActions(name for name, state in states.items() if state == ENABLED)
    for entry in entries:
        if entry.kind in CHANGES:
            enabled.change(entry.kind, str(entry.action))
        is_open = entry.kind in (DECIDE, LEARN) and entry.available is None and entry.action in enabled.names
        yield entry._replace(available=enabled.text) if is_open else entry


def _entries(folder: Path, first: State) -> Iterator[tuple[Entry, int]]:
    """Return the entries of a journal with the version of the model before each; `first` is the state before all."""
    entries = read_entries(folder)
    if not first.project.is_offered:
        entries = with_available(entries, first.bandit.registry.states)
    return _with_versions(entries, first.learner.version)


def _with_versions(entries: Iterable[Entry], version: int) -> Iterator[tuple[Entry, int]]:
    """Yield entries with the version of the model before each; `version` is that before the first one."""
    for entry in entries:
        yield entry, version
        version += entry.kind in (REWARD, EXPIRE, LEARN) and entry.reward is not None


def _events(entries: Iterable[tuple[Entry, int]], read: Callable[[Entry], dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield one mapping per event, in the order in which events ended; then those that wait."""
    waiting: dict[str | None, dict[str, Any]] = {}
    for entry, version in entries:
        if entry.kind == DECIDE:
            waiting[entry.event_id] = read(entry) | {"state": WAITING, "model_version": version}
        elif entry.kind in (REWARD, EXPIRE):
            state = REWARDED if entry.kind == REWARD else EXPIRED
            yield waiting.pop(entry.event_id) | {"state": state, "reward": entry.reward, "reward_time": entry.time}
        elif entry.kind == LEARN:
            yield read(entry) | {"state": LEARNED, "reward_time": entry.time}
    yield from waiting.values()


def _fixed(entry: Entry) -> dict[str, Any]:
    return _event(entry) | {"available_actions": msgspec.json.decode(entry.available or "null")}


def _offered(entry: Entry) -> dict[str, Any]:
    record = OfferRecord.from_text(entry.available or "{}")
    actions = record.offered
    event = _event(entry) | {"chosen": actions[record.order[0]]}
    if entry.kind == LEARN:  # what else was offered is not known
        return event
    return event | {
        "available_actions": [str(action[ID]) for action in actions],
        "propensities": record.propensities,
        "offered": bytes(record.actions).decode(),
    }


def _event(entry: Entry) -> dict[str, Any]:
    event = entry._asdict()
    del event["seq"], event["kind"], event["available"]
    return event | {"context": msgspec.json.decode(entry.context or "{}")}
