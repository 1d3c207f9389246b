"""A service with small snapshots and journal files, whose acknowledged entries are written into the record."""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path

from bandit_forest.bandit import BooleanFeature, CategoricalFeature, NumericFeature
from bandit_forest.service.config.project import Project
from bandit_forest.service.config.tables import Actions, Storage
from bandit_forest.service.domain.state import ServiceContext
from bandit_forest.service.journal import checkpoints, journal
from bandit_forest.service.operations.decide import decide
from bandit_forest.service.operations.requests import DecideRequest, RewardRequest
from bandit_forest.service.operations.reward import reward
from bandit_forest.service.recovery.start import Service

ACKNOWLEDGED = "ACKNOWLEDGED"
N_EVENTS = 60
N_STARTS = 2


def make_project(folder: Path) -> Project:
    """Return the project of a folder."""
    return Project(
        actions=Actions(names=("a", "b", "c")),
        context={
            "age": NumericFeature(edges=(30, 50), missing=True),
            "city": CategoricalFeature(values=("Lannion", "Paris"), open=True),
            "member": BooleanFeature(),
        },
        forest={"n_trees": 3, "seed": 7},
        storage=Storage(folder=folder, rotate_bytes=20_000),
    )


def play(service: Service, rng: random.Random, start: int) -> None:
    """Decide and reward events, and take snapshots; after each commit, tell the record how far it goes."""
    record = os.open(service.context.project.storage.folder / ACKNOWLEDGED, os.O_WRONLY | os.O_CREAT, 0o600)
    for number in range(start, start + N_EVENTS):
        context = {"age": rng.choice([None, 20, 40, 60]), "city": rng.choice("xyz"), "member": rng.random() < 0.5}
        decide(service.context, DecideRequest(context=context, event_id=f"e{number}"))
        if rng.random() < 0.5:
            _acknowledge(service.context, record)
        if rng.random() < 0.8:
            reward(service.context, RewardRequest(f"e{number}", rng.random()))
        _acknowledge(service.context, record)
        if number % 17 == 16:
            service.snapshot()()
    os.close(record)


def _acknowledge(context: ServiceContext, record: int) -> None:
    assert context.journal.tail.result()
    os.pwrite(record, b"%015d" % context.journal.seq, 0)


def main() -> None:
    """Play on the folder that is named, with a seed."""
    folder, rng = Path(sys.argv[1]), random.Random(int(sys.argv[2]))
    journal._LOOK_SECONDS = 0.0
    checkpoints._SECONDS = 0.02
    for start in range(N_STARTS):
        service = Service.start(make_project(folder))
        play(service, rng, start * N_EVENTS)
        service.stop()


if __name__ == "__main__":
    main()
