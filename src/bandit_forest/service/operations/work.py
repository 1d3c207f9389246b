"""The work of a request: entries for the journal and lessons for the forest, handed over together."""

from __future__ import annotations

from bandit_forest.bandit.model import Lesson
from bandit_forest.service.domain.state import ServiceContext
from bandit_forest.service.journal.commits import Commit
from bandit_forest.service.journal.entries import Entry

__all__ = ["Work"]


class Work:
    """Entries and lessons of a request or a batch.

    Parameters
    ----------
    service
        Where they are recorded and learned.
    """

    def __init__(self, service: ServiceContext) -> None:
        self.now = service.now()
        self._service = service
        self._entries: list[Entry] = []
        self._lessons: list[Lesson] = []

    @property
    def next_seq(self) -> int:
        """The number of the next entry."""
        return self._service.state.seq + len(self._entries) + 1

    def add(self, entry: Entry, lesson: Lesson | None) -> None:
        """Add an entry that has been applied, and its lesson; one of the warm-up may change how the next is read."""
        self._entries.append(entry)
        if lesson is not None and self._service.bandit.model.policy is None:
            self._service.bandit.model.learn(lesson)
        elif lesson is not None:
            self._lessons.append(lesson)

    def finish(self) -> Commit:
        """Hand the entries over, and learn the lessons in the same order."""
        commit = self._service.record(self._entries)
        self._service.bandit.model.learn_many(self._lessons)
        return commit
