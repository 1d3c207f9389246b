"""The journal on disk: SQLite files that follow one another, each named by the number of its first operation."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from bandit_forest.errors import DamagedFileError
from bandit_forest.service.journal.connections import connect, connect_to_read
from bandit_forest.service.journal.entries import Entry
from bandit_forest.service.journal.integrity import MARK, NO_LINK, acknowledged_seq, first_link, next_link

__all__ = [
    "create_file",
    "file_path",
    "first_seq",
    "is_current",
    "journal_files",
    "last_link",
    "last_seq",
    "read_entries",
    "read_identities",
]

APPLICATION_ID = 0x42464A4C  # "BFJL": lets `file` and this package tell a journal from other databases
VERSION = 2  # version 1 had no links
_PREFIX = "journal-"
_SUFFIX = ".sqlite"
_DIGITS = 15
_SCHEMA = (
    "DROP TABLE IF EXISTS entries",  # of a file without any entry, by another version
    "DROP TABLE IF EXISTS project",
    """CREATE TABLE entries (
    seq INTEGER PRIMARY KEY, time REAL NOT NULL, kind TEXT NOT NULL, event_id TEXT, action TEXT, propensity REAL,
    reward REAL, context TEXT, available TEXT, forest_action TEXT, forest_propensity REAL, forest_value REAL,
    link BLOB NOT NULL
)""",
    "CREATE TABLE project (definition TEXT NOT NULL, previous BLOB NOT NULL)",
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {VERSION}",
)


def journal_files(folder: Path) -> list[Path]:
    """Return the files of a journal, oldest first; the last one is being written."""
    return sorted(folder.glob(f"{_PREFIX}{'[0-9]' * _DIGITS}{_SUFFIX}"))


def first_seq(file: Path) -> int:
    """Return the number of the first operation that a file holds, or will hold."""
    return int(file.name.removeprefix(_PREFIX).removesuffix(_SUFFIX))


def file_path(folder: Path, seq: int) -> Path:
    """Return the path of the file that begins with an operation."""
    return folder / f"{_PREFIX}{seq:0{_DIGITS}d}{_SUFFIX}"


def create_file(folder: Path, seq: int, identity: str) -> tuple[sqlite3.Connection, bytes]:
    """Open the journal file that begins with an operation; make it when it is not there, whole or not at all.

    A file keeps the identity that it was made with, unless it has no entry yet. Returned with it is its last link.
    """
    file = file_path(folder, seq)
    is_new = not file.exists()
    previous = last_link(folder)
    connection = connect(file)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")  # a commit returns when the disk has it
        connection.execute("PRAGMA wal_autocheckpoint = 0")  # the Checkpointer does it
        if _has_entries(connection):
            return connection, previous
        connection.execute("BEGIN")
        for statement in _SCHEMA:
            connection.execute(statement)
        connection.execute("INSERT INTO project VALUES (?, ?)", (identity, previous))
        connection.execute("COMMIT")
    except BaseException as error:
        connection.close()
        if is_new:  # an empty file would hide what the file before it goes on to hold
            file.unlink(missing_ok=True)
        if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
            raise _damaged(file, error) from error
        raise
    return connection, first_link(previous, identity)


def read_identities(folder: Path) -> dict[int, str]:
    """Return the identity in each file, by the number of the file's first operation; empty without a journal."""
    found: dict[int, str] = {}
    for file in journal_files(folder):
        with _reading(file) as (connection, version):
            if version:  # the last file may have been made an instant before a crash
                found[first_seq(file)] = str(connection.execute("SELECT definition FROM project").fetchone()[0])
    return found


def last_seq(folder: Path) -> int:
    """Return the number of the last operation of a journal, 0 when there is none.

    A journal that ends before an operation that was acknowledged is refused.
    """
    acknowledged = acknowledged_seq(folder)  # before the journal, which may be written meanwhile
    last = _last_seq(folder)
    if last < acknowledged:
        raise DamagedFileError(
            f"The journal in '{folder}' ends with operation {last}, but {acknowledged} operations were acknowledged: "
            f"put its missing files back, or start with a backup. To go on without what is lost, remove "
            f"'{folder / MARK}'."
        )
    return last


def last_link(folder: Path) -> bytes:
    """Return the link with which a journal goes on."""
    for file in reversed(journal_files(folder)):
        with _reading(file) as (connection, version):
            if version == 1:
                return NO_LINK
            if version:
                last = "SELECT link FROM entries ORDER BY seq DESC LIMIT 1"
                query = f"SELECT coalesce(({last}), (SELECT previous FROM project))"
                return bytes(connection.execute(query).fetchone()[0])
    return NO_LINK


def is_current(folder: Path) -> bool:
    """Return whether the last file of a journal may be written on: it is of this version."""
    files = journal_files(folder)
    if not files:
        return False
    with _reading(files[-1]) as (_, version):
        return version == VERSION


def read_entries(folder: Path, *, after: int = 0, until: int | None = None) -> Iterator[Entry]:
    """Return the entries of a journal in order: those after a number, up to another or to the last.

    The journal may be written meanwhile.
    """
    files = journal_files(folder)
    last = last_seq(folder) if until is None else until
    expected, link = after + 1, None
    for number, file in enumerate(files):
        if expected > last:  # what follows may have been made an instant before a crash
            return
        if number + 1 < len(files) and first_seq(files[number + 1]) <= expected:
            continue
        if first_seq(file) > expected:
            raise _gap(folder, expected)
        before = link
        for entry, link in _read_file(file, expected, last, before):  # noqa: B007
            expected += 1
            yield entry
    if expected <= last:
        raise _gap(folder, expected)


def _read_file(file: Path, first: int, last: int, before: bytes | None) -> Iterator[tuple[Entry, bytes | None]]:
    """Return entries of a file with their links; None where the file has none, as those of version 0.1."""
    with _reading(file) as (connection, version):
        link = _link_before(connection, file, first, before) if version > 1 else None
        columns = ", ".join(Entry._fields) + (", link" if version > 1 else ", NULL")
        query = f"SELECT {columns} FROM entries WHERE seq BETWEEN ? AND ? ORDER BY seq"
        for *values, stored in connection.execute(query, (first, last)) if version else ():
            entry = Entry._make(values)
            if entry.seq != first:
                raise _gap(file.parent, first)
            first += 1
            if link is not None:
                link = next_link(link, entry)
                if link != stored:
                    raise DamagedFileError(f"'{file}' is damaged: entry {entry.seq} is not as it was written.")
            yield entry, link


def _link_before(connection: sqlite3.Connection, file: Path, seq: int, before: bytes | None) -> bytes:
    """Return the link that an entry goes on from; refuse a file that does not go on from the one before it."""
    identity, previous = connection.execute("SELECT definition, previous FROM project").fetchone()
    if before is not None and before != previous:
        raise DamagedFileError(f"'{file}' is damaged: it does not go on from the file before it.")
    row = connection.execute("SELECT link FROM entries WHERE seq = ?", (seq - 1,)).fetchone()
    return first_link(previous, identity) if row is None else bytes(row[0])


@contextmanager
def _reading(file: Path) -> Iterator[tuple[sqlite3.Connection, int]]:
    """Open a file to read it; given with it is its version, 0 when it has no content yet."""
    try:
        with closing(connect_to_read(file)) as connection:
            yield connection, _version(connection, file)
    except (sqlite3.Error, AttributeError, TypeError, ValueError) as error:  # the latter: values that are not ours
        if isinstance(error, DamagedFileError):
            raise
        raise _damaged(file, error) from error


def _version(connection: sqlite3.Connection, file: Path) -> int:
    if not connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
        return 0
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise DamagedFileError(f"'{file}' is not a journal of a decision service.")
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if not 1 <= version <= VERSION:
        raise DamagedFileError(
            f"'{file}' has the journal version {version}, and this package reads up to {VERSION}: it was written by a "
            "newer version of bandit-forest. Install that one."
        )
    return version


def _has_entries(connection: sqlite3.Connection) -> bool:
    tables = connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'entries'").fetchone()[0]
    return bool(tables and connection.execute("SELECT EXISTS (SELECT 1 FROM entries)").fetchone()[0])


def _last_seq(folder: Path) -> int:
    for file in reversed(journal_files(folder)):
        with _reading(file) as (connection, version):
            found = connection.execute("SELECT max(seq) FROM entries").fetchone()[0] if version else None
        if found is not None:
            return int(found)
        if first_seq(file) > 1:
            return first_seq(file) - 1
    return 0


def _damaged(file: Path, error: Exception) -> DamagedFileError:
    return DamagedFileError(f"'{file}' is damaged: {str(error).rstrip('.')}.")


def _gap(folder: Path, seq: int) -> DamagedFileError:
    return DamagedFileError(f"The journal in '{folder}' lacks operation {seq}: put the file back that holds it.")
