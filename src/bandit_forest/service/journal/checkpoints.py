"""Moves SQLite's write-ahead log into the file itself, in a separate thread, so no commit waits for it."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

from bandit_forest.service.journal.connections import connect

__all__ = ["Checkpointer"]

_logger = logging.getLogger(__name__)

_SECONDS = 1.0
_LONG_PAGES = 16_384  # 64 MB


class Checkpointer:
    """Moves what is in the log of the current journal file into the file, about once a second.

    The log begins anew only when all of it has been moved. While entries arrive without a pause, its end is never
    moved; `is_long` then asks the writer to move this small rest between two groups.
    """

    def __init__(self, current_file: Callable[[], Path]) -> None:
        self.is_long = False
        self._current_file = current_file
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="bandit-forest-checkpoint", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread."""
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        """Move once a second over one connection for as long as the file is the same: others would scatter memory."""
        connection: sqlite3.Connection | None = None
        opened: tuple[Path, int] | None = None
        while not self._stopping.wait(_SECONDS):
            try:
                file = self._current_file()
                if not file.exists():  # connecting would make an empty one
                    continue
                if connection is None or opened != (file, file.stat().st_ino):
                    if connection is not None:
                        connection.close()
                    connection, opened = connect(file), (file, file.stat().st_ino)
                _, n_pages, _ = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
                self.is_long = n_pages > _LONG_PAGES
            except (OSError, sqlite3.Error) as error:  # nothing is lost: the log keeps it
                _logger.warning("The journal's log could not be moved into its file: %s.", error)
        if connection is not None:
            connection.close()
