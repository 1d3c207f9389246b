"""From a table to a log: the roles of its columns, and the reading of their values."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from datetime import datetime
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from bandit_forest.bandit.features.values import is_missing, moment
from bandit_forest.errors import refuse
from bandit_forest.evaluation.log import Log
from bandit_forest.evaluation.readers.lines import located_log, seconds_of

__all__ = ["Columns", "TableReader", "action_name", "check_header", "names_in"]


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Names of the columns of a table of logged events."""

    action: str = "action"
    """The action that was taken: a name or a number."""
    reward: str = "reward"
    """What it earned; missing where that is not known."""
    propensity: str = "propensity"
    """The probability with which it was taken."""
    probabilities: Sequence[str] | str | None = None
    """The probability of each action, in the order of the actions; or one column with lists, or with JSON lists."""
    available: str | None = None
    """The actions that could be taken: a list, or a text with a JSON list or with names separated by `|`. Missing when
    all could."""
    time: str | None = None
    """Time of the event: a datetime, ISO 8601, or seconds since 1970. Without a zone it is UTC."""
    version: str | None = None
    """The version of the model that decided."""
    event_id: str | None = None
    """The name of the event."""
    features: Sequence[str] | None = None
    """Columns with features; all that are nothing else when None."""
    feature_prefix: str = ""
    """How columns with features begin, where `features` is None; their names are what follows."""
    variable_prefix: str | None = None
    """How columns with the zeros and ones of contexts begin; their names are what follows."""
    texts: Sequence[str] = ()
    """Columns of a CSV file with features that are texts, although they look like numbers or times."""

    @property
    def required(self) -> tuple[str, ...]:
        """The columns that every table must have."""
        optional = (self.available, self.time, self.version, self.event_id)
        lists = (self.probabilities,) if isinstance(self.probabilities, str) else tuple(self.probabilities or ())
        return (self.action, self.reward, self.propensity, *lists, *(name for name in optional if name is not None))

    def cure(self, name: str) -> str:
        """Return the remedy for a missing column: how to give it by another name."""
        role = next((field.name for field in fields(self) if getattr(self, field.name) == name), None)
        return f", or another one given by Columns({role}=...) or --column {role}=NAME" if role is not None else ""

    def feature_columns(self, names: Sequence[str]) -> dict[str, str]:
        """Return the names of features by the column they are in."""
        if self.features is not None:
            return {name: name for name in self.features}
        return {
            name: name.removeprefix(self.feature_prefix)
            for name in names
            if name.startswith(self.feature_prefix) and name not in self.required and name not in self.variables(names)
        }

    def variables(self, names: Sequence[str]) -> list[str]:
        """Return the columns with zeros and ones of contexts."""
        prefix = self.variable_prefix
        return [] if prefix is None else [name for name in names if name.startswith(prefix)]


class TableReader:
    """Makes logs of the rows of a table.

    Parameters
    ----------
    columns
        Roles of the columns.
    names
        All columns of the table.
    place
        Name of the table, for refusals.
    unit
        What is counted by the numbers of rows.
    kept
        Columns that the log keeps beside its features.
    """

    def __init__(
        self, columns: Columns, names: Sequence[str], place: str, *, unit: str = "row", kept: Sequence[str] = ()
    ) -> None:
        self._columns, self._place, self._unit, self._kept = columns, place, unit, kept
        self._features, self._variables = columns.feature_columns(names), columns.variables(names)
        check_header(names, (*columns.required, *self._features), place, cure=columns.cure)

    @property
    def wanted(self) -> list[str]:
        """The columns to read."""
        return [*self._columns.required, *self._features, *self._variables, *self._kept]

    def log(
        self,
        table: Mapping[str, NDArray[Any]],
        rows: Sequence[int],
        *,
        action_names: tuple[str, ...],
        reward_range: tuple[float, float],
    ) -> Log:
        """Return the log of some rows, which have these numbers in the table."""
        columns = self._columns
        numbers = {name: place for place, name in enumerate(action_names)}
        arguments: dict[str, Any] = {
            "actions": [self._action(value, row, numbers) for value, row in _events(table[columns.action], rows)],
            "rewards": self.numbers(columns.reward, table[columns.reward], rows),
            "propensities": self.numbers(columns.propensity, table[columns.propensity], rows),
            "features": {name: table[column] for column, name in self._features.items()} or None,
            "columns": {name: table[name] for name in self._kept},
            "action_names": action_names,
            "reward_range": reward_range,
        }
        if self._variables:
            arguments["contexts"] = np.stack([table[name] for name in self._variables], axis=1)
            arguments["variable_names"] = [name.removeprefix(columns.variable_prefix or "") for name in self._variables]
        if columns.probabilities is not None:
            arguments["probabilities"] = self._probabilities(columns.probabilities, table, rows)
        if columns.available is not None:
            arguments["available"] = self._available(columns.available, table, rows, numbers, arguments["actions"])
        if columns.time is not None:
            values = table[columns.time]
            arguments["times"] = [self._time(columns.time, value, row) for value, row in _events(values, rows)]
        if columns.version is not None:
            arguments["versions"] = table[columns.version]
        if columns.event_id is not None:
            arguments["columns"]["event_id"] = table[columns.event_id]
        known = {"actions": columns.action, "rewards": columns.reward, "propensities": columns.propensity}
        return located_log(self._place, rows, known, arguments, unit=self._unit)

    def found(self, values: Iterable[Any], start: int) -> set[str]:
        """Return the names of the actions that were taken, in rows with numbers from `start`."""
        return {self._name(value, row) for row, value in enumerate(values, start)}

    def numbers(self, name: str, values: NDArray[Any], rows: Sequence[int]) -> NDArray[np.float64]:
        """Return a column as floats, NaN where a value is missing."""
        if values.dtype.kind in "biuf":
            return values.astype(np.float64)
        return np.array([self._number(name, value, row) for value, row in _events(values, rows)], dtype=np.float64)

    def moments(self, name: str, values: NDArray[Any], rows: Sequence[int]) -> NDArray[Any]:
        """Return a column of texts as datetimes, None where a value is missing."""
        column = np.empty(len(values), dtype=object)
        for event, (value, row) in enumerate(_events(values, rows)):
            column[event] = None if value is None else moment(value)
            if value is not None and column[event] is None:
                rule = "a time in ISO 8601, as in the first rows, or a column that 'texts' names"
                self._refuse(name, row, rule, value)
        return column

    def _number(self, name: str, value: object, row: int) -> float:
        try:
            return math.nan if value is None or value == "" else float(value)  # type: ignore[arg-type]
        except (OverflowError, TypeError, ValueError):
            self._refuse(name, row, "a number", value)

    def _name(self, value: object, row: int) -> str:
        try:
            hash(value)
            return action_name(value)
        except (TypeError, ValueError):  # a list, or an int of thousands of digits
            self._refuse(self._columns.action, row, "a name or a number", value)

    def _action(self, value: object, row: int, numbers: Mapping[str, int]) -> int:
        name = self._name(value, row)
        if name not in numbers:
            self._refuse(self._columns.action, row, f"one of the actions {', '.join(list(numbers)[:20])}", value)
        return numbers[name]

    def _probabilities(
        self, names: Sequence[str] | str, table: Mapping[str, NDArray[Any]], rows: Sequence[int]
    ) -> NDArray[np.float64]:
        if not isinstance(names, str):
            return np.stack([self.numbers(name, table[name], rows) for name in names], axis=1)
        try:
            lists = [json.loads(value) if isinstance(value, str) else value for value in table[names].tolist()]
            return np.array(lists, dtype=np.float64)
        except (OverflowError, RecursionError, TypeError, ValueError):
            self._refuse(names, rows[0], "lists with the probability of each action", table[names])

    def _available(
        self,
        name: str,
        table: Mapping[str, NDArray[Any]],
        rows: Sequence[int],
        numbers: Mapping[str, int],
        taken: Sequence[int],
    ) -> NDArray[np.bool_]:
        mask = np.zeros((len(rows), len(numbers)), dtype=np.bool_)
        known = list(numbers)
        for event, (value, row) in enumerate(_events(table[name], rows)):
            if is_missing(value):
                mask[event] = True
                continue
            names = names_in(value)
            if names is None:
                self._refuse(name, row, "a list of actions, or their names separated by '|' or in a JSON list", value)
            for action in names:
                if action not in numbers:
                    self._refuse(name, row, f"names among the actions {', '.join(known[:20])}", action)
                mask[event, numbers[action]] = True
            if not mask[event, taken[event]]:
                self._refuse(name, row, f"actions among which is the one that was taken, {known[taken[event]]}", value)
        return mask

    def _time(self, name: str, value: object, row: int) -> float:
        try:
            if isinstance(value, str) and not value.replace(".", "", 1).isdecimal():
                value = datetime.fromisoformat(value)
            when = moment(value)
            return float(value) if when is None else seconds_of(when)  # type: ignore[arg-type]
        except (OverflowError, TypeError, ValueError):
            self._refuse(name, row, "a time: a datetime, ISO 8601, or seconds since 1970", value)

    def _refuse(self, name: str, row: int, rule: str, value: object) -> NoReturn:
        refuse(name, f"{self._place}, {self._unit} {row}", rule, value)


def check_header(
    names: Sequence[str], needed: Iterable[str], place: str, *, cure: Callable[[str], str] = lambda _: ""
) -> None:
    """Refuse a table in which a column is missing, or two have the same name.

    Parameters
    ----------
    names
        All columns of the table.
    needed
        Those that it must have.
    place
        Name of the table.
    cure
        Returns the remedy for a missing column, which follows the rule.
    """
    for name in needed:
        if name not in names:
            refuse("columns", place, f"a table with the column '{name}'{cure(name)}", list(names))
    twice = next((name for name, n_columns in Counter(names).items() if n_columns > 1), None)
    if twice is not None:
        refuse("columns", place, f"a table with only one column '{twice}'", list(names))


def action_name(value: object) -> str:
    """Return the name of an action: texts as they are, whole numbers without a point.

    Examples
    --------
    >>> action_name("go"), action_name(3.0), action_name(7)
    ('go', '3', '7')
    """
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def names_in(value: object) -> tuple[str, ...] | None:
    """Return the names of actions in a cell: of a list, or a text with `|` between them or with a JSON list.

    It returns None where there are none.

    Examples
    --------
    >>> names_in("stay|go"), names_in('["stay", "go"]'), names_in([1, 2]), names_in(5)
    (('stay', 'go'), ('stay', 'go'), ('1', '2'), None)
    """
    if isinstance(value, str):
        return _names_in_text(value)
    return tuple(map(action_name, value)) if isinstance(value, (list, tuple, np.ndarray)) else None


@lru_cache(maxsize=2**12)  # the same sets of actions come again and again
def _names_in_text(text: str) -> tuple[str, ...]:
    if text.startswith("["):
        with suppress(RecursionError, ValueError):
            return tuple(map(action_name, json.loads(text)))
    return tuple(text.split("|"))


def _events(values: NDArray[Any], rows: Sequence[int]) -> zip[tuple[Any, int]]:
    return zip(values.tolist(), rows, strict=True)
