"""The events of a database, as the entries of a journal that an export reads."""

from __future__ import annotations

from collections.abc import Iterator

from bandit_forest.service.config.project import Project
from bandit_forest.service.journal.entries import DECIDE, Entry
from bandit_forest.service.replica.store import Database

__all__ = ["read_events"]


def read_events(project: Project) -> Iterator[Entry]:
    """Yield what was decided and how it ended, as the entries of a journal; events that ended first come first."""
    database = Database(project.storage)
    try:
        for seq, (decided, row, outcome, ended) in enumerate(database.events()):
            chosen = (row.kind, row.event_id, row.action, row.propensity)
            forest = (row.forest_action, row.forest_propensity, row.forest_value)
            entry = Entry(seq, decided, *chosen, None, row.context, row.available, *forest)
            if row.kind == DECIDE:
                yield entry
            if outcome is not None and ended is not None:
                end = Entry(seq, ended, outcome.kind, row.event_id) if row.kind == DECIDE else entry
                yield end._replace(reward=outcome.reward)
    finally:
        database.close()
