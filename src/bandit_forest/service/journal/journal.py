"""The journal: operations are handed over in their order, and a thread writes them to disk, a group at a time."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from bandit_forest.errors import DamagedFileError
from bandit_forest.service.config.tables import Storage
from bandit_forest.service.errors import StorageError
from bandit_forest.service.journal.checkpoints import Checkpointer
from bandit_forest.service.journal.commits import Commit
from bandit_forest.service.journal.entries import Entry
from bandit_forest.service.journal.files import create_file, file_path, first_seq, is_current, journal_files, last_seq
from bandit_forest.service.journal.integrity import Mark, insert_linked

__all__ = ["Journal"]

_logger = logging.getLogger(__name__)

_MOST_ROWS = 512  # of one statement; it keeps the memory of what was bound last
_RETRY_SECONDS = 0.5
_LOOK_SECONDS = 1.0  # how often the size and age of the current file are looked at


class Journal:
    """Write operations durably, many with one fsync.

    While one group is being written, new operations form the next group. `append` never blocks and never fails. When
    the disk refuses a group, its waiters get the failure. The group stays in memory, ahead of all later operations, and
    is tried again until it is written; meanwhile `failure` is the alarm.

    Parameters
    ----------
    folder
        Folder of the files.
    identity
        Identity of the folder, kept in each file.
    storage
        When to begin a new file, and whether waiters of a refused group get an error or False.
    new_file
        Whether to begin a new file now: the identity is not that of the last one.
    """

    def __init__(self, folder: Path, identity: str, storage: Storage, *, new_file: bool = False) -> None:
        self._folder = folder
        self._identity = identity
        self._storage = storage
        self.seq = self.durable_seq = last_seq(folder)
        """Number of the last operation, and of the last one that is on disk."""
        self._link = b""  # of the last operation that is on disk
        first = self.seq + 1 if new_file or not is_current(folder) else first_seq(journal_files(folder)[-1])
        self._file = file_path(folder, first)
        self._mark: Mark | None = None  # None: nothing could be opened yet, on a full disk
        self.failure: str | None = None
        """Error of the last attempt to write; None when it succeeded."""
        try:
            self._open()
        except (OSError, sqlite3.Error) as error:
            if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
                raise DamagedFileError(f"The journal in '{folder}' is damaged ({error}): put a backup back.") from error
            if storage.full_disk == "refuse":
                raise StorageError(f"The journal in '{folder}' cannot be opened ({error}): free some space.") from error
            _logger.error("The journal cannot be opened: %s. It is tried again.", error)
            self.failure = str(error)
        self._rows: list[Entry] = []  # the group that is open: its operations
        self._commit = Commit(self._call_writer)  # and its promise
        self._is_due = False  # whether it is to be written as soon as the writer can
        self._loop: asyncio.AbstractEventLoop | None = None  # the last one that was to call the writer
        self.tail = Commit()
        """The commit of the last operation."""
        self.tail.finish(durable=True)
        self._closing = False
        self._changed = threading.Condition()
        self._checkpointer = Checkpointer(lambda: self._file)
        self._writer = threading.Thread(target=self._write_groups, name="bandit-forest-journal", daemon=True)
        self._writer.start()

    @property
    def queued(self) -> int:
        """The number of operations that are not on disk yet."""
        return self.seq - self.durable_seq

    @property
    def current_bytes(self) -> int:
        """The size of the file that is being written, without its write-ahead log; 0 when somebody removed it."""
        try:
            return self._file.stat().st_size
        except FileNotFoundError:
            return 0

    def append(self, entries: Sequence[Entry]) -> Commit:
        """Hand over entries, numbered on from the last; return the commit that makes them durable.

        In an event loop the group is written when the loop has read all pending requests, since each commit has a fixed
        cost.
        """
        with self._changed:
            is_first = not self._rows
            self._rows.extend(entries)
            self.seq = entries[-1].seq
            self.tail = commit = self._commit
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self._call_writer()
            return commit
        if is_first or loop is not self._loop:  # another loop may have ended before it called
            self._loop = loop
            loop.call_soon(self._call_writer)
        return commit

    def close(self) -> None:
        """Write what is queued and stop; `StorageError` when the disk does not take it."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._writer.join()
        self._checkpointer.stop()
        if self._mark is not None:
            self._connection.close()
            self._mark.close()
        if self.queued:
            raise StorageError(f"{self.queued} operations could not be written to '{self._folder}': {self.failure}.")

    def _call_writer(self) -> None:
        with self._changed:
            self._is_due = bool(self._rows)
            self._changed.notify()

    def _write_groups(self) -> None:
        """Write group after group: the life of the thread."""
        while (group := self._next_group()) is not None:
            rows, commit = group
            while not self._write(rows, commit):
                with self._changed:
                    if self._closing:
                        return
                    self._changed.wait(_RETRY_SECONDS)
            self._tidy()

    def _next_group(self) -> tuple[list[Entry], Commit] | None:
        """Take the open group, and open another; None when there is nothing more to do.

        After a failure the group is taken even if it is empty: its waiters got the failure, which ends with this group.
        """
        with self._changed:
            while self.failure is None and not (self._rows and (self._is_due or self._closing)):
                if self._closing:
                    return None
                self._changed.wait()
            if self.failure is not None:
                _logger.warning("The journal is written again.")
            self.failure = None
            group = self._rows, self._commit
            self._rows, self._commit, self._is_due = [], Commit(self._call_writer), False
            return group

    def _write(self, rows: list[Entry], commit: Commit) -> bool:
        """Write a group, or report a failure to all waiters of this group and of later ones."""
        try:
            mark = self._open()
            while rows:
                self._insert(rows[:_MOST_ROWS])
                self.durable_seq = rows[min(_MOST_ROWS, len(rows)) - 1].seq
                mark.set(self.durable_seq)
                del rows[:_MOST_ROWS]
        except Exception as error:  # whatever it is, the thread must live to try again
            with self._changed:
                if self.failure is None:
                    _logger.error("The journal cannot be written: %s. It is tried again.", error)
                self.failure = str(error)
                self._tell_failure(commit)
                self._tell_failure(self._commit)
            return False
        commit.finish(durable=True)
        return True

    def _insert(self, rows: Sequence[Entry]) -> None:
        if not self._is_there():  # SQLite would go on writing a file that nobody finds again
            raise FileNotFoundError(f"'{self._file}' was moved or removed; put it back")
        self._link = insert_linked(self._connection, rows, self._link)

    def _is_there(self) -> bool:
        """Return whether the file that is open is still the one in the folder."""
        try:
            return self._file.stat().st_ino == self._inode
        except FileNotFoundError:
            return False

    def _tell_failure(self, commit: Commit) -> None:
        message = None
        if self._storage.full_disk == "refuse":
            message = (
                f"The journal cannot be written now ({self.failure}). What was asked for is kept in memory and tried "
                "again: free some space, then ask again with the same event_id."
            )
        commit.finish(durable=False, failure=message)

    def _open(self) -> Mark:
        """Open the file to write and the mark, unless they are; return the mark."""
        if self._mark is None:
            self._open_file(first_seq(self._file))
            self._mark = Mark(self._folder)
        return self._mark

    def _open_file(self, seq: int) -> None:
        connection, link = create_file(self._folder, seq, self._identity)
        self._connection: sqlite3.Connection = connection
        self._link = link
        self._file = file_path(self._folder, seq)
        self._inode = self._file.stat().st_ino
        self._looked = time.monotonic()
        first = self._connection.execute("SELECT min(time) FROM entries").fetchone()[0]
        self._began = time.time() if first is None else first

    def _tidy(self) -> None:
        """Begin the log anew when it is long, and a new file when this one is large or old; failing that, go on."""
        if time.monotonic() - self._looked < _LOOK_SECONDS:
            return
        self._looked = time.monotonic()
        too_old = time.time() - self._began >= self._storage.rotate_seconds
        try:
            if too_old or self.current_bytes >= self._storage.rotate_bytes:
                self._rotate()
            elif self._checkpointer.is_long:
                self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        except (OSError, sqlite3.Error) as error:
            _logger.warning("The journal could not be tidied up: %s.", error)

    def _rotate(self) -> None:
        closed = self._connection
        self._open_file(self.durable_seq + 1)
        closed.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        closed.close()
