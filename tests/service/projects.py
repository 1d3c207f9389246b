"""Small projects to try the service with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bandit_forest.service.config.fields import BooleanField, CategoricalField, Field, NumericField
from bandit_forest.service.config.project import Actions, Project, Storage
from bandit_forest.service.decider import Decider

GIVEN: dict[str, Field] = {
    "age": NumericField(edges=(30, 50), missing=True),
    "city": CategoricalField(values=("Lannion", "Paris"), open=True),
    "member": BooleanField(),
}
LEARNED: dict[str, Field] = {
    "age": NumericField(n_bins=3, missing=True),
    "city": CategoricalField(max_values=3),
    "member": BooleanField(),
}
FOREST = {"n_trees": 5, "seed": 7, "growth": {"min_events": 4, "log_capacity": 1024}}


class Clock:
    """Seconds that pass when told."""

    def __init__(self, now: float = 1_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def make_project(folder: Path, **parts: Any) -> Project:
    """Make a project with three actions and room for five."""
    storage = parts.pop("storage", {})
    given = {"actions": Actions(names=("a", "b", "c"), capacity=5), "context": GIVEN, "forest": FOREST} | parts
    return Project(**given, storage=Storage(folder=folder, **storage))


@contextmanager
def opened(project: Project, clock: Clock | None = None) -> Iterator[Decider]:
    """Open a decider, and close it in the end."""
    decider = Decider.open(project, clock=clock or Clock())
    try:
        yield decider
    finally:
        decider.close()


def context(number: int = 0) -> dict[str, Any]:
    """Give one of many contexts."""
    cities = ("Lannion", "Paris", "Nice", "Brest")
    return {"age": 20 + 7 * number % 50, "city": cities[number % 4], "member": number % 3 == 0}


def play(decider: Decider, n_events: int, start: int = 0) -> None:
    """Decide and reward events; every fifth waits for ever."""
    for number in range(start, start + n_events):
        decided = decider.decide(context(number), event_id=f"e{number}")
        if number % 5:
            decider.reward(decided.event_id, float(decided.action == "abc"[number % 3]))
