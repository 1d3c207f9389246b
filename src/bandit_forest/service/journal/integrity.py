"""Checks that a journal is complete: the chain over its entries, and the mark of the last acknowledged entry.

The link of an entry depends on all entries before it, so a change is found. The mark is written after each commit, but
no answer waits for it: it survives a killed process, and after a power cut it may be behind the journal, but never
ahead of it. So a lost end is found.
"""

from __future__ import annotations

import logging
import os
import re
import sqlite3
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from zlib import crc32

from msgspec import msgpack

from bandit_forest.service.journal.entries import Entry

__all__ = ["MARK", "NO_LINK", "Mark", "acknowledged_seq", "first_link", "insert_linked", "next_link"]

MARK = "acknowledged"
_BYTES = 16
NO_LINK = bytes(_BYTES)
"""What the first file of a journal goes on from."""

_COLUMNS = (*Entry._fields, "link")
_EXACT_ROWS = 64  # up to here there is a statement for each number of rows, beyond for multiples of 16
_logger = logging.getLogger(__name__)
_LINE = re.compile(rb"([0-9]{15}) ([0-9a-f]{8})\n")
_encode = msgpack.Encoder().encode


def first_link(previous: bytes, identity: str) -> bytes:
    """Return the link before the first entry of a file, which goes on from the last link of the file before it."""
    return blake2b(previous + identity.encode(), digest_size=_BYTES).digest()


def next_link(previous: bytes, entry: Entry) -> bytes:
    """Return the link of an entry that follows another.

    Examples
    --------
    >>> entry = Entry(1, 0.0, "reward", "e1", reward=1)
    >>> link = next_link(NO_LINK, entry)
    >>> link == next_link(NO_LINK, entry._replace(reward=1.0)), link == next_link(link, entry)
    (True, False)
    """
    seq, time, kind, event_id, action, propensity, reward, context, available, forest_action, *forest = entry
    if propensity is not None:
        propensity += 0.0  # SQLite makes floats of ints, and has no -0.0
    if reward is not None:
        reward += 0.0
    if forest_action is not None:
        forest = [None if number is None else number + 0.0 for number in forest]
    texts = (kind, event_id, action, context, available, forest_action)
    numbers = (time + 0.0, propensity, reward, *forest)
    return blake2b(previous + _encode((seq, texts, numbers)), digest_size=_BYTES).digest()


def insert_linked(connection: sqlite3.Connection, entries: Sequence[Entry], link: bytes) -> bytes:
    """Write entries after the one with a link; return the link of the last of them.

    One statement is one transaction and one fsync, and the interpreter's lock is released once. `sqlite3` takes five
    times as long to bind None and bytes as texts, numbers and bytearrays, so columns without any value are left out.
    """
    links = []
    for entry in entries:
        link = next_link(link, entry)
        links.append(bytearray(link))
    values = zip(*entries, strict=True)
    used = [column for column in zip(_COLUMNS, (*values, links), strict=True) if column[1].count(None) < len(entries)]
    names, columns = zip(*used, strict=True)
    size = len(entries) if len(entries) <= _EXACT_ROWS else -(-len(entries) // 16) * 16
    padding = (None, *[0] * (len(names) - 1)) * (size - len(entries))
    statement = _insert_statement(names, size)
    connection.execute(statement, [*chain.from_iterable(zip(*columns, strict=True)), *padding])
    return link


@lru_cache(maxsize=512)
def _insert_statement(names: tuple[str, ...], size: int) -> str:
    """Return the statement for a number of rows; rows without a number are padding.

    A row that is there already was written by an attempt that seemed to fail.
    """
    row = f"({', '.join('?' * len(names))})"
    rows = ", ".join([row] * size)
    columns = ", ".join(names)
    return f"INSERT OR IGNORE INTO entries ({columns}) SELECT * FROM (VALUES {rows}) WHERE column1 IS NOT NULL"


class Mark:
    """The file with the number of the last acknowledged entry of a journal."""

    def __init__(self, folder: Path) -> None:
        self._file = os.open(folder / MARK, os.O_WRONLY | os.O_CREAT, 0o600)

    def set(self, seq: int) -> None:
        """Write that everything up to an entry is on disk."""
        number = b"%015d" % seq
        try:
            os.pwrite(self._file, b"%b %08x\n" % (number, crc32(number)), 0)
        except OSError as error:  # the entries themselves are safe
            _logger.warning("The mark of the journal could not be written: %s.", error)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def acknowledged_seq(folder: Path) -> int:
    """Return the number of the last entry that is known to have been acknowledged; 0 where there is no mark."""
    try:
        line = (folder / MARK).read_bytes()
    except FileNotFoundError:
        return 0
    found = _LINE.fullmatch(line)
    if found is None or crc32(found[1]) != int(found[2], 16):
        _logger.warning("'%s' is passed over: it is not whole, as after a power cut.", folder / MARK)
        return 0
    return int(found[1])
