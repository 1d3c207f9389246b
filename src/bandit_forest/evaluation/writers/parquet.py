"""Logs as Parquet, with the columns of the service's export."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import chain
from typing import Any

from bandit_forest.atomic import replacing
from bandit_forest.errors import MissingExtraError
from bandit_forest.evaluation.features import listed
from bandit_forest.evaluation.log import Log, Source
from bandit_forest.evaluation.readers.notes import as_json, feature_notes, range_notes
from bandit_forest.evaluation.writers.events import of_fixed_actions

__all__ = ["write_parquet"]


def write_parquet(log: Source, path: str | os.PathLike[str], *, progress: Callable[[int], object] | None = None) -> int:
    """Write a log as a Parquet file, whole or not at all; return the number of events written.

    Columns: `action`, `propensity`, `reward`; `event_id`, `time`, `model_version`, `probabilities` and
    `available_actions` where they are known; `context.NAME` for each feature, `variable.NAME` for each variable.

    Parameters
    ----------
    log
        A `Log`, or a reader of a file.
    path
        The file to write.
    progress
        Called with the number of events written so far, every now and then.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingExtraError(f"Parquet needs {error.name}: pip install 'bandit-forest[parquet]'.") from error
    batches = (of_fixed_actions(batch, "write_parquet") for batch in log.batches())
    tables = ((_table(batch, pa), len(batch)) for batch in batches)
    first = next(tables, None)
    if first is None:
        return 0
    schema, n_written = first[0].schema, 0
    with replacing(path) as stream, pq.ParquetWriter(stream, schema) as writer:
        for table, n_events in chain([first], tables):
            writer.write_table(table.cast(schema))
            n_written += n_events
            if progress is not None:
                progress(n_written)
    return n_written


def _table(log: Log, pa: Any) -> Any:
    """Return a table of Arrow, with what is known of the kinds of features and the range of rewards."""
    table = pa.table(_columns(log, pa))
    for name in log.features or {}:
        place = table.schema.get_field_index(f"context.{name}")
        notes = feature_notes(log.kinds.context.get(name), is_json=name in log.kinds.mixed)
        table = table.set_column(place, table.schema.field(place).with_metadata(notes), table.column(place))
    return table.replace_schema_metadata(range_notes(log.reward_range))


def _columns(log: Log, pa: Any) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    if "event_id" in log.columns:
        columns["event_id"] = pa.array([str(one) for one in log.columns["event_id"].tolist()], pa.string())
    if log.times is not None:
        moments = [datetime.fromtimestamp(one, UTC) for one in log.times.tolist()]
        columns["time"] = pa.array(moments, pa.timestamp("us", tz="UTC"))
    columns["action"] = pa.array([log.action_names[action] for action in log.actions], pa.string())
    columns["propensity"] = pa.array(log.propensities)
    columns["reward"] = pa.array(log.rewards, from_pandas=True)
    if log.available is not None:
        sets = [[name for name, can in zip(log.action_names, row, strict=True) if can] for row in log.available]
        columns["available_actions"] = pa.array(sets, pa.list_(pa.string()))
    if log.versions is not None:
        columns["model_version"] = pa.array(log.versions.tolist())
    if log.probabilities is not None:
        columns["probabilities"] = pa.array(log.probabilities.tolist(), pa.list_(pa.float64()))
    for name, values in (log.features or {}).items():
        cells = [as_json(value) for value in listed(values)] if name in log.kinds.mixed else values
        columns[f"context.{name}"] = pa.array(cells, from_pandas=True)
    if log.contexts is not None:
        for place, name in enumerate(log.variable_names):
            columns[f"variable.{name}"] = pa.array(log.contexts[:, place])
    return columns
