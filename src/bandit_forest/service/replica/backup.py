"""A copy of a database, also while replicas run: PostgreSQL's own."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from bandit_forest.errors import BanditForestError, MissingExtraError
from bandit_forest.service.config.project import Project
from bandit_forest.service.recovery.backup import make_folder

__all__ = ["DUMP", "back_up_database"]

DUMP = "journal.dump"
_VARIABLES = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "password": "PGPASSWORD", "dbname": "PGDATABASE"}


def back_up_database(project: Project, folder: Path) -> None:
    """Copy the database of a project into a file of a new or empty folder, for `pg_restore`."""
    from psycopg.conninfo import conninfo_to_dict

    command = shutil.which("pg_dump")
    if command is None:
        raise MissingExtraError("The backup of a database needs pg_dump: install the client programs of PostgreSQL.")
    make_folder(folder)
    known = conninfo_to_dict(project.storage.database_url())  # a password must not stand in the list of processes
    environment = {_VARIABLES[name]: str(value) for name, value in known.items() if name in _VARIABLES}
    arguments = [command, "--format=custom", "--no-owner", f"--file={folder / DUMP}"]
    ended = subprocess.run(arguments, env=os.environ | environment, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise BanditForestError(f"pg_dump failed: {' '.join(ended.stderr.split())}")
