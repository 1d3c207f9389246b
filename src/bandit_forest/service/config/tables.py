"""The tables of a project file as types, with their settings and defaults."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from bandit_forest.bandit.action_registry import LONGEST_NAME, ActionRegistry, check_action_names, is_name
from bandit_forest.bandit.rewards import RewardRange
from bandit_forest.errors import refuse
from bandit_forest.validation import check_number

__all__ = [
    "Actions",
    "General",
    "Limits",
    "RewardRule",
    "Storage",
    "Table",
]

Count = Annotated[int, Meta(ge=1)]
Seconds = Annotated[float, Meta(gt=0, le=1e300)]


class Table(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of the project file: an unknown name is refused."""


class General(Table, frozen=True):
    """The project itself.

    Parameters
    ----------
    name
        Name of the project on the status page and in metrics.
    mode
        "decide", or "shadow": the application chooses, the forest learns from its choices, and each answer has the
        forest's own choice.
    warm_up_events
        Number of lessons from which features are learned, if the context leaves them open.
    """

    name: str = "bandit-forest"
    mode: str = "decide"
    warm_up_events: Annotated[int, Meta(ge=1, le=1_000_000)] = 1000

    def __post_init__(self) -> None:
        if not is_name(self.name):
            refuse("name", "[project]", f"a printable text of 1 to {LONGEST_NAME} characters", self.name)
        _check_choice(self.mode, "mode", "[project]", ("decide", "shadow"))


class Actions(Table, frozen=True):
    """The actions by name.

    Parameters
    ----------
    names
        Names of the actions at the first start; more may be added while the service runs.
    capacity
        Largest number of actions, including removed ones. None: 8 more than the number of names, at least 16.
    """

    names: tuple[str, ...]
    capacity: int | None = None

    def __post_init__(self) -> None:
        check_action_names(self.names, "[actions]", "names")
        ActionRegistry.capacity_for(len(self.names), self.capacity, "[actions]")


class RewardRule(Table, frozen=True):
    """Range of rewards, time limit, and treatment of missing and second rewards.

    Parameters
    ----------
    low, high
        The range of rewards.
    window_seconds
        Seconds that an event waits for its reward.
    default
        The reward of an event that gets none within its window; None: such an event is not learned.
    on_duplicate
        Treatment of a second reward of an event: "refuse" (an error) or "ignore" (an answer); it is never learned.
    """

    low: float = 0.0
    high: float = 1.0
    window_seconds: Seconds = 86_400.0
    default: float | None = None
    on_duplicate: str = "refuse"

    def __post_init__(self) -> None:
        owner = "[reward]"
        rewards = self.range
        if self.default is not None:
            rule = f"a number in [{self.low}, {self.high}]"
            check_number(self.default, "default", owner, rule, rewards.low, rewards.high)
        _check_choice(self.on_duplicate, "on_duplicate", owner, ("refuse", "ignore"))

    @property
    def range(self) -> RewardRange:
        """The range of rewards."""
        return RewardRange(self.low, self.high)


class Storage(Table, frozen=True):
    """Place and schedule of the journal and the snapshots.

    Parameters
    ----------
    journal
        "sqlite": files in the folder, for one process. Or "postgresql://...", the address of a PostgreSQL that any
        number of replicas share; "env:NAME" is an environment variable with such an address, which may hold a password.
    folder
        Folder of all files; made when needed. A relative path is relative to the project file.
    full_disk
        Treatment of new requests when the journal cannot be written: "refuse" them, or "continue" in memory with
        `"durable": false` in each answer. In both cases an alarm is raised and nothing in memory is dropped.
    queued_operations
        Largest number of operations that wait in memory for the disk; beyond it, new requests are refused in any case.
    snapshot_events, snapshot_seconds
        Number of operations, or seconds with at least one, after which a snapshot is taken.
    rotate_bytes, rotate_seconds
        Size or age at which a new journal file is begun.
    max_staleness_seconds
        Seconds that a replica may be behind the lessons before /readyz refuses.
    """

    journal: str = "sqlite"
    folder: Path = Path("bandit-forest-data")
    full_disk: str = "refuse"
    queued_operations: Count = 100_000
    snapshot_events: Count = 200_000
    snapshot_seconds: Seconds = 300.0
    rotate_bytes: Count = 256 * 2**20
    rotate_seconds: Seconds = 7 * 86_400.0
    max_staleness_seconds: Seconds = 5.0

    def __post_init__(self) -> None:
        _check_choice(self.full_disk, "full_disk", "[storage]", ("refuse", "continue"))
        if self.journal != "sqlite" and not self.is_shared:  # what stands there may hold a password: it is not shown
            refuse("journal", "[storage]", "'sqlite', an address 'postgresql://...' or 'env:NAME'", "...")

    @property
    def is_shared(self) -> bool:
        """Whether replicas share it."""
        return self.journal.startswith(("postgresql://", "postgres://", "env:"))

    def database_url(self) -> str:
        """Return the address of the database."""
        name = self.journal.removeprefix("env:")
        if name == self.journal:
            return self.journal
        if not os.environ.get(name):
            refuse("journal", "[storage]", f"an address in the environment: set it with 'export {name}=...'", None)
        return os.environ[name]


class Limits(Table, frozen=True):
    """Limits of requests and of memory.

    Parameters
    ----------
    body_bytes, context_bytes
        Largest size of a request, and of one context as JSON.
    batch_events
        Largest number of events of a batch.
    offered_actions
        Largest number of actions that one event offers.
    offered_bytes
        Largest size of these actions as JSON.
    waiting_events
        Largest number of events that wait for their reward.
    waiting_full
        Treatment of a new event when `waiting_events` events wait: "expire" (the oldest ends its wait early, with the
        default reward if there is one, and an alarm is raised) or "refuse" (an error).
    remembered_events
        Largest number of finished events that are remembered, so that a repeated request gets the same answer.
    requests_per_second
        Requests per second for each key; 0: no limit.
    connections
        Largest number of open connections.
    request_seconds
        Seconds that a connection may take to send a request or to read an answer, or be idle.
    """

    body_bytes: Count = 2**20
    context_bytes: Count = 2**16
    batch_events: Count = 1000
    offered_actions: Annotated[int, Meta(ge=1, le=2**12)] = 256
    offered_bytes: Count = 2**18
    waiting_events: Count = 100_000
    waiting_full: str = "expire"
    remembered_events: Count = 100_000
    requests_per_second: Annotated[float, Meta(ge=0, le=1e300)] = 0.0
    connections: Count = 1000
    request_seconds: Seconds = 30.0

    def __post_init__(self) -> None:
        _check_choice(self.waiting_full, "waiting_full", "[limits]", ("expire", "refuse"))


def _check_choice(value: object, name: str, owner: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        refuse(name, owner, " or ".join(f"'{choice}'" for choice in choices), value)
