"""Logs in tables: frames in memory, CSV files, Parquet files."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandit_forest.bandit.features.values import moment
from bandit_forest.encoding.tables import as_columns
from bandit_forest.errors import DamagedFileError, InvalidArgumentError, MissingExtraError, refuse
from bandit_forest.evaluation.log import BATCH_SIZE, FeatureKinds, Log
from bandit_forest.evaluation.readers.columns import Columns, TableReader, action_name, check_header, names_in
from bandit_forest.evaluation.readers.csv_rows import csv_rows
from bandit_forest.evaluation.readers.lines import FileSource, existing, names_of
from bandit_forest.evaluation.readers.notes import holds_json, kind_in, range_in

__all__ = [
    "CsvTable",
    "ParquetTable",
    "column_values",
    "open_parquet",
    "read_batches",
    "read_csv",
    "read_frame",
    "read_parquet",
]

_LOOK = 10_000  # rows that tell which columns hold numbers, and which times
_TIME_OF_DAY = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}")
_DEFAULT = Columns()
_FAULTS = (ArithmeticError, LookupError, NotImplementedError, OSError, TypeError, ValueError)  # what Arrow raises


def read_frame(
    frame: Any,
    *,
    columns: Columns = _DEFAULT,
    actions: Sequence[str] | None = None,
    reward_range: tuple[float, float] = (0.0, 1.0),
) -> Log:
    """Return the log in a frame: of pandas, Polars, PyArrow, a dict of columns, or a list of dicts.

    Parameters
    ----------
    frame
        One row per event.
    columns
        Roles of the columns.
    actions
        Names of the actions. None: all actions of the frame that were taken or available.
    reward_range
        The least and the largest possible reward.

    Examples
    --------
    >>> rows = [{"action": "stay", "reward": 1, "propensity": 0.5, "age": 30}]
    >>> read_frame(rows, actions=["stay", "go"]).features
    {'age': array([30])}
    """
    table = as_columns(frame, "read_frame", rich=True)
    reader = TableReader(columns, list(table), "read_frame")
    found = reader.found(table[columns.action].tolist(), 0)
    if columns.available is not None and actions is None:
        found.update(*(names_in(value) or () for value in table[columns.available].tolist()))
    names = names_of(actions, found)
    return reader.log(table, range(len(table[columns.action])), action_names=names, reward_range=reward_range)


def read_csv(
    path: str | os.PathLike[str],
    *,
    columns: Columns = _DEFAULT,
    actions: Sequence[str] | None = None,
    reward_range: tuple[float, float] = (0.0, 1.0),
) -> CsvTable:
    """Return the log in a CSV file with a header, one row per event.

    An empty cell is a missing value. A column of features holds numbers if all known values of the first 10,000 rows
    are numbers. It holds times if all of them are times in ISO 8601 with a time of day, such as `2024-05-17T09:30`. All
    other columns hold texts, and those that `Columns(texts=...)` names.

    Parameters
    ----------
    path
        The file.
    columns
        Roles of the columns.
    actions
        Names of the actions. None: all actions of the file that were taken or available.
    reward_range
        The least and the largest possible reward.
    """
    return CsvTable(path, columns=columns, actions=actions, reward_range=reward_range)


def read_parquet(
    path: str | os.PathLike[str],
    *,
    columns: Columns = _DEFAULT,
    actions: Sequence[str] | None = None,
    reward_range: tuple[float, float] | None = None,
) -> ParquetTable:
    """Return the log in a Parquet file, one row per event.

    Parameters
    ----------
    path
        The file.
    columns
        Roles of the columns.
    actions
        Names of the actions. None: all actions of the file that were taken or available.
    reward_range
        The least and the largest possible reward; when None, those that the file tells, else 0 and 1.
    """
    return ParquetTable(path, columns=columns, actions=actions, reward_range=reward_range)


class CsvTable(FileSource):
    """Reader of CSV; see `read_csv`."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        columns: Columns,
        actions: Sequence[str] | None,
        reward_range: tuple[float, float],
    ) -> None:
        super().__init__(path, reward_range=reward_range)
        _, self._header = next(csv_rows(self.path))
        self._reader = TableReader(columns, self._header, self.path.name, unit="line")
        place = self._header.index(columns.action)
        among = None if columns.available is None else self._header.index(columns.available)
        self.n_events, found, sets = 0, set(), set()
        for _, row in self._rows():
            self.n_events += 1
            found.add(row[place])
            if among is not None:
                sets.add(row[among])
        found.update(*(names_in(cell) or () for cell in sets if cell))
        self.action_names = names_of(actions, found)
        first = list(islice(self._rows(), _LOOK))
        features = [name for name in columns.feature_columns(self._header) if name not in columns.texts]
        places = {name: self._header.index(name) for name in features}
        cells = {name: [row[place] for _, row in first if row[place]] for name, place in places.items()}
        self._numeric = {name for name, known in cells.items() if _are_numbers(known)}
        self._times = {name for name, known in cells.items() if _are_times(known)}

    def batches(self, batch_size: int = BATCH_SIZE) -> Iterator[Log]:
        """Return the events from the first to the last, in batches."""
        rows = self._rows()
        while batch := list(islice(rows, batch_size)):
            numbers = [number for number, _ in batch]
            table = {name: self._column(name, batch, numbers) for name in self._reader.wanted}
            yield self._reader.log(table, numbers, action_names=self.action_names, reward_range=self.reward_range)

    def _column(self, name: str, batch: list[tuple[int, list[str]]], numbers: list[int]) -> NDArray[Any]:
        place = self._header.index(name)
        texts = np.array([row[place] or None for _, row in batch], dtype=object)
        if name in self._times:
            return self._reader.moments(name, texts, numbers)
        return self._reader.numbers(name, texts, numbers) if name in self._numeric else texts

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """Return the rows below the header, with the line in which each ends."""
        return islice(csv_rows(self.path), 1, None)


class ParquetTable(FileSource):
    """Reader of Parquet; see `read_parquet`."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        columns: Columns,
        actions: Sequence[str] | None,
        reward_range: tuple[float, float] | None,
        others: Sequence[str] = (),
        kept: Sequence[str] = (),
    ) -> None:
        file = open_parquet(path)
        schema = file.schema_arrow
        super().__init__(path, reward_range=range_in(schema) if reward_range is None else reward_range)
        self._reader = TableReader(columns, schema.names, self.path.name, kept=kept)
        self._json = frozenset(field.name for field in schema if holds_json(field))
        known = {field.name: kind for field in schema if (kind := kind_in(field)) is not None}
        features = columns.feature_columns(schema.names)
        self.kinds = FeatureKinds(
            context={name: known[column] for column, name in features.items()}
            if known.keys() >= features.keys()
            else {},
            mixed=frozenset(name for column, name in features.items() if column in self._json),
        )
        """The kinds of features that the file tells."""
        self._wanted = [*self._reader.wanted, *others]
        self.n_events = file.metadata.num_rows
        found: set[str] = set()
        if actions is None:
            wanted = [columns.action] if columns.available is None else [columns.action, columns.available]
            for start, batch in read_batches(path, wanted):
                values = _distinct(columns.action, batch, start, self.path.name)
                found |= self._reader.found(values, start)
                if columns.available is not None:
                    found |= _names_in(columns.available, batch, start, self.path.name)
        self.action_names = names_of(actions, found)

    def batches(self, batch_size: int = BATCH_SIZE) -> Iterator[Log]:
        """Return the events from the first to the last, in batches."""
        for start, batch in read_batches(self.path, self._wanted, batch_size):
            rows = np.arange(start, start + batch.num_rows)
            table = {name: _array(name, batch, start, self.path.name) for name in batch.schema.names}
            table |= {name: self._from_json(name, table[name], rows) for name in self._json & table.keys()}
            yield self._log(table, rows)

    def _log(self, table: dict[str, NDArray[Any]], rows: NDArray[np.int64]) -> Log:
        """Return the log of some rows of the file, numbered from 1."""
        log = self._reader.log(table, rows.tolist(), action_names=self.action_names, reward_range=self.reward_range)
        log.kinds = self.kinds
        return log

    def _from_json(self, name: str, texts: NDArray[Any], rows: NDArray[np.int64]) -> NDArray[Any]:
        """Return the categories that a column holds as JSON, None where one is missing."""
        values: dict[str | None, str | int | None] = {None: None}
        for text, row in zip(texts.tolist(), rows.tolist(), strict=True):
            try:
                if text not in values:
                    values[text] = json.loads(text)
            except (RecursionError, TypeError, ValueError):
                refuse(name, f"{self.path.name}, row {row}", "a text or a whole number as JSON", text)
        column = np.empty(len(texts), dtype=object)
        column[:] = [values[text] for text in texts.tolist()]
        return column


def open_parquet(path: str | os.PathLike[str]) -> Any:
    """Return an open Parquet file of PyArrow's; refuse one that is damaged."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingExtraError(f"Parquet needs {error.name}: pip install 'bandit-forest[parquet]'.") from error
    file = existing(path)
    with _undamaged(file):
        try:
            return pq.ParquetFile(file)
        except pa.ArrowInvalid as error:
            refuse("format", file.name, "Parquet", str(error))


def read_batches(
    path: str | os.PathLike[str], columns: Sequence[str], batch_size: int = 2**16
) -> Iterator[tuple[int, Any]]:
    """Return some columns of a Parquet file in batches of Arrow, each with the number of its first row, from 1.

    It refuses a file that lacks a column or is damaged.
    """
    file, start = open_parquet(path), 1
    check_header(file.schema_arrow.names, columns, Path(path).name)
    with _undamaged(Path(path)):
        for batch in file.iter_batches(batch_size=batch_size, columns=columns):
            yield start, batch
            start += batch.num_rows
        if start != file.metadata.num_rows + 1:
            raise ValueError(f"it has {start - 1} of {file.metadata.num_rows} rows")


@contextmanager
def _undamaged(path: Path) -> Iterator[None]:
    """Refuse a file of which Arrow finds that it is damaged."""
    try:
        yield
    except InvalidArgumentError:
        raise
    except _FAULTS as error:
        if isinstance(error, OSError) and error.errno is not None:  # of the disk
            raise
        told = " ".join(str(error).split()).rstrip(" .")
        raise DamagedFileError(f"'{path.name}' is damaged: {told}.") from error


def column_values(name: str, batch: Any, start: int, place: str) -> list[Any]:
    """Return the values of a column of Arrow, None where one is missing.

    It refuses what Arrow can hold and Python cannot, by its row.
    """
    import pyarrow as pa
    import pyarrow.types as types

    column = batch.column(name)
    try:
        if types.is_timestamp(column.type) and column.type.unit == "ns":  # finer times are no datetimes
            column = column.cast(pa.timestamp("us", column.type.tz), safe=False)
        values: list[Any] = column.to_pylist()
        return values
    except _FAULTS as error:
        rule = (
            "of values that Python can hold, such as texts in UTF-8, and times of the years 1 to 9999 in a known zone"
        )
        for row, value in enumerate(column, start):
            try:
                value.as_py()
            except _FAULTS as fault:
                refuse(name, f"{place}, row {row}", rule, str(fault))
        refuse(name, place, rule, str(error))


def _distinct(name: str, batch: Any, start: int, place: str) -> list[Any]:
    """Return the different values of a column of Arrow, or all of them where Arrow cannot tell."""
    try:
        values: list[Any] = batch.column(name).unique().to_pylist()
        return values
    except _FAULTS:
        return column_values(name, batch, start, place)


def _array(name: str, batch: Any, start: int, place: str) -> NDArray[Any]:
    """Return a column of Arrow: numbers without gaps as they are, all else as objects with None."""
    import pyarrow.types as types

    column = batch.column(name)
    if column.null_count == 0 and (types.is_integer(column.type) or types.is_floating(column.type)):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    values = column_values(name, batch, start, place)
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return objects


def _names_in(name: str, batch: Any, start: int, place: str) -> set[str]:
    """Return the names of actions in a column of Arrow, of lists or of texts."""
    import pyarrow.types as types

    column = batch.column(name)
    if types.is_list(column.type) or types.is_large_list(column.type):
        with suppress(*_FAULTS):
            return {action_name(value) for value in column.flatten().unique().to_pylist() if value is not None}
    return {one for value in _distinct(name, batch, start, place) for one in names_in(value) or ()}


def _are_times(cells: list[str]) -> bool:
    return bool(cells) and all(_TIME_OF_DAY.match(cell) and moment(cell) is not None for cell in cells)


def _are_numbers(cells: list[str]) -> bool:
    try:
        np.array(cells, dtype=np.float64)
    except ValueError:
        return False
    return bool(cells)
