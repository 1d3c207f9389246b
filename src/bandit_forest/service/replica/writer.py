"""One thread that writes what requests ask for, all that came while it was writing in one transaction."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from bandit_forest.service.config.project import Project
from bandit_forest.service.errors import ServiceError
from bandit_forest.service.journal.commits import Commit
from bandit_forest.service.replica import store
from bandit_forest.service.replica.rows import DecisionRow, OutcomeRow

__all__ = ["Asked", "Stored", "Writer"]

_logger = logging.getLogger(__name__)

_RETRY_SECONDS = 0.2


class Stored(Commit):
    """The promise that something is in the database; it may turn out that it is refused there."""

    __slots__ = ("refusal",)

    def __init__(self) -> None:
        super().__init__()
        self.refusal: ServiceError | None = None

    def outcome(self) -> bool:
        """Return, once the wait is over, whether it is stored; raise the refusal when there is one."""
        if self.refusal is not None:
            raise self.refusal
        return super().outcome()


@dataclass(kw_only=True, eq=False)
class Asked:
    """Rows that one request asks to be stored, and what is done with the answer of the database."""

    decisions: list[DecisionRow] = field(default_factory=list)
    learned: list[OutcomeRow] = field(default_factory=list)
    rewards: list[OutcomeRow] = field(default_factory=list)
    then: Callable[[Answers], object]
    """Called in the thread of the writer, before anybody is told."""
    commit: Stored = field(default_factory=Stored)

    @property
    def size(self) -> int:
        """Number of operations."""
        return len(self.decisions) + len(self.rewards)


@dataclass(kw_only=True)
class Answers:
    """Answers of the database to a group of requests."""

    known: dict[str, DecisionRow]
    """Decisions that were there before."""
    ended: set[str]
    """Events that have ended with this group; each is told to the first who asks."""
    outcomes: dict[str, tuple[str | None, float | None]]
    """Kind and reward of what became of other events before."""

    def take(self, event_id: str) -> bool:
        """Return whether an event has ended by what is asked now, which is true once."""
        if event_id not in self.ended:
            return False
        self.ended.discard(event_id)
        return True


class Writer:
    """Writes to the database; for requests it looks like a journal.

    While the database is away, what the project's `full_disk` says happens: requests are refused, or kept in memory and
    tried again.
    """

    current_bytes = 0

    def __init__(self, database: store.Database, project: Project) -> None:
        self.failure: str | None = None
        self.queued = 0
        self.durable_seq = 0
        self.tail = Commit()
        """A commit that is finished already: what a replica has read from the database is stored."""
        self.tail.finish(durable=True)
        self._database = database
        self._project = project
        self._changed = threading.Condition()
        self._asked: list[Asked] = []
        self._is_closing = False
        self._thread = threading.Thread(target=self._run, name="bandit-forest-writer", daemon=True)
        self._thread.start()

    def ask(self, asked: Asked) -> Stored:
        """Queue rows to be stored; return the commit to wait for."""
        with self._changed:
            self._asked.append(asked)
            self.queued += asked.size
            self._changed.notify()
        return asked.commit

    def close(self) -> None:
        """Write what is queued, and end the thread."""
        with self._changed:
            self._is_closing = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        while group := self._next_group():
            while not self._try(group) and not self._is_closing and self._keeps:
                time.sleep(_RETRY_SECONDS)
            with self._changed:
                self.queued -= sum(asked.size for asked in group)

    @property
    def _keeps(self) -> bool:
        return self._project.storage.full_disk == "continue"

    def _next_group(self) -> list[Asked]:
        """Return all that was asked for; empty when there is nothing more to do."""
        with self._changed:
            while not self._asked and not self._is_closing:
                if self.failure is not None and not self._keeps:
                    self._changed.wait(_RETRY_SECONDS)
                    self._look()
                else:
                    self._changed.wait()
            group, self._asked = self._asked, []
            return group

    def _look(self) -> None:
        """Clear the failure when the database is back, so that requests are taken again."""
        try:
            self._database.last_version()
            self.failure = None
        except self._database.error:
            pass

    def _try(self, group: list[Asked]) -> bool:
        """Store a group; tell everybody who asked."""
        try:
            answers = self._store(group)
        except self._database.error as error:
            self._tell_failure(group, error)
            return False
        self.failure = None
        for asked in group:
            if not asked.commit.durable:
                try:
                    asked.then(answers)
                except ServiceError as refusal:
                    asked.commit.refusal = refusal
                asked.commit.finish(durable=True)
        return True

    def _store(self, group: list[Asked]) -> Answers:
        decisions = [row for asked in group for row in asked.decisions]
        learned = [row for asked in group for row in asked.learned]
        rewards = [row for asked in group for row in asked.rewards]
        ids = [row.event_id for row in learned + rewards]
        with self._database.pool.connection() as connection, connection.transaction():
            known = store.insert_decisions(connection, decisions) if decisions else {}
            ended = store.insert_learned(connection, learned) if learned else set()
            if rewards:
                ended |= store.insert_rewards(connection, rewards, self._project.reward.window_seconds)
            return Answers(known=known, ended=ended, outcomes=store.read_outcomes(connection, ids) if ids else {})

    def _tell_failure(self, group: list[Asked], error: Exception) -> None:
        if self.failure is None:
            _logger.error("The database cannot be written: %s.", error)
        self.failure = store.on_one_line(error)
        message = None if self._keeps else f"The database cannot be written now ({self.failure}): try again."
        for asked in group:
            asked.commit.finish(durable=False, failure=message)
