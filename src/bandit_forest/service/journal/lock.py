"""One service at a time on a storage folder."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from bandit_forest.errors import refuse

__all__ = ["folder_lock"]


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
        connection.execute("PRAGMA journal_mode = MEMORY")  # a full disk has no room for another file
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error as error:
        connection.close()
        rule = "a folder that no other service uses: stop that one, or take another"
        if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
            rule = f"a folder whose file 'lock' can be written ({error})"
        refuse("folder", "[storage]", rule, str(folder))
    return connection
