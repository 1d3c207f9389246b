"""What every operation needs: state, journal and clock."""

from __future__ import annotations

from collections.abc import Callable

from bandit_forest.service.domain.state import State
from bandit_forest.service.errors import StorageError
from bandit_forest.service.journal.commits import Commit
from bandit_forest.service.journal.entries import Entry
from bandit_forest.service.journal.journal import Journal

__all__ = ["ServiceContext"]

_SLOWER = 0.9


class ServiceContext:
    """State, journal and clock of a service; used by one thread.

    Parameters
    ----------
    state
        The state of the service.
    journal
        Where it is made durable.
    clock
        Seconds since 1970.
    """

    def __init__(self, state: State, journal: Journal, clock: Callable[[], float]) -> None:
        self.state = state
        self.project = state.project
        self.bandit = state.bandit
        self.journal = journal
        self.late = 0
        """Rewards refused after their window, since start."""
        self.duplicates = 0
        """Second rewards, since start."""
        self.snapshot_seq = 0
        """The last entry of the newest snapshot."""
        self.snapshot_time: float | None = None
        self.snapshot_seconds: float | None = None
        """How long the last snapshot held up decisions."""
        self._clock = clock
        self._read = clock()
        self._time = state.time

    @property
    def failing(self) -> bool:
        """Whether the last commit failed: the alarm, and not ready when the project says to refuse."""
        return self.journal.failure is not None

    def check_storage(self) -> None:
        """Refuse new work when the disk does, if the project says so, or when too much waits for it."""
        journal, storage = self.journal, self.project.storage
        if journal.failure is not None and storage.full_disk == "refuse":
            raise StorageError(
                f"The journal cannot be written now ({journal.failure}): free some space, then try again."
            )
        if journal.queued >= storage.queued_operations:
            raise StorageError(f"{journal.queued} operations wait for the disk, as many as may: try again later.")

    def now(self) -> float:
        """Return the time of the next entry: the clock's, but never before the last one.

        After a clock that was ahead is put back, time goes on from where it was, a little slower than the clock, until
        the clock has caught up: the window of rewards goes on being kept.
        """
        read = self._clock()
        passed, self._read = read - self._read, read
        self._time = max(read, self._time + _SLOWER * max(0.0, passed))
        return self._time

    def record(self, entries: list[Entry]) -> Commit:
        """Hand entries to the journal, in the order in which they are applied."""
        if not entries:
            return self.journal.tail
        self.state.seq, self.state.time = entries[-1].seq, entries[-1].time
        return self.journal.append(entries)
