"""Connections to the SQLite files of a journal."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import quote

__all__ = ["connect", "connect_to_read", "insert"]

_EXACT_ROWS = 64  # up to here there is a statement for each number of rows, beyond for multiples of 16


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


def insert(connection: sqlite3.Connection, rows: Sequence[tuple[Any, ...]]) -> None:
    """Write entries with one statement: one transaction, one fsync, and the interpreter's lock is released once."""
    size = len(rows) if len(rows) <= _EXACT_ROWS else -(-len(rows) // 16) * 16
    n_columns = len(rows[0])
    padding = ((None,) * n_columns,) * (size - len(rows))
    connection.execute(_insert_statement(size, n_columns), tuple(chain.from_iterable((*rows, *padding))))


@lru_cache
def _insert_statement(size: int, n_columns: int) -> str:
    """Return the statement for so many rows; rows without a number are padding.

    A row that is there already was written by an attempt that seemed to fail.
    """
    row = f"({', '.join('?' * n_columns)})"
    rows = ", ".join([row] * size)
    return f"INSERT OR IGNORE INTO entries SELECT * FROM (VALUES {rows}) WHERE column1 IS NOT NULL"
