"""A private PostgreSQL for all tests of replicas, and a database for each."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from running import write_project

from harness.postgres import PostgresProcess, why_not

_numbers = count()


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresProcess]:
    reason = why_not()
    if reason is not None:
        pytest.skip(reason)
    with PostgresProcess() as process:
        yield process


@pytest.fixture
def url(postgres: PostgresProcess) -> str:
    return postgres.new_database(f"test_{next(_numbers)}")


@pytest.fixture
def shared(tmp_path: Path, url: str) -> Path:
    """The file of a project whose journal is in PostgreSQL."""
    return write_project(tmp_path, storage=f'journal = "{url}"\nsnapshot_seconds = 1')
