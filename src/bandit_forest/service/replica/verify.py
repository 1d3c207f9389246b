"""The proof that lessons make the forest and that every decision is what its version makes of it."""

from __future__ import annotations

from itertools import groupby
from typing import NamedTuple

import msgspec

from bandit_forest.errors import DamagedFileError
from bandit_forest.service.config.project import Project
from bandit_forest.service.domain.bandits import new_bandit
from bandit_forest.service.domain.state import State
from bandit_forest.service.replica.applying import apply_lessons
from bandit_forest.service.replica.replica import open_identity, recover
from bandit_forest.service.replica.rows import DecisionRow
from bandit_forest.service.replica.store import Database

__all__ = ["ReplicaVerification", "verify_database"]

_AT_ONCE = 1000


class ReplicaVerification(NamedTuple):
    """Numbers of what `verify_database` has compared, and found equal."""

    n_lessons: int
    n_decisions: int
    snapshot_version: int
    n_events: int
    """Number of lessons that the forest has learned."""

    def __str__(self) -> str:
        return (
            f"The forest rebuilt from all {self.n_lessons} lessons equals, byte for byte, the one that a replica "
            f"recovers from the snapshot at version {self.snapshot_version}: {self.n_events} events learned. Each of "
            f"the {self.n_decisions} decisions is the one that its version makes."
        )


def verify_database(project: Project) -> ReplicaVerification:
    """Rebuild the forest from all lessons, make every decision again, and compare; also while replicas run.

    What differs is told by `DamagedFileError`.
    """
    database = Database(project.storage)
    try:
        last = database.last_version()
        identity = open_identity(project, database)
        rebuilt = State(project, new_bandit(identity.settings))
        n_decisions = _rebuild(rebuilt, database, last)
        recovered = recover(project, database, identity)
        snapshot_version = recovered.seq
        _go_on(recovered, database, last)
    finally:
        database.close()
    if recovered.bandit.to_bytes() != rebuilt.bandit.to_bytes():
        raise DamagedFileError(
            f"The forest recovered from the snapshot at version {snapshot_version} differs from the one rebuilt from "
            f"all {last} lessons."
        )
    return ReplicaVerification(last, n_decisions, snapshot_version, rebuilt.bandit.model.version)


def _rebuild(state: State, database: Database, last: int) -> int:
    """Apply all lessons to a state, and make each decision again when the state is at its version."""
    n_decisions = 0
    for version, rows in groupby(database.decisions_by_version(), key=lambda row: row.version):
        if version > last:
            break
        _go_on(state, database, version)
        for row in rows:
            _check(state, row)
            n_decisions += 1
    _go_on(state, database, last)
    return n_decisions


def _go_on(state: State, database: Database, version: int) -> None:
    while state.seq < version:
        apply_lessons(state, database.lessons(after=state.seq, until=min(version, state.seq + _AT_ONCE)))


def _check(state: State, row: DecisionRow) -> None:
    registry, model = state.bandit.registry, state.bandit.model
    available = registry.enabled
    if row.available is not None:
        available = registry.available(msgspec.json.decode(row.available))
    context = model.read(msgspec.json.decode(row.context))
    action, propensity = model.decide_by_key(context, available, row.event_id)
    stored = (row.action, row.propensity) if row.forest_action is None else (row.forest_action, row.forest_propensity)
    if (registry.names[action], propensity) != stored:
        raise DamagedFileError(
            f"The decision of '{row.event_id}' is {stored}, but version {row.version} makes it "
            f"{(registry.names[action], propensity)}."
        )
