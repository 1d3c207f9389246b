"""A journal of many events carried over into another definition: how fast, and whether all of it is there."""

from __future__ import annotations

import json
import random
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from bandit_forest.bandit import BooleanFeature, CategoricalFeature, NumericFeature
from bandit_forest.service.config.project import Project
from bandit_forest.service.config.storage_identity import StorageIdentity
from bandit_forest.service.config.tables import Actions, Storage
from bandit_forest.service.journal.entries import ADD, DECIDE, REWARD, Entry
from bandit_forest.service.journal.journal import Journal
from bandit_forest.service.recovery.migrate import migrate
from bandit_forest.service.recovery.verify import verify

__all__ = ["run_part"]

_EVENTS = 1_000_000
_GROUP = 20_000
_CITIES = ("Lannion", "Paris", "Rennes", "Brest", "Nice")


def run_part(part: int, *, n_events: int = _EVENTS) -> dict[str, Any]:
    """Write a journal with a seed of its own, migrate it, and verify what came of it."""
    with tempfile.TemporaryDirectory() as name:
        old = _project(Path(name) / "old", edges=(30, 50), n_trees=10)
        new = _project(Path(name) / "new", edges=(25, 40, 60), n_trees=5)
        _write(old, n_events, random.Random(part))
        began, began_cpu = time.monotonic(), time.process_time()
        report = migrate(old, new)
        seconds, cpu = time.monotonic() - began, time.process_time() - began_cpu
        began = time.monotonic()
        proof = verify(new)
        verify_seconds = time.monotonic() - began
    assert (report.n_events, report.n_kept, report.n_rewards) == (n_events, n_events, n_events)
    assert proof.n_events == n_events
    return {
        "events": n_events,
        "kept": report.n_kept,
        "migrate_seconds": round(seconds, 1),
        "migrate_cpu_seconds": round(cpu, 1),
        "verify_seconds": round(verify_seconds, 1),
    }


def _project(folder: Path, *, edges: tuple[float, ...], n_trees: int) -> Project:
    return Project(
        actions=Actions(names=("a", "b", "c")),
        context={
            "age": NumericFeature(edges=edges, missing=True),
            "city": CategoricalFeature(values=_CITIES),
            "member": BooleanFeature(),
        },
        forest={"n_trees": n_trees},
        storage=Storage(folder=folder),
    )


def _write(project: Project, n_events: int, rng: random.Random) -> None:
    """Write a journal as a service would, with a reward for each decision."""
    project.storage.folder.mkdir(parents=True)
    identity = StorageIdentity(settings=project.settings, engine="generated")
    journal = Journal(project.storage.folder, identity.to_text(), project.storage)
    entries = _entries(n_events, rng)
    while group := list(islice(entries, _GROUP)):
        journal.append(group).result()
    journal.close()


def _entries(n_events: int, rng: random.Random) -> Iterator[Entry]:
    for seq, action in enumerate("abc", 1):
        yield Entry(seq, 0.0, ADD, action=action)
    for number in range(n_events):
        seq, name = 4 + 2 * number, f"event-{number}"
        context = {"age": rng.randrange(18, 80), "city": rng.choice(_CITIES), "member": rng.random() < 0.5}
        action = rng.choice("abc")
        yield Entry(seq, seq / 1000, DECIDE, name, action, 1 / 3, None, json.dumps(context))
        yield Entry(seq + 1, seq / 1000, REWARD, name, reward=float((action == "a") == context["member"]))
