"""Events of a service as Parquet, with the columns that `read_export` reads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from bandit_forest.atomic import replacing
from bandit_forest.bandit.features.kinds import BooleanFeature, Feature, LabelsFeature, NumericFeature
from bandit_forest.errors import MissingExtraError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["write_events"]

_ROWS = 50_000  # of a group of the file: the number of rows in memory
_MOMENTS = ("time", "reward_time")


def write_events(
    events: Iterator[Mapping[str, Any]],
    features: Mapping[str, Feature],
    path: str | os.PathLike[str],
    *,
    offered: Mapping[str, Feature] | None = None,
) -> int:
    """Write events as a Parquet file, whole or not at all; return the number of rows written.

    Parameters
    ----------
    events
        Mappings from the names of columns to values: moments in seconds since 1970, and `context` a mapping too, which
        becomes one column `context.NAME` per feature.
    features
        Features of the context.
    path
        The file to write.
    offered
        Features of actions, where each event has its own. Then `chosen` is a mapping of those of the action that was
        taken, which becomes one column `action.NAME` per feature, and `propensities` and `offered` are columns too.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingExtraError(f"Parquet needs {error.name}: pip install 'bandit-forest[parquet]'.") from error
    schema, n_rows = _schema(features, offered), 0
    with replacing(path) as stream, pq.ParquetWriter(stream, schema) as writer:
        while group := [_row(event, features, offered) for event in islice(events, _ROWS)]:
            writer.write_table(pa.Table.from_pylist(group, schema=schema))
            n_rows += len(group)
    return n_rows


def _schema(features: Mapping[str, Feature], offered: Mapping[str, Feature] | None) -> pa.Schema:
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
    if offered is not None:
        columns += [("propensities", pa.list_(pa.float64())), ("offered", pa.string())]
        columns += [(f"action.{name}", _type(feature)) for name, feature in offered.items()]
    return pa.schema(columns + [(f"context.{name}", _type(feature)) for name, feature in features.items()])


def _type(feature: Feature) -> pa.DataType:
    import pyarrow as pa

    if isinstance(feature, NumericFeature):
        return pa.float64()
    if isinstance(feature, LabelsFeature):
        return pa.list_(pa.string())
    return pa.bool_() if isinstance(feature, BooleanFeature) else pa.string()


def _row(
    event: Mapping[str, Any], features: Mapping[str, Feature], offered: Mapping[str, Feature] | None
) -> dict[str, Any]:
    """Return a row of the table."""
    row = {name: value for name, value in event.items() if name not in ("context", "chosen")}
    for name in _MOMENTS:
        seconds = event.get(name)
        row[name] = None if seconds is None else datetime.fromtimestamp(seconds, UTC)
    row |= _values("context", event["context"], features)
    return row if offered is None else row | _values("action", event["chosen"], offered)


def _values(prefix: str, given: Mapping[str, Any], features: Mapping[str, Feature]) -> dict[str, Any]:
    """Return the columns of some features."""
    return {
        f"{prefix}.{name}": None if (value := given.get(name)) is None else _python_type(feature)(value)
        for name, feature in features.items()
    }


def _python_type(feature: Feature) -> Callable[[Any], Any]:
    """Return what makes a value of the column's type; Arrow makes no number of a whole one beyond 2 to the 53."""
    if isinstance(feature, NumericFeature):
        return float
    if isinstance(feature, LabelsFeature):
        return list
    return bool if isinstance(feature, BooleanFeature) else str
