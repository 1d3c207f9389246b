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


def back_up_database(project: Project, folder: Path) -> None:
    """Copy the database of a project into a file of a new or empty folder, for `pg_restore`."""
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    command = shutil.which("pg_dump")
    if command is None:
        raise MissingExtraError("The backup of a database needs pg_dump: install the client programs of PostgreSQL.")
    make_folder(folder)
    address = conninfo_to_dict(project.storage.database_url())
    password = address.pop("password", None)  # it must not stand in the list of processes
    address.pop("sslpassword", None)  # nor must this one, for which pg_dump has no variable
    environment = os.environ if password is None else os.environ | {"PGPASSWORD": str(password)}
    arguments = [command, f"--dbname={make_conninfo('', **address)}"]
    arguments += ["--format=custom", "--no-owner", f"--file={folder / DUMP}"]
    ended = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise BanditForestError(f"pg_dump failed: {' '.join(ended.stderr.split())}")
