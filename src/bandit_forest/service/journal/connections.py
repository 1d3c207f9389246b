"""Connections to the SQLite files of a journal."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from urllib.parse import quote

__all__ = ["connect", "connect_to_read"]


def connect(file: Path) -> sqlite3.Connection:
    """Open a database for any thread; every statement is a transaction of its own."""
    return sqlite3.connect(file, isolation_level=None, check_same_thread=False, timeout=30.0, cached_statements=128)


def connect_to_read(file: Path) -> sqlite3.Connection:
    """Open a database to read it, also on a full disk, on which SQLite has no room for the index of its log.

    Without a log, as after an orderly stop, the file alone is all there is.
    """
    connection = connect(file)
    try:
        connection.execute("PRAGMA query_only = 1")
        connection.execute("SELECT 1 FROM sqlite_schema").fetchone()
    except sqlite3.Error as error:
        connection.close()
        log = file.with_name(f"{file.name}-wal")
        if not isinstance(error, sqlite3.OperationalError) or (log.exists() and log.stat().st_size):
            raise
        address = f"file:{quote(str(file.absolute()))}?mode=ro&immutable=1"
        return sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
    return connection
