"""Writes the golden folder of a project whose events offer their own actions.

PYTHONPATH=tests/service .venv/bin/python tests/service/golden/make_offered.py
"""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

from make_linked import expect, write_killed
from offered_projects import context, offer, play, rank
from projects import Clock, Decider

from bandit_forest.service.config.project_file import load_project

FOLDER = Path(__file__).parent / "offered"
PROJECT = """
[project]
name = "golden"
warm_up_events = 50
[context.age]
kind = "numeric"
[context.member]
kind = "boolean"
[offered.price]
kind = "numeric"
bins = 3
missing = true
[offered.kind]
kind = "categorical"
max_values = 2
[reward]
low = -1.0
high = 3.0
window_seconds = 100
default = 0.0
[storage]
folder = "data"
[forest]
n_trees = 4
n_names = 64
seed = 7
[forest.growth]
min_events = 4
log_capacity = 1024
"""


def main() -> None:
    """Write the folder, as a process that was killed leaves it."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    (FOLDER / "project.toml").write_text(PROJECT)
    write_killed(FOLDER, write)
    (FOLDER / "expected.json").write_text(json.dumps(expect(FOLDER) | {"last": last_request()}) + "\n")


def last_request() -> dict[str, Any]:
    """Return the request of the event that waits in the end."""
    rng = random.Random(3)
    return {"event_id": "last", "context": context(rng), "actions": offer(rng)}


def write() -> None:
    """Play some hundred events."""
    clock = Clock()
    decider = Decider.open(load_project(FOLDER / "project.toml"), clock=clock)
    for number in range(15):
        clock.now += 20
        play(decider, 20, start=20 * number, seed=number)
        decider.expire()
        if number == 9:
            decider.snapshot()()
    rank(decider.context, **last_request())
    decider.context.journal.tail.result()


if __name__ == "__main__":
    main()
