"""Writes the golden storage folders. It ran with commit 8ecfc7c (version 0.1), whose layout of the service it imports.

    git worktree add ../golden 8ecfc7c && cd ../golden && make .venv/installed
    .venv/bin/python ../bandit-forest/tests/service/golden/make.py ../bandit-forest/tests/service/golden

Each folder has a project file, a journal, a snapshot in the midst of the journal, and `expected.json` with
what that version knew in the end. The process ends without a last snapshot, as after a kill.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import sqlite3
import sys
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bandit_forest.service.decider import Decider
from bandit_forest.service.journal_files import journal_files
from bandit_forest.service.project_file import load_project

from bandit_forest.service.recovery import adopted, rebuild

GROWTHS = {
    "elimination": '[forest.growth]\nrule = "Elimination"\n[forest.exploration]\nrule = "UniformOverRemaining"\n',
    "greedy": "[forest.growth]\nmin_events = 4\nlog_capacity = 1024\n",
}
PROJECT = """
[project]
name = "golden"
warm_up_events = 50
[actions]
names = ["a", "b", "c"]
capacity = 5
[context.age]
kind = "numeric"
bins = 3
missing = true
[context.city]
kind = "categorical"
max_values = 3
[context.plan]
kind = "categorical"
values = ["basic", "plus"]
open = true
[context.member]
kind = "boolean"
[reward]
low = -1.0
high = 3.0
window_seconds = 100
default = 0.0
[storage]
folder = "data"
[forest]
n_trees = 4
seed = 7
"""


class Clock:
    """Seconds that pass when told."""

    now = 1_000_000.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now


def main() -> None:
    """Write a folder for each growth."""
    for name, growth in GROWTHS.items():
        folder = Path(sys.argv[1]) / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "project.toml").write_text(PROJECT + growth)
        if os.fork() == 0:
            write(folder)
            os._exit(0)  # without a last snapshot
        os.wait()
        for file in journal_files(folder / "data"):
            with closing(sqlite3.connect(file)) as connection:  # the write-ahead log into the file
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        for lock in (folder / "data").glob("lock*"):
            lock.unlink()
        expect(folder)


def context(rng: random.Random) -> dict[str, Any]:
    """Draw a context."""
    return {
        "age": rng.choice([None, round(rng.gauss(40, 15), 1)]),
        "city": rng.choice(["Lannion", "Paris", "Nice", "Brest"]),
        "plan": rng.choice(["basic", "plus", "gold"]),
        "member": rng.random() < 0.4,
    }


def write(folder: Path) -> None:
    """Play some hundred events."""
    clock, rng = Clock(), random.Random(3)
    decider = Decider.open(load_project(folder / "project.toml"), clock=clock)
    for number in range(360):
        clock.now += 1
        given = context(rng)
        available = ["a", "b"] if number % 9 == 0 else None
        decided = decider.decide(given, event_id=f"e{number}", available_actions=available)
        if number % 6:
            liked = "a" if given["member"] else "b"
            decider.reward(decided.event_id, 3.0 if decided.action == liked else rng.choice([-1.0, 0.25]))
        if number % 10 == 0:
            decider.learn(context(rng), action="c", reward=1.5, propensity=0.25, event_id=f"l{number}")
        if number == 120:
            decider.add_action("d")
        if number == 200:
            decider.disable_action("c")
        if number == 240:
            decider.snapshot()()
        decider.expire()
    decider.decide(context(rng), event_id="last").commit.result()


def expect(folder: Path) -> None:
    """Write what is known in the end."""
    project, _ = adopted(load_project(folder / "project.toml"))
    state = rebuild(project)
    forest = state.model.forest
    assert forest is not None
    expected = {
        "seq": state.seq,
        "time": state.time,
        "waiting": list(state.waiting),
        "remembered": [[event.event_id, event.state, event.reward] for event in state.remembered.values()],
        "decisions": state.tally.decisions,
        "rewards": state.tally.total.n_rewards,
        "expired": state.tally.expired,
        "learned": state.tally.learned,
        "actions": state.actions.to_json(),
        "model_version": state.model.version,
        "variables": list(forest.variable_names),
        "forest": hashlib.sha256(forest._to_bytes()).hexdigest(),
        "growth": asdict(forest.parameters["growth"]),
    }
    (folder / "expected.json").write_text(json.dumps(expected) + "\n")


if __name__ == "__main__":
    main()
