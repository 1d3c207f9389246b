"""The life of a replica: it starts from the last snapshot, follows the lessons, and stops."""

from __future__ import annotations

import asyncio
import logging
import time
from functools import partial
from typing import Self

from bandit_forest.errors import DamagedFileError, refuse
from bandit_forest.service.config.project import Project
from bandit_forest.service.config.storage_identity import StorageIdentity, adopt
from bandit_forest.service.domain.bandits import new_bandit
from bandit_forest.service.domain.state import State
from bandit_forest.service.recovery.file_actions import changes_by_file
from bandit_forest.service.recovery.snapshot_taking import SnapshotTaker
from bandit_forest.service.recovery.snapshots import SnapshotData, pack_snapshot, unpack_snapshot
from bandit_forest.service.replica.context import ReplicaContext
from bandit_forest.service.replica.learner import Learner
from bandit_forest.service.replica.store import Database, on_one_line
from bandit_forest.service.replica.writer import Writer

__all__ = ["Replica", "open_identity", "recover"]

_logger = logging.getLogger(__name__)

_POLL_SECONDS = 0.02
_COUNT_SECONDS = 5.0
_COUNT_REST = 20  # times as long as counting took, so that it takes little of the database


class Replica:
    """A started replica: operations are applied to its `context`."""

    def __init__(self, context: ReplicaContext, engine: str) -> None:
        self.context = context
        self._snapshots = SnapshotTaker(context, engine)

    @classmethod
    def start(cls, project: Project) -> Self:
        """Load the last good snapshot, apply the lessons after it, and start to write and to stand for election."""
        database = Database(project.storage)
        try:
            identity = open_identity(project, database)
            state = recover(project, database, identity)
            snapshot_seq = state.seq
            writer, learner = Writer(database, project), Learner(database, project)
        except BaseException:
            database.close()
            raise
        context = ReplicaContext(state, database, writer, learner)
        context.snapshot_seq = snapshot_seq
        replica = cls(context, identity.engine)
        try:
            context.catch_up()
            _follow_file(context)
        except BaseException:
            replica.stop()
            raise
        return replica

    def stop(self) -> None:
        """Write what is queued, let another replica be elected, and close the connections."""
        self.context.learner.stop()
        self.context.writer.close()
        self.context.database.close()

    async def run_background(self) -> None:
        """Follow the lessons and take snapshots for ever; a failure is logged and tried again."""
        next_count = 0.0
        while True:
            try:
                more = self.context.apply(*await asyncio.to_thread(self.context.fetch))
                if time.monotonic() >= next_count:
                    seconds = await self._count_waiting()
                    next_count = time.monotonic() + max(_COUNT_SECONDS, _COUNT_REST * seconds)
                await asyncio.sleep(0 if more else _POLL_SECONDS)
            except self.context.database.error as error:
                _logger.error("The lessons cannot be read, and will be asked for again: %s", on_one_line(error))
                await asyncio.sleep(_POLL_SECONDS * 10)

    async def _count_waiting(self) -> float:
        """Count the events that wait, and keep a snapshot when one is due; return the seconds that counting took."""
        context, window, began = self.context, self.context.project.reward.window_seconds, time.monotonic()
        context.learner.n_waiting = await asyncio.to_thread(context.database.n_waiting, window)
        seconds = time.monotonic() - began
        if context.is_learner and self._snapshots.is_due:
            await asyncio.to_thread(self._snapshots.take(self._keep))
        return seconds

    def _keep(self, taken: SnapshotData) -> bool:
        """Store a snapshot where every replica finds it."""
        self.context.database.keep_snapshot(taken.header["seq"], *pack_snapshot(taken))
        return True


def open_identity(project: Project, database: Database) -> StorageIdentity:
    """Return what the database was made with; refuse a project that contradicts it."""
    new = StorageIdentity.of(project.settings)
    stored = StorageIdentity.from_text(database.definition(new.to_text()))
    identity = adopt(project, stored)
    if identity.engine != stored.engine:
        rule = f"that of a database whose decisions were made by this engine, {identity.engine}; else take a new one"
        refuse("journal", "[storage]", rule, stored.engine)
    return identity


def recover(project: Project, database: Database, identity: StorageIdentity) -> State:
    """Return the state of the newest snapshot that is whole and of this engine; an empty one when there is none."""
    for version, rest, bandit in database.latest_snapshots():
        try:
            return unpack_snapshot(rest, partial(bytes, bandit), f"snapshot {version}", project, identity.engine)
        except DamagedFileError as error:
            _logger.warning("A snapshot is passed over: %s", error)
    return State(project, new_bandit(identity.settings))


def _follow_file(context: ReplicaContext) -> None:
    """Append what the actions of the project file ask for; replicas that start together may ask twice."""
    for change in changes_by_file(context.state, list(context.project.action_names)):
        context.database.change(*change)
    context.catch_up()
