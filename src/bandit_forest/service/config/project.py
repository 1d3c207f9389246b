"""What a decision service decides, and within which limits: values that only store and check."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from bandit_forest.errors import refuse
from bandit_forest.service.config.checks import (
    FINITE,
    LARGEST_FLOAT,
    LONGEST_NAME,
    check_choice,
    check_seconds,
    check_texts,
    is_name,
)
from bandit_forest.service.config.fields import Field
from bandit_forest.validation import check_int, check_number

__all__ = [
    "Actions",
    "Keys",
    "Limits",
    "Project",
    "RewardRule",
    "Server",
    "Storage",
]

_SPARE_ACTIONS = 8
_LEAST_CAPACITY = 16
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_KEY = re.compile(r"env:\w+|sha256:[0-9a-fA-F]{64}")

FullDisk = Literal["refuse", "continue"]
Mode = Literal["decide", "shadow"]
Second = Literal["refuse", "ignore"]


@dataclass(frozen=True, kw_only=True)
class Actions:
    """The actions by name, and how many there may ever be.

    Parameters
    ----------
    names
        Of the actions at the first start; more may be added while the service runs.
    capacity
        How many actions may ever exist, removed ones included: the forest keeps a place for each. None: 8 more than
        there are names, at least 16.
    """

    names: tuple[str, ...]
    capacity: int | None = None

    def __post_init__(self) -> None:
        rule = f"a list of different printable names of at most {LONGEST_NAME} characters"
        names = check_texts(self.names, "names", "[actions]")
        if len(set(names)) < len(names) or not all(is_name(name) for name in names):
            refuse("names", "[actions]", rule, self.names)
        if not names:
            refuse("names", "[actions]", "a list of at least one name", self.names)
        if self.capacity is not None:
            check_int(self.capacity, "capacity", "[actions]", low=max(2, len(names)), high=2**16)

    @property
    def places(self) -> int:
        """The capacity, or what it is when none is given."""
        return self.capacity or max(len(self.names) + _SPARE_ACTIONS, _LEAST_CAPACITY)


@dataclass(frozen=True, kw_only=True)
class RewardRule:
    """What a reward may be, until when, and what happens without or with two.

    Parameters
    ----------
    low, high
        The range of rewards; it is mapped to [0, 1] for the forest.
    window_seconds
        How long an event waits for its reward.
    default
        The reward of an event that never got one; None: such an event is not learned.
    second
        What a second reward of an event meets: "refuse" (an error) or "ignore" (an answer); it is never learned.
    """

    low: float = 0.0
    high: float = 1.0
    window_seconds: float = 86_400.0
    default: float | None = None
    second: Second = "refuse"

    def __post_init__(self) -> None:
        owner = "[reward]"
        low = check_number(self.low, "low", owner, "a finite number", *FINITE)
        high = check_number(self.high, "high", owner, "a finite number", *FINITE)
        if not low < high:
            refuse("high", owner, f"above 'low', which is {self.low}", self.high)
        check_seconds(self.window_seconds, "window_seconds", owner)
        if self.default is not None:
            check_number(self.default, "default", owner, f"a number in [{self.low}, {self.high}]", low, high)
        check_choice(self.second, "second", owner, get_args(Second))

    def scale(self, reward: float) -> float:
        """Map a reward of the range to [0, 1].

        Examples
        --------
        >>> RewardRule(low=-1, high=1).scale(0.5)
        0.75
        """
        return min(1.0, max(0.0, (reward - self.low) / (self.high - self.low)))

    def unscale(self, reward: float) -> float:
        """Map a reward in [0, 1] back to the range."""
        return self.low + reward * (self.high - self.low)


@dataclass(frozen=True, kw_only=True)
class Storage:
    """Where the journal and the snapshots are, and how they are kept.

    Parameters
    ----------
    folder
        Of all files; made when needed. A relative one is relative to the project file.
    full_disk
        What happens when the journal cannot be written: "refuse" new work, or "continue" in memory and say so in each
        answer. In both cases an alarm is raised and nothing in memory is dropped.
    queued_operations
        Most operations that wait in memory for the disk; beyond, new work is refused in any case.
    snapshot_events, snapshot_seconds
        A snapshot is taken after so many operations, or after so much time with at least one.
    rotate_bytes, rotate_seconds
        A new journal file is begun when the current one is so large or so old.
    """

    folder: Path = Path("bandit-forest-data")
    full_disk: FullDisk = "refuse"
    queued_operations: int = 100_000
    snapshot_events: int = 200_000
    snapshot_seconds: float = 300.0
    rotate_bytes: int = 256 * 2**20
    rotate_seconds: float = 7 * 86_400.0

    def __post_init__(self) -> None:
        owner = "[storage]"
        object.__setattr__(self, "folder", Path(self.folder))
        check_choice(self.full_disk, "full_disk", owner, get_args(FullDisk))
        for name in ("queued_operations", "snapshot_events", "rotate_bytes"):
            check_int(getattr(self, name), name, owner)
        for name in ("snapshot_seconds", "rotate_seconds"):
            check_seconds(getattr(self, name), name, owner)


@dataclass(frozen=True, kw_only=True)
class Keys:
    """Where the keys that open the service are; never the keys themselves. Empty: no key is asked for.

    Each is "env:NAME", the name of an environment variable that holds a key, or "sha256:...", the SHA-256 digest of a
    key in hexadecimal digits.

    Parameters
    ----------
    decide
        For deciding, rewarding, learning and explaining.
    admin
        For everything.
    """

    decide: tuple[str, ...] = ()
    admin: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, keys in (("decide", self.decide), ("admin", self.admin)):
            for key in check_texts(keys, name, "[keys]"):
                if not _KEY.fullmatch(key):  # what stands there may be a key: it is not shown
                    refuse(name, "[keys]", "a list of texts 'env:NAME' or 'sha256:' and 64 hexadecimal digits", "...")

    def decide_digests(self, environment: Mapping[str, str] = os.environ) -> tuple[bytes, ...]:
        """Give the SHA-256 digests of the keys for deciding, to compare a digest with."""
        return tuple(_digest(key, "decide", environment) for key in self.decide)

    def admin_digests(self, environment: Mapping[str, str] = os.environ) -> tuple[bytes, ...]:
        """Give the SHA-256 digests of the keys for administration."""
        return tuple(_digest(key, "admin", environment) for key in self.admin)


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a client may ask for.

    Parameters
    ----------
    body_bytes
        Most bytes of a request.
    context_bytes
        Most bytes of one context as JSON.
    batch_events
        Most events of a batch.
    waiting_events
        Most events that wait for their reward.
    remembered_events
        Most finished events that are remembered, so that a repeated request gets the same answer.
    requests_per_second
        For each key; 0: no limit.
    connections
        Most connections that are open at a time.
    request_seconds
        Most seconds that a connection may take to send a request or take an answer, or rest between the two.
    """

    body_bytes: int = 2**20
    context_bytes: int = 2**16
    batch_events: int = 1000
    waiting_events: int = 100_000
    remembered_events: int = 100_000
    requests_per_second: float = 0.0
    connections: int = 1000
    request_seconds: float = 30.0

    def __post_init__(self) -> None:
        for name in (
            "body_bytes",
            "context_bytes",
            "batch_events",
            "waiting_events",
            "remembered_events",
            "connections",
        ):
            check_int(getattr(self, name), name, "[limits]")
        check_seconds(self.request_seconds, "request_seconds", "[limits]")
        rate, rule = self.requests_per_second, "a number of at least 0; 0 is no limit"
        check_number(rate, "requests_per_second", "[limits]", rule, 0.0, LARGEST_FLOAT)


@dataclass(frozen=True, kw_only=True)
class Server:
    """Where the service listens.

    Parameters
    ----------
    host
        Loopback unless told otherwise; any other host needs keys.
    port
        0 takes a free one.
    """

    host: str = "127.0.0.1"
    port: int = 8420

    def __post_init__(self) -> None:
        if not isinstance(self.host, str) or not self.host:
            refuse("host", "[server]", "the name or address of this machine, such as '127.0.0.1'", self.host)
        check_int(self.port, "port", "[server]", low=0, high=65_535)

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return self.host in _LOOPBACK


@dataclass(frozen=True, kw_only=True)
class Project:
    """A project: everything that a decision service is told.

    Parameters
    ----------
    name
        Shown on the page and in metrics.
    mode
        "decide", or "shadow": the application chooses, the forest learns from it and says what it would have done.
    actions, context, reward, storage, keys, limits, server
        See there.
    warm_up_events
        How many contexts bins and values are learned from, where the context leaves them open.
    forest
        Parameters of `BanditForest`, without `n_variables`, `n_actions` and names.
    """

    name: str = "bandit-forest"
    mode: Mode = "decide"
    actions: Actions
    context: Mapping[str, Field]
    warm_up_events: int = 1000
    reward: RewardRule = RewardRule()
    forest: Mapping[str, Any] = field(default_factory=dict)
    storage: Storage = Storage()
    keys: Keys = Keys()
    limits: Limits = Limits()
    server: Server = Server()

    def __post_init__(self) -> None:
        owner = "[project]"
        if not isinstance(self.name, str) or not is_name(self.name):
            refuse("name", owner, f"a printable text of 1 to {LONGEST_NAME} characters", self.name)
        check_choice(self.mode, "mode", owner, get_args(Mode))
        check_int(self.warm_up_events, "warm_up_events", owner, high=1_000_000)
        if not self.context or not all(isinstance(name, str) for name in self.context):
            refuse("context", owner, "at least one field, such as [context.age] with kind = 'numeric'", self.context)
        if not self.server.is_loopback and not (self.keys.decide and self.keys.admin):
            rule = "a loopback address such as '127.0.0.1', unless [keys] has both 'decide' and 'admin' keys"
            refuse("host", "[server]", rule, self.server.host)


def _digest(key: str, name: str, environment: Mapping[str, str]) -> bytes:
    kind, _, rest = key.partition(":")
    if kind == "sha256":
        return bytes.fromhex(rest)
    value = environment.get(rest, "").strip()  # no header has space around its value
    if not value:
        refuse(name, "[keys]", f"a key in the environment: set it with 'export {rest}=...' before the start", None)
    return hashlib.sha256(value.encode()).digest()
