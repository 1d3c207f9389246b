"""The journal on disk: SQLite files that follow one another, each named by the number of its first operation."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from bandit_forest.errors import DamagedFileError, refuse
from bandit_forest.service.journal.entries import Entry

__all__ = [
    "create_file",
    "file_path",
    "first_seq",
    "folder_lock",
    "journal_files",
    "last_seq",
    "read_entries",
    "read_identities",
]

APPLICATION_ID = 0x42464A4C  # "BFJL": lets `file` and this package tell a journal from other databases
VERSION = 1
_PREFIX = "journal-"
_SUFFIX = ".sqlite"
_DIGITS = 15
_SCHEMA = (
    """CREATE TABLE entries (
    seq INTEGER PRIMARY KEY, time REAL NOT NULL, kind TEXT NOT NULL, event_id TEXT, action TEXT, propensity REAL,
    reward REAL, context TEXT, available TEXT, forest_action TEXT, forest_propensity REAL, forest_value REAL
)""",
    "CREATE TABLE project (definition TEXT NOT NULL)",
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


def create_file(folder: Path, seq: int, identity: str) -> sqlite3.Connection:
    """Open the journal file that begins with an operation; make it when it is not there, whole or not at all.

    A file keeps the identity that it was made with, unless it has no entry yet.
    """
    file = file_path(folder, seq)
    is_new = not file.exists()
    connection = connect(file)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")  # a commit returns when the disk has it
        connection.execute("PRAGMA wal_autocheckpoint = 0")  # the Checkpointer does it
        if not connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
            connection.execute("BEGIN")
            for statement in _SCHEMA:
                connection.execute(statement)
            connection.execute("INSERT INTO project VALUES (?)", (identity,))
            connection.execute("COMMIT")
        elif not connection.execute("SELECT count(*) FROM entries").fetchone()[0]:
            connection.execute("UPDATE project SET definition = ?", (identity,))
    except BaseException:
        connection.close()
        if is_new:  # an empty file would hide what the file before it goes on to hold
            file.unlink(missing_ok=True)
        raise
    return connection


def connect(file: Path) -> sqlite3.Connection:
    """Open a database for any thread; every statement is a transaction of its own."""
    return sqlite3.connect(file, isolation_level=None, check_same_thread=False, timeout=30.0, cached_statements=128)


def read_identities(folder: Path) -> dict[int, str]:
    """Return the identity in each file, by the number of the file's first operation; empty when there is no journal."""
    found: dict[int, str] = {}
    for file in journal_files(folder):
        with closing(_open_for_reading(file)) as connection:
            identity = _fetch(connection, file, "SELECT definition FROM project")
        if identity is not None:  # the last file may have been made an instant before a crash
            found[first_seq(file)] = str(identity)
    return found


def last_seq(folder: Path) -> int:
    """Return the number of the last operation of a journal, 0 when there is none."""
    for file in reversed(journal_files(folder)):
        with closing(_open_for_reading(file)) as connection:
            found = _fetch(connection, file, "SELECT max(seq) FROM entries")
        if found is not None:
            return int(str(found))
        if first_seq(file) > 1:
            return first_seq(file) - 1
    return 0


def read_entries(folder: Path, *, after: int = 0, until: int | None = None) -> Iterator[Entry]:
    """Return the entries of a journal in order, also of one that is being written.

    Parameters
    ----------
    folder
        Of the journal.
    after
        The number of the last operation to leave out.
    until
        The number of the last operation to give; None: all that there are.
    """
    files = journal_files(folder)
    last = last_seq(folder) if until is None else until
    expected = after + 1
    for number, file in enumerate(files):
        if expected > last:  # what follows may have been made an instant before a crash
            return
        if number + 1 < len(files) and first_seq(files[number + 1]) <= expected:
            continue
        for entry in _read_file(file, expected, last):
            if entry.seq != expected:
                raise _gap(folder, expected)
            expected += 1
            yield entry
    if expected <= last:
        raise _gap(folder, expected)


def folder_lock(folder: Path) -> sqlite3.Connection:
    """Take a storage folder for this process, until the connection is closed or the process ends in any way.

    The folder is made when it is not there.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # contexts may tell of people
        connection = sqlite3.connect(folder / "lock", isolation_level=None, timeout=0.0, check_same_thread=False)
    except (OSError, sqlite3.Error) as error:
        refuse("folder", "[storage]", f"a folder that can be made and written ({error})", str(folder))
    try:
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error as error:
        connection.close()
        rule = "a folder that no other service uses: stop that one, or take another"
        if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
            rule = f"a folder whose file 'lock' can be written ({error})"
        refuse("folder", "[storage]", rule, str(folder))
    return connection


def _read_file(file: Path, first: int, last: int) -> Iterator[Entry]:
    with closing(_open_for_reading(file)) as connection:
        try:
            query = f"SELECT {', '.join(Entry._fields)} FROM entries WHERE seq BETWEEN ? AND ? ORDER BY seq"
            yield from map(Entry._make, connection.execute(query, (first, last)))
        except sqlite3.DatabaseError as error:
            raise DamagedFileError(f"'{file}' is damaged: {error}.") from error


def _open_for_reading(file: Path) -> sqlite3.Connection:
    connection = connect(file)
    connection.execute("PRAGMA query_only = 1")
    return connection


def _fetch(connection: sqlite3.Connection, file: Path, query: str) -> object:
    """Return the first value of a query, None when a file has no content yet."""
    try:
        if not connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
            return None
        if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
            raise DamagedFileError(f"'{file}' is not a journal of a decision service.")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version != VERSION:
            raise DamagedFileError(f"'{file}' has the journal version {version}, and this package reads {VERSION}.")
        row = connection.execute(query).fetchone()
    except sqlite3.DatabaseError as error:
        raise DamagedFileError(f"'{file}' is damaged: {error}.") from error
    return None if row is None else row[0]


def _gap(folder: Path, seq: int) -> DamagedFileError:
    return DamagedFileError(f"The journal in '{folder}' lacks operation {seq}: put the file back that holds it.")
