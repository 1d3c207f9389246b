"""The backup of a database: what is told to pg_dump."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import write_project

from bandit_forest.errors import BanditForestError
from bandit_forest.service.config.project_file import load_project
from bandit_forest.service.replica.backup import back_up_database

RECORDING = """#!/bin/sh
printf '%s\\n' "$@" > {told}
printf '%s' "$PGPASSWORD" > {password}
"""


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a pg_dump that writes down what it is told."""
    folder = tmp_path / "programs"
    folder.mkdir()
    program = folder / "pg_dump"
    program.write_text(RECORDING.format(told=folder / "told", password=folder / "password"))
    program.chmod(0o700)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    return folder


def test_the_whole_address_reaches_pg_dump_and_its_password_stays_out_of_the_list_of_processes(
    tmp_path: Path, programs: Path
) -> None:
    pytest.importorskip("psycopg")
    options = "sslmode=verify-full&sslrootcert=/ca%20files/root.crt&options=-csearch_path%3Dforest"
    url = f"postgresql://anna:secret@db.example:6432/events?{options}"
    project = load_project(write_project(tmp_path, storage=f'journal = "{url}"'))
    back_up_database(project, tmp_path / "copy")
    told = (programs / "told").read_text()
    address = next(line for line in told.splitlines() if line.startswith("--dbname="))
    for part in ("host=db.example", "port=6432", "user=anna", "dbname=events", "sslmode=verify-full"):
        assert part in address
    assert "sslrootcert='/ca files/root.crt'" in address
    assert "options=-csearch_path=forest" in address
    assert "secret" not in told
    assert (programs / "password").read_text() == "secret"


def test_a_backup_keeps_to_the_encryption_that_the_address_asks_for(tmp_path: Path, url: str) -> None:
    project = load_project(write_project(tmp_path, storage=f'journal = "{url}?sslmode=require"'))
    with pytest.raises(BanditForestError, match="does not support SSL"):  # as the server of the tests does not
        back_up_database(project, tmp_path / "copy")
