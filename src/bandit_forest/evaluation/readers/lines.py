"""What readers of files have in common: they count first, then read in batches, and refuse by line."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, Generic, NoReturn, TypeVar

from bandit_forest.errors import InvalidArgumentError, refuse
from bandit_forest.evaluation.log import BATCH_SIZE, OTHER_RANGE, Log, checked_range
from bandit_forest.evaluation.readers.csv_rows import refuse_encoding
from bandit_forest.parameters import MOST_ACTIONS

__all__ = [
    "FileSource",
    "LineSource",
    "existing",
    "is_number",
    "located_log",
    "names_of",
    "numbered_names",
    "seconds_of",
]

_MOST_DIGITS = 1000  # Python reads no more than a few thousand

Event = TypeVar("Event")


class FileSource(ABC):
    """A log in a file, read in batches.

    Parameters
    ----------
    path
        The file.
    reward_range
        The least and the largest possible reward.
    """

    def __init__(self, path: str | os.PathLike[str], *, reward_range: tuple[float, float]) -> None:
        self.path = existing(path)
        self.reward_range = checked_range(reward_range, self.path.name)

    action_names: tuple[str, ...]
    n_events: int

    @abstractmethod
    def batches(self, batch_size: int = BATCH_SIZE) -> Iterator[Log]:
        """Return the events from the first to the last, in batches."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.path.name}, {self.n_events:,} events, {len(self.action_names)} actions>"


class LineSource(FileSource, Generic[Event]):
    """A log in lines of UTF-8, the events one after the other."""

    def batches(self, batch_size: int = BATCH_SIZE) -> Iterator[Log]:
        """Return the events from the first to the last, in batches."""
        events = self._events()
        while batch := list(islice(events, batch_size)):
            yield self._log(batch)

    @abstractmethod
    def _events(self) -> Iterator[Event]:
        """Return what the file holds of each event, with the numbers of its lines."""

    @abstractmethod
    def _log(self, events: list[Event]) -> Log:
        """Return the log of some events."""

    def lines(self, *, empty: bool = False) -> Iterator[tuple[int, str]]:
        """Return the lines with their numbers from 1, those that are empty only where they are asked for."""
        # Only a line feed ends a line: texts may hold other separators.
        with self.path.open(encoding="utf-8-sig", newline="\n") as file:
            try:
                for number, line in enumerate(file, start=1):
                    if empty or line.strip():
                        yield number, line.rstrip("\r\n")
            except UnicodeDecodeError:
                refuse_encoding(self.path)

    def reward(self, cost: float, name: str, line: int, column: int | None = None) -> float:
        """Return the reward of a cost, which is minus the cost; refuse one outside of the range of rewards."""
        low, high = self.reward_range
        reward = 0.0 - cost
        if reward < low or reward > high:
            costs, rewards = f"[{0.0 - high:g}, {0.0 - low:g}]", f"[{low:g}, {high:g}]"
            told = f"a cost of {cost:g} is a reward of {reward:g}, which is outside the range of rewards {rewards}"
            self.refuse(
                name, line, column, f"in {costs}: {told}; {OTHER_RANGE}", int(cost) if cost.is_integer() else cost
            )
        return reward

    def refuse(self, name: str, line: int, column: int | None, rule: str, value: object) -> NoReturn:
        """Refuse what stands in a line, at a column from 1 where there is one."""
        place = f"{self.path.name}, line {line}" + ("" if column is None else f", column {column}")
        refuse(name, place, rule, value)


def existing(path: str | os.PathLike[str]) -> Path:
    """Return the path of a log, or refuse it when there is no file."""
    file = Path(path)
    if not file.is_file():
        refuse("path", "the log", "the name of a file that exists", str(path))
    return file


def seconds_of(when: datetime) -> float:
    """Return seconds since 1970; a time without a zone is taken as UTC.

    Examples
    --------
    >>> seconds_of(datetime(1970, 1, 2))
    86400.0
    """
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


def located_log(
    place: str, rows: Sequence[int], names: dict[str, str], columns: dict[str, Any], *, unit: str = "line"
) -> Log:
    """Return a log; what it refuses is refused by the line and the name that it has in the file.

    Parameters
    ----------
    place
        Name of the file.
    rows
        Where each event stands.
    names
        What the file calls the columns of a log, such as `{"propensities": "propensity_score"}`.
    columns
        Arguments of `Log`.
    unit
        What is counted by `rows`.
    """
    try:
        return Log(**columns)
    except InvalidArgumentError as error:
        match = re.fullmatch(r"(\w+)\[(\d+)\]", error.parameter or "")
        if match is None:
            raise
        name, event = match[1], int(match[2])
        told = str(error).replace(
            f"'{error.parameter}' of Log", f"'{names.get(name, name)}' of {place}, {unit} {rows[event]}"
        )
        raise InvalidArgumentError(told) from None


def numbered_names(actions: Sequence[str] | int | None, largest: int, reader: str, file: str) -> tuple[str, ...]:
    """Return names of actions that have numbers from 1 up to `largest` in a file: those that are given, or numbers."""
    n_actions = actions if isinstance(actions, int) else largest if actions is None else len(actions)
    if max(largest, n_actions) > MOST_ACTIONS:
        refuse("actions", reader, f"at most {MOST_ACTIONS}, also in {file}", max(largest, n_actions))
    if largest > n_actions:
        refuse("actions", reader, f"at least {largest}, as in {file}", actions)
    return names_of(n_actions if actions is None else actions, set())


def names_of(actions: Sequence[str] | int | None, found: set[str]) -> tuple[str, ...]:
    """Return names of actions: those that are given, or those that were found, numbers in their order."""
    if isinstance(actions, int):
        return tuple(f"action {number}" for number in range(actions))
    if actions is not None:
        return tuple(actions)
    return tuple(sorted(found, key=lambda name: (0, int(name), name) if is_number(name) else (1, 0, name)))


def is_number(name: str) -> bool:
    """Return whether the name of an action is a whole number; one of thousands of digits is a text.

    Examples
    --------
    >>> is_number("17"), is_number("a17"), is_number("9" * 5000)
    (True, False, False)
    """
    return name.isdecimal() and len(name) <= _MOST_DIGITS
