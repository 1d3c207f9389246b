"""The work of a request: entries for the journal and lessons for the forest, handed over together."""

from __future__ import annotations

from bandit_forest.service.domain.events import AnyLesson
from bandit_forest.service.domain.state import ServiceContext
from bandit_forest.service.journal.commits import Commit
from bandit_forest.service.journal.entries import Entry

__all__ = ["Work"]


class Work:
    """Entries and lessons of a request or a batch.

    Parameters
    ----------
    service
        Service that records the entries and learns the lessons.
    """

    def __init__(self, service: ServiceContext) -> None:
        self.now = service.now()
        self._service = service
        self._entries: list[Entry] = []
        self._lessons: list[AnyLesson] = []

    @property
    def next_seq(self) -> int:
        """The number of the next entry."""
        return self._service.state.seq + len(self._entries) + 1

    def add(self, entry: Entry, lesson: AnyLesson | None) -> None:
        """Add an entry that has been applied, and its lesson; one of the warm-up may change how the next is read."""
        self._entries.append(entry)
        if lesson is None:
            return
        self._lessons.append(lesson)
        if self._service.state.learner.model.warm_up_left:
            self._learn()

    def finish(self) -> Commit:
        """Hand the entries over, and learn the lessons in the same order."""
        commit = self._service.record(self._entries)
        self._learn()
        return commit

    def _learn(self) -> None:
        lessons, self._lessons = self._lessons, []
        self._service.state.learner.model.learn_many(lessons)
