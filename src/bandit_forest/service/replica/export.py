"""The events of a database, as the entries of a journal that an export reads."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter

from bandit_forest.service.config.project import Project
from bandit_forest.service.journal.entries import DECIDE, Entry
from bandit_forest.service.recovery.export import CHANGES, EnabledActions
from bandit_forest.service.replica.rows import DecisionRow
from bandit_forest.service.replica.store import Database

__all__ = ["read_events"]


def read_events(project: Project) -> Iterable[tuple[Entry, int]]:
    """Return what was decided and how it ended, as the entries of a journal; events that ended first come first.

    With each comes the version of the model that decided its event. The database is read when it is iterated, and again
    when it is iterated again.
    """
    return _Events(project)


class _Events:
    """The events of the database of a project."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def __iter__(self) -> Iterator[tuple[Entry, int]]:
        return _read(self._project)


def _read(project: Project) -> Iterator[tuple[Entry, int]]:
    database = Database(project.storage)
    try:
        available = _available_by_version(database)
        for seq, (row, decided, kind, ended, reward) in enumerate(database.events()):
            chosen = (row.kind, row.event_id, row.action, row.propensity)
            forest = (row.forest_action, row.forest_propensity, row.forest_value)
            entry = Entry(seq, decided, *chosen, None, row.context, row.available or available(row), *forest)
            if row.kind == DECIDE:
                yield entry, row.model_version
            if kind is not None and ended is not None:
                end = Entry(seq, ended, kind, row.event_id) if row.kind == DECIDE else entry
                yield end._replace(reward=reward), row.model_version
    finally:
        database.close()


def _available_by_version(database: Database) -> Callable[[DecisionRow], str | None]:
    """Return a function from a decision to the actions that were enabled then; None where its own is none of them."""
    enabled, changes = EnabledActions(), [(0, "", frozenset[str]())]
    for version, kind, name in database.action_changes(CHANGES):
        enabled.change(kind, name)
        changes.append((version, enabled.text, frozenset(enabled.names)))

    def available(row: DecisionRow) -> str | None:
        _, text, names = changes[bisect_right(changes, row.version, key=itemgetter(0)) - 1]
        return text if row.action in names else None

    return available
