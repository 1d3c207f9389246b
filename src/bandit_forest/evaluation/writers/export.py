"""Events of a service as Parquet, with the columns that `read_export` reads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from bandit_forest.atomic import replacing
from bandit_forest.bandit.features.kinds import (
    BooleanFeature,
    CategoricalFeature,
    Feature,
    LabelsFeature,
    NumericFeature,
)
from bandit_forest.errors import MissingExtraError
from bandit_forest.evaluation.readers.notes import as_json, feature_notes, range_notes

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["write_events"]

_ROWS = 50_000  # of a group of the file: the number of rows in memory
_MOMENTS = ("time", "reward_time")
_TEXT, _INT, _LARGE = "text", "int", "an int that Arrow cannot hold"


def write_events(
    events: Callable[[], Iterator[Mapping[str, Any]]],
    features: Mapping[str, Feature],
    path: str | os.PathLike[str],
    *,
    reward_range: tuple[float, float],
    offered: Mapping[str, Feature] | None = None,
) -> int:
    """Write events as a Parquet file, whole or not at all; return the number of rows written.

    A column of categories holds texts or whole numbers, as the events do. Where it has both, it holds them as JSON, and
    its metadata say so.

    Parameters
    ----------
    events
        Called for mappings from the names of columns to values: moments in seconds since 1970, and `context` a mapping
        too, which becomes one column `context.NAME` per feature. It is called again when categories turn out to be
        other than texts; events may have been added meanwhile.
    features
        Features of the context.
    path
        The file to write.
    reward_range
        The least and the largest possible reward, which the file tells its readers.
    offered
        Features of actions, where each event has its own. Then `chosen` is a mapping of those of the action that was
        taken, which becomes one column `action.NAME` per feature, and `propensities` and `offered` are columns too.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingExtraError(f"Parquet needs {error.name}: pip install 'bandit-forest[parquet]'.") from error
    sides = [_Side("context", "context", features)]
    if offered is not None:
        sides.insert(0, _Side("action", "chosen", offered))
    while True:
        schema = _schema(sides, is_offered=offered is not None).with_metadata(range_notes(reward_range))
        rows, n_rows = (_row(event, sides) for event in events()), 0
        with suppress(_OtherCategoriesError), replacing(path) as stream, pq.ParquetWriter(stream, schema) as writer:
            while group := list(islice(rows, _ROWS)):
                writer.write_table(pa.Table.from_pylist(group, schema=schema))
                n_rows += len(group)
            return n_rows
        for event in events():
            for side in sides:
                side.note(event)


class _OtherCategoriesError(Exception):
    """A category is of another type than its column."""


class _Side:
    """The features of one side, and the types of their categories that are known so far.

    Parameters
    ----------
    prefix
        How the names of its columns begin.
    key
        Under which an event has its values.
    features
        The features.
    """

    def __init__(self, prefix: str, key: str, features: Mapping[str, Feature]) -> None:
        self._prefix, self._key, self._features = prefix, key, features
        self._categories = {
            name: {_type_of(value) for value in feature.values or ()}
            for name, feature in features.items()
            if isinstance(feature, CategoricalFeature)
        }

    def note(self, event: Mapping[str, Any]) -> None:
        """Remember the types of an event's categories."""
        for name, types in self._categories.items():
            if (value := event[self._key].get(name)) is not None:
                types.add(_type_of(value))

    def fields(self) -> list[pa.Field]:
        """Return the columns."""
        import pyarrow as pa

        return [
            pa.field(
                f"{self._prefix}.{name}",
                self._arrow_type(name, feature),
                metadata=feature_notes(feature.kind, is_json=self._is_json(name)),
            )
            for name, feature in self._features.items()
        ]

    def cells(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of an event by column."""
        given = event[self._key]
        return {
            f"{self._prefix}.{name}": None if (value := given.get(name)) is None else self._cell(name, feature, value)
            for name, feature in self._features.items()
        }

    def _is_json(self, name: str) -> bool:
        """Return whether the categories of a feature are neither all texts nor all ints that Arrow can hold."""
        return not any(self._categories.get(name, set()) <= alone for alone in ({_TEXT}, {_INT}))

    def _arrow_type(self, name: str, feature: Feature) -> pa.DataType:
        import pyarrow as pa

        if isinstance(feature, NumericFeature):
            return pa.float64()
        if isinstance(feature, LabelsFeature):
            return pa.list_(pa.string())
        if isinstance(feature, BooleanFeature):
            return pa.bool_()
        return pa.int64() if self._categories.get(name) == {_INT} else pa.string()

    def _cell(self, name: str, feature: Feature, value: Any) -> Any:
        """Return a value as its column holds it; Arrow makes no number of a whole one beyond 2 to the 53."""
        if isinstance(feature, NumericFeature):
            return float(value)
        if isinstance(feature, LabelsFeature):
            return list(value)
        if isinstance(feature, BooleanFeature):
            return bool(value)
        if isinstance(feature, CategoricalFeature):
            types = self._categories[name]
            if _type_of(value) not in (types or {_TEXT}):
                raise _OtherCategoriesError
            return as_json(value) if self._is_json(name) else value
        return str(value)


def _type_of(category: str | int) -> str:
    if isinstance(category, str):
        return _TEXT
    return _INT if -(2**63) <= category < 2**63 else _LARGE


def _schema(sides: list[_Side], *, is_offered: bool) -> pa.Schema:
    import pyarrow as pa

    time = pa.timestamp("us", tz="UTC")
    columns = [
        ("event_id", pa.string()),
        ("time", time),
        ("state", pa.string()),
        ("action", pa.string()),
        ("propensity", pa.float64()),
        ("available_actions", pa.list_(pa.string())),
        ("reward", pa.float64()),
        ("reward_time", time),
        ("model_version", pa.int64()),
        ("forest_action", pa.string()),
        ("forest_propensity", pa.float64()),
        ("forest_value", pa.float64()),
    ]
    if is_offered:
        columns += [("propensities", pa.list_(pa.float64())), ("offered", pa.string())]
    return pa.schema(
        [*(pa.field(*column) for column in columns), *(field for side in sides for field in side.fields())]
    )


def _row(event: Mapping[str, Any], sides: list[_Side]) -> dict[str, Any]:
    """Return a row of the table."""
    row = {name: value for name, value in event.items() if name not in ("context", "chosen")}
    for name in _MOMENTS:
        seconds = event.get(name)
        row[name] = None if seconds is None else datetime.fromtimestamp(seconds, UTC)
    for side in sides:
        row |= side.cells(event)
    return row
