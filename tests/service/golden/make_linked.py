"""Writes the golden folder of the second journal format, whose entries are linked; its elimination does not change.

    PYTHONPATH=tests/service .venv/bin/python tests/service/golden/make_linked.py

As `make.py`, but with the layout of the service since then.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from projects import Clock, Decider

from bandit_forest.service.config.project_file import load_project
from bandit_forest.service.journal.files import journal_files
from bandit_forest.service.recovery.recover import open_folder, rebuild

FOLDER = Path(__file__).parent / "linked"


def main() -> None:
    """Write the folder, as a process that was killed leaves it."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    shutil.copy(Path(__file__).parent / "elimination" / "project.toml", FOLDER)
    write_killed(FOLDER, write)
    expected = expect(FOLDER)
    registry = rebuild(open_folder(load_project(FOLDER / "project.toml"))).bandit.registry
    (FOLDER / "expected.json").write_text(json.dumps(expected | {"actions": registry.to_json()}) + "\n")


def write_killed(folder: Path, write: Callable[[], None]) -> None:
    """Let a process write that ends without a last snapshot, and leave files that can be kept."""
    if os.fork() == 0:
        write()
        os._exit(0)
    os.wait()
    for file in journal_files(folder / "data"):
        with closing(sqlite3.connect(file)) as connection:  # the write-ahead log into the file
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for lock in (folder / "data").glob("lock*"):
        lock.unlink()


def context(rng: random.Random) -> dict[str, Any]:
    """Draw a context."""
    return {
        "age": rng.choice([None, round(rng.gauss(40, 15), 1)]),
        "city": rng.choice(["Lannion", "Paris", "Nice", "Brest"]),
        "plan": rng.choice(["basic", "plus", "gold"]),
        "member": rng.random() < 0.4,
    }


def write() -> None:
    """Play some hundred events."""
    clock, rng = Clock(), random.Random(3)
    decider = Decider.open(load_project(FOLDER / "project.toml"), clock=clock)
    for number in range(300):
        clock.now += 1
        given = context(rng)
        decided = decider.decide(
            given, event_id=f"e{number}", available_actions=["a", "b"] if number % 9 == 0 else None
        )
        if number % 6:
            decider.reward(decided.event_id, 3.0 if decided.action == "a" else rng.choice([-1.0, 0.25]))
        if number % 10 == 0:
            decider.learn(context(rng), action="c", reward=1.5, propensity=0.25, event_id=f"l{number}")
        if number == 200:
            decider.disable_action("c")
            decider.snapshot()()
        decider.expire()
    decider.decide(context(rng), event_id="last").commit.result()


def expect(folder: Path) -> dict[str, Any]:
    """Return what is known in the end."""
    state = rebuild(open_folder(load_project(folder / "project.toml")))
    statistics = state.statistics
    return {
        "seq": state.seq,
        "time": state.time,
        "waiting": list(state.waiting),
        "remembered": [[event.event_id, event.state, event.reward] for event in state.remembered.values()],
        "decisions": statistics.decisions,
        "rewards": statistics.total.n_rewards,
        "expired": statistics.expired,
        "learned": statistics.learned,
        "model_version": state.learner.version,
    }


if __name__ == "__main__":
    main()
