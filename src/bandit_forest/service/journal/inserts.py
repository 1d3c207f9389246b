"""Rows into a file of the journal: one statement for a whole group."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, chain

from bandit_forest.service.journal.chain import next_link
from bandit_forest.service.journal.entries import Entry

__all__ = ["MOST_ROWS", "insert"]

MOST_ROWS = 512
"""Largest number of rows of one statement, which keeps the memory of what was bound last."""

_EXACT_ROWS = 64  # up to here there is a statement for each number of rows, beyond for multiples of 16
_NO_ROW = (None,) * (len(Entry._fields) + 1)


def insert(connection: sqlite3.Connection, rows: Sequence[Entry], link: bytes) -> bytes:
    """Write rows after the one with a link: one transaction, one fsync, one release of the interpreter's lock.

    Returned is the link of the last of them.
    """
    size = len(rows) if len(rows) <= _EXACT_ROWS else -(-len(rows) // 16) * 16
    links = list(accumulate(rows, next_link, initial=link))
    values = [(*row, link) for row, link in zip(rows, links[1:], strict=True)]
    padding = (_NO_ROW,) * (size - len(rows))
    connection.execute(_insert_statement(size), tuple(chain.from_iterable((*values, *padding))))
    return links[-1]


@lru_cache
def _insert_statement(size: int) -> str:
    """Make the statement for so many rows; rows without a number are padding.

    A row that is there already was written by an attempt that seemed to fail.
    """
    row = f"({', '.join('?' * len(_NO_ROW))})"
    rows = ", ".join([row] * size)
    return f"INSERT OR IGNORE INTO entries SELECT * FROM (VALUES {rows}) WHERE column1 IS NOT NULL"
