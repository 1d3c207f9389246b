"""The learner of a replica, on a real PostgreSQL."""

from __future__ import annotations

import time
from pathlib import Path

from running import write_project

from bandit_forest.service.config.project_file import load_project
from bandit_forest.service.journal.entries import DECIDE
from bandit_forest.service.replica import store
from bandit_forest.service.replica.learner import Learner
from bandit_forest.service.replica.rows import DecisionRow


def test_only_events_that_were_ended_are_no_longer_counted_as_waiting(tmp_path: Path, url: str):
    file = write_project(tmp_path, storage=f'journal = "{url}"', more="[limits]\nwaiting_events = 1")
    project = load_project(file)
    database = store.Database(project.storage)
    with database.pool.connection() as connection:
        rows = [DecisionRow(f"e{number}", DECIDE, 0, 0, "plus", 0.5, 3, 0, "{}") for number in range(2)]
        store.insert_decisions(connection, rows)
        connection.execute("SELECT pg_advisory_lock(%s)", (store.LESSON_LOCK,))  # nobody is elected yet
        learner = Learner(database, project)
        learner.n_waiting = 5  # three of them got their reward since they were counted
        connection.execute("SELECT pg_advisory_unlock(%s)", (store.LESSON_LOCK,))
    deadline = time.monotonic() + 30
    while learner.n_waiting == 5 and time.monotonic() < deadline:
        time.sleep(0.02)
    learner.stop()
    database.close()
    assert learner.n_waiting == 3
