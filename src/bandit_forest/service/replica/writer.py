"""One thread that writes what requests ask for, all that came while it was writing in one transaction."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

from bandit_forest.service.config.project import Project
from bandit_forest.service.errors import ServiceError
from bandit_forest.service.journal.commits import Commit
from bandit_forest.service.operations.results import Answer
from bandit_forest.service.replica import store
from bandit_forest.service.replica.rows import DecisionRow, OutcomeRow

__all__ = ["Answers", "Asked", "Item", "Stored", "Writer"]

_logger = logging.getLogger(__name__)

_RETRY_SECONDS = 0.2

AnyAnswer = TypeVar("AnyAnswer", bound=Answer)


class Stored(Commit):
    """Commit of the database; unlike a journal's, it may end with a refusal."""

    __slots__ = ("refusal",)

    def __init__(self) -> None:
        super().__init__()
        self.refusal: ServiceError | None = None

    def outcome(self) -> bool:
        """Return, once the wait is over, whether it is stored; raise the refusal when there is one."""
        if self.refusal is not None:
            raise self.refusal
        return super().outcome()


class Item(NamedTuple, Generic[AnyAnswer]):
    """A checked request, alone or in a batch: what is stored of it, and how it is answered."""

    answer: AnyAnswer
    """The answer, where the database knew nothing of the event."""
    settle: Callable[[Answers], object]
    """Corrects the answer by what is stored, or raises the refusal."""
    decision: DecisionRow | None = None
    outcome: OutcomeRow | None = None
    repeated: str | None = None
    """Id of the event that a refused request may be a repetition of; nothing is stored."""


@dataclass(kw_only=True, eq=False)
class Asked:
    """Items that one request asks to be stored, and what is done with the answers of the database."""

    items: Sequence[Item[Any]]
    then: Callable[[Answers], object]
    """Called in the thread of the writer, before anybody is told."""
    commit: Stored = field(default_factory=Stored)


@dataclass(kw_only=True)
class Answers:
    """Answers of the database to a group of requests."""

    known: dict[str, DecisionRow]
    """Decisions that were there before, or that are asked for twice in the group."""
    ended: set[str]
    """Ids of events that ended with this group; `take` returns True once for each."""
    outcomes: dict[str, tuple[str | None, float | None]]
    """Kind and reward of what became of other events before."""

    def take(self, event_id: str) -> bool:
        """Return whether an event has ended by what is asked now, which is true once."""
        if event_id not in self.ended:
            return False
        self.ended.discard(event_id)
        return True


class Writer:
    """Writes to the database. It has the attributes of `Journal` that operations read.

    While the database cannot be reached, the project's `full_disk` decides: requests are refused, or kept in memory and
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
            self.queued += len(asked.items)
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
                self.queued -= sum(len(asked.items) for asked in group)

    @property
    def _keeps(self) -> bool:
        return self._project.storage.full_disk == "continue"

    def _next_group(self) -> list[Asked]:
        """Return all that was asked for; empty when there is nothing more to do."""
        with self._changed:
            while not self._asked and not self._is_closing:
                if self.failure is not None and not self._keeps:
                    self._changed.wait(_RETRY_SECONDS)
                    self._probe()
                else:
                    self._changed.wait()
            group, self._asked = self._asked, []
            return group

    def _probe(self) -> None:
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
        items = [item for asked in group for item in asked.items]
        decisions = [item.decision for item in items if item.decision is not None]
        outcomes = [item.outcome for item in items if item.outcome is not None]
        repeated = [item.repeated for item in items if item.repeated is not None]
        with self._database.pool.connection() as connection, connection.transaction():
            known = store.insert_decisions(connection, decisions) if decisions else {}
            if repeated:
                known |= store.read_decisions(connection, repeated)
            ids = [row.event_id for row in outcomes] + repeated
            if not ids:
                return Answers(known=known, ended=set(), outcomes={})
            ended = store.insert_outcomes(connection, outcomes, self._project.reward.window_seconds)
            return Answers(known=known, ended=ended, outcomes=store.read_outcomes(connection, ids))

    def _tell_failure(self, group: list[Asked], error: Exception) -> None:
        if self.failure is None:
            _logger.error("The database cannot be written: %s.", error)
        self.failure = store.on_one_line(error)
        message = None if self._keeps else f"The database cannot be written now ({self.failure}): try again."
        for asked in group:
            asked.commit.finish(durable=False, failure=message)
