"""The context of the operations of a replica: its state, the writer, and its staleness."""

from __future__ import annotations

import time
from copy import deepcopy
from typing import cast

from bandit_forest.service.domain.state import ServiceContext, State
from bandit_forest.service.errors import StorageError
from bandit_forest.service.journal.commits import Commit
from bandit_forest.service.journal.journal import Journal
from bandit_forest.service.replica.applying import apply_lessons
from bandit_forest.service.replica.learner import Learner
from bandit_forest.service.replica.rows import LessonRow
from bandit_forest.service.replica.store import Database, on_one_line
from bandit_forest.service.replica.writer import Writer

__all__ = ["ReplicaContext"]

_AT_ONCE = 200  # lessons, so that decisions get their turn between


class ReplicaContext(ServiceContext):
    """State of a replica, and the way to the database; used by one thread."""

    def __init__(self, state: State, database: Database, writer: Writer, learner: Learner) -> None:
        self.database = database
        self.writer = writer
        self.learner = learner
        self._fresh = time.monotonic()
        super().__init__(state, cast(Journal, writer), time.time)  # of which its operations ask how it is doing

    @property
    def n_waiting(self) -> int:
        """The number of events that wait in the database, as it was last counted."""
        return self.learner.n_waiting

    @property
    def staleness(self) -> float:
        """Seconds since this replica last knew all lessons."""
        return time.monotonic() - self._fresh

    @property
    def is_learner(self) -> bool:
        """Whether this replica makes the lessons."""
        return self.learner.is_elected

    def fetch(self) -> tuple[float, list[LessonRow]]:
        """Return the next lessons and when they were asked for; called by any thread, one at a time."""
        seq = self.state.seq
        return time.monotonic(), self.database.lessons(after=seq, until=seq + _AT_ONCE)

    def apply(self, asked: float, lessons: list[LessonRow]) -> bool:
        """Apply the lessons that came next; return whether there may be more."""
        apply_lessons(self.state, (lesson for lesson in lessons if lesson.version > self.state.seq))
        if len(lessons) == _AT_ONCE:
            return True
        self._fresh = asked
        self.writer.durable_seq = self.state.seq
        return False

    def catch_up(self) -> None:
        """Apply all lessons that there are."""
        while self.apply(*self.fetch()):
            pass

    def change_action(self, kind: str, name: str) -> tuple[str, Commit]:
        """Append a change that the newest lessons allow, and wait until this replica has applied it."""
        try:
            self.catch_up()
            registry = self.bandit.registry
            tried = deepcopy(registry)
            getattr(tried, kind)(name)  # its methods are named like the kinds of lessons
            after = str(tried.state(name))
            if after != registry.state(name):
                self.database.change(kind, name)
                self.catch_up()
        except self.database.error as error:
            raise StorageError(f"The database cannot be written now ({on_one_line(error)}).") from error
        return after, self.journal.tail
