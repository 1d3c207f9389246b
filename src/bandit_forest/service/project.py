"""What a decision service decides, and within which limits: values that only store and check."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from bandit_forest.encoding import Categorical, Column, Numeric
from bandit_forest.errors import InvalidArgumentError, refuse
from bandit_forest.forest import BanditForest
from bandit_forest.validation import check_int, check_number

__all__ = [
    "Actions",
    "BooleanField",
    "CategoricalField",
    "Field",
    "Keys",
    "Limits",
    "NumericField",
    "Project",
    "RewardRule",
    "Server",
    "Storage",
]

_SPARE_ACTIONS = 8
_LEAST_CAPACITY = 16
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


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


@dataclass(frozen=True, kw_only=True)
class NumericField:
    """A number in the context.

    Parameters
    ----------
    edges
        Where its bins meet; None when `n_bins` bins of equal frequency are learned from the first events.
    n_bins
        How many bins are learned.
    missing
        Whether null, or no value at all, is allowed.
    """

    edges: tuple[float, ...] | None = None
    n_bins: int = 5
    missing: bool = False


@dataclass(frozen=True, kw_only=True)
class CategoricalField:
    """A choice in the context.

    Parameters
    ----------
    values
        The texts or ints that have a variable each; None when they are learned from the first events.
    open
        Whether other values are allowed; they set no variable. Learned values are always open.
    missing
        Whether null, or no value at all, is allowed.
    """

    values: tuple[str | int, ...] | None = None
    open: bool = False
    missing: bool = False


@dataclass(frozen=True, kw_only=True)
class BooleanField:
    """True or false in the context.

    Parameters
    ----------
    missing
        Whether null, or no value at all, is allowed.
    """

    missing: bool = False


Field = NumericField | CategoricalField | BooleanField


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
    second: Literal["refuse", "ignore"] = "refuse"


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
    full_disk: Literal["refuse", "continue"] = "refuse"
    queued_operations: int = 100_000
    snapshot_events: int = 200_000
    snapshot_seconds: float = 300.0
    rotate_bytes: int = 256 * 2**20
    rotate_seconds: float = 7 * 86_400.0


@dataclass(frozen=True, kw_only=True)
class Keys:
    """SHA-256 digests of the keys that open the service; never the keys. Empty: no key is asked for.

    Parameters
    ----------
    decide
        For deciding, rewarding, learning and explaining.
    admin
        For everything.
    """

    decide: tuple[bytes, ...] = field(default=(), repr=False)
    admin: tuple[bytes, ...] = field(default=(), repr=False)


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
    """

    body_bytes: int = 2**20
    context_bytes: int = 2**16
    batch_events: int = 1000
    waiting_events: int = 100_000
    remembered_events: int = 100_000
    requests_per_second: float = 0.0


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
    mode: Literal["decide", "shadow"] = "decide"
    actions: Actions
    context: Mapping[str, Field]
    warm_up_events: int = 1000
    reward: RewardRule = RewardRule()
    forest: Mapping[str, Any] = field(default_factory=dict)
    storage: Storage = Storage()
    keys: Keys = Keys()
    limits: Limits = Limits()
    server: Server = Server()
