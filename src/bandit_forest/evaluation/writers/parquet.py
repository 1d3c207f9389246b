"""Logs as Parquet, with the columns of the service's export."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bandit_forest.errors import MissingExtraError
from bandit_forest.evaluation.log import Log, Source

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
    target = Path(path)
    temporary = target.with_name(f".{target.name}.tmp")
    writer, n_written = None, 0
    try:
        for batch in log.batches():
            table = pa.table(_columns(batch, pa))
            if writer is None:
                writer = pq.ParquetWriter(temporary, table.schema)
            writer.write_table(table.cast(writer.schema))
            n_written += len(batch)
            if progress is not None:
                progress(n_written)
        if writer is not None:
            writer.close()
            temporary.replace(target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    return n_written


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
        columns[f"context.{name}"] = pa.array(values, from_pandas=True)
    if log.contexts is not None:
        for place, name in enumerate(log.variable_names):
            columns[f"variable.{name}"] = pa.array(log.contexts[:, place])
    return columns
