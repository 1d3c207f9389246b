"""A copy of a storage folder, also while the service runs: SQLite's online backup, and the last snapshot."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from bandit_forest.errors import DamagedFileError, refuse
from bandit_forest.service.config.project import Project
from bandit_forest.service.journal.connections import connect
from bandit_forest.service.journal.files import journal_files, read_entries
from bandit_forest.service.journal.integrity import MARK
from bandit_forest.service.recovery.recover import BASE, journal_end
from bandit_forest.service.recovery.snapshots import files_of, snapshot_files

__all__ = ["back_up", "make_folder"]


def back_up(project: Project, folder: Path) -> int:
    """Copy the journal and the last snapshot of a project into a new or empty folder; return the number of entries.

    The copy is a storage folder: a service that is started on it goes on from the moment of the copy. Each entry of it
    is read again, so that a damaged journal is not taken for a backup.
    """
    source = project.storage.folder
    journal_end(source)
    try:
        make_folder(folder)
        for name in (BASE, MARK):  # the mark before the journal, which then goes at least as far
            if (source / name).exists():
                shutil.copy2(source / name, folder)
        _copy_snapshot(source, folder)  # before the journal, too
        for file in journal_files(source):
            _copy_journal(file, folder)
    except OSError as error:
        refuse("folder", "the backup", f"a folder that can be made and written ({error.strerror})", str(folder))
    return sum(1 for _ in read_entries(folder))


def make_folder(folder: Path) -> None:
    """Make the folder of a backup, or refuse one that is not empty."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # contexts may tell of people
    if any(folder.iterdir()):
        refuse("folder", "the backup", "new or empty", str(folder))


def _copy_journal(file: Path, folder: Path) -> None:
    """Copy a file of the journal, also while it is written."""
    try:
        with closing(connect(file)) as original, closing(sqlite3.connect(folder / file.name)) as copy:
            original.backup(copy)
            (state,) = copy.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        raise DamagedFileError(f"'{file}' cannot be copied to '{folder}': {error}.") from error
    if state != "ok":
        raise DamagedFileError(f"'{file}' is damaged, and so is its copy in '{folder}': {state}.")


def _copy_snapshot(source: Path, folder: Path) -> None:
    """Copy the last snapshot; when the service has just replaced it by newer ones, take those."""
    while snapshots := snapshot_files(source):
        try:
            for file in files_of(snapshots[-1]):
                shutil.copy2(file, folder)
        except FileNotFoundError:
            continue
        return
